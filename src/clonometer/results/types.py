"""What results hand to views, exports and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any

from clonometer.records import Count, Ge, Gt, Key, Le, Mark, OneOf, Only, Pattern, computed_field, version
from clonometer.results.cell_outcomes import CellOutcome
from clonometer.results.missing import MissingLanguage
from clonometer.results.series_types import AblationSeries, EcdfSeries, FitSeries, ScanSeries, ValueWithEnds
from clonometer.units import Figures, figures
from clonometer.verdicts import Direction

RESULTS_SCHEMA = 3
#: Below this share of a median no difference counts, however sure it is.
LEAST_EFFECT = 0.02
#: Fewer processes have no 95% interval of their median, and nothing is told from them.
FEWEST_PROCESSES = 6
#: Half of an interval, as a share of its median, above which it is called wide; what is narrower is settled.
WIDE_HALF_WIDTH = 0.10
# Within so small a share of itself a number has two digits.
_TWO_DIGITS = 0.09
#: The id of the answer that says how mechanisms compare.
CONTEST = "answer.contest"
RowName = tuple[str, str, str | None]
Sentence = Annotated[str, Ge(1)]


@dataclass(frozen=True)
class RunWarning:
    """Something that weakens a number, as data: what was seen, with numbers, and what to do about it.

    ``id`` is stable and dotted (``processes.few``). A row's own warning has none that are alike.
    """

    id: Annotated[str, Pattern(r"^[a-z_]+(\.[a-z_]+)+$")]
    sentence: Sentence
    next_step: Sentence
    alike: Annotated[
        Count,
        "How many further warnings of this id, each different sentence once, the rows have, where a run's warning "
        "stands for all of them.",
    ] = 0


@dataclass(frozen=True)
class Drift:
    """Processes that did not keep their level over the run."""

    kind: Annotated[str, OneOf(("trend", "wandering")), "Earlier versions distinguished a trend: a rise or fall."]
    share: Annotated[
        float,
        "Of the median: how far apart the processes' 10th and 90th percentiles are; of a trend the rise, negative for "
        "a fall.",
    ]


@dataclass(frozen=True)
class WarmUp:
    """The first samples of each process, whose median is off the steady one by a share of it."""

    samples: Count
    share: float


#: The share of processes without a steady level that is worth a warning.
NEVER_STEADY_SHARE = 0.25


@dataclass(frozen=True)
class SteadyState:
    """Whether the processes of a runtime came to a steady level, each by itself."""

    processes: Annotated[Count, "How many were long enough to be judged."]
    never: Annotated[Count, "Those that still changed their level in the second half of their samples."]
    samples: Annotated[Count | None, "Samples before the others were steady, as a median; None where none was."]

    @property
    def is_in_doubt(self) -> bool:
        """Whether a quarter of them never did: more than the disturbance of one."""
        return self.never >= NEVER_STEADY_SHARE * self.processes


#: How far a count of tasks may be from a whole number: other programs start some as well.
_STRANGE_TASKS = 0.1


@dataclass(frozen=True)
class TasksCreated:
    """The kernel's new tasks per launch, counted in each block for the whole machine: other programs' count as well."""

    least: Annotated[float, Ge(0), "In the block with the fewest: its launches created no more on average."]
    next_least: Annotated[float | None, Ge(0), "In the block with the next fewest; None where there is only one."]
    median: Annotated[float, Ge(0), "The median of the blocks."]

    @property
    def per_launch(self) -> int | None:
        """How many a launch creates; None where other programs hide it: the two least counts disagree."""
        whole = round(self.least)
        if self.next_least is None or max(abs(self.least - whole), abs(self.next_least - whole)) > _STRANGE_TASKS:
            return None
        # None in a single block is no proof: a runtime may reuse its threads only sometimes.
        return whole if whole or round(self.median) == 0 else None


@dataclass(frozen=True)
class CollectorPauses:
    """Pauses of a runtime's garbage collector within launches, and how many of the slowest launches have them."""

    share: Annotated[float, Gt(0), "Which share of the launches counts as the slowest."]
    launches: Count
    paused: Annotated[Count, "Launches with a pause."]
    pause_ns: Annotated[float | None, "The median of the pauses; None where there was none."]
    slowest: Annotated[Count, "The slowest launches."]
    slowest_paused: Annotated[Count, "Those with a pause."]
    slowest_by_pause: Annotated[Count, "Those that would not be among the slowest without it."]
    collections: Annotated[Count | None, "Collections during all blocks; None where the runtime does not count them."]

    @property
    def makes_tail(self) -> bool:
        """Whether most of the slowest launches are slow by a pause."""
        return 2 * self.slowest_by_pause > self.slowest


