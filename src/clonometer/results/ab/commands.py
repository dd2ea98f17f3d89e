"""Two commands of the user's own: who is started next, and what the pairs say."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from clonometer.results.ab.command_types import (
    CPU_TIME,
    PEAK_MEMORY,
    QUANTITIES,
    WALL_TIME,
    CommandMedian,
    CommandPair,
    CommandRow,
    CommandsResult,
    CommandStart,
)
from clonometer.results.ab.judgement import allowed_by, change_of, unverified_of, verdict_of
from clonometer.results.ab.wording import verdict_text
from clonometer.run_document import SwitchedSetting
from clonometer.stats.quantiles import quantile_interval
from clonometer.stats.sequential import Decision, PairedDesign, PairedRow, judge

# The kernel gives CPU time in microseconds, memory in pages; the clock of wall time is finer than any launch.
_STEPS = {WALL_TIME: 1, CPU_TIME: 1000, PEAK_MEMORY: 4096}
_SIDES: tuple[Literal["a", "b"], ...] = ("a", "b")


@dataclass
class CommandPairs:
    """The pairs that were started."""

    design: PairedDesign
    started: list[CommandPair] = field(default_factory=list)
    interrupted: bool = False

    @property
    def quantities(self) -> tuple[str, ...]:
        """What is compared: a gate is one of times."""
        return tuple(each for each in QUANTITIES if self.design.limit is None or each != PEAK_MEMORY)

    def values(self, quantity: str) -> NDArray[np.float64]:
        """Shape (2, pairs): what A and B took of a quantity, or the empty programs beside them."""
        pairs = [[getattr(pair.a, quantity), getattr(pair.b, quantity)] for pair in self.started]
        return np.array(pairs, dtype=np.float64).reshape(-1, 2).T

    def paired(self) -> list[PairedRow]:
        """The differences of each quantity, for the test."""
        rows = []
        for quantity in self.quantities:
            a, b = self.values(quantity)
            both = (a > 0) & (b > 0)
            b_first = np.array([pair.first == "b" for pair in self.started], dtype=bool)
            rows.append(PairedRow(0, np.flatnonzero(both), np.log(b[both] / a[both]), b_first[both]))
        return rows

    def needs_more(self) -> bool:
        """Whether some row is not sure yet; it is looked at a few fixed numbers of pairs only."""
        n = len(self.started)
        if n >= self.design.most_pairs:
            return False
        return n not in self.design.looks or bool(judge(self.paired(), self.design, ended=False).open_groups)


class Watch(Protocol):
    """Learns which command is started next, just before."""

    def __call__(self, pair: int, side: int, elapsed_s: float, remaining_s: float | None, /) -> None:
        """Of which pair, counted from 1, the start of command 0 (A) or 1 (B) is; what is left is None of the first."""


def start_pairs(
    start: Callable[[int], CommandStart | None],
    design: PairedDesign,
    seed: int,
    budget_s: float,
    *,
    clock: Callable[[], float],
    watch: Watch,
) -> CommandPairs:
    """Start pairs until all rows are sure or the budget is spent; the first pair always ends.

    Parameters
    ----------
    start
        Starts command 0 (A) or 1 (B); None where that was interrupted.
    clock
        Seconds from any origin.
    """
    coin, pairs, began_s = random.Random(seed), CommandPairs(design), clock()
    other_first: int | None = None
    while pairs.needs_more():
        done, elapsed_s, left_s = len(pairs.started), clock() - began_s, None
        if done:
            pair_s = elapsed_s / done
            if elapsed_s + pair_s > budget_s:
                break
            left_s = min(budget_s - elapsed_s, pair_s * (design.most_pairs - done))
        # Each two pairs have both orders, since each must show a change by itself.
        first = coin.randrange(2) if other_first is None else other_first
        other_first = 1 - first if other_first is None else None
        started = {}
        for side in (first, 1 - first):
            watch(done + 1, side, elapsed_s, left_s)
            values = start(side)
            if values is None:
                pairs.interrupted = True
                return pairs
            started[side] = values
        pairs.started.append(CommandPair(_SIDES[first], started[0], started[1]))
    return pairs


@dataclass(frozen=True)
class StartedCommand:
    """A command of a comparison: its words, and what it was started in."""

    words: Sequence[str]
    settings: Sequence[str] = ()


def judge_commands(
    pairs: CommandPairs,
    commands: tuple[StartedCommand, StartedCommand],
    seed: int,
    *,
    switched: Sequence[SwitchedSetting] = (),
    ignore_failure: bool,
) -> CommandsResult:
    """Judge the pairs of two commands; there must be one at least."""
    empty = _median(pairs.values("empty").T.ravel())
    decisions = judge(pairs.paired(), pairs.design).rows
    return CommandsResult(
        status="partial" if pairs.interrupted else "complete",
        status_reason="interrupted" if pairs.interrupted else None,
        a=commands[0].words,
        b=commands[1].words,
        a_settings=commands[0].settings,
        b_settings=commands[1].settings,
        settings=switched,
        ignore_failure=ignore_failure,
        empty=empty,
        seed=seed,
        starts=tuple(pairs.started),
        most_pairs=pairs.design.most_pairs,
        minimum_effect=pairs.design.least_effect,
        max_regression=pairs.design.limit,
        error_rate=pairs.design.error_rate,
        rows=tuple(
            _row(quantity, pairs, decision, empty, unverified_of(switched))
            for quantity, decision in zip(pairs.quantities, decisions, strict=True)
        ),
    )


def _median(values: NDArray[np.float64]) -> CommandMedian:
    interval = quantile_interval(values)
    ends = (interval.low, interval.high) if interval.reaches_nominal else (None, None)
    return CommandMedian(interval.value, *ends)


def _row(
    quantity: str, pairs: CommandPairs, decision: Decision, empty: CommandMedian, unverified: str | None
) -> CommandRow:
    a, b = (_median(side) for side in pairs.values(quantity))
    is_wall = quantity == WALL_TIME
    step = _STEPS[quantity] / b.median if b.median else 0.0
    verdict, reason = verdict_of(decision, pairs.design, step=step, unverified=unverified)
    change = change_of(decision, pairs.design, verdict, a, b)
    ratio, ends = change.value, change.interval
    words = verdict_text(change, decision.n_above, is_time=is_wall, drifts=decision.drifts)
    net = _net_of(a, b, empty) if is_wall else None
    return CommandRow(
        quantity=quantity,
        unit="bytes" if quantity == PEAK_MEMORY else "ns",
        change=change,
        drifts=decision.drifts,
        net_ratio=None if net is None or ratio is None else net(ratio),
        net_interval=None if net is None or ends is None else (net(ends[0]), net(ends[1])),
        order_p=None if decision.orders is None else decision.orders.p,
        pairs=decision.pairs,
        b_slower=decision.n_above,
        allowed=allowed_by(decision, pairs.design, unverified=unverified),
        reason=reason,
        sentence=f"{QUANTITIES[quantity]}: {words}",
    )


def _net_of(a: CommandMedian, b: CommandMedian, empty: CommandMedian) -> Callable[[float], float] | None:
    """How a ratio changes when a launch is taken from both; None where a command may take no longer than that."""
    if empty.high is None or any(side.low is None or side.low <= empty.high for side in (a, b)):
        return None
    return lambda ratio: max(0.0, (ratio * a.median - empty.median) / (a.median - empty.median))
