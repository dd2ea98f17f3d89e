"""What results hand to views for drawing: arrays ready to plot, as plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated

from clonometer.records import Count, Ge

#: The axis that says whether tasks are threads or processes: by it they are compared.
TASK_KIND = "task_kind"
#: What is compared, first less second.
SIDES = ("thread", "process")
#: The language that others are compared with.
REFERENCE = "C"
#: A value and the ends of its 95% interval.
ValueWithEnds = tuple[float, float, float]


@dataclass(frozen=True)
class EcdfSeries:
    """An empirical distribution ready to plot: sorted times in ns and the fraction of samples at or below each.

    At most 400 points; the ends are kept.
    """

    cell: str
    workload: str
    family: str
    stage: str
    placement: str | None
    temperature: str | None
    x_ns: Sequence[float]
    fraction: Sequence[float]


@dataclass(frozen=True)
class ScanSeries:
    """A quantity against one numeric axis: medians with their intervals, all else being the same.

    Attributes
    ----------
    workload, family
        From the catalogue.
    axis, axis_kind
        The axis, and ``bytes`` or ``count``.
    stage, quantity, unit
        What was measured, and ``ns`` or ``B/s``; ``stage`` is None outside launches.
    temperature, placement
        ``cold``, ``warm`` or None; where the tasks ran, if that was left free.
    condition
        The other axes that are off their default; of launches against the parent's memory also of what it is made, and
        in what state it is.
    x
        Values of the axis, rising, at least two.
    medians, lows, highs
        One for each of them, in ``unit``.
    detail
        Whether the quantity explains another one.
    phase
        Whether it is a phase of one event, as its workload's other quantities are.
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
    medians: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]
    unit: str = "ns"
    detail: bool = False
    phase: bool = False

    def at(self, places: Sequence[int]) -> ScanSeries:
        """The same line with some of its points."""
        medians, lows, highs = (
            tuple(column[place] for place in places) for column in (self.medians, self.lows, self.highs)
        )
        return replace(self, x=tuple(self.x[place] for place in places), medians=medians, lows=lows, highs=highs)


@dataclass(frozen=True)
class FitSeries:
    """A polynomial through a quantity along an axis, see docs/workloads.md."""

    workload: str
    family: str
    quantity: str
    axis: str
    condition: Annotated[Mapping[str, int | str], "The other axes that are off their default."]
    points: Annotated[Sequence[int], "The values of the axis that it goes through, rising."]
    coefficients: Annotated[
        Sequence[ValueWithEnds],
        "From the constant up, ns per unit of the axis to that power; each with the ends of its 95% interval.",
    ]
    r_squared: Annotated[ValueWithEnds, "R2 of the process medians, with its ends."]
    n_values: Annotated[Count, "Process medians that it rests on."]
    x: Annotated[Sequence[float], "Points of the curve."]
    y_ns: Sequence[float]


@dataclass(frozen=True)
class AblationRung:
    """Both sides under one condition, and what is left of the gap between them; each with the ends of its interval."""

    axis: Annotated[str | None, "What changed from the rung before; None on the first."]
    value: Annotated[int | str | None, "Its value now."]
    first_ns: Annotated[float, Ge(0)]
    second_ns: Annotated[float, Ge(0)]
    gap_ns: Annotated[ValueWithEnds, "The first side's median less the second's."]
    gap_relative: Annotated[ValueWithEnds, "The same as a share of the second side."]
    step_ns: Annotated[ValueWithEnds | None, "By how much the gap is smaller than before; None on the first rung."]
    share: Annotated[
        ValueWithEnds | None, "The same as a share of the first gap; None also where that gap's interval contains 0."
    ]


@dataclass(frozen=True)
class AblationSeries:
    """How the gap between two sides shrinks as one thing after the other is taken away."""

    workload: str
    quantity: str
    axis: Annotated[str, "The axis whose values the sides are."]
    sides: tuple[str, str]
    condition: Annotated[Mapping[str, int | str], "What the first rung has off its default."]
    rungs: Annotated[Sequence[AblationRung], Ge(1)]
    remainder_share: Annotated[
        ValueWithEnds | None,
        "The last gap as a share of the first: unexplained; None where the first gap's interval contains 0.",
    ]
    n_processes: Annotated[Count, "The fewest of any side."]


@dataclass(frozen=True)
class FootprintBar:
    """What one idle task holds, taken apart: the name of each part and its bytes, those of nothing left out."""

    label: str
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
class ServerRow:
    """One server under one load.

    Attributes
    ----------
    workload, load
        The design, and the axes that are off their defaults, the rate always among them.
    median_ns, p99_ns
        Latencies within which half and 99% of the requests are answered; None where there are too few.
    cpu_ns
        CPU time of the server for each request.
    fell_behind
        Whether it could not keep up.
    """

    workload: str
    load: tuple[tuple[str, int | str], ...]
    median_ns: float
    p99_ns: float | None
    cpu_ns: float | None
    fell_behind: bool


@dataclass(frozen=True)
class IsolationRow:
    """What became of one kind of failure in one arrangement of workers.

    Attributes
    ----------
    fault, arrangement
        The axis' value; ``thread``, ``process`` or ``pool``.
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
    siblings: int
    survivors: int
    damaged: int
    parent_alive: bool
    signal: int
    times_ns: Mapping[str, tuple[float, float, float]]


@dataclass(frozen=True)
class LanguageRow:
    """What each language takes for one thing under one condition.

    Attributes
    ----------
    head, thing
        What it is, as a heading and in a sentence.
    condition
        The axes that are off their default.
    temperature
        ``cold`` for first launches, else ``warm``.
    times_ns
        Language -> median with the ends of its interval; ``C`` first, where C does the same.
    unsteady
        Languages of which a quarter of the processes, or more, never came to a steady level.
    created
        Language -> tasks of the kernel that a launch creates, as counted; None where other programs hide it.
    reused
        Languages whose later launches use what the first one has created.
    is_instrument
        The thing is what a driver itself takes, with nothing launched: it is part of the times of other things.
    """

    head: str
    thing: str
    condition: Mapping[str, int | str]
    temperature: str | None
    times_ns: Mapping[str, ValueWithEnds]
    unsteady: Sequence[str] = ()
    created: Mapping[str, int | None] = field(default_factory=dict)
    reused: Sequence[str] = ()
    is_instrument: bool = False
