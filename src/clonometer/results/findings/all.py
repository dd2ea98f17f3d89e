"""All findings of a run, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.finder import finders
from clonometer.results.rows.evidence import Book
from clonometer.results.types import Finding

_Made = TypeVar("_Made")


def find_all(book: Book, seed: int) -> tuple[Finding, ...]:
    """Compute the findings.

    Any subset of the default plan's cells will do, even none; the same run gives the same findings.

    Fork against pthread comes first. What lacks its cells is left out.

    Examples
    --------
    >>> find_all(Book([]), seed=1)
    ()
    """
    return find_with(book, seed, lambda *_: None)[0]


def find_with(
    book: Book, seed: int, make: Callable[[Comparer, tuple[Finding, ...]], _Made]
) -> tuple[tuple[Finding, ...], _Made]:
    """Compute the findings, and make something of them and of further comparisons.

    ``make`` is called twice, as findings are made twice; what it gives the second time counts. What it compares
    besides is corrected together with all comparisons of the findings, and changes no finding.
    """
    comparer = Comparer(book, seed)
    # What is said of any comparison depends on how many the report makes.
    _read(comparer)
    comparer.correct()
    findings = _read(comparer)
    make(comparer, findings)
    comparer.correct()
    return findings, make(comparer, findings)


def _read(comparer: Comparer) -> tuple[Finding, ...]:
    return tuple(finding for finder in finders() for finding in finder.find(comparer))
