"""What a check of a run against its baseline hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from clonometer.records import Above, After, Count, Key, Known, Mark, Only, version, written
from clonometer.results.compare.types import ComparedRow, Difference, LeftOut, ShareOrNone

CHECK_SCHEMA = 1
REGRESSED, SUSPECT, FINE, UNCLEAR = "regressed", "suspect", "fine", "not distinguishable"
MEDIAN, DECILE = "median", "lower decile"
#: With fewer processes on a side the fastest tenth is four of them or less, and the medians are compared.
LEAST_PROCESSES = 50
ROW_VERDICTS = (REGRESSED, SUSPECT, FINE, UNCLEAR)
NONE, CONFIRMED, CANNOT_TELL = "none", "confirmed", "cannot tell"


_COMPARED = Only(
    "compared_row", ("of_row", "base", "other", "ratio", "ratio_low", "ratio_high", "p_value", "p_adjusted")
)
_AGAIN = Only("again", ("other", "ratio", "ratio_low", "ratio_high", "p_value", "p_adjusted"))


@dataclass(frozen=True)
class CheckedRow:
    """One stage of one cell at one observed placement, against its baseline.

    The ratio is with the machine's own speed taken off (`Checked.machine_kinds`); p-values are one-sided: slower by
    chance alone.
    """

    compared: Annotated[ComparedRow, Mark.MERGED, _COMPARED]
    verdict: Annotated[str, Known(ROW_VERDICTS)]
    detectable: Annotated[
        ShareOrNone,
        Key("detectable_change"),
        After("ratio_measured"),
        "The smallest slow-down that this check would find in 95% of cases, as a share; None where it would find none.",
    ]
    again: Annotated[
        ComparedRow | None, _AGAIN, After("detectable"), "The row measured again, in the place of the run."
    ] = None
    level: Annotated[
        str,
        Known((MEDIAN, DECILE)),
        "Of what of the processes the ratio is: the lower decile where 50 of them ran on either side (of the lower "
        "decile of each process's launches, of the lower quartile of what is no launch), else the median of their "
        "medians.",
    ] = MEDIAN

    @written("Why there is no ratio, no interval or no test.", after="verdict")
    def reason(self) -> str | None:
        """Why there is no ratio, no interval or no test."""
        return self.compared.reason

    @written("The ratio as it was measured, the machine's own speed in it.", after="level")
    def ratio_measured(self) -> ShareOrNone:
        """The ratio as it was measured, the machine's own speed in it."""
        base, other = self.compared.base.median_ns, self.compared.other.median_ns
        return other / base if self.compared.ratio is not None and base and other else None


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A run against its baseline."""

    schema = version(CHECK_SCHEMA)

    baseline: str
    run: str
    verdict: Annotated[str, Known((NONE, CONFIRMED, CANNOT_TELL)), "Exit status 0, 1 and 3."]
    reasons: Annotated[Sequence[str], "Why it cannot tell; else empty."]
    max_regression: Annotated[float, Above(0), "The largest slow-down allowed, as a share."]
    error_rate: Annotated[float, "The chance that any row alarms where nothing changed."]
    n_tests: Annotated[Count, "Rows that could alarm: what the p-values are corrected for."]
    machine_shift: Annotated[
        float,
        "How much slower all that was measured was in the run, as a share; taken off every ratio.",
    ] = 0.0
    machine_kinds: Annotated[
        Count,
        "The kinds of process that it is the median of; 0: too few, and nothing is taken off.",
    ] = 0
    rerun: Annotated[bool, "Whether the rows in doubt were measured again."] = False
    rows: Annotated[Sequence[CheckedRow], "In the order of the baseline's plan."]
    left_out: Sequence[LeftOut]
    differences: Annotated[
        Sequence[Difference], "In what the runs differ besides their figures; keys as in docs/host.md."
    ]
    #: Those of the reasons that no further measuring of flagged rows changes.
    reasons_lost: Annotated[Sequence[str], Mark.UNWRITTEN] = ()

    @written("What the p-values are corrected by.", after="error_rate")
    def correction(self) -> Literal["Holm"]:
        """What the p-values are corrected by."""
        return "Holm"

    @written("Rows of each verdict.", after="rerun")
    def counts(self) -> Mapping[str, Count]:
        """The number of rows of each verdict."""
        return {verdict: self.count(verdict) for verdict in ROW_VERDICTS}

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
