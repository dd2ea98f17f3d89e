"""The studies' plots as arrays ready to draw: what was measured here, fits, and published points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from clonometer.results.rows.evidence import Evidence
from clonometer.stats.polynomial import Polynomial
from clonometer.stats.serial import median_in_time
from clonometer.studies.cells import heap
from clonometer.studies.judge import CALL, Judge, MissingEvidenceError
from clonometer.studies.measured import Measurements
from clonometer.studies.types import Curve, CurveLine
from clonometer.studies.workers import LINE, PROCESS, THREAD, Experiment, by_numbers, by_workers, dense, fit

MIB = 1 << 20
NS_PER_MS = 1e6
_NAMES = {THREAD: "threads", PROCESS: "processes"}
_CURVE_POINTS = 60


def curves(judge: Judge) -> list[Curve]:
    """Every plot of the studies for which something was measured."""
    drawn = list(_bendersky(judge.measured))
    for make in (_figure_1, _figure_2, _figure_3, _figure_4, _figure_5, _figure_6):
        with suppress(MissingEvidenceError):
            drawn.append(make(judge))
    return drawn


def _bendersky(measured: Measurements) -> Iterator[Curve]:
    lines = []
    for workload, label, then in (("launch.fork", "process launch", 35.0), ("launch.pthread", "thread launch", 5.0)):
        points = [
            (size / MIB, row)
            for size, text in measured.scans(heap(workload, "2MiB"))
            if size and (row := measured.find(text, CALL)) is not None
        ]
        if len(points) > 1:
            lines.append(_line_of(label, points, 1e3, published=((2.0, then),)))
    if lines:
        yield Curve(
            "bendersky-2018-heap",
            "bendersky-2018",
            "Launch time as a function of the memory image",
            "Until the call returns, warm, against the heap that was written before; diamonds: published (2018, 2 MB).",
            "heap (MB)",
            "launch time (µs)",
            lines,
        )


def _line_of(
    label: str,
    points: Sequence[tuple[float, Evidence]],
    scale: float,
    *,
    fit: Sequence[tuple[float, float]] = (),
    published: Sequence[tuple[float, float]] = (),
) -> CurveLine:
    """Make a line of rows: x and the row there; ``scale`` is how many of its units make one of the axis."""
    medians = [median_in_time(row.processes.values).over(scale) for _, row in points]
    return CurveLine(
        label,
        [x for x, _ in points],
        [median.value for median in medians],
        [median.low for median in medians],
        [median.high for median in medians],
        fit,
        published,
    )


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
        drawn.append(_line_of(name, points, NS_PER_MS, fit=line))
    return drawn


def _equation(line: Polynomial) -> str:
    """Write a fit in milliseconds, with its R2."""
    terms = []
    for power in range(line.degree, -1, -1):
        value = line.coefficients[power].value / NS_PER_MS
        unit = "" if power == 0 else "x" if power == 1 else f"x^{power}"
        terms.append(f"{value:+.3g} {unit}".strip())
    return f"{' '.join(terms).removeprefix('+')}, R2 {line.r_squared.value:.4f}"


def _equations(fits: dict[str, Polynomial]) -> str:
    return "; ".join(f"{_NAMES[kind]}: {_equation(line)}" for kind, line in fits.items())


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
