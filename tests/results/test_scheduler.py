from __future__ import annotations

from collections import Counter

import pytest

from clonometer.plan.types import Limits, Plan, Target
from clonometer.results.schedule.scheduler import RoundsScheduler


def make_plan(*processes: int) -> Plan:
    targets = tuple(Target(f"w.{i}", {}, (), Limits(processes=count)) for i, count in enumerate(processes))
    return Plan("test", "", 0.0, targets)


def play(scheduler: RoundsScheduler, plan: Plan, costs_s: list[float]) -> tuple[list[int], float]:
    scheduler.begin(plan)
    order: list[int] = []
    elapsed_s = 0.0
    while (target := scheduler.next_target(elapsed_s)) is not None:
        assert len(order) < 10_000, "the scheduler never ends"
        order.append(target)
        elapsed_s += costs_s[target]
        scheduler.process_ended(target, costs_s[target])
    return order, elapsed_s


def test_each_round_has_every_target_once_in_a_new_order() -> None:
    plan = make_plan(*[20] * 6)
    order, _ = play(RoundsScheduler(7, None), plan, [0.1] * 6)
    rounds = [tuple(order[at : at + 6]) for at in range(0, len(order), 6)]
    assert all(sorted(each) == list(range(6)) for each in rounds)
    assert len(set(rounds)) > 10


def test_the_seed_fixes_the_order() -> None:
    plan = make_plan(*[12] * 5)
    first, _ = play(RoundsScheduler(1, None), plan, [0.1] * 5)
    again, _ = play(RoundsScheduler(1, None), plan, [0.1] * 5)
    other, _ = play(RoundsScheduler(2, None), plan, [0.1] * 5)
    assert first == again
    assert first != other


def test_without_a_budget_every_target_gets_its_processes_and_no_more() -> None:
    plan = make_plan(3, 12, 5)
    scheduler = RoundsScheduler(1, None)
    order, _ = play(scheduler, plan, [0.1] * 3)
    assert Counter(order) == {0: 3, 1: 12, 2: 5}
    assert [scheduler.stopped_by(target) for target in range(3)] == ["processes"] * 3


@pytest.mark.parametrize("seed", range(10))
def test_the_rest_of_the_budget_goes_into_further_rounds(seed: int) -> None:
    plan = make_plan(2, 2, 2)
    costs_s = [0.1, 0.2, 0.7]
    scheduler = RoundsScheduler(seed, 20.0)
    order, elapsed_s = play(scheduler, plan, costs_s)
    assert abs(elapsed_s - 20.0) <= sum(costs_s) / 2 + 1e-9
    counts = Counter(order)
    assert max(counts.values()) - min(counts.values()) == 0
    assert [scheduler.stopped_by(target) for target in range(3)] == ["processes"] * 3


def test_a_budget_that_is_too_small_still_gives_each_target_one_process() -> None:
    plan = make_plan(12, 12, 12, 12)
    scheduler = RoundsScheduler(3, 0.5)
    order, _ = play(scheduler, plan, [1.0] * 4)
    assert sorted(order) == [0, 1, 2, 3]
    assert [scheduler.stopped_by(target) for target in range(4)] == ["budget"] * 4


def test_a_round_that_turns_out_dear_is_broken_off() -> None:
    plan = make_plan(*[12] * 4)
    scheduler = RoundsScheduler(3, 10.0)
    scheduler.begin(plan)
    elapsed_s, started = 0.0, 0
    while (target := scheduler.next_target(elapsed_s)) is not None:
        cost_s = 1.0 if started < 8 else 30.0
        started += 1
        elapsed_s += cost_s
        scheduler.process_ended(target, cost_s)
    assert started == 9


def test_a_dropped_target_is_never_named_again() -> None:
    plan = make_plan(4, 4)
    scheduler = RoundsScheduler(1, None)
    scheduler.begin(plan)
    first = scheduler.next_target(0.0)
    assert first is not None
    scheduler.drop(1)
    rest = []
    scheduler.process_ended(first, 0.1)
    while (target := scheduler.next_target(0.0)) is not None:
        rest.append(target)
        scheduler.process_ended(target, 0.1)
    assert set(rest) <= {0}
    assert scheduler.stopped_by(1) is None


def test_dropping_all_ends_the_run() -> None:
    scheduler = RoundsScheduler(1, 100.0)
    scheduler.begin(make_plan(4, 4))
    scheduler.drop(0)
    scheduler.drop(1)
    assert scheduler.next_target(0.0) is None


def test_remaining_time() -> None:
    plan = make_plan(3, 3)
    scheduler = RoundsScheduler(1, None)
    scheduler.begin(plan)
    assert scheduler.remaining_s(0.0) is None
    scheduler.process_ended(0, 2.0)
    assert scheduler.remaining_s(2.0) == pytest.approx(2 * 2.0 + 3 * 2.0)
    within = RoundsScheduler(1, 10.0)
    within.begin(plan)
    assert within.remaining_s(4.0) == pytest.approx(6.0)
    within.process_ended(0, 20.0)
    assert within.remaining_s(20.0) == pytest.approx(20.0)
