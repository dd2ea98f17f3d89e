"""The scheduler against simulated targets: each with the cost of a process and the spread of process medians."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np
import pytest

from clonometer.plan.types import Limits, Plan, Target
from clonometer.results.schedule.precision import Precision
from clonometer.results.schedule.stopping import TargetScheduler
from clonometer.stats.quantiles import quantile_interval

QUANTITIES = {"w": ["cost_ns"]}


@dataclass
class Machine:
    """Measures nothing: target ``i`` takes ``costs_s[i]`` and gives a median that scatters by ``spreads[i]``."""

    costs_s: Sequence[float]
    spreads: Sequence[float]
    processes: int = 12
    seed: int = 1
    order: list[int] = field(default_factory=list)
    medians: dict[int, list[float]] = field(default_factory=dict)
    elapsed_s: float = 0.0

    def play(self, scheduler: TargetScheduler, drop: int | None = None) -> Counter[int]:
        random = np.random.default_rng(self.seed)
        limits = Limits(processes=self.processes)
        scheduler.begin(Plan("test", "", 0.0, tuple(Target("w", {}, (), limits) for _ in self.costs_s)))
        if drop is not None:
            scheduler.drop(drop)
        while (target := scheduler.next_target(self.elapsed_s)) is not None:
            assert len(self.order) < 20_000, "the scheduler never ends"
            value = 1e5 * float(np.exp(self.spreads[target] * random.normal()))
            self.order.append(target)
            self.medians.setdefault(target, []).append(value)
            self.elapsed_s += self.costs_s[target]
            scheduler.process_ended(target, self.costs_s[target], [("w", {"cost_ns": np.array([value])})])
        return Counter(self.order)

    def width(self, target: int) -> float:
        return quantile_interval(self.medians[target]).relative_half_width or 0.0


def make(budget_s: float, **options: float) -> TargetScheduler:
    return TargetScheduler(1, budget_s, QUANTITIES, **options)


def test_what_is_narrow_enough_ends_with_the_target_before_the_budget_is_spent() -> None:
    machine, scheduler = Machine([0.1] * 4, [0.001] * 4), make(100.0)
    assert machine.play(scheduler) == dict.fromkeys(range(4), 30)
    assert [scheduler.stopped_by(target) for target in range(4)] == ["target"] * 4
    assert machine.elapsed_s < 13


@dataclass
class Levels:
    """A target whose interval is as narrow as wanted where ``values`` lie close together."""

    values: Sequence[float]

    def processes(self) -> int:
        scheduler = make(float(len(self.values)))
        scheduler.begin(Plan("test", "", 0.0, (Target("w", {}, (), Limits(processes=12)),)))
        count = 0
        while scheduler.next_target(float(count)) is not None:
            scheduler.process_ended(0, 1.0, [("w", {"cost_ns": np.array([self.values[count]])})])
            count += 1
        self.stopped_by = scheduler.stopped_by(0)
        return count


def test_a_narrow_interval_is_looked_at_again_with_a_quarter_more_processes() -> None:
    steady = Levels([1000.0, 1001.0, 999.0] * 30)
    assert (steady.processes(), steady.stopped_by) == (30, "target")
    # Half of the processes from the 25th on are slower by a half: at the second look the interval is wide.
    wide = Levels([1000.0] * 24 + [1500.0] * 200)
    assert wide.processes() > 60
    late = Levels([1000.0, 1100.0] * 20 + [1000.0, 1001.0] * 500)
    count = late.processes()
    precision = Precision(["cost_ns"])
    for first, value in enumerate(late.values, 1):
        precision.add([("w", {"cost_ns": np.array([value])})])
        if first >= 24 and (precision.widest(0.02) or 0.0) <= 0.02:
            break
    assert first > 40
    assert (count, late.stopped_by) == (math.ceil(1.25 * first), "target")


def test_time_goes_where_intervals_are_still_wide() -> None:
    machine, scheduler = Machine([0.1] * 4, [0.001, 0.001, 0.001, 0.06]), make(100.0)
    counts = machine.play(scheduler)
    assert all(30 <= counts[target] < 45 for target in range(3))
    assert counts[3] > 30
    assert scheduler.stopped_by(3) == "target"
    assert machine.width(3) <= 0.02


def test_what_the_budget_ends_is_said() -> None:
    machine, scheduler = Machine([0.001, 0.1, 0.1], [0.001, 0.5, 0.5]), make(100.0)
    machine.play(scheduler)
    assert [scheduler.stopped_by(target) for target in range(3)] == ["target", "budget", "budget"]
    assert abs(machine.elapsed_s - 100.0) <= 0.1
    assert machine.width(1) > 0.02


def test_cheap_targets_get_many_processes_and_dear_ones_few() -> None:
    """Of the same spread, as many as one over the root of the cost (Cochran 1977, 5.5)."""
    machine = Machine([0.01, 0.16], [0.5, 0.5])
    counts = machine.play(make(30.0))
    assert counts[0] / counts[1] == pytest.approx(4, rel=0.25)
    assert counts[1] > 12


def test_of_the_same_cost_the_wider_gets_more() -> None:
    counts = Machine([0.05, 0.05], [0.05, 0.1]).play(make(15.0, target_width=0.005))
    assert counts[1] > 1.5 * counts[0]


def test_one_hopeless_target_does_not_take_what_others_need() -> None:
    machine, scheduler = Machine([0.05] * 5, [3.0, 0.05, 0.05, 0.05, 0.05]), make(120.0)
    machine.play(scheduler)
    assert [scheduler.stopped_by(target) for target in range(5)] == ["budget", *["target"] * 4]


def test_every_target_gets_twelve_processes_where_time_allows() -> None:
    counts = Machine([0.02, 0.1, 0.8], [1.0] * 3).play(make(15.0))
    assert min(counts.values()) >= 12


def test_where_time_does_not_allow_the_dear_ones_get_fewer() -> None:
    machine = Machine([0.01, 0.1, 4.0], [0.1] * 3)
    counts = machine.play(make(25.0))
    assert counts[0] == counts[1] == 12
    assert 2 <= counts[2] < 12
    assert machine.elapsed_s <= 25.0


def test_a_budget_that_is_too_small_still_gives_each_target_one_process() -> None:
    machine, scheduler = Machine([1.0] * 4, [0.1] * 4), make(0.5)
    assert machine.play(scheduler) == dict.fromkeys(range(4), 1)
    assert [scheduler.stopped_by(target) for target in range(4)] == ["budget"] * 4


def test_overtime_ends_even_the_first_round() -> None:
    machine, scheduler = Machine([0.5] * 10, [0.01] * 10), make(1.0, overtime_s=2.0)
    counts = machine.play(scheduler)
    # The last one is started just before three seconds are over.
    assert counts.total() == len(counts) == 7
    assert Machine([0.5] * 10, [0.01] * 10).play(make(1.0, overtime_s=20.0)).total() == 10


@pytest.mark.parametrize(("stretch", "expected"), [(1.0, 6), (1.5, 9), (4.0, 12)])
def test_a_budget_is_stretched_only_for_missing_processes(stretch: float, expected: int) -> None:
    machine = Machine([0.5, 0.5], [3.0, 3.0])
    counts = machine.play(make(6.0, stretch=stretch))
    assert sorted(counts.values()) == pytest.approx([expected, expected], abs=1)
    plenty = Machine([0.5, 0.5], [3.0, 3.0], processes=2)
    plenty.play(make(6.0, stretch=stretch))
    assert plenty.elapsed_s == pytest.approx(6.0, abs=0.5)


def test_the_order_is_random_and_fixed_by_the_seed() -> None:
    orders = []
    for seed in (1, 1, 2):
        machine = Machine([0.05] * 6, [0.3] * 6)
        machine.play(TargetScheduler(seed, 10.0, QUANTITIES))
        orders.append(machine.order)
    assert orders[0] == orders[1] != orders[2]


def test_targets_are_interleaved_all_along() -> None:
    """A drift of the machine must not fall on one target: each has processes in every quarter of the run."""
    machine = Machine([0.02, 0.05, 0.1], [0.4] * 3)
    counts = machine.play(make(30.0))
    size = len(machine.order)
    for quarter in range(4):
        starts = Counter(machine.order[quarter * size // 4 : (quarter + 1) * size // 4])
        for target in range(3):
            assert starts[target] > 0.1 * counts[target]


def test_a_dropped_target_is_never_named_again() -> None:
    machine, scheduler = Machine([0.1] * 3, [0.001] * 3), make(100.0)
    assert set(machine.play(scheduler, drop=1)) == {0, 2}
    assert scheduler.stopped_by(1) is None
    nothing = make(10.0)
    nothing.begin(Plan("test", "", 0.0, (Target("w", {}, (), Limits()),)))
    nothing.drop(0)
    assert nothing.next_target(0.0) is None


def test_a_target_that_measures_nothing_is_ended_by_the_budget() -> None:
    scheduler = TargetScheduler(1, 3.0, {})
    machine = Machine([0.1], [0.1])
    assert machine.play(scheduler) == {0: 12}
    assert scheduler.stopped_by(0) == "budget"


def test_remaining_time_falls_to_nothing() -> None:
    scheduler = make(10.0)
    scheduler.begin(Plan("test", "", 0.0, tuple(Target("w", {}, (), Limits(processes=3)) for _ in range(2))))
    assert scheduler.remaining_s(0.0) is None
    scheduler.process_ended(0, 0.5)
    assert scheduler.remaining_s(0.5) == pytest.approx(5 * 0.5)
    assert scheduler.remaining_s(9.9) == pytest.approx(0.1)


def columns(**values: Sequence[int]) -> dict[str, np.ndarray]:
    kinds = {name: np.int32 if name.startswith(("cpu", "errno")) else np.int64 for name in values}
    return {name: np.array(list(value), kinds[name]) for name, value in values.items()}


def test_precision_counts_good_samples_of_each_placement_apart() -> None:
    """Two placements, each without any scatter; mixed, they would be as wide as can be."""
    precision = Precision(["reaped_ns"])
    null = int(np.iinfo(np.int64).min)
    for _ in range(12):
        block = columns(
            reaped_ns=[1000, 1000, 5000, 5000, 9, null, -3],
            cpu_before=[0] * 7,
            cpu_child=[0, 0, 1, 1, 0, 0, 0],
            errno=[0, 0, 0, 0, 11, 0, 0],
        )
        precision.add([("cell", block)])
    assert (precision.widest(0.02) or 0.0) <= 0.02


def test_precision_leaves_out_accidents_of_placement_and_what_the_clock_cannot_tell() -> None:
    precision = Precision(["reaped_ns"])
    for process in range(12):
        child = 1 if process == 5 else 0
        precision.add([("cell", columns(reaped_ns=[20 + process % 2], cpu_before=[0], cpu_child=[child], errno=[0]))])
    assert precision.widest(0.02) == 0.02
    assert Precision(["reaped_ns"]).widest(0.02) is None
    few = Precision(["reaped_ns"])
    for _ in range(5):
        few.add([("cell", columns(reaped_ns=[100], errno=[0]))])
    assert few.widest(0.02) == 1.0


def test_what_may_have_few_processes_gets_no_more() -> None:
    scheduler = make(100.0)
    limits = (Limits(processes=24, most_processes=6), Limits(processes=12))
    scheduler.begin(Plan("test", "", 0.0, tuple(Target("w", {}, (), each) for each in limits)))
    counts: Counter[int] = Counter()
    random = np.random.default_rng(3)
    while (target := scheduler.next_target(0.1 * counts.total())) is not None:
        counts[target] += 1
        value = 1e5 * float(np.exp(0.5 * random.normal()))
        scheduler.process_ended(target, 0.1, [("w", {"cost_ns": np.array([value])})])
    assert counts[0] == 6
    assert counts[1] > 900
    assert [scheduler.stopped_by(target) for target in range(2)] == ["processes", "budget"]


def test_rows_that_lack_launches_alone_get_more_processes() -> None:
    """Both targets are as narrow as wanted; of the second, one process in ten meets no neighbour."""
    scheduler = make(100.0)
    limits = Limits(processes=12)
    scheduler.begin(Plan("test", "", 0.0, tuple(Target("w", {}, (), limits) for _ in range(2))))
    counts: Counter[int] = Counter()
    random = np.random.default_rng(3)
    while (target := scheduler.next_target(0.1 * counts.total())) is not None:
        counts[target] += 1
        alone = target == 0 or counts[target] % 10 == 1
        size = 20
        values = 1e5 * np.exp(0.001 * random.normal(size=size)) * (1.0 if alone else 1.4)
        additions = np.full(size, 640 if alone else 900, np.int32)
        ones = np.ones(size, np.int32)
        columns = {
            "cost_ns": values,
            "cpu_before": ones,
            "cpu_after": ones,
            "additions_before_ns": additions,
            "additions_after_ns": additions,
        }
        scheduler.process_ended(target, 0.1, [("w", columns)])
    assert counts[0] == 30
    assert counts[1] >= 50
    assert scheduler.stopped_by(0) == "target"


#: The first two targets have the first turn, the third, which is dear, the second; the others come last.
TURNS, TURN_COSTS_S = (1, 1, 2, 0, 0), (0.02, 0.01, 1.2, 0.1, 0.1)


def play_turns(budget_s: float, **options: object) -> tuple[list[int], TargetScheduler]:
    scheduler = TargetScheduler(1, budget_s, QUANTITIES, **options)
    processes = [24, 24, 6, 24, 24]
    limits = [Limits(processes=count, turn=turn) for count, turn in zip(processes, TURNS, strict=True)]
    scheduler.begin(Plan("test", "", 0.0, tuple(Target("w", {}, (), each) for each in limits)))
    random = np.random.default_rng(4)
    order: list[int] = []
    elapsed_s = 0.0
    while (target := scheduler.next_target(elapsed_s)) is not None:
        assert len(order) < 20_000, "the scheduler never ends"
        order.append(target)
        elapsed_s += TURN_COSTS_S[target]
        value = 1e5 * float(np.exp(0.3 * random.normal()))
        scheduler.process_ended(target, TURN_COSTS_S[target], [("w", {"cost_ns": np.array([value])})])
    return order, scheduler


def test_what_is_asked_first_is_measured_first_and_goes_on_beside_all_others() -> None:
    order, _ = play_turns(60.0)
    # The pair, in turn with each other, before anything else.
    first = order.index(2)
    assert set(order[:first]) == {0, 1}
    assert {order[:first].count(target) for target in (0, 1)} <= {12, 13}
    assert max(sum(1 for _ in group) for _, group in groupby(order[:first])) <= 2
    # Memory next, whose every process has some of the pair's beside it: a drift of the machine falls on both.
    last = max(place for place, target in enumerate(order[: order.index(3)]) if target == 2)
    between = Counter(order[first:last])
    assert between[2] == 5
    assert min(between[0], between[1]) >= 5
    assert {3, 4} & set(order[:last]) == set()
    assert min(Counter(order).values()) >= 6


def test_a_small_budget_is_not_used_up_by_early_turns() -> None:
    order, _ = play_turns(3.0)
    assert set(order) == set(range(5))
    assert sum(TURN_COSTS_S[target] for target in order) <= 3.0 + max(TURN_COSTS_S)


def test_a_question_is_pursued_until_it_is_decided_and_nothing_else_is() -> None:
    scheduler = TargetScheduler(1, 100.0, QUANTITIES, until_decided=(0, 1))
    limits = Limits(processes=12)
    scheduler.begin(Plan("test", "", 0.0, tuple(Target("w", {}, (), limits) for _ in range(3))))
    counts: Counter[int] = Counter()
    random = np.random.default_rng(4)
    # All are as narrow as wanted from the beginning: it is not that which counts.
    while (target := scheduler.next_target(0.1 * counts.total())) is not None:
        counts[target] += 1
        value = 1e5 * float(np.exp(0.001 * random.normal()))
        scheduler.process_ended(target, 0.1, [("w", {"cost_ns": np.array([value])})])
        if counts[0] >= 100:
            scheduler.decide()
    assert counts[2] == 12
    assert 100 <= min(counts[0], counts[1]) <= max(counts[0], counts[1]) <= 105
    assert [scheduler.stopped_by(target) for target in range(3)] != ["budget"] * 3
    assert counts.total() * 0.1 < 30
