"""OpenMetrics text: gauges in seconds (the format's base unit), for a textfile collector or a push gateway."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from clonometer.views import statistics
from clonometer.views.exports.entries import labels
from clonometer.views.statistics import METRIC_UNITS

_NS = 1e9
#: Name without its unit, key of an estimate, help.
_TIMES = (
    ("median", "median_ns", "Median of process medians."),
    ("median_low", "median_low_ns", "Lower end of the median's 95% interval."),
    ("median_high", "median_high_ns", "Upper end of the median's 95% interval."),
)
_VALUES = (
    ("value", "value", "Median of process medians of what is no time, in the unit of the label."),
    ("value_low", "value_low", "Lower end of its 95% interval."),
    ("value_high", "value_high", "Upper end of its 95% interval."),
)


def encode(document: Mapping[str, Any], processes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Encode every number that exists; one that does not has no sample."""
    cells = document["cells"]
    for name, key, text in _TIMES:
        samples = [(labels(cell), cell[key] / _NS) for cell in cells if cell[key] is not None]
        yield from metric_family(name, "seconds", text, samples)
    for statistic in statistics.STATISTICS:
        unit, in_unit = METRIC_UNITS[statistic.kind]
        known = [(labels(cell), cell[statistic.key]) for cell in cells if cell[statistic.key] is not None]
        samples = [(names, in_unit(figure)) for names, figure in known]
        yield from metric_family(statistic.metric, unit, statistic.about, samples)
    for name, key, text in _VALUES:
        samples = [
            ({**labels(cell), "unit": str(cell["unit"])}, cell[key]) for cell in cells if cell.get(key) is not None
        ]
        yield from metric_family(name, "", text, samples)
    yield from metric_family("run", "", "The run that was exported.", [(_run(document), 1)], kind="info")
    yield "# EOF\n"


def _run(document: Mapping[str, Any]) -> dict[str, str]:
    host = document["host"]
    facts = {"kernel": host.get("kernel.release"), "cpu": host.get("cpu.model")}
    names = ("run", "status", "plan", "started", "seed", "clonometer_version")
    return {name: str(document[name]) for name in names} | {name: str(fact) for name, fact in facts.items() if fact}


def metric_name(name: str, unit: str) -> str:
    """A metric's whole name, which ends in its unit if it has one."""
    return f"clonometer_{name}_{unit}" if unit else f"clonometer_{name}"


def metric_family(
    name: str,
    unit: str,
    text: str,
    samples: Iterable[tuple[Mapping[str, str], *tuple[float, ...]]],
    *,
    kind: Literal["gauge", "info"] = "gauge",
) -> Iterator[str]:
    """Write the samples of a metric below what says what it is; nothing where there are none.

    A sample is its labels, its number and, where a program keeps series, its time in seconds. Those of the same labels
    stand together, in their order, as the format demands.
    """
    series: dict[str, list[str]] = {}
    for names, *numbers in samples:
        inside = ",".join(f'{label}="{_escaped(value)}"' for label, value in names.items())
        series.setdefault(inside, []).append(" ".join(map(repr, numbers)))
    if not series:
        return
    whole = metric_name(name, unit)
    written_unit = f"# UNIT {whole} {unit}\n" if unit else ""
    yield f"# TYPE {whole} {kind}\n{written_unit}# HELP {whole} {text}\n"
    suffix = "_info" if kind == "info" else ""
    for inside, lines in series.items():
        yield from (f"{whole}{suffix}{{{inside}}} {numbers}\n" for numbers in lines)


def histogram_family(
    name: str, unit: str, text: str, samples: Iterable[tuple[Mapping[str, str], Mapping[float, int], int, float]]
) -> Iterator[str]:
    """Write histograms below what says what they are; nothing where there are none.

    A sample is its labels, how many are at most as large as each bound, their number and their sum.
    """
    whole = metric_name(name, unit)
    heading = f"# TYPE {whole} histogram\n" + (f"# UNIT {whole} {unit}\n" if unit else "") + f"# HELP {whole} {text}\n"
    for names, counts, number, total in samples:
        inside = "".join(f'{label}="{_escaped(value)}",' for label, value in names.items())
        ends = [*((repr(float(bound)), count) for bound, count in counts.items()), ("+Inf", number)]
        yield heading + "".join(f'{whole}_bucket{{{inside}le="{bound}"}} {count}\n' for bound, count in ends)
        yield f"{whole}_count{{{inside.rstrip(',')}}} {number}\n{whole}_sum{{{inside.rstrip(',')}}} {total!r}\n"
        heading = ""


def _escaped(value: str) -> str:
    # Only these three have escapes; other control characters would break the line that they stand in.
    value = re.sub(r"[\x00-\x09\x0b-\x1f\x7f]", " ", value)
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
