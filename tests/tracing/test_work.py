"""Explaining a program of workers, with traces made by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalogue import CATALOGUE
from tests.fakes.fake_trace import ASLEEP, READY, ZOMBIE
from tests.fakes.fake_work import FakeWorkTracer, explained, work_block, work_trace
from tests.schemas import check

from clonometer.errors import UnavailableError, UsageError
from clonometer.records import to_json
from clonometer.tracing.actors import Event
from clonometer.tracing.parts import CPU_ORDER, LIFE_ORDER, ON_CPU
from clonometer.tracing.types import IntervalEstimate
from clonometer.tracing.work.ablation import ablate
from clonometer.tracing.work.budget import Account, Process, delays_of, user_reasons_of
from clonometer.tracing.work.life import MOST_PIECES, Life, Lives, Piece, live, thinned
from clonometer.tracing.work.measure import work_sides
from clonometer.tracing.work.notes import conclusion, notes_of
from clonometer.tracing.work.read import executions, follow, futex_place, parts_recorded
from clonometer.tracing.work.types import WorkExplanation


def test_the_gap_is_the_wait_that_only_threads_have() -> None:
    tracer = FakeWorkTracer()
    explanation = explained(tracer)
    assert explanation.gap_ns.value == pytest.approx(200, abs=15)
    assert explanation.distinguishable
    assert sum(reason.difference_ns.value for reason in explanation.reasons) == pytest.approx(explanation.gap_ns.value)
    assert sum(cpu_reason.difference_ns.value for cpu_reason in explanation.cpu_reasons) == pytest.approx(
        explanation.gap_ns.value
    )
    assert sum(reason.share.value for reason in explanation.reasons if reason.share) == pytest.approx(1)
    [waits] = [reason for reason in explanation.reasons if reason.part == "futex_wait"]
    assert waits.thread_ns.value == 100
    assert waits.process_ns.value == 0
    assert explanation.reasons[-1].part == "unexplained"
    assert explanation.unexplained == 0
    assert explanation.thread.counts["futex_sleeps"].value == 1
    assert [(futex.place, futex.addresses, futex.sleeps) for futex in explanation.thread.futexes] == [("heap", 1, 2)]
    assert explanation.process.futexes == ()
    assert "blocked in futex (a lock in the heap, where stdio streams are)" in conclusion(explanation)


def test_sides_run_in_turn_traced_and_untraced() -> None:
    tracer = FakeWorkTracer()
    explained(tracer, pairs=4)
    rounds = [tracer.asked[1:][start : start + 4] for start in range(0, 16, 4)]
    for turns in rounds:
        assert sorted(turns) == [("process", "fast"), ("process", "none"), ("thread", "fast"), ("thread", "none")]
        assert turns[0][1] == turns[1][1]
    assert [turns[0] for turns in rounds] == [
        ("thread", "fast"),
        ("process", "fast"),
        ("thread", "none"),
        ("process", "none"),
    ]


def test_perf_rings_are_next_and_then_what_the_workers_recorded() -> None:
    explanation = explained(FakeWorkTracer(refuse=("fast",)))
    assert explanation.tier.how == "kernel tracepoints, through perf rings"
    explanation = explained(FakeWorkTracer(refuse=("fast", "tracepoints")))
    assert explanation.tier.name == "proc"
    assert set(explanation.tier.refused.values()) == {"fast is not permitted", "tracepoints is not permitted"}
    assert explanation.tier.cannot_see
    assert explanation.cpu_reasons == ()
    assert {reason.part for reason in explanation.reasons} >= {"on_cpu", "run_queue", "blocked", "ended", "unexplained"}
    assert sum(reason.difference_ns.value for reason in explanation.reasons) == pytest.approx(explanation.gap_ns.value)


def test_losses_and_executions_that_were_not_seen_whole_are_told() -> None:
    explanation = explained(FakeWorkTracer(others={"lost": 3}))
    assert explanation.lost == 3 * 12
    assert any("36 events were lost" in note for note in explanation.notes)
    with pytest.raises(UnavailableError, match="traced completely"):
        explained(FakeWorkTracer(others={"task": 99}))


def test_without_mmap_lock_tracepoints_that_is_said() -> None:
    assert any("mmap_lock" in unseen for unseen in explained(FakeWorkTracer()).tier.cannot_see)


def test_workers_are_the_last_tasks_that_were_made() -> None:
    trace = work_trace("fast", workers=3, each=50, blocked=0)
    seen = list(follow(trace))
    assert [lives.whole_ns for _, lives in seen if lives] == [180] * 4
    for execution, lives in seen:
        assert lives is not None
        assert [life.task for life in lives.workers] == [
            execution.begin_ns,
            execution.begin_ns + 1,
            execution.begin_ns + 2,
        ]
        # The second one is launched when the first has ended.
        assert [life.spent.get("not_launched", 0) for life in lives.workers] == [0, 60, 120]


def test_executions_that_failed_are_left_out() -> None:
    trace = work_trace("none", workers=2, each=50, blocked=0)
    assert list(executions(replace(trace, blocks=(work_block([100], [0], 2, errno=11),)))) == []


def test_what_workers_recorded_is_cut_so_that_it_sums() -> None:
    [execution] = executions(
        replace(work_trace("none", workers=1, each=5, blocked=0), blocks=(work_block([500], [0], 1),))
    )
    parts = parts_recorded(execution)
    # All 500 are CPU time, and 50 are counted twice: as waiting and after the end.
    assert parts["unexplained"] == -50
    assert sum(parts.values()) == 500
    [execution] = executions(
        replace(work_trace("none", workers=2, each=5, blocked=0), blocks=(work_block([500], [0], 2),))
    )
    assert parts_recorded(execution) == {
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
        (["workers"], "is not a setting"),
    ],
)
def test_bad_settings_are_refused(settings: list[str], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        work_sides(settings, CATALOGUE)


def test_long_executions_are_few() -> None:
    assert work_sides(["numbers=100"], CATALOGUE)[0].limits.samples == 20
    assert work_sides(["numbers=100000"], CATALOGUE)[0].limits.samples == 2


class Unhurried(FakeWorkTracer):
    """Threads are slower while they share a stream, and not after."""

    def trace(self, target: Any, how: str, events: Any = (), *, period_ns: int = 0) -> Any:
        """One start."""
        self.blocked = 100 if target.condition["output"] == "shared_stream" else 0
        assert how == "none"
        return super().trace(target, how, events)


def with_ablation() -> WorkExplanation:
    progress: list[tuple[int, int]] = []
    target = work_sides(["workers=2", "numbers=100", "cutoff=sqrt"], CATALOGUE)[0]
    series = ablate(Unhurried(), target, CATALOGUE, 6, lambda done, of: progress.append((done, of)))
    assert progress[-1] == (6, 6)
    return replace(explained(), ablation=series)


def test_the_ablation_takes_workers_and_numbers_from_what_is_explained() -> None:
    asked: list[Any] = []

    class Listening(Unhurried):
        def trace(self, target: Any, how: str, events: Any = (), *, period_ns: int = 0) -> Any:
            asked.append(target.condition)
            return super().trace(target, how, events)

    target = work_sides(["workers=2", "numbers=100", "cutoff=sqrt"], CATALOGUE)[0]
    ablate(Listening(), target, CATALOGUE, 2, lambda done, of: None)
    assert {(condition["workers"], condition["numbers"], condition["cutoff"]) for condition in asked} == {
        (2, 100, "sqrt")
    }
    assert len(asked) == 2 * 24


def test_the_step_that_closes_the_gap_is_found() -> None:
    series = with_ablation().ablation
    assert series is not None
    assert [(rung.axis, rung.value) for rung in series.rungs[:3]] == [
        (None, None),
        ("allocator", "one_heap"),
        ("output", "shared_append"),
    ]
    assert series.rungs[0].gap_ns[0] == pytest.approx(200, abs=30)
    assert series.rungs[2].share is not None
    assert series.rungs[2].share[0] == pytest.approx(1, abs=0.2)
    assert series.rungs[-1].gap_ns[0] == pytest.approx(0, abs=30)


@pytest.mark.parametrize("explanation", [explained, with_ablation, lambda: explained(tier="proc"),
                                 lambda: explained(FakeWorkTracer(blocked=0))])  # fmt: skip
def test_what_is_written_keeps_to_the_schema(explanation: Any) -> None:
    document = json.loads(json.dumps(to_json(explanation()), allow_nan=False))
    check(document, "explain")
    assert [part["part"] for part in document["budget"]][-1] == "unexplained"
    assert isinstance(document["overhead"], float)


def test_a_gap_that_tracing_turns_over_is_not_relied_on() -> None:
    explanation = explained()
    turned = replace(explanation, untraced_gap=IntervalEstimate(-0.03, -0.04, -0.02))
    assert "do not rely on these parts" in conclusion(turned)
    assert any("disagree on which is slower" in note for note in notes_of(turned))
    assert "rely" not in conclusion(explanation)
    assert "rely" not in conclusion(replace(explanation, untraced_gap=IntervalEstimate(-0.03, -0.04, 0.02)))


def test_other_programs_and_few_pairs_are_noted() -> None:
    assert any("quiet machine" in note for note in explained(cpus=4).notes) is False
    reasons = explained().cpu_reasons
    busy = [replace(reason, part="withheld") if reason.part == "user" else reason for reason in reasons]
    assert any("quiet machine" in note for note in notes_of(replace(explained(), cpu_reasons=tuple(busy))))
    assert any("too narrow" in note for note in explained(pairs=2).notes)


def test_sides_alike_are_not_told_apart() -> None:
    explanation = explained(FakeWorkTracer(blocked=0))
    assert not explanation.distinguishable
    assert {reason.share for reason in explanation.reasons} == {None}
    assert "Cannot tell a difference" in conclusion(explanation)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=3 * MOST_PIECES))
def test_a_picture_has_room_for_the_pieces_and_they_still_touch(lengths: list[int]) -> None:
    pieces: list[Piece] = []
    for number, length in enumerate(lengths):
        start = pieces[-1][1] if pieces else 0
        pieces.append((start, start + length, f"part {number % 2}"))
    whole = pieces[-1][1]
    thin = thinned(pieces, whole)
    assert len(thin) <= MOST_PIECES
    assert thin[0][0] == 0
    assert thin[-1][1] == whole
    assert all(left[1] == right[0] for left, right in pairwise(thin))
    if len(pieces) <= MOST_PIECES:
        assert list(thin) == pieces


STARTER, ONE, TWO, STRANGER = 100, 101, 102, 7
LOCK = 0x500010


def event(time_ns: int, task: int, kind: str, *values: int, name: str = "", cpu: int = 0) -> Event:
    return Event(time_ns, task, cpu, kind, (*values, *[0] * (7 - len(values))), name)


def touches(life: Life) -> bool:
    """Whether each of its pieces begins where the one before ends."""
    return all(left[1] == right[0] for left, right in pairwise(life.pieces))


def test_each_moment_of_a_worker_has_one_part() -> None:
    events = [
        event(10, STARTER, "call_enter", 56, name="clone"),
        event(20, STARTER, "new_task", ONE),
        event(22, STARTER, "wake_new", ONE),
        event(25, STARTER, "switch", STARTER, ASLEEP, ONE),
        event(27, ONE, "call_exit"),
        event(30, ONE, "fault_user"),
        event(31, ONE, "lock_wanted"),
        event(34, ONE, "lock_got"),
        event(36, ONE, "minor_fault"),
        event(40, ONE, "call_enter", 1, name="write"),
        event(45, ONE, "call_exit"),
        event(50, ONE, "call_enter", 202, name="futex"),
        event(50, ONE, "futex", LOCK),
        event(52, ONE, "switch", ONE, ASLEEP, STRANGER),
        event(60, STRANGER, "wake", ONE),
        event(64, STRANGER, "switch", STRANGER, READY, ONE, cpu=1),
        event(66, ONE, "call_exit"),
        event(70, ONE, "switch", ONE, READY, STRANGER),
        event(75, STRANGER, "switch", STRANGER, READY, ONE, cpu=1),
        event(80, ONE, "call_enter", 60, name="exit"),
        event(90, ONE, "switch", ONE, ZOMBIE, 0),
    ]
    lives = live(events, 100, STARTER, [ONE])
    [worker] = lives.workers
    assert worker.spent == {
        "not_launched": 22,
        "run_queue": 3 + 4 + 5,
        "starts": 2,
        "user": 3 + 4 + 5 + 4 + 5,
        "fault": 1 + 2,
        "mmap_lock": 3,
        "write": 5,
        "futex_call": 2 + 2,
        "futex_wait": 8,
        "exit": 10,
        "ended": 10,
    }
    assert worker.futex_ns == {LOCK: 8}
    assert worker.futex_sleeps == {LOCK: 1}
    assert worker.counts == {
        "preemptions": 1,
        "sleeps": 1,
        "futex_sleeps": 1,
        "futex_calls": 1,
        "write_calls": 1,
        "faults": 1,
        "migrations": 1,
    }
    assert touches(worker)


def test_the_cpus_time_is_what_ran_on_them_what_was_withheld_and_what_had_nothing_to_run() -> None:
    events = [
        event(10, STARTER, "wake_new", ONE),
        event(20, STARTER, "switch", STARTER, ASLEEP, 0),
        event(30, STRANGER, "switch", STRANGER, READY, ONE),
        event(30, ONE, "call_exit"),
        event(60, ONE, "call_enter", 1, name="write"),
        event(70, ONE, "switch", ONE, ASLEEP, 0),
    ]
    parts = live(events, 100, STARTER, [ONE]).cpu_parts(1)
    assert parts == {"starter": 20, "withheld": 10, "user": 30, "write": 10, "idle": 30}
    twice = live(events, 100, STARTER, [ONE]).cpu_parts(2)
    assert twice["withheld"] == (10 + 10) / 2
    assert sum(twice.values()) == 100


def test_what_happened_before_the_begin_says_only_what_tasks_are_at() -> None:
    events = [
        event(-50, STARTER, "wake_new", ONE),
        event(-40, STARTER, "switch", STARTER, ASLEEP, ONE),
        event(-30, ONE, "call_exit"),
        event(-20, ONE, "call_enter", 202, name="futex"),
        event(-20, ONE, "futex", LOCK),
        event(-10, ONE, "switch", ONE, ASLEEP, STARTER),
        event(15, STARTER, "wake", ONE),
    ]
    [worker] = live(events, 20, STARTER, [ONE]).workers
    assert worker.spent == {"futex_wait": 15, "run_queue": 5}
    assert worker.counts["futex_calls"] == 0


def test_a_sleep_outside_of_any_call_is_unexplained() -> None:
    events = [
        event(0, STARTER, "wake_new", ONE),
        event(0, STARTER, "switch", STARTER, ASLEEP, ONE),
        event(1, ONE, "call_exit"),
        event(4, ONE, "switch", ONE, ASLEEP, STRANGER),
    ]
    [worker] = live(events, 10, STARTER, [ONE]).workers
    assert worker.spent["unexplained"] == 6


KINDS = ("call_enter", "call_exit", "new_task", "wake", "wake_new", "switch", "fault_user", "fault_kernel", "exit",
         "minor_fault", "major_fault", "futex", "lock_wanted", "lock_got")  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.integers(-50, 250),
            st.sampled_from([STARTER, ONE, TWO, STRANGER, 0]),
            st.sampled_from(KINDS),
            st.tuples(
                st.sampled_from([STARTER, ONE, TWO, STRANGER, 0]),
                st.sampled_from([0, 1, 2, 0x20, 0x100]),
                st.sampled_from([STARTER, ONE, TWO, STRANGER, 0]),
            ),
            st.sampled_from(["write", "futex", "clone", "exit_group", "mmap", "nanosleep"]),
            st.integers(0, 3),
        ),
        max_size=60,
    ),
    st.integers(1, 200),
)
def test_whatever_the_kernel_tells_the_parts_sum_to_the_whole(
    drawn: list[tuple[int, int, str, tuple[int, int, int], str, int]], whole: int
) -> None:
    events = [
        event(when, task, kind, *values, name=name, cpu=cpu)
        for when, task, kind, values, name, cpu in sorted(drawn, key=lambda life: life[0])
    ]
    lives = live(events, whole, STARTER, [ONE, TWO])
    for life in (*lives.workers, lives.starter):
        assert sum(life.spent.values()) == whole
        assert touches(life)
        assert life.pieces[0][0] == 0
        assert life.pieces[-1][1] == whole
        assert sum(life.on_cpu_ns.values()) <= whole
    for worker in lives.workers:
        assert set(worker.spent) <= set(LIFE_ORDER)
        assert set(worker.on_cpu_ns) <= set(ON_CPU)
    check_sums(lives, whole)


def check_sums(lives: Lives, whole: int) -> None:
    assert abs(sum(lives.parts().values()) - whole) < 1e-6
    assert sum(lives.load_ns.values()) == whole
    for cpus in (1, 2, 8):
        parts = lives.cpu_parts(cpus)
        assert abs(sum(parts.values()) - whole) < 1e-6
        assert set(parts) <= set(CPU_ORDER)
