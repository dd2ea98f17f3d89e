"""The studies' plots as arrays ready to draw: what was measured here, fits, and published points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.stats.polynomial import Polynomial
from clonometer.stats.quantiles import quantile_interval
from clonometer.studies.cells import heap, parent_bytes
from clonometer.studies.judge import CALL, Judge, MissingEvidenceError
from clonometer.studies.measured import Measurements
from clonometer.studies.published import UNITS, load_published
from clonometer.studies.types import Curve, CurveLine
from clonometer.studies.workers import (
    LINE,
    PROCESS,
    THREAD,
    Experiment,
    by_numbers,
    by_workers,
    dense,
    fit,
    say_r_squared,
)

MB = 1_000_000
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
    """The study's own figure, with its points; and heaps far beyond it."""
    values = load_published().item("B13").values
    small, large = [], []
    for kind, workload, label in (("fork", "launch.fork", "processes"), ("thread", "launch.pthread", "threads")):
        theirs = [value for value in values if value.what.startswith(kind)]
        points = [
            (parent_bytes(value.cell) / MB, row, value.value)
            for value in theirs
            if value.cell and value.value and (row := measured.find(value.cell, CALL)) is not None
        ]
        if len(points) > 1:
            published = [(x, value) for x, _, value in points]
            small.append(_line_of(label, [(x, row) for x, row, _ in points], 1e3, published=published))
        heaps = [
            (size / MB, row)
            for size, text in measured.scans(heap(workload, "2MiB"))
            if size and (row := measured.find(text, CALL)) is not None
        ]
        if heaps:
            large.append(_line_of(label, heaps, 1e3))
    until = "Until the call returns, warm, against the heap written beforehand"
    for name, title, caption, lines in (
        ("heap", "Launch time as a function of the memory image", f"{until}; diamonds: published (2018).", small),
        ("large-heap", "Launch time with larger heaps", f"{until}.", large),
    ):
        if lines:
            yield Curve(
                f"bendersky-2018-{name}", "bendersky-2018", title, caption, "heap (MB)", "launch time (µs)", lines
            )


def _line_of(
    label: str,
    points: Sequence[tuple[float, RunEstimate]],
    scale: float,
    *,
    fit: Sequence[tuple[float, float]] = (),
    published: Sequence[tuple[float, float]] = (),
) -> CurveLine:
    """Make a line of rows: x and the row there; ``scale`` is how many of its units make one of the axis."""
    medians = [quantile_interval(row.processes.values).over(scale) for _, row in points]
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


def _lines(
    experiment: Experiment,
    fits: dict[str, Polynomial] | None = None,
    published: Mapping[str, Callable[[float], float]] | None = None,
) -> list[CurveLine]:
    """The lines of both kinds; ``published`` gives for a kind what the study has at an x, in ms."""
    drawn = []
    for kind, name in _NAMES.items():
        points = [(float(x), row) for x, row in experiment.points[kind]]
        if not points:
            raise MissingEvidenceError("no point was measured")
        line: tuple[tuple[float, float], ...] = ()
        if fits is not None:
            first, last = points[0][0], points[-1][0]
            at = [first + (last - first) * index / _CURVE_POINTS for index in range(_CURVE_POINTS + 1)]
            line = tuple((x, fits[kind].at(x) / NS_PER_MS) for x in at)
        then = (published or {}).get(kind)
        theirs = () if then is None else [(x, then(x)) for x, _ in points]
        drawn.append(_line_of(name, points, NS_PER_MS, fit=line, published=theirs))
    return drawn


def _equation(line: Polynomial) -> str:
    """Write a fit in milliseconds, with its R2."""
    terms = []
    for power in range(line.degree, -1, -1):
        value = line.coefficients[power].value / NS_PER_MS
        unit = "" if power == 0 else "x" if power == 1 else f"x^{power}"
        terms.append(f"{value:+.3g} {unit}".strip())
    return f"{' '.join(terms).removeprefix('+')}, R2 {say_r_squared(line.r_squared)}"


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
    caption = f"{whole.held} workers; time in ms: {_equations(fits)}; diamonds: the study's polynomials, read as days."
    lines = _lines(whole, fits, _published_quadratics())
    return _curve(2, "numbers, with quadratic fits", caption, "N", lines, joined=False)


def _published_quadratics() -> dict[str, Callable[[float], float]]:
    """The polynomials of figure 2, in ms."""
    values = load_published().item("U2").values

    def quadratic(kind: str) -> Callable[[float], float]:
        days = [value.value or 0.0 for value in values if value.what.startswith(kind) and value.unit == "day"]
        second, first, constant = (number * UNITS["day"] / NS_PER_MS for number in days)
        return lambda x: second * x**2 + first * x + constant

    return {THREAD: quadratic("threads"), PROCESS: quadratic("processes")}


def _figure_3(judge: Judge) -> Curve:
    part = by_workers(judge.measured).between(1, 30)
    caption = f"{part.held:,} numbers for each; this machine has {judge.measured.cpus} CPUs."
    return _curve(3, f"1 to {part.x[-1]} workers", caption, "workers", _lines(part))


def _figure_4(judge: Judge) -> Curve:
    part = by_workers(judge.measured).between(*LINE)
    fits = {kind: fit(judge, part, kind, 1) for kind in (THREAD, PROCESS)}
    caption = f"{part.held:,} numbers for each; time in ms: {_equations(fits)}"
    slope, intercept, *_ = (value.value or 1.0 for value in load_published().item("U4").values)
    constant, first = fits[PROCESS].coefficients
    related = {}
    # The study gives no line, but how that of its threads lies to that of its processes: nothing where ours is flat.
    if min(constant.low, first.low) > 0:
        related[THREAD] = lambda x: (slope * first.value * x + intercept * constant.value) / NS_PER_MS
        caption += (
            f"; diamonds: threads, as the study relates them (slope {slope:g} times, intercept {intercept:g} times)"
        )
    title = f"{part.x[0]} to {part.x[-1]} workers, with lines"
    return _curve(4, title, f"{caption}.", "workers", _lines(part, fits, related), joined=False)


def _figure_5(judge: Judge) -> Curve:
    part = by_workers(judge.measured, "whole_each_ns").between(1, 30)
    caption = f"{part.held:,} numbers for each; the whole time divided by the workers."
    return _curve(5, "time for each unit of work", caption, "workers", _lines(part))


def _figure_6(judge: Judge) -> Curve:
    whole = by_workers(judge.measured)
    return _curve(6, f"1 to {whole.x[-1]} workers", f"{whole.held:,} numbers for each.", "workers", _lines(whole))
