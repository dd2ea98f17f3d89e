"""Burian's two experiments as they were measured here: whole times by kind, numbers and workers; fits through them.

And the numbers of his six figures, which are computed from many cells.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.stats.factorial import mean_ratio
from clonometer.stats.interval import Interval
from clonometer.stats.polynomial import Polynomial, polynomial_through_medians, ratio_of_coefficients
from clonometer.studies.cells import axes_of
from clonometer.studies.judge import Judge, MissingEvidenceError
from clonometer.studies.measured import Measurements
from clonometer.studies.published import UNITS
from clonometer.units import format_number

WORKLOAD = "work.factor"
WHOLE = "whole_ns"
THREAD, PROCESS = "thread", "process"
#: Defaults of the axes, which texts of cells leave out.
_NUMBERS, _WORKERS = 1000, 1
_OWN_AXES = {"task_kind", "numbers", "workers"}
#: As in the study: the stretch of figure 1, and the line of figure 4.
DENSE = (11_000, 11_200)
LINE = (9, 30)
Computed = tuple[Interval | None, tuple[str, ...]]


@dataclass(frozen=True)
class Experiment:
    """One experiment: ``points`` has for each kind x and the row there, rising; ``held`` is the other number."""

    points: Mapping[str, Sequence[tuple[int, RunEstimate]]]
    held: int

    def between(self, low: float, high: float) -> Experiment:
        """The part of it from ``low`` to ``high``, ends included."""
        kept = {kind: [point for point in rows if low <= point[0] <= high] for kind, rows in self.points.items()}
        return Experiment(kept, self.held)

    @property
    def x(self) -> list[int]:
        """Where both kinds were measured."""
        other = {x for x, _ in self.points[PROCESS]}
        return [x for x, _ in self.points[THREAD] if x in other]

    @property
    def cells(self) -> tuple[str, ...]:
        """The evidence."""
        return tuple(row.cell for points in self.points.values() for _, row in points)

    def pair(self, x: int) -> tuple[RunEstimate, RunEstimate]:
        """Threads and processes at one x."""
        return dict(self.points[THREAD])[x], dict(self.points[PROCESS])[x]


def by_numbers(measured: Measurements) -> Experiment:
    """Experiment 1: the numbers are varied, the workers held; MissingEvidenceError where it was not measured."""
    return _experiment(measured, WHOLE, vary=0)


def by_workers(measured: Measurements, quantity: str = WHOLE) -> Experiment:
    """Experiment 2: the workers are varied, the numbers held; MissingEvidenceError where it was not measured."""
    return _experiment(measured, quantity, vary=1)


def _experiment(measured: Measurements, quantity: str, vary: int) -> Experiment:
    rows_of: dict[int, dict[str, dict[int, RunEstimate]]] = {}
    for text in measured.cells:
        workload, axes = axes_of(text)
        row = measured.find(text, quantity)
        if workload != WORKLOAD or set(axes) - _OWN_AXES or row is None:
            continue
        place = (int(axes.get("numbers", _NUMBERS)), int(axes.get("workers", _WORKERS)))
        kind = axes.get("task_kind", THREAD)
        rows_of.setdefault(place[1 - vary], {}).setdefault(kind, {})[place[vary]] = row
    whole = [(held, kinds) for held, kinds in rows_of.items() if {THREAD, PROCESS} <= set(kinds)]
    held, kinds = max(whole, key=lambda experiment: len(experiment[1][THREAD]), default=(0, {}))
    if not kinds or len(kinds[THREAD]) < 3:
        why = measured.why_none(WORKLOAD, "workers were not measured in this run")
        raise MissingEvidenceError(f"{WORKLOAD}: {why}")
    return Experiment({kind: sorted(points.items()) for kind, points in kinds.items()}, held)


def gap(judge: Judge, experiment: Experiment) -> Interval:
    """Threads over processes, the geometric mean over an experiment's points; MissingEvidenceError without any."""
    pairs = [experiment.pair(x) for x in experiment.x]
    if not pairs:
        raise MissingEvidenceError(f"{WORKLOAD}: no point of this stretch was measured")
    return mean_ratio([(a.processes, b.processes) for a, b in pairs], seed=judge.seed(*pairs[0], *pairs[-1]))


