"""KTAP, the kernel's test protocol: a test a cell, its figures as diagnostic lines before its result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.views.exports.entries import figures, figures_unit, measured


def encode(document: Mapping[str, Any], processes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Encode how each cell of the plan ended: ``ok``, ``ok ... # SKIP reason``, or ``not ok``."""
    statuses = document["cell_outcomes"]
    yield "KTAP version 1\n"
    yield f"1..{len(statuses)}\n"
    for number, status in enumerate(statuses, 1):
        yield from (_figures(cell) for cell in document["cells"] if cell["cell"] == status["cell"])
        reason = _one_line(status["reason"] or "no reason was given")
        name = _one_line(status["cell"])
        if status["status"] == "ok":
            yield f"ok {number} {name}\n"
        elif status["status"] == "skipped":
            yield f"ok {number} {name} # SKIP {reason}\n"
        else:
            yield f"# {status['status']}: {reason}\n"
            yield f"not ok {number} {name}\n"


def _figures(cell: Mapping[str, Any]) -> str:
    what = " ".join(filter(None, [measured(cell), cell["placement"]]))
    numbers = figures(cell)
    if numbers is None:
        return f"# {what}: no sample\n"
    median, low, high = numbers
    interval = "" if low is None else f" interval {low!r} to {high!r}"
    return f"# {what}: median {median!r} {figures_unit(cell)}{interval} from {cell['n_processes']} processes\n"


def _one_line(text: str) -> str:
    # A hash begins a directive.
    return " ".join(text.replace("#", "").split())
