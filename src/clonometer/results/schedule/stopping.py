"""Which target is measured next, and when that is enough: time goes where intervals are still wider than wanted.

Every target first gets the least number of processes that an interval can rest on, in rounds; what is left of the
budget is divided so that it narrows the wide intervals most (docs/methods.md).

What a plan asks first has an early turn, so that there is an answer after seconds. Whoever measured its targets only
then would compare two moments of the machine: a drift between them would be taken for a difference. So a turn gives its
targets half of their processes, in rounds of random order, and the other half beside those of later turns. What is left
of the budget goes to all in random order.

References
----------
.. [1] T. Kalibera, R. Jones, "Rigorous benchmarking in reasonable time", ISMM 2013, 63-74: as many repetitions of each
       level as its costs and variances ask for.
.. [2] W. G. Cochran, "Sampling techniques", 3rd edition, Wiley 1977, 5.5: the optimum allocation where units differ in
       their cost.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from clonometer.plan.types import TARGET_WIDTH, Catalogue, Plan
from clonometer.results.rows.alone import CoresInHand, has_additions, of_one_process
from clonometer.results.schedule.precision import Precision
from clonometer.results.schedule.scheduler import TargetsInHand
from clonometer.stats.interval import LEAST_NOMINAL

#: Wider intervals count as this many times the target: else one hopeless row would take the whole budget.
_WIDEST = 5.0
_MOST_PROCESSES = 5000
_FIRST_ROUNDS = 2
#: Before, a wandering machine looks level too often for a narrow interval to mean much (`make coverage`).
_FIRST_LOOK = 24
_CONFIRMING = 1.25
#: Of the processes that a target wants so many are measured in its turn, but enough for an interval.
_IN_ITS_TURN = 0.5
#: Early turns may use so much of the budget: nothing that was asked for stays without any process.
_FOR_TURNS = 0.5


def timed_quantities(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """For each workload the times from zero up that are no mere details: those whose intervals can be aimed at."""
    described = catalogue.raw["quantities"].items()
    left_out = {name for name, entry in described if entry.get("signed") or entry.get("detail")}
    timed = {name for name, quantity in catalogue.quantities.items() if quantity.unit in ("ns", "us")} - left_out
    return {
        id_: tuple(name for name in workload.quantities if name in timed)
        for id_, workload in catalogue.workloads.items()
    }


class TargetScheduler(TargetsInHand):
    """Spends a budget where intervals are wider than a target.

    Parameters
    ----------
    seed
        Fixes the order, as far as the measured costs and widths do not change it.
    budget_s
        Seconds of measuring to use at most, but for one process of each target.
    quantities
        For each workload the columns whose intervals count (`timed_quantities`).
    target_width
        Half of an interval's width as a share of its median. Where every row of a target is as narrow, from 24
        processes on, a quarter more are measured; it is done if every row is as narrow then. Whoever ends at the first
        narrow interval ends where chance made it narrow.
    stretch
        How many times the budget may be used where targets would otherwise lack processes.
    overtime_s
        Beyond the budget and so many seconds no process is started, so that targets may be left without any; None: each
        has one, whatever it takes.

    until_decided
        The targets of a question: they are measured until it is decided (`decide`), whatever their intervals, and all
        others only as often as they want. Empty: intervals alone say when it is enough.

    Notes
    -----
    The order is random within slices: each slice has of every target a share of all that it is still to get, so that a
    drift of the machine falls on all of them alike.
    """

    def __init__(
        self,
        seed: int,
        budget_s: float,
        quantities: Mapping[str, Sequence[str]],
        *,
        target_width: float = TARGET_WIDTH,
        stretch: float = 1.0,
        overtime_s: float | None = None,
        until_decided: Sequence[int] = (),
    ) -> None:
        super().__init__(seed)
        self._budget_s = budget_s
        self._overtime_s = overtime_s
        self._quantities = quantities
        self._target_width = target_width
        self._stretch = stretch
        self._until_decided = frozenset(until_decided)
        self._is_decided = False

    def begin(self, plan: Plan) -> None:
        """Take the targets of ``plan``; forgets what was scheduled before."""
        super().begin(plan)
        self._precision = [Precision(self._quantities.get(target.workload, ())) for target in plan.targets]
        self._widths: list[float | None] = [None for _ in plan.targets]
        self._confirmed_at: list[int | None] = [None for _ in plan.targets]
        self._done: set[int] = set()
        self._cores = CoresInHand()
        self._turns = [target.limits.turn or math.inf for target in plan.targets]
        self._slice: list[int] = []

    def next_target(self, elapsed_s: float) -> int | None:
        """Name the target to start now, as its index in the plan, or None where measuring ends."""
        first = not all(self._seconds[target] for target in self._live())
        if self._overtime_s is not None and elapsed_s > self._budget_s + self._overtime_s:
            return None
        for _ in range(3):
            while self._slice:
                target = self._slice.pop()
                owed = first and not self._seconds[target]
                if target not in self._dropped and (owed or self._fits(target, elapsed_s)):
                    return target
            self._slice = self._next_slice(elapsed_s)
        return None

    def decide(self) -> None:
        """Learn that the question is decided: its targets need no more than they want."""
        self._is_decided = True

    def process_ended(self, target: int, seconds: float, samples: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> None:
        """Note that a process of ``target`` has ended, how long it took and what it measured; failed ones count too."""
        super().process_ended(target, seconds)
        for _, columns in samples:
            if has_additions(columns):
                self._cores.add(of_one_process(columns))
        self._precision[target].add(samples, self._cores.cores())
        self._widths[target] = self._precision[target].widest(self._target_width)
        self._look(target)

    def stopped_by(self, target: int) -> str | None:
        """Say what ended the measuring of ``target``; None if it was dropped.

        ``target``: it is as narrow as wanted; ``processes``: it has the most that it may have; else ``budget``.
        """
        if target in self._dropped:
            return None
        if target in self._done:
            return "target"
        if self._until_decided and self._is_decided and not self._lacking(target):
            return "processes"
        return "budget" if self._may_have(target) else "processes"

    def remaining_s(self, elapsed_s: float) -> float | None:
        """Estimate the seconds of measuring that are left; None before anything is known."""
        live = self._live()
        if not any(self._seconds[target] for target in live):
            return None
        needed_s = sum(self._cost_s(target) * self._needed(target) for target in live)
        return max(0.0, min(needed_s, self._limit_s() - elapsed_s))

    def _look(self, target: int) -> None:
        """See whether ``target`` is narrow: first from `_FIRST_LOOK` processes on, then with a quarter more."""
        width, count = self._widths[target], len(self._seconds[target])
        narrow = width is not None and width <= self._target_width
        again_at = self._confirmed_at[target]
        if again_at is None:
            if narrow and count >= max(_FIRST_LOOK, self._wanted[target]):
                self._confirmed_at[target] = math.ceil(count * _CONFIRMING)
        elif count >= again_at:
            self._confirmed_at[target] = None
            if narrow:
                self._done.add(target)

    def _needed(self, target: int) -> int:
        """How many processes more ``target`` needs, if its interval goes on narrowing as the square root."""
        return int(min(self._needed_for_width(target), self._may_have(target)))

    def _needed_for_width(self, target: int) -> int:
        width, count = self._widths[target], len(self._seconds[target])
        if self._until_decided:
            return self._needed_for_question(target)
        if target in self._done or width is None:
            return self._lacking(target)
        again_at = self._confirmed_at[target]
        if again_at is None:
            first_look = max(count * (width / self._target_width) ** 2, _FIRST_LOOK, self._wanted[target])
            again_at = math.ceil(first_look * _CONFIRMING)
        return min(max(again_at - count, 1), _MOST_PROCESSES)

    def _needed_for_question(self, target: int) -> int:
        """Of a question that is open as many again: so much later is the next look."""
        if self._is_decided or target not in self._until_decided:
            return self._lacking(target)
        return max(len(self._seconds[target]), self._lacking(target))

    def _cost_s(self, target: int) -> float:
        known = self._seconds[target] or [cost for seconds in self._seconds for cost in seconds]
        return max(median(known), 1e-6) if known else 0.0

    def _limit_s(self) -> float:
        """The budget, stretched as long as a target lacks processes."""
        return self._budget_s * (self._stretch if any(map(self._lacking, self._live())) else 1.0)

    def _fits(self, target: int, elapsed_s: float) -> bool:
        return elapsed_s + self._cost_s(target) <= self._limit_s()

    def _turn(self, elapsed_s: float) -> float:
        """The turn that it is; infinite once the early ones have had their processes, or their time."""
        if elapsed_s >= _FOR_TURNS * self._budget_s:
            return math.inf
        live = self._live()
        waiting = (self._turns[target] for target in live if len(self._seconds[target]) < self._wanted_in_turn(target))
        return min(waiting, default=math.inf)

    def _wanted_in_turn(self, target: int) -> int:
        wanted = self._wanted[target]
        return min(wanted, max(LEAST_NOMINAL, math.ceil(_IN_ITS_TURN * wanted)))

    def _next_slice(self, elapsed_s: float) -> list[int]:
        live = self._live()
        asked = self._next_round(elapsed_s)
        if asked:
            self._random.shuffle(asked)
            return asked
        fewest = min((len(self._seconds[target]) for target in live), default=0)
        if fewest < _FIRST_ROUNDS:
            # Costs and spreads are not known before; a target that wants fewer gets no more than it wants.
            chosen = [
                target
                for target in live
                if len(self._seconds[target]) == fewest
                and self._lacking(target)
                and (not fewest or self._fits(target, elapsed_s))
            ]
            if chosen:
                self._random.shuffle(chosen)
                return chosen
        shares = self._shares(live, elapsed_s)
        total_s = sum(self._cost_s(target) * count for target, count in shares.items())
        round_s = sum(map(self._cost_s, shares))
        part = min(1.0, round_s / total_s) if total_s else 0.0
        chosen = []
        for target, count in shares.items():
            whole, rest = divmod(count * part, 1.0)
            chosen += [target] * (int(whole) + (self._random.random() < rest))
        if not chosen and shares:
            chosen = [max(shares, key=lambda target: shares[target])]
        self._random.shuffle(chosen)
        return chosen

    def _next_round(self, elapsed_s: float) -> list[int]:
        """What is asked first, each target once: those of early turns, or of a question that is open; else nothing."""
        live = self._live()
        turn = self._turn(elapsed_s)
        if turn < math.inf:
            return [target for target in live if self._turns[target] <= turn and self._lacking(target)]
        if any(map(self._lacking, live)) or self._is_decided:
            return []
        return [target for target in live if target in self._until_decided and self._may_have(target)]

    def _shares(self, live: Sequence[int], elapsed_s: float) -> dict[int, int]:
        """Divide the rest of the budget: how many processes each target is still to get."""
        shares: dict[int, int] = {}
        room_s = self._limit_s() - elapsed_s
        lacking = {target: self._lacking(target) for target in live if self._lacking(target)}
        even = {target: 1 / max(len(self._seconds[target]), 1) for target in lacking}
        room_s = self._spend(shares, lacking, even, room_s)
        if len(shares) < len(lacking) or any(shares[target] < count for target, count in lacking.items()):
            return shares
        room_s = min(room_s, self._budget_s - elapsed_s - sum(self._cost_s(target) * n for target, n in shares.items()))
        if self._until_decided:
            return shares
        wide = {target: self._needed(target) for target in live if target not in self._done and self._widths[target]}
        weights = {target: self._width_counted(target) ** 2 for target in wide}
        self._spend(shares, {target: n - shares.get(target, 0) for target, n in wide.items()}, weights, room_s)
        return shares

    def _width_counted(self, target: int) -> float:
        """How many times too wide ``target`` is; the most where a narrow interval only has to be confirmed."""
        if self._confirmed_at[target] is not None:
            return _WIDEST
        return min((self._widths[target] or 0.0) / self._target_width, _WIDEST)

    def _spend(
        self, shares: dict[int, int], most: Mapping[int, int], weights: Mapping[int, float], room_s: float
    ) -> float:
        """Give processes to targets, each time where a second takes most off the sum of variances; the room left."""
        costs_s = {target: self._cost_s(target) for target in most}

        def entry(target: int) -> tuple[float, int]:
            count = len(self._seconds[target]) + shares.get(target, 0)
            # Of a variance that falls as 1 / n: what one more takes off, a second of it.
            scale = len(self._seconds[target]) / (count * (count + 1)) if count else 1.0
            return (-weights[target] * scale / costs_s[target], target)

        left = {target: count for target, count in most.items() if count > 0}
        heap = [entry(target) for target in left]
        heapq.heapify(heap)
        while heap:
            _, target = heapq.heappop(heap)
            if costs_s[target] > room_s:
                continue
            room_s -= costs_s[target]
            shares[target] = shares.get(target, 0) + 1
            left[target] -= 1
            if left[target]:
                heapq.heappush(heap, entry(target))
        return room_s
