"""What the trials of start methods say: medians, and a ranking by pairs of the same round."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from clonometer.results.start_methods.types import (
    QUANTITIES,
    RankedMethod,
    StartMethodFigure,
    StartMethodRanking,
)
from clonometer.stats.paired_ratio import paired_ratio
from clonometer.stats.quantiles import quantile_interval
from clonometer.verdicts import Direction

#: A difference that is sure but smaller gets no verdict.
_LEAST_EFFECT = 0.05

#: Of each round the values of each method, by quantity.
TrialRounds = Sequence[Mapping[str, Mapping[str, float]]]


def method_figures(rounds: TrialRounds, method: str) -> list[StartMethodFigure]:
    """The medians of a method over the rounds, each with an interval from 6 rounds on."""
    figures = []
    for quantity in QUANTITIES:
        values = [each[method][quantity] for each in rounds if quantity in each.get(method, {})]
        if values:
            interval = quantile_interval(values)
            low, high = (interval.low, interval.high) if interval.reaches_nominal else (None, None)
            figures.append(StartMethodFigure(quantity, interval.value, low, high, len(values)))
    return figures


def rank_methods(rounds: TrialRounds, seed: int) -> list[StartMethodRanking]:
    """Rank the methods by each quantity, each beside the next cheaper; those that are too close to it have no verdict.

    Examples
    --------
    >>> rounds = [{"a": {"task": 10.0 + n}, "b": {"task": 3 * (10.0 + n)}} for n in range(8)]
    >>> [(each.method, round(each.ratio, 2), each.verdict.value) for each in rank_methods(rounds, 1)[0].methods]
    [('a', 1.0, 'equal'), ('b', 3.0, 'more')]
    """
    rankings = []
    for quantity in QUANTITIES:
        medians = {
            method: figure.value
            for method in dict.fromkeys(name for each in rounds for name in each)
            for figure in method_figures(rounds, method)
            if figure.quantity == quantity
        }
        ordered = sorted(medians, key=lambda name: medians[name])
        if len(ordered) > 1:
            before = [ordered[0], *ordered]
            ranked = [_ranked(rounds, quantity, *both, seed) for both in zip(ordered, before, strict=False)]
            rankings.append(StartMethodRanking(quantity, [each for each in ranked if each is not None]))
    return rankings


def _ranked(rounds: TrialRounds, quantity: str, method: str, before: str, seed: int) -> RankedMethod | None:
    if method == before:
        return RankedMethod(method, 1.0, None, None, Direction.EQUAL)
    both = [
        (each[method][quantity], each[before][quantity])
        for each in rounds
        if quantity in each.get(method, {}) and quantity in each.get(before, {})
    ]
    logs = [math.log(value / least) for value, least in both if value > 0 and least > 0]
    if not logs:
        return None
    interval = paired_ratio([logs], seed=seed)
    if not interval.reaches_nominal:
        return RankedMethod(method, interval.value, None, None, Direction.UNKNOWN)
    is_more = interval.low > 1 and interval.value >= 1 + _LEAST_EFFECT
    verdict = Direction.MORE if is_more else Direction.UNKNOWN
    return RankedMethod(method, interval.value, interval.low, interval.high, verdict)
