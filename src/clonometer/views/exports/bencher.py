"""Bencher Metric Format: a benchmark a cell and placement, a measure a stage, in ns where it is a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.views.exports.entries import figures, measured

#: Name of a benchmark -> measure -> its numbers.
Benchmarks = dict[str, dict[str, dict[str, float]]]


def encode(document: Mapping[str, Any], processes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Encode every estimate that has samples; ends that do not exist are left out."""
    benchmarks: Benchmarks = {}
    for cell in document["cells"]:
        numbers = figures(cell)
        if numbers is not None:
            add_metric(benchmarks, cell, numbers)
    yield json.dumps(benchmarks, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def add_metric(benchmarks: Benchmarks, entry: Mapping[str, Any], numbers: Sequence[float | None]) -> None:
    """Add what an entry measured: its median and the ends of its interval."""
    name = f"{entry['cell']} {entry['placement']}" if entry["placement"] else entry["cell"]
    keys = ("value", "lower_value", "upper_value")
    metric = {key: number for key, number in zip(keys, numbers, strict=True) if number is not None}
    benchmarks.setdefault(name, {})[measured(entry)] = metric
