"""All findings of a run, in the order in which they are read."""

from __future__ import annotations

from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.finder import finders
from clonometer.results.rows.evidence import Book
from clonometer.results.types import Finding


def find_all(book: Book, seed: int) -> tuple[Finding, ...]:
    """Compute the findings.

    Parameters
    ----------
    book
        The run's evidence; any subset of the default plan's cells, even none.
    seed
        The run's seed: the same run gives the same findings.

    Returns
    -------
    tuple of Finding
        Fork against pthread first. What lacks its cells is left out.

    Examples
    --------
    >>> find_all(Book([]), seed=1)
    ()
    """
    comparer = Comparer(book, seed)
    # What is said of any comparison depends on how many the report makes.
    _read(comparer)
    comparer.correct()
    return _read(comparer)


def _read(comparer: Comparer) -> tuple[Finding, ...]:
    return tuple(finding for finder in finders() for finding in finder.find(comparer))
