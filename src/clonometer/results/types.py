"""What results hand to views, exports and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clonometer.results.ended import CellStatus

RESULTS_SCHEMA = 1


@dataclass(frozen=True)
class RunWarning:
    """Something that weakens a number, as data.

    ``id`` is stable and dotted (``processes.few``); ``sentence`` says what was seen, with numbers; ``next_step``
    what to do about it. ``alike`` counts the further warnings of that id for which a run says this one: those
    of its other rows, each different sentence once. A row's own warning has none.
    """

    id: str
    sentence: str
    next_step: str
    alike: int = 0


@dataclass(frozen=True)
class Estimate:
    """One cell, stage and observed placement: the row of every table (the entry of ``cells`` in ``show --json``).

    Attributes
    ----------
    cell, workload, condition, temperature
        As in the plan; ``condition`` has every axis of the workload, sizes in bytes.
    stage
        ``call_returns``, ``task_runs``, ``image_runs``, ``reaped``, or None outside launches.
    placement
        Observed: ``same_cpu``, ``other_cpu``, or None where it was not observed. One entry for each that occurred.
    quantity, unit
        The driver's column and its unit.
    n_samples, n_processes
        Counts of successful samples and of the processes they came from.
    median_ns, median_low_ns, median_high_ns
        Median of process medians with its 95% interval, in ns; None where ``unit`` is no time, or no sample. The
        ends are None where there is but one process.
    p99_ns, p99_reason
        Pooled 99th percentile in ns, or None with the reason.
    min_ns
        The smallest sample in ns.
    effective_mhz
        Median effective frequency of the CPUs used; None where it was not measured.
    resolution_ns
        Below this a figure is printed as ``< x``.
    mean_ns, mad_ns
        Mean of process means, and median absolute deviation from the median (not scaled), in ns; None as the median.
    n_modes, modes
        How many modes the samples have, and where there are several their ``value_ns`` and ``share`` of the samples;
        None where a sample is not above zero.
    drift
        Processes that did not keep their level over the run: ``kind`` (``trend``, ``wandering``) and ``share`` of the
        median; None where they did.
    warm_up
        The first ``samples`` of each process that differ from the steady rest by ``share``; None where none do.
    outliers
        ``count`` of samples above the outer fence, ``causes`` (recorded fact -> how many of them), ``unexplained``.
    relative_error
        The largest relative error of p99, minimum, MAD and modes: above 0 only for cells so large that samples are
        counted in buckets.
    family, linkage
        From the catalogue and the condition, for grouping.
    rankable, not_rankable_reason
        Whether this row may take part in a ranking (vfork's ``call_returns`` may not).
    signed
        Whether a value below zero means something, as for the offset of two clocks.
    detail
        Whether it explains another quantity of its workload: no finding is about it, and no short table has it.
    value, value_low, value_high
        Where ``unit`` is no time: median of process medians with its 95% interval, in ``unit``; else None.
    """

    cell: str
    workload: str
    condition: Mapping[str, int | str]
    temperature: str | None
    stage: str | None
    placement: str | None
    quantity: str
    unit: str
    n_samples: int
    n_processes: int
    median_ns: float | None
    median_low_ns: float | None
    median_high_ns: float | None
    p99_ns: float | None
    p99_reason: str | None
    min_ns: float | None
    effective_mhz: float | None
    resolution_ns: float
    family: str
    rankable: bool = True
    not_rankable_reason: str | None = None
    outcomes: Mapping[str, int] = field(default_factory=dict)
    clock_skew: int = 0
    warnings: tuple[RunWarning, ...] = ()
    signed: bool = False
    detail: bool = False
    value: float | None = None
    value_low: float | None = None
    value_high: float | None = None
    mean_ns: float | None = None
    mad_ns: float | None = None
    n_modes: int | None = None
    modes: Sequence[Mapping[str, float]] = ()
    drift: Mapping[str, Any] | None = None
    warm_up: Mapping[str, Any] | None = None
    outliers: Mapping[str, Any] | None = None
    relative_error: float = 0.0

    @property
    def is_first_launch(self) -> bool:
        """Whether it is of the one cold launch of each process, not of warm ones."""
        return self.temperature == "cold"


@dataclass(frozen=True)
class Finding:
    """A sentence computed from the results, with the numbers it rests on.

    ``numbers`` maps names to numbers, texts or lists of them; a ratio stands as ``ratio``, ``ratio_low``,
    ``ratio_high``; ``cells`` names the evidence. ``headline`` says the most of it in one line of a terminal, and is
    empty where there is no shorter way than the sentence.
    """

    id: str
    sentence: str
    numbers: Mapping[str, Any]
    headline: str = ""


@dataclass(frozen=True)
class EcdfSeries:
    """An empirical distribution ready to plot: sorted times in ns and the fraction of samples at or below each.

    At most 400 points; the ends are kept.
    """

    label: str
    cell: str
    workload: str
    family: str
    stage: str
    placement: str | None
    temperature: str | None
    x_ns: Sequence[float]
    fraction: Sequence[float]


@dataclass(frozen=True)
class MemorySeries:
    """Launch time against the parent's memory, for one workload and stage: medians with their intervals, in ns.

    ``pages`` is the state of that memory at each launch, ``page_kind`` what it is made of (docs/protocol.md).
    """

    workload: str
    label: str
    stage: str
    pages: str
    parent_bytes: Sequence[int]
    median_ns: Sequence[float]
    low_ns: Sequence[float]
    high_ns: Sequence[float]
    page_kind: str = "4k"


@dataclass(frozen=True)
class ScanSeries:
    """A quantity against one numeric axis: medians with their intervals, in ns, all else being the same.

    Attributes
    ----------
    workload, family
        From the catalogue.
    axis, axis_kind
        The axis, and ``bytes`` or ``count``.
    stage, quantity
        What was timed; ``stage`` is None outside launches.
    temperature, placement
        ``cold``, ``warm`` or None; where the tasks ran, if that was left free.
    condition
        The other axes that are off their default.
    x
        Values of the axis, rising, at least two.
    median_ns, low_ns, high_ns
        One for each of them.
    detail
        Whether the quantity explains another one.
    """

    workload: str
    family: str
    axis: str
    axis_kind: str
    stage: str | None
    quantity: str
    temperature: str | None
    placement: str | None
    condition: Mapping[str, int | str]
    x: Sequence[int]
    median_ns: Sequence[float]
    low_ns: Sequence[float]
    high_ns: Sequence[float]
    detail: bool = False


@dataclass(frozen=True)
class FitSeries:
    """A polynomial through a scan, ready to print and to plot.

    Attributes
    ----------
    workload, family, quantity, axis, condition
        As in `ScanSeries`.
    points
        The values of the axis that it goes through, rising.
    coefficients
        From the constant up, each with the ends of its 95% interval: ns per unit of the axis to that power.
    r_squared
        R2 of the process medians, with its ends.
    n_values
        How many process medians there are.
    x, y_ns
        Points of the curve.
    """

    workload: str
    family: str
    quantity: str
    axis: str
    condition: Mapping[str, int | str]
    points: Sequence[int]
    coefficients: Sequence[tuple[float, float, float]]
    r_squared: tuple[float, float, float]
    n_values: int
    x: Sequence[float]
    y_ns: Sequence[float]


@dataclass(frozen=True)
class FitPanel:
    """One chart of scans and the curves through them: the whole of an axis, or a part of it that is worth a look.

    ``part`` is ``whole``, ``dense`` (where the points lie closest), ``fitted`` (where the curves go) or ``each``
    (another quantity: the time divided by what the axis counts). ``series`` and ``fits`` are cut to that part.
    """

    axis: str
    part: str
    quantity: str
    condition: Mapping[str, int | str]
    series: Sequence[ScanSeries]
    fits: Sequence[FitSeries]


@dataclass(frozen=True)
class AblationRung:
    """Both sides under one condition, in ns, and what is left of the gap between them.

    ``axis`` and ``value`` are what changed from the rung before, None on the first. ``gap_ns`` is the first side's
    median less the second's, ``gap_relative`` that as a share of the second's, ``step_ns`` how much smaller the gap is
    than before, ``share`` that as a share of the first gap: each with the ends of its interval; ``step_ns`` is None on
    the first rung, ``share`` also where the first gap's interval contains 0.
    """

    axis: str | None
    value: int | str | None
    first_ns: float
    second_ns: float
    gap_ns: tuple[float, float, float]
    gap_relative: tuple[float, float, float]
    step_ns: tuple[float, float, float] | None
    share: tuple[float, float, float] | None


@dataclass(frozen=True)
class AblationSeries:
    """How the gap between two sides, values of ``axis``, shrinks as one thing after the other is taken away.

    ``condition`` is what the first rung has off its default; ``remainder_share`` the last gap as a share of the first,
    with its ends, None where the first gap's interval contains 0.
    """

    workload: str
    quantity: str
    axis: str
    sides: tuple[str, str]
    condition: Mapping[str, int | str]
    rungs: Sequence[AblationRung]
    remainder_share: tuple[float, float, float] | None
    n_processes: int


@dataclass(frozen=True)
class FootprintBar:
    """What one idle task holds, taken apart: the name of each part and its bytes, those of nothing left out."""

    label: str
    cell: str
    workload: str
    parts_bytes: Mapping[str, float]


@dataclass(frozen=True)
class LadderStep:
    """What one value in ``one_in`` reaches or exceeds, in ns with its interval; ``one_in`` is 0 for the longest."""

    one_in: int
    median_ns: float
    low_ns: float
    high_ns: float


@dataclass(frozen=True)
class LadderSeries:
    """A distribution as a ladder of quantiles, of one cell: medians of processes, as of any quantity.

    Attributes
    ----------
    workload, cell
        Whose it is.
    of, name
        What it is a distribution of, and which of the workload's several it is: ``during the call``.
    condition
        The axes that are off their default, and the numbers that other cells vary.
    count
        How many values a sample had, as a median.
    steps
        From the most frequent value to the longest.
    """

    workload: str
    cell: str
    of: str
    name: str
    condition: Mapping[str, int | str]
    count: float
    steps: Sequence[LadderStep]


@dataclass(frozen=True)
class IsolationRow:
    """What became of one kind of failure in one arrangement of workers.

    Attributes
    ----------
    fault, arrangement
        The axis' value; ``thread``, ``process`` or ``pool``.
    cell
        The evidence.
    siblings, survivors, damaged
        How many others there were, live on, and go on with damaged data.
    parent_alive
        Whether the process that started them lives on.
    signal
        The number of the signal that its end was seen by; 0 for none.
    times_ns
        ``known``, ``replaced``, ``restored`` -> median with the ends of its interval; empty where nobody notices.
    """

    fault: str
    arrangement: str
    cell: str
    siblings: int
    survivors: int
    damaged: int
    parent_alive: bool
    signal: int
    times_ns: Mapping[str, tuple[float, float, float]]


@dataclass(frozen=True)
class MessageSeries:
    """Messages of one way between tasks, by their size: latency, and bandwidth of a stream.

    Attributes
    ----------
    workload, task_kind
        The way, and ``thread`` or ``process``.
    placement
        Where the tasks ran, if that was left free.
    condition
        The other axes that are off their default, ``message_bytes`` and ``task_kind`` left out.
    message_bytes
        Rising.
    latency_ns, latency_low_ns, latency_high_ns
        Half a round trip, one for each size.
    bandwidth, bandwidth_low, bandwidth_high
        Bytes per second, one for each size: the size over the time of a message of a stream.
    """

    workload: str
    task_kind: str
    placement: str | None
    condition: Mapping[str, int | str]
    message_bytes: Sequence[int]
    latency_ns: Sequence[float]
    latency_low_ns: Sequence[float]
    latency_high_ns: Sequence[float]
    bandwidth: Sequence[float]
    bandwidth_low: Sequence[float]
    bandwidth_high: Sequence[float]


@dataclass(frozen=True)
class Results:
    """All that is known of a run, for views: estimates, findings, plots and facts."""

    run_name: str
    status: str
    status_reason: str | None
    plan_name: str
    started: str
    duration_s: float
    command: Sequence[str]
    host: Mapping[str, Any]
    clock: Mapping[str, Any]
    clonometer_version: str
    seed: int
    n_processes: int
    n_samples: int
    cells: Sequence[Estimate]
    cell_statuses: Sequence[CellStatus]
    findings: Sequence[Finding]
    warnings: Sequence[RunWarning]
    ecdfs: Sequence[EcdfSeries]
    memory: Sequence[MemorySeries]
    summaries: Mapping[str, str]  # workload id -> one line of explanation, from the catalogue
    process_medians: Sequence[Sequence[float]] = ()  # for each of cells, in order of time; ns where the unit is a time
    scans: Sequence[ScanSeries] = ()
    phases: Sequence[ScanSeries] = ()  # as scans, of quantities that are phases of one event
    footprints: Sequence[FootprintBar] = ()
    fits: Sequence[FitSeries] = ()
    ablations: Sequence[AblationSeries] = ()
    fit_panels: Sequence[FitPanel] = ()
    messages: Sequence[MessageSeries] = ()
    ladders: Sequence[LadderSeries] = ()
    isolation: Sequence[IsolationRow] = ()
