"""All findings of a run, in the order in which they are read."""

from __future__ import annotations

from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.finder import finders
from clonometer.results.types import Finding


def find_all(comparer: Comparer) -> tuple[Finding, ...]:
    """Compute the findings.

    Any subset of the default plan's cells will do, even none; the same run gives the same findings.

    Fork against pthread comes first. What lacks its cells is left out.

    Examples
    --------
    >>> from clonometer.results.rows.evidence import Book
    >>> find_all(Comparer(Book([]), seed=1))
    ()
    """
    return comparer.corrected(
        lambda: tuple(finding for finder in finders() for finding in finder.find(comparer)),
    )
