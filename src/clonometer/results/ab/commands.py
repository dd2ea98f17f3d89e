"""Two commands of the user's own: who is started next, and what the pairs say."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from clonometer.results.ab.command_types import (
    CPU_TIME,
    PEAK_MEMORY,
    QUANTITIES,
    WALL_TIME,
    CommandMedian,
    CommandRow,
    CommandsResult,
)
from clonometer.results.ab.judgement import allowed_by, ends_of, verdict_of
from clonometer.results.ab.wording import verdict_text
from clonometer.stats.quantiles import quantile_interval
from clonometer.stats.sequential import Decision, PairedDesign, PairedRow, judge

#: What a start of a command gives: each of `QUANTITIES`, and what the empty program beside it took. None: interrupted.
Started = Mapping[str, int] | None
_EMPTY = "empty"
# The kernel gives CPU time in microseconds, memory in pages; the clock of wall time is finer than any launch.
_STEPS = {WALL_TIME: 1, CPU_TIME: 1000, PEAK_MEMORY: 4096}


@dataclass
class CommandPairs:
    """The pairs that were started: by quantity the values of A and of B, and who came first."""

    design: PairedDesign
    values: dict[str, tuple[list[int], list[int]]] = field(default_factory=dict)
    b_first: list[bool] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    interrupted: bool = False

    def add(self, started: Sequence[Mapping[str, int]], *, b_first: bool) -> None:
        """Take a pair: what A gave, and what B did."""
        self.b_first.append(b_first)
        self.empty += [side[_EMPTY] for side in started]
        for quantity in self.quantities:
            sides = self.values.setdefault(quantity, ([], []))
            for values, side in zip(sides, started, strict=True):
                values.append(side[quantity])

    @property
    def quantities(self) -> tuple[str, ...]:
        """What is compared: a gate is one of times."""
        return tuple(each for each in QUANTITIES if self.design.limit is None or each != PEAK_MEMORY)

    def paired(self) -> list[PairedRow]:
        """The differences of each quantity, for the test."""
        rows = []
        for quantity in self.quantities:
            a, b = (np.asarray(side, dtype=float) for side in self.values.get(quantity, ([], [])))
            both = (a > 0) & (b > 0)
            turns, first = np.flatnonzero(both), np.asarray(self.b_first, dtype=bool)[both]
            rows.append(PairedRow(0, turns, np.log(b[both] / a[both]), first))
        return rows

    def needs_more(self) -> bool:
        """Whether some row is not sure yet; it is looked at a few fixed numbers of pairs only."""
        n = len(self.b_first)
        if n >= self.design.most_pairs:
            return False
        return n not in self.design.looks or bool(judge(self.paired(), self.design, ended=False).open_groups)


def start_pairs(
    start: Callable[[int], Started], design: PairedDesign, seed: int, budget_s: float, clock: Callable[[], float]
) -> CommandPairs:
    """Start pairs until all rows are sure or the budget is spent; the first pair always ends.

    Parameters
    ----------
    start
        Starts command 0 (A) or 1 (B).
    clock
        Seconds from any origin.
    """
    coin, pairs, began_s = random.Random(seed), CommandPairs(design), clock()
    other_first: int | None = None
    while pairs.needs_more():
        done = len(pairs.b_first)
        elapsed_s = clock() - began_s
        if done and elapsed_s + elapsed_s / done > budget_s:
            break
        # Each two pairs have both orders, since each must show a change by itself.
        first = coin.randrange(2) if other_first is None else other_first
        other_first = 1 - first if other_first is None else None
        started = {}
        for side in (first, 1 - first):
            values = start(side)
            if values is None:
                pairs.interrupted = True
                return pairs
            started[side] = values
        pairs.add((started[0], started[1]), b_first=first == 1)
    return pairs


def judge_commands(
    pairs: CommandPairs, commands: tuple[Sequence[str], Sequence[str]], seed: int, *, ignore_failure: bool
) -> CommandsResult:
    """Judge the pairs of two commands; there must be one at least."""
    empty = _median(pairs.empty)
    decisions = judge(pairs.paired(), pairs.design).rows
    return CommandsResult(
        status="partial" if pairs.interrupted else "complete",
        status_reason="interrupted" if pairs.interrupted else None,
        a=commands[0],
        b=commands[1],
        ignore_failure=ignore_failure,
        empty=empty,
        seed=seed,
        pairs=len(pairs.b_first),
        most_pairs=pairs.design.most_pairs,
        minimum_effect=pairs.design.least_effect,
        max_regression=pairs.design.limit,
        error_rate=pairs.design.error_rate,
        rows=tuple(
            _row(quantity, pairs, decision, empty)
            for quantity, decision in zip(pairs.quantities, decisions, strict=True)
        ),
    )


def _median(values: Sequence[int]) -> CommandMedian:
    interval = quantile_interval(values)
    ends = (interval.low, interval.high) if interval.reaches_nominal else (None, None)
    return CommandMedian(interval.value, *ends)


def _row(quantity: str, pairs: CommandPairs, decision: Decision, empty: CommandMedian) -> CommandRow:
    a, b = (_median(side) for side in pairs.values[quantity])
    is_wall = quantity == WALL_TIME
    step = _STEPS[quantity] / b.median if b.median else 0.0
    ratio, ends = None if decision.value is None else math.exp(decision.value), ends_of(decision)
    verdict, reason = verdict_of(decision, pairs.design, is_time=is_wall, step=step)
    words = verdict_text(verdict, decision.pairs, decision.n_above, ratio, ends, is_time=is_wall)
    net = _net_of(a, b, empty) if is_wall else None
    return CommandRow(
        quantity=quantity,
        unit="bytes" if quantity == PEAK_MEMORY else "ns",
        a=a,
        b=b,
        ratio=ratio,
        interval=ends,
        net_ratio=None if net is None or ratio is None else net(ratio),
        net_interval=None if net is None or ends is None else (net(ends[0]), net(ends[1])),
        order_p=None if decision.orders is None else decision.orders.p,
        pairs=decision.pairs,
        b_slower=decision.n_above,
        p=decision.p,
        verdict=verdict,
        allowed=allowed_by(decision, pairs.design),
        reason=reason,
        sentence=f"{QUANTITIES[quantity]}: {words}",
    )


def _net_of(a: CommandMedian, b: CommandMedian, empty: CommandMedian) -> Callable[[float], float] | None:
    """How a ratio changes when a launch is taken from both; None where a command may take no longer than that."""
    if empty.high is None or any(side.low is None or side.low <= empty.high for side in (a, b)):
        return None
    return lambda ratio: max(0.0, (ratio * a.median - empty.median) / (a.median - empty.median))