@dataclass(frozen=True)
class Outliers:
    """Samples above the outer fence."""

    count: Count
    causes: Annotated[
        Mapping[str, int],
        "A recorded fact, and for how many of them it holds; facts that hold for outliers no more often than for other "
        "samples are left out.",
    ]
    unexplained: Annotated[Count, "How many have none of these."]


@dataclass(frozen=True)
class Alone:
    """Launches that had their core to themselves, as additions right before and after each tell (docs/methods.md)."""

    launches: Count
    of: Annotated[Count, "Launches of which it is known."]
    counted: Annotated[bool, "Whether the row is of these only; else it is of all: too few processes have enough."]
    others_take: Annotated[
        float | None, Gt(0), "How many times as long the others took, by medians; None where either are below 20."
    ]


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One cell, stage and observed placement: the row of every table."""

    cell: Annotated[str, "Canonical text."]
    workload: str
    condition: Annotated[Mapping[str, int | str], "Every axis of the workload; sizes in bytes."]
    temperature: Annotated[str | None, OneOf(("cold", "warm"))]
    stage: Annotated[str | None, "Of a launch; None outside launches."]
    placement: Annotated[
        str | None,
        OneOf(("same_cpu", "other_cpu")),
        "Observed; None where it was not. One entry for each that occurred.",
    ]
    quantity: Annotated[str, "The driver's column."]
    unit: Annotated[str, "The column's unit in the run file."]
    n_samples: Annotated[Count, "Successful samples that count."]
    n_processes: Annotated[Count, "The processes that they came from."]
    median_ns: Annotated[float | None, "Median of process medians; None where the unit is no time."]
    median_low_ns: Annotated[
        float | None,
        "Lower end of its 95% interval, see docs/methods.md; None with one process, and where drift is not.",
    ]
    median_high_ns: Annotated[float | None, "Upper end."]
    p99_ns: Annotated[float | None, "Pooled 99th percentile."]
    p99_reason: Annotated[str | None, "Why p99_ns is null."]
    min_ns: Annotated[float | None, "The shortest sample."]
    effective_mhz: Annotated[
        float | None, Gt(0), "Median effective frequency of the CPUs used; None where it was not measured."
    ]
    resolution_ns: Annotated[float, Gt(0), "What is below it is printed as < x."]
    family: Annotated[str, "Of the catalogue, for grouping."]
    rankable: Annotated[bool, "Whether this row may take part in a ranking: vfork's call_returns may not."] = True
    not_rankable_reason: str | None = None
    outcomes: Annotated[Mapping[str, Count], "Launches of the cell: ok, and names of errno."] = field(
        default_factory=dict
    )
    clock_skew: Annotated[Count, "Samples of the cell that were left out because their stages were out of order."] = 0
    signed: Annotated[
        bool, Mark.OPTIONAL, "Whether a value below zero means something, as for the offset of two clocks."
    ] = False
    detail: Annotated[
        bool, Mark.OPTIONAL, "Whether it only explains another quantity of its workload: no finding is about it."
    ] = False
    value: Annotated[
        float | None, Mark.OPTIONAL, "Where unit is no time: median of process medians, in unit; else None."
    ] = None
    value_low: Annotated[float | None, Mark.OPTIONAL, "Lower end of its 95% interval."] = None
    value_high: Annotated[float | None, Mark.OPTIONAL, "Upper end."] = None
    mean_ns: Annotated[float | None, Mark.OPTIONAL, "Mean of process means."] = None
    mad_ns: Annotated[
        float | None,
        Mark.OPTIONAL,
        Ge(0),
        "Median absolute deviation from the median of all samples, not scaled.",
    ] = None
    drift: Annotated[Drift | None, Mark.OPTIONAL, "None where processes kept their level."] = None
    warm_up: Annotated[WarmUp | None, Mark.OPTIONAL, "None where the first samples are like the rest."] = None
    steady: Annotated[
        SteadyState | None,
        Mark.OPTIONAL,
        "None for what is no workload of a language, and where processes are too short.",
    ] = None
    pauses: Annotated[
        CollectorPauses | None,
        Mark.OPTIONAL,
        "None for what is no workload of a language, where it has no collector, and of fewer than 100 launches.",
    ] = None
    tasks_created: Annotated[
        TasksCreated | None,
        Mark.OPTIONAL,
        "None for what is no workload of a language, and where the kernel does not count them.",
    ] = None
    switches_per_launch: Annotated[
        float | None,
        Mark.OPTIONAL,
        Ge(0),
        "How often the process's threads left a CPU per launch, in the block with the fewest; None: not counted.",
    ] = None
    alone: Annotated[Alone | None, Mark.OPTIONAL, "None where no additions were made, and for pairs of sides."] = None
    outliers: Annotated[Outliers | None, Mark.OPTIONAL, "None for what is not a time, and in very large cells."] = None
    relative_error: Annotated[
        float,
        Mark.OPTIONAL,
        Ge(0),
        Le(0.001),
        "Largest relative error of p99_ns and mad_ns: above 0 only in cells so large that samples are counted "
        "in buckets.",
    ] = 0.0
    warnings: tuple[RunWarning, ...] = ()

    @property
    def name(self) -> RowName:
        """What tells it from the other rows of its run: cell, quantity and observed placement."""
        return (self.cell, self.quantity, self.placement)

    @property
    def process_medians(self) -> Sequence[float]:
        """The median of each process; empty in what was read from JSON, which has none of them."""
        return ()

    @property
    def is_first_launch(self) -> bool:
        """Whether it is of the one cold launch of each process, not of warm ones."""
        return self.temperature == "cold"

    @property
    def median_ends(self) -> tuple[float, float] | None:
        """The ends of the median's interval, in ns; None where it has none."""
        low, high = self.median_low_ns, self.median_high_ns
        return None if low is None or high is None else (low, high)

    @property
    def median_with_ends(self) -> ValueWithEnds:
        """The median with the ends of its interval, in ns; all three are the median where it has no interval."""
        median = self.median_ns or 0.0
        low, high = self.median_ends or (median, median)
        return median, low, high

    @property
    def relative_half_width(self) -> float | None:
        """Half of its interval as a share of the median; None where it has none, is of few, or drifts."""
        ends, median = self.median_ends, self.median_ns
        if ends is None or not median or self.drift is not None or self.n_processes < FEWEST_PROCESSES:
            return None
        return (ends[1] - ends[0]) / 2 / median

    @property
    def is_settled(self) -> bool:
        """Whether more processes would hardly change what is said of it: its interval is narrow, its level is kept."""
        share = self.relative_half_width
        return share is not None and share <= WIDE_HALF_WIDTH

    @property
    def known_within(self) -> tuple[float, float] | None:
        """Between what its median is known, for its digits: a level that moved is known no better than that."""
        if self.drift is None or self.median_ns is None:
            return self.median_ends
        half = abs(self.median_ns * self.drift.share) / 2
        return self.median_ns - half, self.median_ns + half

    def figures(self, shown: str | None = None) -> Figures | None:
        """Its median with the ends of its interval as every view writes them, in the unit ``shown`` or what suits it.

        None where it has none. A level that drifted has no interval.
        """
        if self.value is not None:
            return figures(self.value, self.value_low, self.value_high, self.unit, shown=shown)
        if self.median_ns is None:
            return None
        if self.drift is None:
            low, high = self.known_within or (None, None)
            return figures(self.median_ns, low, high, shown=shown, resolution=self.resolution_ns)
        # Two digits at least, however far its level moved: with one, 112 would be 100, below its least sample.
        half = abs(self.median_ns) * min(abs(self.drift.share) / 2, _TWO_DIGITS)
        ends = self.median_ns - half, self.median_ns + half
        return figures(self.median_ns, *ends, shown=shown, resolution=self.resolution_ns)._replace(low="", high="")

    @property
    def free_placement(self) -> str | None:
        """Where the tasks were seen to run if that was left to the kernel; None where it was asked for."""
        return self.placement if self.condition.get("placement") == "free" else None


