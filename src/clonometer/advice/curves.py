"""How an answer depends on one thing: the designs along it, and where another becomes the first."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from clonometer.advice.answer import BreakEven, CurvePoint
from clonometer.advice.basis import AdviceBasis
from clonometer.advice.costs import lacking
from clonometer.advice.designs import ServerDesign
from clonometer.advice.predicting import predict_design
from clonometer.advice.wish import QUANTILES, Wish
from clonometer.advice.wording import NEAR
from clonometer.units import approximate_bytes, format_duration

#: Points of a curve.
POINTS = 9
#: Designs that are simulated along it: the best of those that qualify.
MOST_DESIGNS = 5


@dataclass(frozen=True)
class CurveAxis:
    """A thing on which the answer depends."""

    of: str
    words: str
    title: str
    #: Between which values, if the load can bear them.
    low: float
    high: float
    text: Callable[[float], str]


AXES: Sequence[CurveAxis] = (
    CurveAxis("work_ns", "work", "work of a request", 1e4, 1e8, format_duration),
    CurveAxis("memory_bytes", "memory", "memory of the first process", 1 << 20, 8 << 30, approximate_bytes),
    CurveAxis("rate_hz", "rate", "requests per second", 10.0, 1e5, lambda value: f"{value:,.0f}/s"),
    CurveAxis("response_bytes", "answers", "size of an answer", 1 << 10, 16 << 20, approximate_bytes),
)


def break_evens(
    wish: Wish, basis: AdviceBasis, designs: Sequence[ServerDesign], order: str, requests: int
) -> list[BreakEven]:
    """Say how the answer depends on each thing of which this machine has terms.

    ``designs`` are those that qualify, the best first. How long work must be, is asked of all of them.
    """
    scan = _Scan(wish, basis, order, requests)
    made = []
    for axis in AXES:
        able = designs if axis.of == "work_ns" else designs[:MOST_DESIGNS]
        farthest = _with(wish, axis.of, axis.high)
        able = [design for design in able if not lacking(design, farthest, basis.spans(farthest))]
        if len(able) > 1:
            made.append(scan.break_even(axis, able))
    return made


@dataclass(frozen=True)
class _Scan:
    """What stays the same along an axis."""

    wish: Wish
    basis: AdviceBasis
    order: str
    requests: int

    def break_even(self, axis: CurveAxis, designs: Sequence[ServerDesign]) -> BreakEven:
        """Simulate designs along an axis, and say where the first changes, and from where on they do not differ."""
        points = []
        for value in _values(axis, self.wish):
            changed = _with(self.wish, axis.of, value)
            middle = {name: span.value for name, span in self.basis.spans(changed).items()}
            points.append(CurvePoint(value, {each.id: self._figure(each, changed, middle) for each in designs}))
        titles = {design.id: design.title for design in designs}
        wished = float(getattr(self.wish, axis.of))
        sentences = [*_firsts(axis, points, titles)]
        if axis.of == "work_ns":
            sentences += _nears(axis, points, designs)
        return BreakEven(axis.of, axis.title, wished, sentences, points)

    def _figure(self, design: ServerDesign, wish: Wish, values: Mapping[str, float]) -> float | None:
        outcome = predict_design(design, wish, values, requests=self.requests, seed=1, slice_ns=self.basis.slice_ns)
        if outcome.latencies_ns is None:
            return None
        return outcome.quantile_ns(QUANTILES[self.order]) if self.order in QUANTILES else outcome.cpu_ns


def _values(axis: CurveAxis, wish: Wish) -> list[float]:
    """TermValues on a logarithmic scale; not those at which the work alone would fill the CPUs."""
    high = axis.high
    if axis.of == "work_ns":
        high = min(high, 0.95 * wish.cpus * 1e9 / wish.rate_hz)
    if axis.of == "rate_hz" and wish.work_ns:
        high = min(high, 0.95 * wish.cpus * 1e9 / wish.work_ns)
    low = max(wish.written_bytes, axis.low) if axis.of == "memory_bytes" else min(axis.low, high / 100)
    step = (high / low) ** (1 / (POINTS - 1))
    return [low * step**number for number in range(POINTS)]


def _with(wish: Wish, of: str, value: float) -> Wish:
    changed: Any = round(value) if of.endswith("_bytes") else value
    return replace(wish, **{of: changed})


def _firsts(axis: CurveAxis, points: Sequence[CurvePoint], titles: Mapping[str, str]) -> list[str]:
    """Where another design is first, and where the first two do not differ."""
    known = [(point, first) for point in points if (first := _first(point)) is not None]
    if not known:
        return []
    ends = f"between {axis.text(known[0][0].value)} and {axis.text(known[-1][0].value)}"
    far = [_advantage(point) >= NEAR for point, _ in known]
    if not any(far):
        return [f"For {axis.words} {ends} the best two differ by less than 5%."]
    sentences = []
    clear = [each for each, is_far in zip(known, far, strict=True) if is_far]
    for (before, first), (after, second) in pairwise(clear):
        if first != second:
            at = axis.text(_crossing(before, after, first, second))
            sentences.append(f"From {at} of {axis.words} on, {titles[second]} is first; below, {titles[first]}.")
    if not far[-1]:
        last = len(far) - 1 - far[::-1].index(True)
        at = axis.text(known[last + 1][0].value)
        sentences.append(f"From about {at} of {axis.words} on, the best two differ by less than 5%.")
    return sentences or [f"For {axis.words} {ends} the first stays the first."]


def _nears(axis: CurveAxis, points: Sequence[CurvePoint], designs: Sequence[ServerDesign]) -> list[str]:
    """From which work on a launch for each connection is within 5% of the best."""
    sentences = []
    for design in designs:
        if design.launch is None:
            continue
        above = [
            None if (ns := point.ns[design.id]) is None else ns / min(filter(None, point.ns.values())) - 1
            for point in points
        ]
        near = [share is not None and share < NEAR for share in above]
        if near[-1] and not near[0]:
            at = axis.text(points[len(near) - near[::-1].index(False)].value)
            sentences.append(f"From about {at} of {axis.words} on, {design.title} is within 5% of the best.")
    return sentences


def _first(point: CurvePoint) -> str | None:
    able = {name: ns for name, ns in point.ns.items() if ns is not None}
    return min(able, key=lambda name: able[name]) if able else None


def _advantage(point: CurvePoint) -> float:
    """How far the best is ahead of the second, as a share."""
    ordered = sorted(ns for ns in point.ns.values() if ns is not None)
    return ordered[1] / ordered[0] - 1 if len(ordered) > 1 and ordered[0] > 0 else math.inf


def _crossing(before: CurvePoint, after: CurvePoint, first: str, second: str) -> float:
    """Where two curves cross, on straight lines between points of logarithms."""

    def apart(point: CurvePoint) -> float | None:
        one_ns, other_ns = point.ns[first], point.ns[second]
        return math.log(other_ns / one_ns) if one_ns and other_ns else None

    left, right = apart(before), apart(after)
    if left is None or right is None or left == right:
        return after.value
    return float(before.value * (after.value / before.value) ** (left / (left - right)))
