"""Bencher Metric Format: a benchmark a cell and placement, a measure a stage, in ns where it is a time."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.views.exports.entries import figures, measured


def encode(document: Mapping[str, Any], processes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Encode every estimate that has samples; ends that do not exist are left out."""
    del processes
    metrics: dict[str, dict[str, dict[str, float]]] = {}
    for cell in document["cells"]:
        numbers = figures(cell)
        if numbers is None:
            continue
        name = f"{cell['cell']} {cell['placement']}" if cell["placement"] else cell["cell"]
        keys = ("value", "lower_value", "upper_value")
        metric = {key: number for key, number in zip(keys, numbers, strict=True) if number is not None}
        metrics.setdefault(name, {})[measured(cell)] = metric
    yield json.dumps(metrics, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