#: What a comparison writes of the row that it is of, and of the estimate on each of its sides.
OF_ROW = Only("of_row", ("workload", "temperature", "stage", "placement", "quantity", "unit"))
SIDE_KEYS = (
    "cell",
    "median_ns",
    "median_low_ns",
    "median_high_ns",
    "value",
    "value_low",
    "value_high",
    "n_samples",
    "n_processes",
)


ShareOrNone = Annotated[float | None, Ge(0)]


@dataclass(frozen=True)
class LeftOut:
    """A cell that could not be compared, and why."""

    cell: str
    reason: str


class MachineWord(StrEnum):
    """Whether others were at work while a run was measured, and whether its figures contain it."""

    QUIET = "QUIET"
    #: Most figures leave out what others disturbed.
    BUSY = "BUSY"
    #: Most figures contain it.
    NOISY = "NOISY"


@dataclass(frozen=True)
class MachineState:
    """In what state the machine was, in a word, and what that did to the figures."""

    word: MachineWord
    sentence: Annotated[Sentence, "The word with its reason, and what it does to the figures."]
    share_shared: Annotated[
        float | None, Ge(0), Le(1), "In which share of the time the core was shared; None where nothing sensed it."
    ]
    others_take: Annotated[
        float | None, Gt(0), "How many times as long launches take then, as the median of the rows; None: not known."
    ]
    rows_alone: Annotated[Count, "Rows that leave such launches out."]
    rows: Annotated[Count, "Rows of which it is known how many launches were such."]

    @property
    def is_quiet(self) -> bool:
        """Whether nothing was at work beside the run."""
        return self.word is MachineWord.QUIET


