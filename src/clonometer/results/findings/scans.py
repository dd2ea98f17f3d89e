"""What each thing more costs: slopes along every numeric axis that a run scans, memory left to its own page."""

from __future__ import annotations

from typing import Any

from clonometer.families import CALL, END, is_beside
from clonometer.results.findings.comparing import PairwiseTests, numbers_of
from clonometer.results.findings.contests import TEMPERATURES
from clonometer.results.findings.ends import interval_ends, missing_ends_reason
from clonometer.results.findings.finder import Finder, Findings
from clonometer.results.findings.growth import Trend, Words, growth_of, growth_texts, trend_of
from clonometer.results.findings.wording import condition
from clonometer.results.rows.run_estimates import STAGES, RunEstimate
from clonometer.results.series.fits import curve_of
from clonometer.results.series.scans import Scan, scans_of
from clonometer.results.types import Finding
from clonometer.stats.interval import Interval
from clonometer.stats.rank_sum import shift_interval
from clonometer.words import axis_thing, axis_title, axis_words, mechanism_name, placement_name, stage_place

PAGE_BYTES = 4096


def scans(tests: PairwiseTests) -> Findings:
    """Say for every scanned numeric axis what one thing more adds, with its interval, as far as a line holds.

    One finding for each workload, axis and condition: at the last stage and when the call returns, warm where
    there are warm launches; for what is no launch, one for each quantity.
    """
    groups: dict[tuple[object, ...], list[Scan]] = {}
    for scan in scans_of(tests.estimates):
        first = scan.points[0]
        if (
            not first.rankable
            or first.signed
            or first.detail
            or curve_of(scan) is not None  # a curve of a known shape has a finding of its own
            or is_beside(first.family, first.quantity)
            or tests.is_reported(first.workload, scan.axis, scan.condition)
        ):
            continue
        quantity = None if first.stage is not None else first.quantity
        key = (first.workload, scan.axis, tuple(scan.condition.items()), quantity, first.free_placement)
        groups.setdefault(key, []).append(scan)
    return (_scans_finding(tests, _of_one_temperature(group)) for group in groups.values())


def _of_one_temperature(group: list[Scan]) -> list[Scan]:
    """Take the scans of the first temperature there is, the last stage first."""
    temperatures = {scan.points[0].temperature for scan in group}
    chosen = next(temperature for temperature in (*TEMPERATURES, None) if temperature in temperatures)
    of_it = [scan for scan in group if scan.points[0].temperature == chosen]
    # Of stages that nobody has heard of the driver names the last one last.
    return sorted(of_it, key=lambda scan: stage_place(scan.points[0].stage))[::-1]


def _scans_finding(tests: PairwiseTests, group: list[Scan]) -> Finding | None:
    spoken = [scan for scan in group if _is_spoken(scan) or (scan is group[0] and _is_strange(scan))] or group[:1]
    trends = [_trend(tests, scan) for scan in group]
    made = [growth_of(tests, scan.points, trend) for scan, trend in zip(group, trends, strict=True) if scan in spoken]
    growths = [growth for growth in made if growth is not None]
    if not growths or made[0] is None:
        return None
    entries = [_numbers(trend, scan) for trend, scan in zip(trends, group, strict=True)]
    first, scan = spoken[0].points[0], spoken[0]
    thing, of_x = _unit(scan)
    words = Words(
        name=mechanism_name(first.workload),
        thing=thing,
        of_x=of_x,
        place=lambda point: axis_words(scan.axis, int(point.condition[scan.axis])),
        where=_where(scan),
    )
    text, headline = growth_texts(growths, words)
    average = _average(tests, scan)
    name = ".".join([scan.axis, first.workload.removeprefix("launch."), *map(str, scan.condition.values())])
    if first.stage is None:
        name += f".{first.quantity}"
    if first.free_placement:
        name += f".{first.free_placement}"
    numbers = entries[0] | numbers_of(growths[0].ends)
    numbers |= {"stages": entries, "axis": scan.axis, "workload": first.workload}
    numbers |= {"average_ns": average.value, "average_ns_interval": interval_ends(average)}
    numbers["cells"] = [point.cell for point in scan.points]
    return Finding(f"scan.{name}", text, numbers, headline)


def _is_spoken(scan: Scan) -> bool:
    return scan.points[0].stage in (END, CALL)


def _is_strange(scan: Scan) -> bool:
    """Whether nobody has heard of its stage, so that only the driver knows that it is the end."""
    return scan.points[0].stage not in (*STAGES, None)


def _unit(scan: Scan) -> tuple[str, float]:
    """What a slope is for each of, and how many of it are one of `_x`: never more than was measured."""
    if scan.axis.endswith("_bytes") and int(scan.points[-1].condition[scan.axis]) < PAGE_BYTES:
        return f"byte of {axis_title(scan.axis)}", float(PAGE_BYTES)
    return axis_thing(scan.axis), 1.0


def _where(scan: Scan) -> str:
    first = scan.points[0]
    observed = first.free_placement
    words = condition(scan.condition, first.temperature, first.condition.get("placement"))
    return ", ".join(filter(None, [words, f"on the {placement_name(observed)}" if observed else ""]))


def _average(tests: PairwiseTests, scan: Scan) -> Interval:
    """The difference of the ends for each thing between them, which needs no line."""
    low, high = scan.points[0], scan.points[-1]
    things = _x(high, scan.axis) - _x(low, scan.axis)
    return shift_interval(high.processes.values, low.processes.values).over(things)


def _trend(tests: PairwiseTests, scan: Scan) -> Trend:
    names = ("scan", scan.axis, scan.points[-1].cell, scan.points[0].quantity)
    return trend_of(tests, scan.points, [_x(point, scan.axis) for point in scan.points], *names)


def _x(point: RunEstimate, axis: str) -> float:
    """The axis in its things: sizes count in pages of 4 KiB, whatever pages there are."""
    value = int(point.condition[axis])
    return value / PAGE_BYTES if axis.endswith("_bytes") else float(value)


def _numbers(trend: Trend, scan: Scan) -> dict[str, Any]:
    first, line = scan.points[0], trend.line
    x = [int(point.condition[scan.axis]) for point in scan.points]
    return {
        "stage": first.stage,
        "quantity": first.quantity,
        "temperature": first.temperature,
        "per": axis_thing(scan.axis),
        "slope_ns": line.slope.value,
        "slope_ns_interval": interval_ends(line.slope),
        "interval_reason": missing_ends_reason(line.slope),
        "intercept_ns": line.coefficients[0].value,
        "largest_miss": trend.largest_miss,
        "straight_upto": None if trend.straight is None else x[trend.upto],
        "straight_slope_ns": None if trend.straight is None else trend.straight.slope.value,
        "x": x,
        "median_ns": [point.median_ns for point in scan.points],
    }


FINDERS = (Finder(scans, 170),)
