"""What is said of an estimate beside its median: declared once, shown by every table, page and export that has it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from clonometer.views.table import MISSING, Column

Kind = Literal["time", "count", "frequency"]
#: The base unit of a metric, which counts have none of, and a figure in that unit.
METRIC_UNITS: Mapping[Kind, tuple[str, Callable[[float], float]]] = {
    "time": ("seconds", lambda time_ns: time_ns / 1e9),
    "count": ("", lambda count: count),
    "frequency": ("hertz", lambda frequency_mhz: frequency_mhz * 1e6),
}


@dataclass(frozen=True)
class Statistic:
    """One figure of an estimate: a ``time`` (ns), a ``count`` or a ``frequency`` (MHz)."""

    #: The estimate's field; its unit is in the name.
    key: str
    heading: str
    #: Its name in OpenMetrics, without the unit.
    metric: str
    kind: Kind
    about: str
    #: The field that says why there is none.
    reason_key: str | None = None


STATISTICS = (
    Statistic(
        "p99_ns",
        "p99",
        "p99",
        "time",
        "Pooled 99th percentile, without an interval: one bad process can make it.",
        reason_key="p99_reason",
    ),
    Statistic(
        "min_ns", "min", "minimum", "time", "Smallest sample, without an interval: it falls as samples are added."
    ),
    Statistic("mad_ns", "MAD", "mad", "time", "Median absolute deviation from the median of all samples."),
    Statistic("n_samples", "samples", "samples", "count", "Successful samples."),
    Statistic("n_processes", "processes", "processes", "count", "Processes that the samples came from."),
    Statistic("effective_mhz", "MHz", "effective", "frequency", "Median effective frequency of the CPUs used."),
)


def statistic_columns(entries: Sequence[Mapping[str, Any]], time_text: Callable[[int, float], str]) -> list[Column]:
    """Make a column of each statistic."""
    writers: Mapping[Kind, Callable[[int, float], str]] = {
        "time": time_text,
        "count": lambda _, count: f"{count:,}",
        "frequency": lambda _, frequency_mhz: f"{frequency_mhz:.0f}",
    }
    columns = []
    for statistic in STATISTICS:
        write = writers[statistic.kind]
        values = [entry[statistic.key] for entry in entries]
        texts = [MISSING if value is None else write(number, value) for number, value in enumerate(values)]
        tips = [str(entry[statistic.reason_key] or "") for entry in entries] if statistic.reason_key else ()
        columns.append(Column(statistic.heading, texts, "point", about=statistic.about, numbers=values, tips=tips))
    return columns
