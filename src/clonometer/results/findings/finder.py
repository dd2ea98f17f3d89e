"""What a finder is, a maker of findings that is found by name in this room; and all findings of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

from clonometer.discovery import find_plugins
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.types import Finding

#: What a finder gives, in the order in which it is read: None where there is nothing to say.
Findings = Iterable[Finding | None]
#: After the families whose findings come first, before what is said of any axis.
OF_A_FAMILY = 165


@dataclass(frozen=True)
class Finder:
    """Makes findings; ``place`` orders them, and who runs later sees what was claimed before.

    A finding of a family needs no place of its own.
    """

    find: Callable[[PairwiseTests], Findings]
    place: int = OF_A_FAMILY


@cache
def finders() -> tuple[Finder, ...]:
    """All finders in the order in which they are read: the ``FINDERS`` of every module of this room."""
    makers = (finder for group in find_plugins(__name__.rpartition(".")[0], "FINDERS") for finder in group)
    return tuple(sorted(makers, key=lambda finder: finder.place))


def find_all(tests: PairwiseTests) -> tuple[Finding, ...]:
    """Compute the findings.

    Any subset of the default plan's cells will do, even none; the same run gives the same findings.

    Fork against pthread comes first. What lacks its cells is left out.

    Examples
    --------
    >>> from clonometer.results.rows.run_estimates import RunEstimates
    >>> find_all(PairwiseTests(RunEstimates([]), seed=1))
    ()
    """
    return tests.with_correction(
        lambda: tuple(finding for finder in finders() for finding in finder.find(tests) if finding is not None)
    )
