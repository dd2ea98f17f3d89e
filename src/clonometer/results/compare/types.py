"""What comparisons of runs and of cells hand to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clonometer.results.types import Estimate

COMPARE_SCHEMA = 1
FASTER, SLOWER, SAME, UNDECIDED = "faster", "slower", "same", "not distinguishable"
#: What is no time is neither faster nor slower, and whether more of it is worse only its reader knows.
HIGHER, LOWER = "higher", "lower"
VERDICTS = (SLOWER, FASTER, HIGHER, LOWER, SAME, UNDECIDED)


@dataclass(frozen=True)
class ComparedRow:
    """One stage of one cell at one observed placement, on both sides.

    Attributes
    ----------
    base, other
        The estimates of the two sides.
    ratio, low, high
        The median of ``other`` over that of ``base``, with its own 95% interval; None where there is no ratio (a median
        of zero or below) or no interval (one process on a side).
    p_value, p_adjusted
        Of the rank-sum test of the process medians, two-sided, and corrected for all rows that were tested; None
        where the row was not tested.
    verdict
        Of ``other``: ``faster``, ``slower`` (where the unit is no time: ``lower``, ``higher``), ``same`` or
        ``not distinguishable``.
    within
        Where the verdict is ``same``: the share that the interval keeps within, rounded up.
    reason
        Why there is no ratio, or why the row was not tested; else None.
    rest
        Between two runs: the median ratio of all other kinds of process, of the same temperature where these are
        enough; None where they are too few.
    like_rest
        Whether it is faster or slower, and no more so than the rest.
    """

    base: Estimate
    other: Estimate
    ratio: float | None
    low: float | None
    high: float | None
    p_value: float | None
    p_adjusted: float | None
    verdict: str
    within: float | None
    reason: str | None
    rest: float | None = None
    like_rest: bool = False

    @property
    def n_processes(self) -> int:
        """The processes of the smaller side."""
        return min(self.base.n_processes, self.other.n_processes)

    @property
    def is_time(self) -> bool:
        """Whether it is a time that is compared."""
        return self.base.value is None


@dataclass(frozen=True)
class LeftOut:
    """A cell that could not be compared, and why."""

    cell: str
    reason: str


@dataclass(frozen=True)
class Difference:
    """Something in which two runs differ besides their figures; ``key`` as in docs/host.md."""

    key: str
    base: Any
    other: Any


@dataclass(frozen=True)
class CommonShift:
    """What several kinds of process changed by together between two runs.

    Attributes
    ----------
    of
        ``cold``, ``warm``, ``all``, or ``control``: clocks and empty loops, which launch nothing.
    ratio, least, most
        The median over the kinds of the median ratio of each one's rows, and the least and the greatest of these.
    kinds
        How many kinds of process: what one start of a driver measures.
    """

    of: str
    ratio: float
    least: float
    most: float
    kinds: int


@dataclass(frozen=True)
class ComparedPair:
    """One side against the base: rows in the order of the plan, what was left out, and what else differs.

    ``base`` and ``other`` name the two: files, or the globs of cells of one file. ``shifts`` is what all rows of two
    runs changed by together; empty where the kinds of process are too few to tell, and within one run.
    """

    base: str
    other: str
    rows: Sequence[ComparedRow]
    left_out: Sequence[LeftOut]
    differences: Sequence[Difference]
    shifts: Sequence[CommonShift] = ()


@dataclass(frozen=True)
class Compared:
    """All comparisons that were asked for together.

    Attributes
    ----------
    pairs
        One for each side that was compared with the first.
    minimum_effect
        The least change that gets a verdict, as a share.
    error_rate
        The chance that any of the verdicts ``faster`` and ``slower`` is wrong where nothing changed.
    n_tests
        The number of rows that were tested, for which the p-values are corrected.
    """

    pairs: Sequence[ComparedPair]
    minimum_effect: float
    error_rate: float
    n_tests: int

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of rows of each verdict."""
        rows = [row for pair in self.pairs for row in pair.rows]
        return {verdict: sum(row.verdict == verdict for row in rows) for verdict in VERDICTS}
