"""Which target is measured next: rounds in seeded random order, within a budget.

Interleaving the targets makes differences between neighbours in time possible, and a drift of the machine
falls on all of them alike (docs/methods.md).
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from clonometer.plan.types import Plan


class TargetsInHand:
    """The targets of a plan while they are measured: what each of their processes took, and who is out."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def begin(self, plan: Plan) -> None:
        """Take the targets of ``plan``; forgets what was scheduled before."""
        self._most = [target.limits.most_processes or math.inf for target in plan.targets]
        wanted = (target.limits.processes for target in plan.targets)
        self._wanted = [int(min(count, most)) for count, most in zip(wanted, self._most, strict=True)]
        self._seconds: list[list[float]] = [[] for _ in plan.targets]
        self._dropped: set[int] = set()

    def process_ended(self, target: int, seconds: float, samples: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> None:
        """Note that a process of ``target`` has ended, how long it took and what it measured; failed ones count too."""
        self._seconds[target].append(seconds)

    def drop(self, target: int) -> None:
        """Never name ``target`` again."""
        self._dropped.add(target)

    def _live(self) -> list[int]:
        return [target for target in range(len(self._wanted)) if target not in self._dropped]

    def _may_have(self, target: int) -> float:
        """How many processes more ``target`` may have."""
        return max(0, self._most[target] - len(self._seconds[target]))

    def _lacking(self, target: int) -> int:
        return max(0, self._wanted[target] - len(self._seconds[target]))


class RoundsScheduler(TargetsInHand):
    """Rounds, each with every target once, in an order drawn anew from the seed.

    A round holds the targets that still lack processes; once no target does, every target, for as long as the
    budget lasts. The first round always ends: each target gets at least one process, whatever the budget. A
    later round starts if at least half of its estimated cost fits in the budget, so that the budget is missed
    by half a round at most; if the estimate was too low, the round is broken off there.

    Parameters
    ----------
    seed
        Fixes the order.
    budget_s
        Seconds of measuring to use, or None: every target gets ``limits.processes`` processes and no more.

    Examples
    --------
    >>> from clonometer.plan.types import Limits, Target
    >>> plan = Plan("two", "", 0.0, tuple(Target(id_, {}, (), Limits(processes=1)) for id_ in "ab"))
    >>> scheduler = RoundsScheduler(seed=1, budget_s=None)
    >>> scheduler.begin(plan)
    >>> first = scheduler.next_target(0.0)
    >>> scheduler.process_ended(first, 0.1)
    >>> second = scheduler.next_target(0.1)
    >>> scheduler.process_ended(second, 0.1)
    >>> sorted((first, second)), scheduler.next_target(0.2), scheduler.stopped_by(0)
    ([0, 1], None, 'processes')
    """

    def __init__(self, seed: int, budget_s: float | None) -> None:
        super().__init__(seed)
        self._budget_s = math.inf if budget_s is None else budget_s

    def begin(self, plan: Plan) -> None:
        """Take the targets of ``plan``; forgets what was scheduled before."""
        super().begin(plan)
        self._round: list[int] = []

    def next_target(self, elapsed_s: float) -> int | None:
        """Name the target to start now, as its index in the plan, or None where measuring ends."""
        if self._spent(elapsed_s):
            return None
        while self._round:
            target = self._round.pop()
            if target not in self._dropped:
                return target
        self._round = self._next_round(elapsed_s)
        return self._round.pop() if self._round else None

    def stopped_by(self, target: int) -> str | None:
        """Say what ended the measuring of ``target``: ``processes`` or ``budget``; None if it was dropped."""
        if target in self._dropped:
            return None
        return "budget" if self._lacking(target) else "processes"

    def remaining_s(self, elapsed_s: float) -> float | None:
        """Estimate the seconds of measuring that are left; None before anything is known."""
        live = self._live()
        first_round = [target for target in live if not self._seconds[target]]
        if self._budget_s == math.inf:
            if first_round and len(first_round) == len(live):
                return None
            return sum(self._lacking(target) * self._cost_s([target]) for target in live)
        return max(self._budget_s - elapsed_s, self._cost_s(first_round), 0.0)

    def _next_round(self, elapsed_s: float) -> list[int]:
        live = self._live()
        targets = [target for target in live if self._lacking(target)]
        if not targets and self._budget_s < math.inf:
            targets = [target for target in live if self._may_have(target)]
        owed = any(not self._seconds[target] for target in live)
        if not owed and elapsed_s + self._cost_s(targets) / 2 > self._budget_s:
            return []
        self._random.shuffle(targets)
        return targets

    def _spent(self, elapsed_s: float) -> bool:
        live = self._live()
        owed = any(not self._seconds[target] for target in live)
        return not owed and elapsed_s > self._budget_s + self._cost_s(live) / 2

    def _cost_s(self, targets: Sequence[int]) -> float:
        known = [median(seconds) for seconds in self._seconds if seconds]
        unknown_s = median(known) if known else 0.0
        return sum(median(self._seconds[target]) if self._seconds[target] else unknown_s for target in targets)