@dataclass(frozen=True)
class Finding:
    """A sentence computed from the results. A ratio stands as ratio, ratio_low, ratio_high.

    ``headline`` says the most of it in one line of a terminal, and is empty where there is no shorter way than the
    sentence.
    """

    id: Annotated[str, Pattern(r"^[a-z0-9_]\S*$")]
    sentence: Sentence
    numbers: Annotated[Mapping[str, Any], "The numbers behind it; cells names the evidence."]
    headline: Annotated[str, Mark.UNWRITTEN] = ""
    #: Its place among those that say what the run was made to find out, which the first screen begins with; None: it
    #: is none of them.
    answers: Annotated[Sequence[int] | None, Mark.UNWRITTEN] = None

    @property
    def tag(self) -> str:
        """How sure it is, in brackets; nothing where the sentence says that, or it is no verdict."""
        word = str(self.numbers.get("sureness", ""))
        return f"[{word}]" if word and word not in self.sentence else ""

    @property
    def states_difference(self) -> bool:
        """Whether its verdict is a difference; also true of what has no verdict."""
        return bool(self.numbers.get("verdict") != Direction.UNKNOWN)

    @property
    def stated_ratio(self) -> tuple[float, float | None, float | None] | None:
        """The ratio with its ends as the sentence says it, above 1; None where it has none or its verdict denies it."""
        ratio = self.numbers.get("ratio")
        if not isinstance(ratio, int | float) or not self.states_difference:
            return None
        low, high = self.numbers.get("ratio_low"), self.numbers.get("ratio_high")
        if ratio >= 1:
            return ratio, low, high
        return 1 / ratio, 1 / high if high else None, 1 / low if low else None


#: Stands in a command for the name of the run's file.
RUN_FILE = "RUN"


