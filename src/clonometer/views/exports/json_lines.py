"""JSON lines: an object an estimate, as in ``cells`` of ``show --json``, with the run's name and start."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_LINES_A_PIECE = 1000


def encode(document: Mapping[str, Any], processes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Encode the estimates, each with the medians of its processes."""
    run = {key: document[key] for key in ("run", "started", "clonometer_version", "seed")}
    for cell, medians in zip(document["cells"], processes, strict=True):
        yield _line({**run, **cell, "process_medians": list(medians)})


def encode_samples(columns: Sequence[str], rows: Iterator[Sequence[Any]]) -> Iterator[str]:
    """Encode samples, an object each."""
    lines: list[str] = []
    for row in rows:
        lines.append(_line(dict(zip(columns, row, strict=True))))
        if len(lines) == _LINES_A_PIECE:
            yield "".join(lines)
            lines.clear()
    yield "".join(lines)


def _line(value: Mapping[str, Any]) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False) + "\n"
