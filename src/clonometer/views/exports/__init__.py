"""Exports: the document of ``clonometer show --json`` in the formats of other programs. Encodes, computes nothing.

Each encoder is a module with ``encode(document, processes)``: the document (docs/schemas/show.schema.json) and, for
each entry of its ``cells``, the medians of its processes in the entry's own unit (ns where that is a time).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from clonometer.errors import UsageError, unknown

JsonAnswer = Mapping[str, Any]
ProcessValues = Sequence[Sequence[float]]
Encoder = Callable[[JsonAnswer, ProcessValues], Iterator[str]]

#: Name on the command line -> module, and what reads it.
FORMATS = {
    "csv": ("csv_table", "spreadsheets, pandas, R"),
    "jsonl": ("json_lines", "jq, pandas, DuckDB"),
    "markdown": ("markdown", "issues and mails"),
    "benchstat": ("benchstat", "golang.org/x/perf/cmd/benchstat"),
    "openmetrics": ("openmetrics", "Prometheus"),
}
#: Formats that take raw samples as well.
SAMPLE_FORMATS = ("csv", "jsonl")


def check_format(name: str, *, samples: bool = False) -> None:
    """Refuse a format that does not exist, or takes no samples.

    Raises
    ------
    UsageError
        If it cannot be meant.
    """
    if name not in FORMATS:
        raise unknown("export format", name, FORMATS)
    if samples and name not in SAMPLE_FORMATS:
        raise UsageError(f"{name} takes no samples", f"formats that do: {', '.join(SAMPLE_FORMATS)}")


def encode(name: str, document: JsonAnswer, processes: ProcessValues) -> Iterator[str]:
    """Encode results.

    ``document`` is what ``clonometer show --json`` prints; ``processes`` has, for each entry of its ``cells``, the
    medians of the processes. Raises as `check_format`.
    """
    check_format(name)
    encoder: Encoder = import_module(f"{__name__}.{FORMATS[name][0]}").encode
    return encoder(document, processes)


def encode_samples(name: str, columns: Sequence[str], rows: Iterator[Sequence[Any]]) -> Iterator[str]:
    """Encode raw samples, a row each; raises as `check_format`."""
    check_format(name, samples=True)
    encoder: Callable[[Sequence[str], Iterator[Sequence[Any]]], Iterator[str]]
    encoder = import_module(f"{__name__}.{FORMATS[name][0]}").encode_samples
    return encoder(columns, rows)
