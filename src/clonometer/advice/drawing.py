"""Terms drawn at random from their intervals: what follows from terms has an interval from that."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from clonometer.advice.costs import BUSY
from clonometer.advice.terms import TermSpan
from clonometer.advice.uniform import normal, uniform

#: So many standard deviations reach to an end of a 95% interval.
_TO_AN_END = 1.96
#: The same where the deviation is that of a dozen draws: of Student's t with 11 degrees of freedom.
_OF_A_DOZEN = 2.2
DRAWS = 12
#: Kinds of terms that were measured of the same launches, or of the same requests.
_OF_ONE = ("call", "runs", "whole", "cpu", "latency", "cpu_above", "latency_above")


def draws(spans: Mapping[str, TermSpan], count: int, seed: int) -> list[dict[str, float]]:
    """Draw all terms as often: each from a distribution as wide as its interval says, normal on either side.

    That of a term whose interval is above zero is normal on the logarithm, so that no draw is below zero.
    All that rests on one term rests on the same value in a draw: differences are as certain as they are.
    """
    return [
        {name: _drawn(spans[name], deviation) for name, deviation in each.items()}
        for each in deviations(spans, count, seed)
    ]


def deviations(names: Iterable[str], count: int, seed: int) -> list[dict[str, float]]:
    """Draw for each term how many standard deviations it is off, as often."""
    draw, ordered = uniform(seed), sorted(names)
    sources = sorted(set(map(_source, ordered)))
    drawn = [{source: normal(draw) for source in sources} for _ in range(count)]
    return [{name: each[_source(name)] for name in ordered} for each in drawn]


def _source(name: str) -> str:
    """What a term was measured of: times of the same launches or requests are long and short together."""
    kind, _, of = name.removeprefix(BUSY).partition(".")
    return of if kind in _OF_ONE else name


def _drawn(span: TermSpan, deviation: float) -> float:
    end = span.high if deviation > 0 else span.low
    share = abs(deviation) / _TO_AN_END
    if span.low > 0:
        return float(span.value * (end / span.value) ** share)
    return span.value + (end - span.value) * share


def span_of(values: Sequence[float]) -> TermSpan:
    """Give the mean of what draws have led to, with an interval that holds 95% of such."""
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / max(1, len(values) - 1))
    return TermSpan(mean, mean - _OF_A_DOZEN * deviation, mean + _OF_A_DOZEN * deviation)


def ratio_of(others: Sequence[float], bases: Sequence[float]) -> TermSpan:
    """Give the ratio of two things draw by draw, on the logarithm; both are above zero."""
    logs = span_of([math.log(other / base) for other, base in zip(others, bases, strict=True)])
    return TermSpan(math.exp(logs.value), math.exp(logs.low), math.exp(logs.high))
