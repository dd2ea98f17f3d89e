"""Reads OpenMetrics text: samples with their labels and times."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from clonometer.errors import InputError

_SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)(?: (?P<time>\S+))?(?: # .*)?"
)
# Behind the last end of a line there is none.
_LINE = re.compile(r"(?!\Z)([^\n]*)(\n|\Z)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)')
_ESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


@dataclass(frozen=True)
class MetricSample:
    """One line: a metric's name, its labels, its value and when it was (seconds since 1970; None: not said)."""

    name: str
    labels: Mapping[str, str]
    value: float
    timestamp_s: float | None


def parse_openmetrics(text: str, name: str) -> Iterator[MetricSample]:
    r"""Read a text.

    Raises
    ------
    InputError
        If a line is no sample; the message has its number.

    Examples
    --------
    >>> [sample] = parse_openmetrics('# TYPE a gauge\na{b="c\\"d"} 1.5 10\n# EOF\n', "x")
    >>> sample.labels["b"], sample.value, sample.timestamp_s
    ('c"d', 1.5, 10.0)
    """
    # A list of all lines may need as much memory as the text, several times over.
    for number, (line, _) in enumerate(map(re.Match.groups, _LINE.finditer(text)), 1):
        if not line.strip() or line.startswith("#"):
            continue
        matched = _SAMPLE.fullmatch(line)
        try:
            if matched is None:
                raise ValueError
            value, time = float(matched["value"]), matched["time"]
            moment = None if time is None else float(time)
            if not math.isfinite(value) or (moment is not None and not 0 <= moment < 1e11):
                raise ValueError
            yield MetricSample(matched["name"], _labels(matched["labels"] or ""), value, moment)
        except ValueError:
            raise InputError(f"{name}, line {number}: not an OpenMetrics sample: {line[:60]}") from None


def _labels(text: str) -> dict[str, str]:
    labels: dict[str, str] = {}
    at = 0
    while at < len(text):
        matched = _LABEL.match(text, at)
        if matched is None:
            raise ValueError
        labels[matched[1]] = re.sub(r"\\.", lambda escape: _ESCAPED.get(escape[0], escape[0]), matched[2])
        at = matched.end()
    return labels
