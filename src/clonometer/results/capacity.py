"""The highest rate at which a server keeps a limit of latency: what was asked, and the steps of the search."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import Count, Ge, Gt, computed_field, version
from clonometer.results.latency_limit import LatencyLimit

CAPACITY_SCHEMA = 1

_GOOD_PART = 0.2


@dataclass(frozen=True)
class RateStep:
    """One rate that was tried."""

    rate_hz: Annotated[int, Gt(0)]
    requests: Count
    failed: Annotated[Count, "Requests without an answer: they break every limit."]
    latency_ns: Annotated[float | None, "At the limit's quantile; None where too many requests failed."]
    median_ns: Annotated[float | None, "None where half of the requests failed."]
    served_per_s: Annotated[float | None, Ge(0), "What the server could answer."]
    keeps: Annotated[bool, "Whether the limit was kept."]
    client_late_ns: Annotated[
        float | None, Ge(0), "How late the client itself was, at the limit's quantile: latencies contain it."
    ] = None
    fastest_ns: Annotated[float | None, Ge(0), "The fastest request; None where none was answered."] = None


@dataclass(frozen=True)
class ServerCapacity:
    """What was learned about one server: between which rates it breaks the limit."""

    workload: str
    settings: Annotated[Sequence[str], "Axes off their defaults, as axis=value."]
    steps: Annotated[Sequence[RateStep], "In the order in which they were tried."]
    reason: Annotated[str | None, "Why it could not be measured."] = None

    def is_hopeless(self, limit: LatencyLimit) -> bool:
        """Whether even the fastest of all requests took longer than the limit, so that no rate can keep it."""
        fastest = [step.fastest_ns for step in self.steps if step.fastest_ns is not None]
        return min(fastest, default=0.0) >= limit.ns

    def is_in_doubt(self, limit: LatencyLimit) -> bool:
        """Whether a rate broke the limit while the client itself was late by a good part of it."""
        late = [step.client_late_ns or 0.0 for step in self.steps if not step.keeps]
        return not self.is_hopeless(limit) and any(late_ns > _GOOD_PART * limit.ns for late_ns in late)

    @computed_field("The highest rate that kept the limit; None: none did.")
    def kept_hz(self) -> int | None:
        """Of the rates below the lowest that broke it: above that, a step that kept it did so by luck."""
        broken = self.broken_hz
        kept = [step.rate_hz for step in self.steps if step.keeps and (broken is None or step.rate_hz < broken)]
        return max(kept, default=None)

    @computed_field("The lowest rate that broke the limit; None: none did.")
    def broken_hz(self) -> int | None:
        """The lowest that broke it."""
        return min((step.rate_hz for step in self.steps if not step.keeps), default=None)


@dataclass(frozen=True)
class Capacity:
    """What ``clonometer capacity --json`` writes."""

    schema = version(CAPACITY_SCHEMA)

    limit: LatencyLimit
    servers: Annotated[Sequence[ServerCapacity], Ge(1)]


def judge_step(
    limit: LatencyLimit, rate_hz: int, latencies_ns: Sequence[float], failed: int, served_per_s: float | None
) -> RateStep:
    """Judge one rate by the latencies of its answered requests.

    A request without an answer took longer than any limit.

    Examples
    --------
    >>> step = judge_step(LatencyLimit("p50", 10.0), 100, [1, 2, 3], failed=1, served_per_s=75.0)
    >>> step.latency_ns, step.keeps
    (2, True)
    >>> judge_step(LatencyLimit("max", 10.0), 100, [1, 2, 3], failed=1, served_per_s=75.0).keeps
    False
    """
    answered = sorted(latencies_ns)
    requests = len(answered) + failed

    latency = reached(answered, limit.share, requests)
    keeps = latency is not None and latency < limit.ns
    median, fastest = reached(answered, 0.5, requests), answered[0] if answered else None
    return RateStep(rate_hz, requests, failed, latency, median, served_per_s, keeps, fastest_ns=fastest)


def reached(ordered: Sequence[float], share: float, count: int) -> float | None:
    """The least of rising values that ``share`` of ``count`` do not exceed; None where so many are not known.

    Examples
    --------
    >>> reached([1, 2, 3], 0.5, 4), reached([1, 2, 3], 1.0, 4)
    (2, None)
    """
    place = max(0, math.ceil(share * count) - 1)
    return ordered[place] if place < len(ordered) else None


def next_rate(steps: Sequence[RateStep], *, first: int, least: int, most: int, narrow: float) -> int | None:
    """Choose the next rate to try, or None where the answer is narrow enough.

    Doubles the rate until the limit breaks, or halves it until it is kept; then tries the geometric mean.
    """
    if not steps:
        return first
    broken = min((step.rate_hz for step in steps if not step.keeps), default=None)
    kept = max(
        (step.rate_hz for step in steps if step.keeps and (broken is None or step.rate_hz < broken)), default=None
    )
    if broken is None:
        return min(most, 2 * (kept or first)) if (kept or first) < most else None
    if kept is None:
        return max(least, broken // 2) if broken > least else None
    middle = round((kept * broken) ** 0.5)
    return middle if broken / kept > narrow and kept < middle < broken else None
