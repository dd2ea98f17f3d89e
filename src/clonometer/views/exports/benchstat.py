"""The Go benchmark format, as benchstat reads it: a line a process, with its median.

The process is the independent unit, so benchstat's intervals count processes, as Clonometer's do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.views.exports.entries import figures, figures_unit, measured
from clonometer.words import cell_parts


def encode(document: Mapping[str, Any], processes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Encode every estimate that has samples."""
    host = document["host"]
    lines = [
        ("goos", "linux"),
        ("goarch", host.get("cpu.arch")),
        ("cpu", host.get("cpu.model")),
        ("kernel", host.get("kernel.release")),
        ("clonometer", document["clonometer_version"]),
        ("plan", document["plan"]),
    ]
    yield from (f"{key}: {' '.join(str(value).split())}\n" for key, value in lines if value)
    for cell, medians in zip(document["cells"], processes, strict=True):
        if figures(cell) is None:
            continue
        unit = "ns/op" if figures_unit(cell) == "ns" else re.sub(r"\s", "_", figures_unit(cell))
        count = max(1, round(cell["n_samples"] / len(medians)))
        yield from (f"{_name(cell)}\t{count}\t{median!r} {unit}\n" for median in medians)


def _name(cell: Mapping[str, Any]) -> str:
    workload, parts = cell_parts(str(cell["cell"]))
    parts.append(f"until={cell['stage']}" if cell["stage"] else f"quantity={measured(cell)}")
    if cell["placement"]:
        parts.append(f"ran={cell['placement']}")
    # A slash separates the parts of a name, and a blank ends it.
    words = [re.sub(r"[\s/]", "_", part) for part in (workload[:1].upper() + workload[1:], *parts)]
    return "Benchmark" + "/".join(words)