@dataclass(frozen=True)
class NextCommand:
    """A command to try next: its words without ``clonometer``, `RUN_FILE` among them, and what it is for."""

    words: Sequence[str]
    about: str


@dataclass(frozen=True)
class FirstScreen:
    """What is said of a run before all else, as findings: each with its id, its sentence and the rows behind it."""

    answer: Annotated[Sequence[Finding], "What it takes: two sentences at most."] = ()
    reasons: Annotated[Sequence[Finding], Key("why"), "Why, from measured differences: three at most."] = ()
    advice: Annotated[Sequence[Finding], Key("what_to_do"), "What to do, from measured rows: three at most."] = ()
    doubts: Annotated[Sequence[Finding], "What weakens trust in the figures, worst first, in a few words each."] = ()
    open: Annotated[Sequence[NextCommand], Mark.OPTIONAL, "Questions that are open, with what closes each."] = ()
    next: Annotated[NextCommand | None, "What to ask next."] = None
    #: The question that was asked first, as it stands; None where there is none.
    asked: Annotated[Any, Mark.UNWRITTEN] = None


@dataclass(frozen=True, kw_only=True)
class Results:
    """All that is known of a run, for views: estimates, findings, plots and facts; JSON has all but the plots."""

    schema = version(RESULTS_SCHEMA)

    status: Annotated[str, OneOf(("complete", "partial", "failed"))]
    status_reason: Annotated[str | None, "Why the run is not complete."]
    run_name: Annotated[str, Key("run"), "Name of the run's file, or empty."]
    clonometer_version: str
    started: Annotated[str, "ISO 8601 with UTC offset."]
    duration_s: Annotated[float, Ge(0)]
    plan_name: Annotated[str, Key("plan"), "Name of the plan."]
    command: Annotated[Sequence[str], "The command line that repeats the run."]
    seed: int
    n_processes: Count
    n_samples: Annotated[Count, "Launches tried, including failed ones."]
    host: Annotated[Mapping[str, Any], "Host facts, see docs/host.md."]
    clock: Annotated[Mapping[str, Any], "The calibration, see docs/protocol.md."]
    cells: Sequence[Estimate]
    cell_outcomes: Sequence[CellOutcome]
    missing_languages: Annotated[
        Sequence[MissingLanguage],
        Mark.OPTIONAL,
        "Languages that the plan asked for, but which are not on the machine or could not be made ready.",
    ] = ()
    machine: Annotated[
        MachineState | None, Mark.OPTIONAL, "The machine's state; None where nothing tells it, as in older runs."
    ] = None
    first: Annotated[FirstScreen, Mark.OPTIONAL, "What the first screen says."] = FirstScreen()
    findings: Sequence[Finding]
    warnings: Sequence[RunWarning]
    ecdfs: Annotated[Sequence[EcdfSeries], Mark.UNWRITTEN]
    scans: Annotated[Sequence[ScanSeries], Mark.UNWRITTEN] = ()
    #: By name, as clonometer.results.series offers.
    series: Annotated[Mapping[str, Sequence[Any]], Mark.UNWRITTEN] = field(default_factory=dict)
    #: Workload id -> one line of explanation, from the catalogue.
    summaries: Annotated[Mapping[str, str], Mark.UNWRITTEN]

    @property
    def process_medians(self) -> Sequence[Sequence[float]]:
        """The medians of the processes of each of its cells, in ns where the unit is a time."""
        return [cell.process_medians for cell in self.cells]

    @property
    def is_disturbed(self) -> bool:
        """Whether others are known to have been at work: the best launch then says what the median does not."""
        return self.machine is not None and not self.machine.is_quiet

    @computed_field(after="cell_outcomes")
    def fits(self) -> Annotated[Sequence[FitSeries], Mark.OPTIONAL]:
        """The lines that were fitted."""
        return self.series.get("fits", ())

    @computed_field(after="fits")
    def ablations(self) -> Annotated[Sequence[AblationSeries], Mark.OPTIONAL]:
        """What was taken away rung by rung."""
        return self.series.get("ablations", ())
