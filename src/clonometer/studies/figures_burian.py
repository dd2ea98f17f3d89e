"""The numbers of Burian's six figures, which are computed from many cells."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from clonometer.stats.interval import Interval
from clonometer.studies.judge import Judge, MissingEvidenceError
from clonometer.studies.published import UNITS
from clonometer.studies.workers import (
    DENSE,
    LINE,
    PROCESS,
    THREAD,
    Experiment,
    by_numbers,
    by_workers,
    coefficients,
    fit,
    gap,
)

Computed = tuple[Interval | None, tuple[str, ...]]


def dense(judge: Judge) -> Experiment:
    """The stretch of figure 1, or the closest points that were measured where it was not."""
    whole = by_numbers(judge.measured)
    stretch = whole.between(*DENSE)
    if len(stretch.x) > 2:
        return stretch
    x = whole.x
    steps = [b - a for a, b in pairwise(x)]
    least = min(steps)
    close = [x[place + more] for place, step in enumerate(steps) if step <= 1.5 * least for more in (0, 1)]
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
        raise MissingEvidenceError("work.factor: there is but one CPU here, on which more workers gain nothing")
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
