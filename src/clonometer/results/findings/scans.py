"""What each thing more costs: slopes along every numeric axis that a run scans, memory left to its own page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from clonometer.families import is_beside
from clonometer.results.findings.comparing import Comparer, Comparison
from clonometer.results.findings.contests import TEMPERATURES
from clonometer.results.findings.ends import duration_words, interval_ends, missing_ends_reason
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, listed, measured, sentence
from clonometer.results.rows.evidence import STAGES, Evidence
from clonometer.results.series.fits import curve_of
from clonometer.results.series.scans import Scan, scans_of
from clonometer.results.types import Finding
from clonometer.stats.bootstrap import difference_of_medians
from clonometer.stats.fit import Line, line_through_medians
from clonometer.stats.interval import Interval
from clonometer.units import format_duration_interval
from clonometer.words import axis_thing, axis_title, axis_words, mechanism_name

PAGE_BYTES = 4096
# Where a line misses a median by half of it, its slope says nothing.
MOST_MISS = 0.5
_SPOKEN = ("reaped", "call_returns")
_STAGE_ORDER = (*reversed(STAGES), None)


def scans(comparer: Comparer) -> list[Finding]:
    """Say for every scanned numeric axis what one thing more adds, with its interval, or that nothing is seen.

    One finding for each workload, axis and condition: at the last stage and when the call returns, warm where
    there are warm launches; for what is no launch, one for each quantity.
    """
    groups: dict[tuple[object, ...], list[Scan]] = {}
    for scan in scans_of(comparer.book):
        first = scan.points[0].estimate
        if (
            not first.rankable
            or first.signed
            or first.detail
            or comparer.book.fact(first.workload, "phases")  # told together, as one event
            or curve_of(scan) is not None  # a curve of a known shape has a finding of its own
            or is_beside(first.family, first.quantity)
            or comparer.is_claimed(first.workload, scan.axis, scan.condition)
        ):
            continue
        quantity = None if first.stage is not None else first.quantity
        key = (first.workload, scan.axis, tuple(scan.condition.items()), quantity, _placement(scan))
        groups.setdefault(key, []).append(scan)
    findings = [_finding(comparer, _of_one_temperature(group)) for group in groups.values()]
    return [finding for finding in findings if finding is not None]


def _placement(scan: Scan) -> str | None:
    first = scan.points[0].estimate
    return first.placement if first.condition.get("placement") == "free" else None


def _of_one_temperature(group: list[Scan]) -> list[Scan]:
    """Take the scans of the first temperature there is, the last stage first."""
    temperatures = {scan.points[0].estimate.temperature for scan in group}
    chosen = next(temperature for temperature in (*TEMPERATURES, None) if temperature in temperatures)
    of_it = [scan for scan in group if scan.points[0].estimate.temperature == chosen]
    return sorted(of_it, key=lambda scan: _STAGE_ORDER.index(scan.points[0].estimate.stage))


def _finding(comparer: Comparer, group: list[Scan]) -> Finding | None:
    spoken = [scan for scan in group if scan.points[0].estimate.stage in _SPOKEN] or group[:1]
    growth = comparer.compare(spoken[0].points[-1], spoken[0].points[0])
    if growth is None:
        return None
    lines = [_line(comparer, scan) for scan in group]
    entries = [_numbers(line, scan) for line, scan in zip(lines, group, strict=True)]
    first, scan = spoken[0].points[0].estimate, spoken[0]
    spoken_entries = [entry for entry, candidate in zip(entries, group, strict=True) if candidate in spoken]
    words = condition(scan.condition, first.temperature, first.condition.get("placement"))
    average = _average(comparer, scan)
    text, headline = _texts(scan, growth, spoken_entries, words, average)
    name = ".".join([scan.axis, first.workload.removeprefix("launch."), *map(str, scan.condition.values())])
    if first.stage is None:
        name += f".{first.quantity}"
    if _placement(scan):
        name += f".{_placement(scan)}"
    numbers = entries[0] | growth.numbers | {"stages": entries, "axis": scan.axis, "workload": first.workload}
    numbers |= {"average_ns": average.value, "average_ns_interval": interval_ends(average)}
    numbers["cells"] = [point.estimate.cell for point in scan.points]
    return Finding(f"scan.{name}", sentence(text), numbers, sentence(headline))


def _average(comparer: Comparer, scan: Scan) -> Interval:
    """The difference of the ends for each thing between them, which needs no line."""
    low, high = _ends(scan)
    seed = comparer.seed_for("ends", scan.axis, high.estimate.cell, high.estimate.quantity)
    whole = difference_of_medians(high.processes, low.processes, seed=seed)
    things = _x(high, scan.axis) - _x(low, scan.axis)
    return replace(whole, value=whole.value / things, low=whole.low / things, high=whole.high / things)


def _texts(
    scan: Scan, growth: Comparison, entries: list[dict[str, Any]], words: str, average: Interval
) -> tuple[str, str]:
    """Say it in full and in one line."""
    low, high = (axis_words(scan.axis, int(point.estimate.condition[scan.axis])) for point in _ends(scan))
    name = mechanism_name(growth.a.estimate.workload)
    what = measured(growth.a.estimate.stage, growth.a.estimate.quantity)
    tail = f", {words}" if words else ""
    ratio = f"{name} takes {growth.text} times as long {what} at {high} as at {low}{tail}"
    if growth.sees_nothing:
        few = f"{axis_title(scan.axis)}: no effect is seen on {name} {what}"
        return f"{few}; it takes {growth.text} times as long at {high} as at {low}{tail}", f"{few} ({growth.aside})"
    if entries[0]["largest_miss"] > MOST_MISS:
        ends = [_median(point) for point in _ends(scan)]
        few = f"{name} {what}{tail}: {ends[0]} at {low}, {ends[1]} at {high}"
        if average.low > 0:
            each = duration_words(average.value, interval_ends(average))
            few += f", on average {each} for each {axis_thing(scan.axis)}"
        return f"{few}; no straight line lies between ({growth.text} times as long)", few
    slopes = [f"{_slope(entry)} {_to(name, entry, entries)}" for entry in entries]
    verb = f"each {axis_thing(scan.axis)} adds"
    return f"{verb} {listed(slopes)}{tail}; {ratio.removesuffix(tail)}", f"{verb} {slopes[0]}{tail}"


def _slope(entry: dict[str, Any]) -> str:
    interval = entry["slope_ns_interval"]
    return (
        "nothing seen" if interval and interval[0] <= 0 <= interval[1] else duration_words(entry["slope_ns"], interval)
    )


def _to(name: str, entry: dict[str, Any], entries: list[dict[str, Any]]) -> str:
    what = measured(entry["stage"], entry["quantity"])
    return f"to {name} {what}" if entry is entries[0] else what


def _ends(scan: Scan) -> tuple[Evidence, Evidence]:
    return scan.points[0], scan.points[-1]


def _median(point: Evidence) -> str:
    estimate = point.estimate
    median = estimate.median_ns or 0.0
    low = median if estimate.median_low_ns is None else estimate.median_low_ns
    high = median if estimate.median_high_ns is None else estimate.median_high_ns
    return format_duration_interval(median, low, high)


def _line(comparer: Comparer, scan: Scan) -> Line:
    first = scan.points[0].estimate
    return line_through_medians(
        [_x(point, scan.axis) for point in scan.points],
        [point.processes.values for point in scan.points],
        seed=comparer.seed_for("scan", scan.axis, scan.points[-1].estimate.cell, first.quantity),
    )


def _x(point: Evidence, axis: str) -> float:
    """The axis in its things: sizes count in pages of 4 KiB, whatever pages there are."""
    value = int(point.estimate.condition[axis])
    return value / PAGE_BYTES if axis.endswith("_bytes") else float(value)


def _numbers(line: Line, scan: Scan) -> dict[str, Any]:
    first = scan.points[0].estimate
    return {
        "stage": first.stage,
        "quantity": first.quantity,
        "temperature": first.temperature,
        "per": axis_thing(scan.axis),
        "slope_ns": line.slope.value,
        "slope_ns_interval": interval_ends(line.slope),
        "interval_reason": missing_ends_reason(line.slope),
        "intercept_ns": line.intercept.value,
        "largest_miss": line.largest_miss,
        "x": [int(point.estimate.condition[scan.axis]) for point in scan.points],
        "median_ns": [point.estimate.median_ns for point in scan.points],
    }


FINDERS = (Finder(scans, 170),)
