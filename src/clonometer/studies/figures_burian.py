"""Burian's six figures: the numbers that are computed from many cells, and the plots."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise

from clonometer.stats.interval import Interval
from clonometer.stats.polynomial import Polynomial
from clonometer.studies.judge import Judge, MissingEvidenceError
from clonometer.studies.lines import line_of
from clonometer.studies.types import Curve, CurveLine
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

NS_PER_MS, NS_PER_DAY = 1e6, 86400e9
_NAMES = {THREAD: "threads", PROCESS: "processes"}
_CURVE_POINTS = 60
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
        figures += [(line.coefficients[power].over(NS_PER_DAY), whole.cells) for power in (2, 1, 0)]
        figures.append((line.r_squared, whole.cells))
    return figures


def _u3(judge: Judge) -> list[Computed]:
    workers = by_workers(judge.measured)
    cpus = judge.measured.cpus
    parts = (workers.between(1, cpus), workers.between(cpus + 1, LINE[1]))
    return [(gap(judge, part), part.cells) for part in parts]


def _u4(judge: Judge) -> list[Computed]:
    line = by_workers(judge.measured).between(*LINE)
    slopes = [coefficients(judge, line, power, 1) for power in (1, 0)]
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


def burian_curves(judge: Judge) -> list[Curve]:
    """The six figures, those for which enough was measured."""
    curves = []
    for make in (_figure_1, _figure_2, _figure_3, _figure_4, _figure_5, _figure_6):
        try:
            curves.append(make(judge))
        except MissingEvidenceError:
            continue
    return curves


def _curve(number: int, title: str, caption: str, x: str, lines: Iterable[CurveLine], **more: bool) -> Curve:
    name = f"burian-2015-figure-{number}"
    y = "time for each worker (ms)" if number == 5 else "time (ms)"
    return Curve(name, "burian-2015", f"Figure {number}: {title}", caption, x, y, tuple(lines), **more)


def _lines(experiment: Experiment, fits: dict[str, Polynomial] | None = None) -> list[CurveLine]:
    drawn = []
    for kind, name in _NAMES.items():
        points = [(float(x), row) for x, row in experiment.points[kind]]
        if not points:
            raise MissingEvidenceError("no point was measured")
        line: tuple[tuple[float, float], ...] = ()
        if fits is not None:
            first, last = points[0][0], points[-1][0]
            at = [first + (last - first) * place / _CURVE_POINTS for place in range(_CURVE_POINTS + 1)]
            line = tuple((x, fits[kind].at(x) / NS_PER_MS) for x in at)
        drawn.append(line_of(name, points, NS_PER_MS, fit=line))
    return drawn


def equation(line: Polynomial) -> str:
    """Write a fit in milliseconds, with its R2."""
    terms = []
    for power in range(line.degree, -1, -1):
        value = line.coefficients[power].value / NS_PER_MS
        unit = "" if power == 0 else "x" if power == 1 else f"x^{power}"
        terms.append(f"{value:+.3g} {unit}".strip())
    return f"{' '.join(terms).removeprefix('+')}, R2 {line.r_squared.value:.4f}"


def _equations(fits: dict[str, Polynomial]) -> str:
    return "; ".join(f"{_NAMES[kind]}: {equation(line)}" for kind, line in fits.items())


def _figure_1(judge: Judge) -> Curve:
    part = dense(judge)
    x = part.x
    caption = f"{part.held} workers, numbers from {x[0]:,} to {x[-1]:,}."
    return _curve(1, "close numbers", caption, "N", _lines(part), x_zero=False, y_zero=False)


def _figure_2(judge: Judge) -> Curve:
    whole = by_numbers(judge.measured)
    fits = {kind: fit(judge, whole, kind, 2) for kind in (THREAD, PROCESS)}
    caption = f"{whole.held} workers; time in ms: {_equations(fits)}."
    return _curve(2, "numbers, with quadratic fits", caption, "N", _lines(whole, fits), joined=False)


def _figure_3(judge: Judge) -> Curve:
    part = by_workers(judge.measured).between(1, 30)
    caption = f"{part.held:,} numbers for each; this machine has {judge.measured.cpus} CPUs."
    return _curve(3, "1 to 30 workers", caption, "workers", _lines(part))


def _figure_4(judge: Judge) -> Curve:
    part = by_workers(judge.measured).between(*LINE)
    fits = {kind: fit(judge, part, kind, 1) for kind in (THREAD, PROCESS)}
    caption = f"{part.held:,} numbers for each; time in ms: {_equations(fits)}."
    return _curve(4, "9 to 30 workers, with lines", caption, "workers", _lines(part, fits), joined=False)


def _figure_5(judge: Judge) -> Curve:
    part = by_workers(judge.measured, "whole_each_ns").between(1, 30)
    caption = f"{part.held:,} numbers for each; the whole time divided by the workers."
    return _curve(5, "time for each unit of work", caption, "workers", _lines(part))


def _figure_6(judge: Judge) -> Curve:
    whole = by_workers(judge.measured)
    return _curve(6, f"1 to {whole.x[-1]} workers", f"{whole.held:,} numbers for each.", "workers", _lines(whole))
