"""All findings of a run, in the order in which they are read."""

from __future__ import annotations

from clonometer.results.findings.caches import caches
from clonometer.results.findings.choices import choices
from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.conditions import linkages, pages, placements
from clonometer.results.findings.contention import contention, false_sharing
from clonometer.results.findings.contests import cold_and_warm, fastest, first_contest, other_contests
from clonometer.results.findings.cow import first_writes, stalls
from clonometer.results.findings.footprint import footprints
from clonometer.results.findings.isolation import isolation
from clonometer.results.findings.limits import floor, indistinct
from clonometer.results.findings.memory import memory
from clonometer.results.findings.messages import messages
from clonometer.results.findings.scans import scans
from clonometer.results.findings.startup import startup
from clonometer.results.findings.steps import steps
from clonometer.results.findings.switching import indirect, kinds
from clonometer.results.findings.workers import workers
from clonometer.results.rows.evidence import Book
from clonometer.results.types import Finding

_FINDERS = (
    first_contest,
    startup,
    workers,
    memory,
    caches,
    other_contests,
    stalls,
    first_writes,
    kinds,
    indirect,
    messages,
    footprints,
    steps,
    contention,
    false_sharing,
    isolation,
    scans,
    cold_and_warm,
    fastest,
    linkages,
    pages,
    choices,
    placements,
    floor,
    indistinct,  # last: it reports on the comparisons that the others made
)


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
    return tuple(finding for finder in _FINDERS for finding in finder(comparer))