def fit(judge: Judge, experiment: Experiment, kind: str, degree: int) -> Polynomial:
    """A polynomial through one kind's points; MissingEvidenceError where they are too few."""
    points = experiment.points[kind]
    if len(points) <= degree:
        raise MissingEvidenceError(f"{WORKLOAD}: too few points were measured for a fit")
    return polynomial_through_medians(
        [x for x, _ in points],
        [row.processes.values for _, row in points],
        degree,
        seed=judge.seed(points[0][1], points[-1][1]),
    )


def coefficients(judge: Judge, experiment: Experiment, power: int) -> Interval | None:
    """One coefficient of the line of the threads over the same of the processes'; None where one may be zero."""
    threads, processes = (fit(judge, experiment, kind, 1) for kind in (THREAD, PROCESS))
    return ratio_of_coefficients(threads, processes, power)


def say_r_squared(r_squared: Interval) -> str:
    """R2 with its interval; one at or below zero is no share, and its curve says no more than a mean.

    Examples
    --------
    >>> say_r_squared(Interval(-0.0056, -0.4, 0.3, 0.95, "made", 12))
    'not shown to be above 0'
    """
    if r_squared.low <= 0:
        return "not shown to be above 0"
    low, high = f"{r_squared.low:.3f}", f"{r_squared.high:.3f}"
    return format_number(*r_squared.ends) + ("" if low == high else f" ({low} to {high})")


def dense(judge: Judge) -> Experiment:
    """The stretch of figure 1, or the closest points that were measured where it was not."""
    whole = by_numbers(judge.measured)
    stretch = whole.between(*DENSE)
    if len(stretch.x) > 2:
        return stretch
    x = whole.x
    steps = [b - a for a, b in pairwise(x)]
    least = min(steps)
    close = [x[index + more] for index, step in enumerate(steps) if step <= 1.5 * least for more in (0, 1)]
    return whole.between(min(close), max(close))


def computed(id_: str, judge: Judge) -> list[Computed]:
    """The numbers of one of Burian's figures, in the order and the units of the published ones.

    MissingEvidenceError where it was not measured.
    """
    return _FIGURES[id_](judge)


def _u1(judge: Judge) -> list[Computed]:
    part = dense(judge)
    return [(gap(judge, part), part.cells)]


def _u2(judge: Judge) -> list[Computed]:
    whole = by_numbers(judge.measured)
    figures: list[Computed] = []
    for kind in (THREAD, PROCESS):
        line = fit(judge, whole, kind, 2)
        figures += [(line.coefficients[power].over(UNITS["day"]), whole.cells) for power in (2, 1, 0)]
        figures.append((line.r_squared, whole.cells))
    return figures


def _u3(judge: Judge) -> list[Computed]:
    workers = by_workers(judge.measured)
    cpus = judge.measured.cpus
    parts = (workers.between(1, cpus), workers.between(cpus + 1, LINE[1]))
    return [(gap(judge, part), part.cells) for part in parts]


def _u4(judge: Judge) -> list[Computed]:
    line = by_workers(judge.measured).between(*LINE)
    slopes = [coefficients(judge, line, power) for power in (1, 0)]
    return [
        *((slope, line.cells) for slope in slopes),
        *((fit(judge, line, kind, 1).r_squared, line.cells) for kind in (PROCESS, THREAD)[::-1]),
    ]


def _u5(judge: Judge) -> list[Computed]:
    each = by_workers(judge.measured, "whole_each_ns")
    cpus = judge.measured.cpus
    if cpus < 2:
        raise MissingEvidenceError("work.factor: there is only one CPU here, on which more workers gain nothing")
    if cpus not in each.x or 1 not in each.x:
        raise MissingEvidenceError(f"work.factor: 1 and {cpus} workers were not both measured")
    figures: list[Computed] = []
    for place in (1, 0):
        many, alone = each.pair(cpus)[place], each.pair(1)[place]
        figures.append((judge.ratio(many, alone), (many.cell, alone.cell)))
    return figures


def _u6(judge: Judge) -> list[Computed]:
    workers = by_workers(judge.measured)
    last = workers.between(workers.x[-1], workers.x[-1])
    return [(gap(judge, last), last.cells)]


_FIGURES: dict[str, Callable[[Judge], list[Computed]]] = {
    "U1": _u1,
    "U2": _u2,
    "U3": _u3,
    "U4": _u4,
    "U5": _u5,
    "U6": _u6,
}
