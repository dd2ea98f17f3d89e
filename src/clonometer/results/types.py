"""What results hand to views, exports and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clonometer.results.ended import CellStatus
from clonometer.results.series.types import (
    AblationSeries,
    EcdfSeries,
    FitSeries,
    FootprintBar,
    IsolationRow,
    LadderSeries,
    ScanSeries,
)

RESULTS_SCHEMA = 1
#: Below this share of a median no difference counts, however sure it is.
LEAST_EFFECT = 0.02
#: With 3 processes a side, one lies wholly above the other in 2 of 20 orders by chance alone; with 4, 2 of 70.
FEWEST_PROCESSES = 4


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
        ``call_returns``, ``task_runs``, ``image_entered``, ``image_runs``, ``image_ends``, ``reaped``, or None
        outside launches.
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
    summaries: Mapping[str, str]  # workload id -> one line of explanation, from the catalogue
    process_medians: Sequence[Sequence[float]] = ()  # for each of cells, in order of time; ns where the unit is a time
    scans: Sequence[ScanSeries] = ()
    footprints: Sequence[FootprintBar] = ()
    fits: Sequence[FitSeries] = ()
    ablations: Sequence[AblationSeries] = ()
    ladders: Sequence[LadderSeries] = ()
    isolation: Sequence[IsolationRow] = ()
