from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from clonometer.results.self_test import (
    INJECTED_NS,
    SPINS,
    KnownSamples,
    check_moves,
    check_walls,
    passed,
)


def block(
    placement: str,
    spin: str | None,
    injected_ns: int,
    seed: int,
    *,
    workload: str = "launch.fork",
    factor: float = 1.0,
) -> KnownSamples:
    """A block as an honest instrument gives it; ``factor`` makes the delays other than was said."""
    rng = np.random.default_rng(seed)
    rows = 100
    delay = {name: factor * injected_ns if name == spin else 0.0 for name in SPINS}
    serial = placement == "pinned"
    call = 50_000 + delay["call_spin_ns"] + rng.normal(0, 1000, rows)
    task = 70_000 + delay["stamp_spin_ns"] + (delay["call_spin_ns"] if serial else 0) + rng.normal(0, 1000, rows)
    child_end = task + 30_000 + delay["child_spin_ns"]
    reaped = (child_end if serial else np.maximum(child_end, call)) + 20_000
    start = np.concatenate([[0], np.cumsum(reaped[:-1] + 200)])
    columns: dict[str, NDArray[Any]] = {
        "start_ns": start.astype(np.int64),
        "call_returns_ns": call.astype(np.int64),
        "task_runs_ns": task.astype(np.int64),
        "reaped_ns": reaped.astype(np.int64),
        "cpu_before": np.ones(rows, dtype=np.int32),
        "cpu_child": np.full(rows, 1 if serial else 0, dtype=np.int32),
        "errno": np.zeros(rows, dtype=np.int32),
    }
    return KnownSamples(workload, placement, spin, injected_ns, columns, float(start[-1] + reaped[-1]))


def experiment(**options: Any) -> list[KnownSamples]:
    cases = [(None, 0), *((spin, injected) for spin in SPINS for injected in INJECTED_NS)]
    return [
        block(placement, spin, injected, seed, **options)
        for placement in ("pinned", "free")
        for spin, injected in cases
        for seed in range(3)
    ]


def test_an_honest_instrument_passes() -> None:
    measured = experiment()
    checks = check_moves(measured)
    assert len(checks) == 2 * 3 * 2 * 3
    assert all(check.passed for check in checks)
    assert passed(checks, check_walls(measured))


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_delays_that_come_out_wrong_are_found(factor: float) -> None:
    checks = check_moves(experiment(factor=factor))
    wrong = {(check.placement, check.spin, check.stage) for check in checks if check.passed is False}
    assert {("pinned", "call_spin_ns", stage) for stage in ("call_returns", "task_runs", "reaped")} <= wrong
    assert ("pinned", "child_spin_ns", "reaped") in wrong
    assert ("pinned", "child_spin_ns", "call_returns") not in wrong
    assert not passed(checks, [])


def test_a_stamp_at_the_wrong_place_is_found() -> None:
    swapped = []
    for known in experiment():
        columns = {**known.columns, "task_runs_ns": known.columns["reaped_ns"]}
        swapped.append(replace(known, columns=columns))
    wrong = {(check.spin, check.stage) for check in check_moves(swapped) if check.passed is False}
    assert ("child_spin_ns", "task_runs") in wrong


def test_a_delay_that_overlaps_must_not_lengthen_the_whole() -> None:
    slow = []
    for known in experiment():
        reaped = known.columns["reaped_ns"] + (known.injected_ns if known.spin == "call_spin_ns" else 0)
        slow.append(replace(known, columns={**known.columns, "reaped_ns": reaped}))
    wrong = {(check.placement, check.spin, check.stage) for check in check_moves(slow) if check.passed is False}
    assert ("free", "call_spin_ns", "reaped") in wrong


def test_what_was_not_observed_is_neither_passed_nor_failed() -> None:
    same_cpu = [
        replace(known, columns={**known.columns, "cpu_child": known.columns["cpu_before"]}) for known in experiment()
    ]
    checks = check_moves(same_cpu)
    free = [check for check in checks if check.placement == "free"]
    assert {check.passed for check in free} == {None}
    assert all("another CPU" in (check.reason or "") for check in free)
    assert passed(checks, check_walls(same_cpu))
    assert not passed(free, [])


def test_failed_launches_are_left_out() -> None:
    measured = []
    for known in experiment():
        columns = {name: column.copy() for name, column in known.columns.items()}
        columns["errno"][:70] = 11
        columns["reaped_ns"][:70] = np.iinfo(np.int64).min
        measured.append(replace(known, columns=columns))
    assert passed(check_moves(measured), [])


def test_a_clock_that_runs_two_percent_fast_is_found() -> None:
    measured = experiment()
    assert all(check.passed for check in check_walls(measured))
    fast = [replace(known, wall_ns=known.wall_ns * 0.98) for known in measured]
    walls = check_walls(fast)
    assert [check.passed for check in walls] == [False, False]
    assert walls[0].worst_share == pytest.approx(0.0204, abs=1e-3)


def test_launches_that_scatter_more_than_the_delay_say_nothing() -> None:
    rng = np.random.default_rng(3)
    noisy = []
    for known in experiment():
        slower = rng.uniform(0, 2_000_000)
        columns = {**known.columns, "reaped_ns": known.columns["reaped_ns"] + int(slower)}
        noisy.append(replace(known, columns=columns))
    reaped = [check for check in check_moves(noisy) if check.stage == "reaped"]
    assert {check.passed for check in reaped} == {None}
    assert all("scatter" in (check.reason or "") for check in reaped)


def test_what_is_as_near_to_the_edge_as_it_is_uncertain_cannot_be_told() -> None:
    """Delays 8% too long are 11 us beyond a tolerance of 15 us: wrong if blocks agree, open if they do not."""

    def moved_too_far(scatter_ns: float) -> list[bool | None]:
        rng = np.random.default_rng(5)
        measured = []
        for known in experiment():
            shift = (26_000 if known.spin == "child_spin_ns" and known.injected_ns == 200_000 else 0) + int(
                rng.normal(0, scatter_ns)
            )
            columns = {**known.columns, "reaped_ns": known.columns["reaped_ns"] + shift}
            measured.append(replace(known, columns=columns))
        return [
            check.passed
            for check in check_moves(measured)
            if (check.spin, check.injected_ns, check.stage) == ("child_spin_ns", 200_000, "reaped")
            and check.placement == "pinned"
        ]

    assert moved_too_far(10) == [False]
    assert moved_too_far(9_000) == [None]


def test_single_blocks_that_do_not_add_up_are_no_wrong_clock() -> None:
    measured = experiment()
    disturbed = [
        replace(known, wall_ns=known.wall_ns * (1.05 if place % 7 == 0 else 1.0))
        for place, known in enumerate(measured)
    ]
    walls = check_walls(disturbed)
    assert [check.passed for check in walls] == [None, None]
    assert passed(check_moves(disturbed), walls)
