"""What comparisons of runs and of cells hand to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal

from clonometer.records import After, As, Count, Ge, Gt, Key, Mark, OneOf, Only, computed_field, version
from clonometer.results.change import Change
from clonometer.results.compare.variance import NoiseSource, StoredRuns
from clonometer.results.types import OF_ROW, SIDE_KEYS, Estimate, LeftOut, ShareOrNone
from clonometer.run_document import EnvironmentEntry, PlanTarget
from clonometer.verdicts import Direction

COMPARE_SCHEMA = 4
#: The fact that tells boots of a machine apart: no setting, but memory lies elsewhere after each.
BOOT = "host.boot_id"
#: Of two runs that differ in nothing that `ab` could set: what the user has changed between them.
BY_COMMANDS = ("--b", "do=DO", "--b", "undo=UNDO")
IN_PAIRS_WORDS = "What decides the row most worth it; null where none is, or a side cannot be started here."
STORED_WORDS = "The runs that lie beside those compared; null where nobody looked."


SIDE = Only("side", (*SIDE_KEYS, "effective_mhz"))
_RATIO = Only(
    "compared_change",
    (
        As(
            "value",
            "ratio",
            "The other side's median over the base's; of several runs the ratio of their mean medians (on the "
            "logarithm). None where a median is zero or below, and below 6 processes on a side.",
        ),
        As(
            "low",
            "ratio_low",
            "Lower end of the interval that decides: it counts the processes' scatter, the noise between runs and the "
            "number of rows, see docs/comparing.md.",
        ),
        As("high", "ratio_high"),
        "sureness",
        "at_least",
        "told_from",
    ),
)


@dataclass(frozen=True)
class Provenance:
    """What of a run may explain how its figures differ from another's."""

    host: Mapping[str, Any]
    clonometer_version: str
    status: str
    clock: str | None
    environment: EnvironmentEntry | None = None
    frequencies_mhz: Sequence[float] = ()
    targets: Sequence[PlanTarget] = ()
    languages: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ComparedRow:
    """One stage of one cell at one observed placement, on both sides."""

    change: Annotated[Change[Estimate], Mark.MERGED, _RATIO, Ge(0)]
    within: Annotated[
        ShareOrNone, "Where the verdict is equal: the share that the interval keeps within, rounded up."
    ] = None
    reason: Annotated[str | None, "Why there is no ratio, no interval or no verdict."] = None
    rest: Annotated[
        ShareOrNone,
        Key("rest_ratio"),
        Mark.OPTIONAL,
        "The median ratio of all other conditions of the same temperature; null where there are none, within one "
        "run, and of hosts.",
    ] = None
    common_shift: Annotated[
        bool,
        Mark.OPTIONAL,
        "Its interval excludes 1, but it moved with all others: the machine, or something that all rows share.",
    ] = False
    between: Annotated[
        ShareOrNone,
        Key("between_run_noise"),
        Mark.OPTIONAL,
        "The noise between runs assumed for the row: a standard deviation, as a share; where nobody has measured it, "
        "the bound that these runs show. Null within one run, and for hosts.",
    ] = None

    @computed_field()
    def of_row(self) -> Annotated[Estimate, Mark.MERGED, OF_ROW]:
        """What is compared, as on the other side."""
        return self.other

    @computed_field(after="of_row")
    def base(self) -> Annotated[Estimate, SIDE]:
        """The base's estimate."""
        return self.change.base

    @computed_field(after="base")
    def other(self) -> Annotated[Estimate, SIDE]:
        """The other side's."""
        return self.change.other

    @computed_field("Of the other side over the base.", after="change")
    def verdict(self) -> Direction:
        """What is sure of the change."""
        return self.change.direction

    def changed(self, **fields: Any) -> ComparedRow:
        """The same row, with these fields of its change replaced."""
        return replace(self, change=replace(self.change, **fields))

    @property
    def n_processes(self) -> int:
        """The processes of the smaller side."""
        return min(self.base.n_processes, self.other.n_processes)

    @property
    def is_time(self) -> bool:
        """Whether it is a time that is compared."""
        return self.base.value is None


@dataclass(frozen=True)
class Difference:
    """Something in which two runs differ besides their figures; ``key`` as in docs/host.md."""

    key: str
    base: Any
    other: Any


@dataclass(frozen=True)
class CommonShift:
    """What several conditions changed by together between two runs."""

    of: Annotated[str, OneOf(("cold", "warm", "all", "control")), "control: clocks and empty loops."]
    ratio: Annotated[float, Ge(0), "The median over the conditions of the median ratio of each condition's rows."]
    least: Annotated[float, Ge(0), "The least of these."]
    most: Annotated[float, Ge(0), "The greatest."]
    kinds: Annotated[Count, "How many conditions: what one start of a driver measures."]


@dataclass(frozen=True)
class InPairs:
    """What decides a row that is not sure, where both sides can be started here."""

    command: Annotated[
        str, "It starts both sides in turn. DO and UNDO stand for what makes the difference, and takes it back."
    ]
    at_most_s: Annotated[float, Gt(0), "How long it measures at most, by what launches of the row take."]


@dataclass(frozen=True)
class ComparedPair:
    """One side against the base: rows in the order of the plan, what was left out, and what else differs."""

    base: Annotated[str, "The file, or the glob of cells, compared with."]
    other: str
    rows: Sequence[ComparedRow]
    left_out: Sequence[LeftOut]
    differences: Annotated[
        Sequence[Difference], "How the runs differ apart from their figures; keys as in docs/host.md."
    ]
    shifts: Annotated[
        Sequence[CommonShift],
        Mark.OPTIONAL,
        After("rows"),
        "What all conditions changed by together; empty within one run and where they are too few.",
    ] = ()
    n_base_runs: Annotated[Count, Mark.OPTIONAL, "How many runs the base has."] = 1
    n_other_runs: Annotated[Count, Mark.OPTIONAL, "How many runs the other side has."] = 1
    same_run: Annotated[bool, Mark.OPTIONAL, "Both sides are the same run."] = False


@dataclass(frozen=True)
class Compared:
    """All comparisons that were asked for together."""

    pairs: Annotated[
        Sequence[ComparedPair],
        Key("comparisons"),
        After("counts"),
        "One for each side that was compared with the first.",
    ]
    minimum_effect: Annotated[float, Gt(0), "The least change that gets a verdict, as a share."]
    error_rate: Annotated[
        float,
        "Of the rows whose verdict is more or less, such a share is wrong; where nothing changed, the chance of any.",
    ]
    n_tests: Annotated[Count, "Rows that can have a verdict, over all comparisons: what intervals are corrected for."]
    noise_source: Annotated[
        NoiseSource,
        "Where it is known from how far two runs of the machine are apart: not known, given by --noise, measured by "
        "noise, from stored runs, from these runs, or of no account within one run.",
    ]
    correction: Annotated[Literal["Benjamini-Hochberg"], After("error_rate"), "What the verdicts are corrected by."] = (
        "Benjamini-Hochberg"
    )
    stored: Annotated[StoredRuns | None, Mark.OPTIONAL, STORED_WORDS] = None
    in_pairs: Annotated[InPairs | None, Mark.OPTIONAL, IN_PAIRS_WORDS] = None

    schema = version(COMPARE_SCHEMA)

    @computed_field("Rows of each verdict.", after="n_tests")
    def counts(self) -> Mapping[str, Count]:
        """The number of rows of each verdict."""
        rows = [row for pair in self.pairs for row in pair.rows]
        return {verdict: sum(row.verdict == verdict for row in rows) for verdict in Direction}
