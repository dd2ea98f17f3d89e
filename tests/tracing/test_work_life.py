"""Lives of workers from events made by hand: parts sum exactly, whatever the kernel tells."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.fake_trace import ASLEEP, READY, ZOMBIE

from clonometer.tracing.actors import Event
from clonometer.tracing.parts import CPU_ORDER, LIFE_ORDER, ON_CPU
from clonometer.tracing.work.life import Life, Lives, live

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
