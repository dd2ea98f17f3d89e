"""What a check of a run against its baseline hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Protocol

from clonometer.records import After, Count, Gt, Key, Mark, Only, computed_field, version
from clonometer.results.compare.types import (
    IN_PAIRS_WORDS,
    STORED_WORDS,
    CommonShift,
    ComparedRow,
    Difference,
    InPairs,
)
from clonometer.results.compare.variance import NoiseSource, StoredRuns
from clonometer.results.types import LeftOut, ShareOrNone
from clonometer.verdicts import Gate

CHECK_SCHEMA = 4
#: A check that would miss a slow-down of this many times the allowed one in most rows cannot tell (docs/comparing.md).
BLIND_FACTOR = 2.0


_COMPARED = Only(
    "compared_row",
    (
        "of_row",
        "base",
        "other",
        "change",
        "rest_ratio",
        "common_shift",
        "between_run_noise",
    ),
)
_AGAIN = Only("again", ("other", "change"))


@dataclass(frozen=True)
class CheckedRow:
    """One stage of one cell at one observed placement, against its baseline."""

    compared: Annotated[ComparedRow, Mark.MERGED, _COMPARED]
    verdict: Annotated[
        Gate,
        "fail: certainly slower by as much as is allowed, or more; pass: certainly not. A first launch never fails.",
    ]
    suspect: Annotated[bool, "The verdict is unknown, but the row looks slower."]
    detectable: Annotated[
        ShareOrNone,
        Key("detectable_change"),
        After("reason"),
        "The smallest slowdown that this check would detect in 95% of cases, as a share; None where it would detect "
        "none.",
    ]
    again: Annotated[
        ComparedRow | None, _AGAIN, After("detectable"), "The row when it was measured again, instead of the run's."
    ] = None

    @computed_field("Why there is no ratio, no interval or no verdict.", after="suspect")
    def reason(self) -> str | None:
        """Why there is no ratio, no interval or no verdict."""
        return self.compared.reason


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A run against its baseline."""

    schema = version(CHECK_SCHEMA)

    baseline: str
    run: str
    verdict: Annotated[Gate, "Exit status 0, 1 and 3."]
    reasons: Annotated[Sequence[str], "Why it cannot tell; otherwise empty."]
    max_regression: Annotated[float, Gt(0), "The largest slowdown allowed, as a share."]
    error_rate: Annotated[float, "The chance that any row alarms where nothing changed."]
    correction: Annotated[Literal["Benjamini-Hochberg"], "What the verdicts are corrected by."] = "Benjamini-Hochberg"
    n_tests: Annotated[Count, "Rows that can have a verdict: what intervals are corrected for."]
    noise_source: Annotated[
        NoiseSource,
        "Where it is known from how far two runs of the machine are apart: not known, given by --noise, measured by "
        "noise, from stored runs, or from these runs.",
    ]
    stored: Annotated[StoredRuns | None, Mark.OPTIONAL, STORED_WORDS] = None
    shifts: Annotated[
        Sequence[CommonShift],
        "What all conditions changed by together; a row alarms only if it is slower than that.",
    ] = ()
    same_run: Annotated[bool, "Both sides are the same run."] = False
    rerun: Annotated[bool, "Whether the rows in doubt were measured again."] = False
    rows: Annotated[Sequence[CheckedRow], "In the order of the baseline's plan."]
    left_out: Sequence[LeftOut]
    differences: Annotated[
        Sequence[Difference], "How the runs differ apart from their figures; keys as in docs/host.md."
    ]
    decided_by: Annotated[
        str | None, Mark.OPTIONAL, "Where it cannot tell: the command that decides it, or that must come before."
    ] = None
    in_pairs: Annotated[InPairs | None, Mark.OPTIONAL, IN_PAIRS_WORDS] = None
    #: Those of the reasons that no further measuring of flagged rows changes.
    reasons_lost: Annotated[Sequence[str], Mark.UNWRITTEN] = ()

    @computed_field("Rows of each verdict.", after="rerun")
    def counts(self) -> Mapping[str, Count]:
        """The number of rows of each verdict."""
        return {verdict: self.count(verdict) for verdict in Gate}

    @property
    def flagged(self) -> Sequence[CheckedRow]:
        """The rows that alarm or are suspected."""
        return [row for row in self.rows if row.verdict == Gate.FAIL or row.suspect]

    def count(self, verdict: Gate) -> int:
        """The number of rows of a verdict."""
        return sum(row.verdict == verdict for row in self.rows)

    @computed_field(after="counts")
    def n_suspect(self) -> Annotated[Count, "Rows of verdict unknown that look slower."]:
        """The number of rows that are suspected."""
        return sum(row.suspect for row in self.rows)

    @property
    def n_first(self) -> int:
        """The number of rows of first launches, which are suspected at most."""
        return sum(row.compared.base.is_first_launch for row in self.rows)


class Detecting(Protocol):
    """A row of a check, or of what checks of a plan would be like."""

    @property
    def detectable(self) -> float | None:
        """The smallest slow-down that would be found, as a share; None where none would be."""


def count_detectable(rows: Iterable[Detecting], change: float) -> int:
    """The number of rows in which a slow-down of ``change`` would be found."""
    return sum(row.detectable is not None and row.detectable <= change for row in rows)
