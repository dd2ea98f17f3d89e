"""Explaining a program of workers, with traces made by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests import probe
from tests.fakes.fake_work import FakeWorkTracer, work_block, work_trace

from clonometer.errors import UnavailableError, UsageError
from clonometer.explain.work import WorkExplanation, WorkWish, explain_work, work_sides
from clonometer.explain.work.budget import Account, Process, delays_of, user_reasons_of
from clonometer.explain.work.notes import conclusion
from clonometer.explain.work.read import executions, follow, futex_place, parts_recorded
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.types import Catalogue, Target
from clonometer.runner.drivers import find_drivers


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return read_catalogue(find_drivers([[str(probe.executable("static"))]]).descriptions)


@pytest.fixture(scope="module")
def sides(catalogue: Catalogue) -> tuple[Target, Target]:
    return work_sides(["workers=2", "numbers=100"], catalogue)


def explained(sides: tuple[Target, Target], tracer: FakeWorkTracer, **wish: Any) -> WorkExplanation:
    return explain_work(tracer, sides, WorkWish(**{"pairs": 6, **wish}), cpus=1)


def test_the_gap_is_the_wait_that_only_threads_have(sides: tuple[Target, Target]) -> None:
    tracer = FakeWorkTracer()
    found = explained(sides, tracer)
    assert found.gap_ns.value == pytest.approx(200, abs=15)
    assert found.is_told_apart
    assert sum(one.difference_ns.value for one in found.reasons) == pytest.approx(found.gap_ns.value)
    assert sum(one.difference_ns.value for one in found.cpu_reasons) == pytest.approx(found.gap_ns.value)
    assert sum(one.share.value for one in found.reasons if one.share) == pytest.approx(1)
    waits = found.reason("futex_wait")
    assert waits is not None
    assert waits.thread_ns.value == 100
    assert waits.process_ns.value == 0
    assert found.reasons[-1].part == "unexplained"
    assert found.unexplained == 0
    assert found.thread.counts["futex_sleeps"].value == 1
    assert [(one.place, one.addresses, one.sleeps) for one in found.thread.futexes] == [("heap", 1, 2)]
    assert found.process.futexes == ()
    assert "blocked in futex (a lock in the heap, where stdio streams lie)" in conclusion(found)


def test_sides_run_in_turn_traced_and_untraced(sides: tuple[Target, Target]) -> None:
    tracer = FakeWorkTracer()
    explained(sides, tracer, pairs=4)
    rounds = [tracer.asked[1:][start : start + 4] for start in range(0, 16, 4)]
    for one in rounds:
        assert sorted(one) == [("process", "fast"), ("process", "none"), ("thread", "fast"), ("thread", "none")]
        assert one[0][1] == one[1][1]
    assert [one[0] for one in rounds] == [
        ("thread", "fast"),
        ("process", "fast"),
        ("thread", "none"),
        ("process", "none"),
    ]


def test_perf_rings_are_next_and_then_what_the_workers_recorded(sides: tuple[Target, Target]) -> None:
    found = explained(sides, FakeWorkTracer(refuse=("fast",)))
    assert found.tier.how == "kernel tracepoints, by perf rings"
    found = explained(sides, FakeWorkTracer(refuse=("fast", "tracepoints")))
    assert found.tier.name == "proc"
    assert set(found.tier.refused.values()) == {"fast is not permitted", "tracepoints is not permitted"}
    assert found.tier.cannot_see
    assert found.cpu_reasons == ()
    assert {one.part for one in found.reasons} >= {"on_cpu", "run_queue", "blocked", "ended", "unexplained"}
    assert sum(one.difference_ns.value for one in found.reasons) == pytest.approx(found.gap_ns.value)


def test_losses_and_executions_that_were_not_seen_whole_are_told(sides: tuple[Target, Target]) -> None:
    found = explained(sides, FakeWorkTracer(others={"lost": 3}))
    assert found.lost == 3 * 12
    assert any("36 events were lost" in note for note in found.notes)
    with pytest.raises(UnavailableError, match="seen whole"):
        explained(sides, FakeWorkTracer(others={"task": 99}))


def test_without_mmap_lock_tracepoints_that_is_said(sides: tuple[Target, Target]) -> None:
    assert any("mmap_lock" in one for one in explained(sides, FakeWorkTracer()).tier.cannot_see)


def test_workers_are_the_last_tasks_that_were_made() -> None:
    trace = work_trace("fast", workers=3, each=50, blocked=0)
    seen = follow(trace)
    assert [lives.whole_ns for lives in seen.lives if lives] == [180] * 4
    for lives, one in zip(seen.lives, seen.executions, strict=True):
        assert lives is not None
        assert [life.task for life in lives.workers] == [one.begin_ns, one.begin_ns + 1, one.begin_ns + 2]
        # The second one is launched when the first has ended.
        assert [life.spent.get("not_launched", 0) for life in lives.workers] == [0, 60, 120]


def test_executions_that_failed_are_left_out() -> None:
    trace = work_trace("none", workers=2, each=50, blocked=0)
    assert list(executions(replace(trace, blocks=(work_block([100], [0], 2, errno=11),)))) == []


def test_what_workers_recorded_is_cut_so_that_it_sums() -> None:
    [one] = executions(replace(work_trace("none", workers=1, each=5, blocked=0), blocks=(work_block([500], [0], 1),)))
    parts = parts_recorded(one)
    # All 500 are CPU time, and 50 are counted twice: as waiting and after the end.
    assert parts["unexplained"] == -50
    assert sum(parts.values()) == 500
    [one] = executions(replace(work_trace("none", workers=2, each=5, blocked=0), blocks=(work_block([500], [0], 2),)))
    assert parts_recorded(one) == {
        "not_begun": 5,
        "on_cpu": 250,
        "run_queue": 30,
        "blocked": 195,
        "ended": 20,
        "unexplained": 0,
    }


MAPS = """\
00400000-00500000 r-xp 00000000 fe:00 12 /opt/probe
00500000-00510000 rw-p 00100000 fe:00 12 /opt/probe
00510000-00520000 rw-p 00000000 00:00 0
01000000-01100000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000100000 rw-s 00000000 00:01 5 /dev/zero (deleted)
7f1000000000-7f1000100000 rw-p 00000000 00:00 0
"""


@pytest.mark.parametrize(
    ("address", "place"),
    [(0x501000, "program"), (0x511000, "program"), (0x1000010, "heap"), (0x7F0000000040, "shared"),
     (0x7F1000000000, "other"), (0x10, "other"), (0x600000, "other")],
)  # fmt: skip
def test_a_futex_lies_somewhere(address: int, place: str) -> None:
    assert futex_place(MAPS, address) == place


def account(whole: int, waits: int = 0, user: tuple[int, ...] = (), moves: tuple[int, ...] = ()) -> Account:
    counts = {"migrations": sum(moves) / len(moves)} if moves else {}
    mean = sum(user) / len(user) if user else 0
    return Account(whole, {"user": mean, "futex_wait": float(waits)}, {}, counts, {}, {}, user, moves)


def test_what_delays_the_slow_ones_is_found() -> None:
    quick = [account(1000, 10) for _ in range(12)]
    slow = [account(1500, 510) for _ in range(4)]
    count, [delay] = delays_of([Process((*quick, *slow))])
    assert count == 4
    assert (delay.part, delay.extra_ns.value, delay.share) == ("futex_wait", 500, 1)
    assert delays_of([Process(tuple(quick[:11]))]) == (0, ())


def test_a_lower_frequency_and_migrations_lengthen_user_code() -> None:
    # 50 ns for each migration, within an execution; what the execution has on top is nobody's.
    thread = [Process((account(500, user=(100, 150, 200), moves=(0, 1, 2)),), 2e9)] * 6
    process = [Process((account(500, user=(300, 300, 300), moves=(0, 0, 0)),), 3e9)] * 6
    frequency, migrations = user_reasons_of(thread, process)
    assert (frequency.what, frequency.difference_ns.value) == ("frequency", 150)
    assert migrations.each_ns is not None
    assert (migrations.each_ns.value, migrations.difference_ns.value) == (50, 50)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["task_kind=thread"], "task_kind is what is compared"),
        (["workers=2,4"], "workers has 2 values"),
        (["workers=0"], "workers"),
        (["worker=4"], "worker"),
        (["output=nowhere"], "nowhere"),
        (["workers"], "is no setting"),
    ],
)
def test_bad_settings_are_refused(catalogue: Catalogue, settings: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        work_sides(settings, catalogue)


def test_long_executions_are_few(catalogue: Catalogue) -> None:
    assert work_sides(["numbers=100"], catalogue)[0].limits.samples == 20
    assert work_sides(["numbers=100000"], catalogue)[0].limits.samples == 2
