"""What a check of a run against its baseline hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.compare.types import ComparedRow, Difference, LeftOut

CHECK_SCHEMA = 1
REGRESSED, SUSPECT, FINE, UNCLEAR = "regressed", "suspect", "fine", "not distinguishable"
MEDIAN, DECILE = "median", "lower decile"
#: With fewer processes on a side the fastest tenth is four of them or less, and the medians are compared.
LEAST_PROCESSES = 50
ROW_VERDICTS = (REGRESSED, SUSPECT, FINE, UNCLEAR)
NONE, CONFIRMED, CANNOT_TELL = "none", "confirmed", "cannot tell"


@dataclass(frozen=True)
class CheckedRow:
    """One stage of one cell at one observed placement, against its baseline.

    Attributes
    ----------
    compared
        The two sides with ratio and interval, the machine's own speed taken off (`Checked.machine_kinds`); its p-values
        are one-sided (slower only) and its verdict is unused.
    verdict
        ``regressed``: alarms. ``suspect``: may have regressed, not surely enough. ``fine``: the interval lies below the
        largest regression allowed. ``not distinguishable``: everything else.
    detectable
        The smallest slow-down that this check would find in 95% of cases, as a share; None where it would find none.
    again
        The row measured again, if it was, in the place of the run.
    level
        Of what the ratio is: `MEDIAN` of the process medians, or `DECILE` of the fast part of each process.
    """

    compared: ComparedRow
    verdict: str
    detectable: float | None
    again: ComparedRow | None = None
    level: str = MEDIAN

    @property
    def ratio_measured(self) -> float | None:
        """The ratio as it was measured, the machine's own speed in it."""
        base, other = self.compared.base.median_ns, self.compared.other.median_ns
        return other / base if self.compared.ratio is not None and base and other else None


@dataclass(frozen=True)
class Checked:
    """A run against its baseline.

    Attributes
    ----------
    baseline, run
        What they are called.
    verdict
        ``none``, ``confirmed`` or ``cannot tell``.
    reasons
        Why it cannot tell; else empty.
    rows
        In the order of the baseline's plan.
    left_out, differences
        As in a comparison.
    max_regression, error_rate
        The largest regression allowed, and the chance of any alarm where nothing changed.
    n_tests
        The number of rows that could alarm, for which the p-values are corrected.
    machine_shift, machine_kinds
        How much slower all that was measured was in the run, as a share, and how many kinds of process that is the
        median of. It is taken off every ratio; with 0 kinds nothing is.
    rerun
        Whether the rows in doubt were measured again.
    reasons_lost
        Those of the reasons that no further measuring of flagged rows changes.
    """

    baseline: str
    run: str
    verdict: str
    reasons: Sequence[str]
    rows: Sequence[CheckedRow]
    left_out: Sequence[LeftOut]
    differences: Sequence[Difference]
    max_regression: float
    error_rate: float
    n_tests: int
    machine_shift: float = 0.0
    machine_kinds: int = 0
    rerun: bool = False
    reasons_lost: Sequence[str] = ()

    @property
    def flagged(self) -> Sequence[CheckedRow]:
        """The rows that alarm or are suspected."""
        return [row for row in self.rows if row.verdict in (REGRESSED, SUSPECT)]

    def count(self, verdict: str) -> int:
        """The number of rows of a verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    def count_detectable(self, change: float) -> int:
        """The number of rows in which a slow-down of ``change`` would be found."""
        return sum(row.detectable is not None and row.detectable <= change for row in self.rows)

    @property
    def n_first(self) -> int:
        """The number of rows of first launches, which are suspected at most."""
        return sum(row.compared.base.is_first_launch for row in self.rows)
