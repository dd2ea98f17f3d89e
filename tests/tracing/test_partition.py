"""Where a program that is not ours passes from one part of its life to the next; reasons where that is not known."""

from __future__ import annotations

import struct
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.fake_trace import (
    ASLEEP,
    CHILD,
    FORK,
    FORK_PARTS,
    KINDS,
    MAPS,
    PARENT,
    READY,
    ZOMBIE,
    FakeTrace,
    events_array,
    fork_trace,
    launches_block,
)
from tests.tracing.test_anatomy import explained

from clonometer.plan.types import Limits, Target
from clonometer.tracing.actors import Cast, Event
from clonometer.tracing.calls import calls_of
from clonometer.tracing.flags import THREAD
from clonometer.tracing.launches import Launch
from clonometer.tracing.marks import marks_of, notes_on_parts
from clonometer.tracing.memory import Memory
from clonometer.tracing.partition import (
    creates_no_task,
    partition,
    partition_by_stamps,
    partition_by_switches,
    traced_launches,
)
from clonometer.tracing.timeline import make_timeline
from clonometer.tracing.types import BudgetPart, IntervalEstimate, ProgramSteps


def parts_of(events: list[tuple[int, int, str, tuple[int, ...]]], reaped: int = 100) -> dict[str, int]:
    shifted = [(when + 1000, task, kind, values) for when, task, kind, values in events]
    trace = fork_trace(events=events_array(shifted), blocks=(launches_block([0], [reaped]),))
    [launch] = traced_launches(trace)
    assert sum(launch.totals().values()) == reaped
    return launch.totals()


def test_a_fork_is_cut_into_parts_that_sum_exactly() -> None:
    first, second, third = traced_launches(fork_trace())
    assert first.totals() == second.totals() == third.totals() == FORK_PARTS
    assert first.children == (CHILD,)
    ends = [segment.end_ns for segment in first.segments]
    assert [segment.start_ns for segment in first.segments] == [0, *ends[:-1]]
    assert ends[-1] == 100


def test_a_stage_that_nobody_has_heard_of_is_told_and_cuts_nothing() -> None:
    first, *_ = traced_launches(fork_trace())
    strange = replace(first.launch, stages={**first.launch.stages, "page_mapped": 5})
    assert partition_by_stamps(strange) == partition_by_stamps(first.launch)
    away = [(30, 70)]
    assert partition_by_switches(strange, away) == partition_by_switches(first.launch, away)
    moments = make_timeline("median", replace(first, launch=strange)).moments
    assert [each.words for each in moments if each.time_ns == 5 and "(stamp)" in each.words] == ["page mapped (stamp)"]


def test_what_a_stranger_does_meanwhile_is_not_the_childs() -> None:
    """A number that a task of an earlier launch had may be another program's by now."""
    strange = [(1000 + 46, 9999, "call_enter", (59, 0)), (1000 + 47, 9999, "exec", (0,))]
    ours = [(when + 1000, task, kind, values) for when, task, kind, values in FORK]
    events = events_array(sorted([*ours, *strange]))
    (launch,) = traced_launches(fork_trace(events=events, blocks=(launches_block([0], [100]),)))
    assert launch.totals() == FORK_PARTS
    (without,) = traced_launches(fork_trace(events=events_array(ours), blocks=(launches_block([0], [100]),)))
    assert launch.events == without.events
    assert {event.task for event in launch.events} == {PARENT, CHILD}


@given(
    st.lists(
        st.tuples(
            st.integers(0, 99),
            st.sampled_from([PARENT, CHILD, 7]),
            st.sampled_from(KINDS[:12]),
            st.tuples(*[st.sampled_from([PARENT, CHILD, 0, 1, 56, 61, 231, 0x20, 0x100])] * 3),
        )
    ),
    st.integers(1, 200),
)
def test_whatever_the_kernel_tells_the_parts_sum_to_the_whole(
    events: list[tuple[int, int, str, tuple[int, ...]]], reaped: int
) -> None:
    names = {56: "clone", 61: "wait4", 231: "exit_group"}
    ordered = [
        Event(when, task, 0, kind, (*values, 0, 0, 0, 0), names.get(values[0], "read"))
        for when, task, kind, values in sorted(events)
        if when < reaped
    ]
    segments = partition(ordered, reaped, Cast.at_the_start(PARENT, Memory(MAPS)))
    assert segments[0].start_ns == 0
    assert segments[-1].end_ns == reaped
    assert sum(segment.end_ns - segment.start_ns for segment in segments) == reaped
    for left, right in pairwise(segments):
        assert left.end_ns == right.start_ns
        assert left.part != right.part


def test_time_in_which_nobody_could_run_is_unexplained() -> None:
    events = [*FORK[:8], (50, CHILD, "switch", (CHILD, ASLEEP, 0)), (70, 0, "wake", (PARENT, 1)),
              (80, 0, "switch", (0, READY, PARENT))]  # fmt: skip
    parts = parts_of(events)
    assert parts["unexplained"] == 20
    assert parts["parent_waits"] == 10
    assert parts["child_starts"] == 13


def test_a_ready_child_that_another_task_keeps_waiting() -> None:
    events = [*FORK[:7], (37, PARENT, "switch", (PARENT, ASLEEP, 7)), (60, 7, "switch", (7, READY, CHILD))]
    assert parts_of(events)["child_waits"] == 23


def test_a_child_that_is_pushed_off_waits_and_is_not_gone() -> None:
    events = [*FORK[:9], (45, CHILD, "switch", (CHILD, 0x100, 7)), (65, 7, "switch", (7, READY, CHILD))]
    parts = parts_of(events)
    assert parts["child_waits"] == 20
    assert parts["child_user"] == 5 + 35


def test_a_wait_for_a_child_that_is_gone_only_reaps() -> None:
    events = [
        *FORK[:6],
        (31, CHILD, "call_enter", (231, 0)),
        (32, CHILD, "switch", (CHILD, ZOMBIE, 0)),
        (40, PARENT, "call_enter", (61, CHILD)),
        (90, PARENT, "call_exit", (-1, CHILD)),
    ]
    parts = parts_of(events)
    assert parts["reaping"] == 50
    assert "wait_begins" not in parts


def test_the_parents_own_doing_comes_before_a_child_on_another_cpu() -> None:
    events = [*FORK[:6], (31, 0, "switch", (0, READY, CHILD)), (35, CHILD, "call_exit", (-1, 0))]
    assert parts_of(events)["parent_user"] == 5 + 2 + 70


def test_exec_is_a_part_and_the_new_program_has_another_memory() -> None:
    events = [
        *FORK[:9],
        (42, CHILD, "call_enter", (59, 0)),
        (50, CHILD, "exec", (0, 9)),
        (58, CHILD, "call_exit", (-1, 0)),
        (60, CHILD, "fault_user", (0x500010, 0, 6)),
        (63, CHILD, "minor_fault", (0x500010,)),
        (65, CHILD, "fault_user", (0x7FFC00000010, 0, 6)),
        (70, CHILD, "minor_fault", (0x7FFC00000010,)),
        (72, CHILD, "call_enter", (231, 0)),
        *FORK[12:],
    ]
    parts = parts_of([event for event in events if event[2] != "exit"])
    assert parts["child_exec"] == 16
    # What is the heap in the parent is the file of the program in the child.
    assert parts["child_file"] == 3
    assert parts["child_stack"] == 5
    assert parts["child_exit"] == 16


#: Of a runtime: its main thread sleeps for ever; CALLER launches, and WAITER waits for the child and wakes it.
CALLER, WAITER, ENDED = 110, 111, 112

OF_RUNTIME: list[tuple[int, int, str, tuple[int, ...]]] = [
    (-900, PARENT, "new_task", (CALLER, THREAD)),
    (-890, PARENT, "switch", (PARENT, ASLEEP, CALLER)),
    (-880, CALLER, "new_task", (WAITER, THREAD)),
    (-870, CALLER, "new_task", (ENDED, THREAD)),
    (-860, ENDED, "exit", (ENDED,)),
    (-20, WAITER, "switch", (WAITER, ASLEEP, CALLER)),
    (20, CALLER, "call_enter", (56, 0)),
    (25, CALLER, "new_task", (CHILD, 0x4100)),
    (30, CALLER, "switch", (CALLER, ASLEEP, CHILD)),
    (35, CHILD, "call_exit", (-1, 0)),
    (55, CHILD, "call_enter", (231, 0)),
    (60, CHILD, "wake", (WAITER, 1)),
    (65, CHILD, "switch", (CHILD, ZOMBIE, WAITER)),
    (70, WAITER, "call_exit", (-1, CHILD)),
    (78, WAITER, "wake", (CALLER, 1)),
    (82, WAITER, "switch", (WAITER, ASLEEP, CALLER)),
    (90, CALLER, "call_exit", (-1, 0)),
]


def test_a_thread_that_is_not_the_first_launches_and_another_one_waits_for_the_child() -> None:
    events = events_array([(1000 + when, task, kind, values) for when, task, kind, values in OF_RUNTIME])
    [launch] = traced_launches(FakeTrace("fast", events, [launches_block([0], [100])]))
    assert (launch.parent, launch.children, launch.threads) == (CALLER, (CHILD,), {PARENT, CALLER, WAITER})
    assert launch.totals() == {
        "parent_user": 20 + 10,
        "launch_call": 10 + 8,
        "child_starts": 5,
        "child_user": 20,
        "child_exit": 10,
        "parent_threads": 13,
        "parent_waits": 4,
    }
    assert {call.who: call.name for call in calls_of([launch])} == {"parent": "clone", "child": "exit_group"}
    assert "another thread" in {moment.who for moment in make_timeline("median", launch).moments}


def test_a_runtime_that_lets_a_thread_run_again_creates_no_task() -> None:
    launches = [event for event in OF_RUNTIME if event[0] < 0 or event[2] != "new_task"]
    events = events_array([(1000 + when, task, kind, values) for when, task, kind, values in launches])
    trace = FakeTrace("fast", events, [launches_block([0], [100])])
    assert creates_no_task(trace)
    assert not creates_no_task(fork_trace())
    assert not creates_no_task(fork_trace("none"))


def test_what_a_helper_does_before_it_executes_the_program_is_its_own_part() -> None:
    events = [
        *EXEC[:12],
        (56, CHILD, "call_enter", (59, 0)),
        (60, CHILD, "exec", (0, 9)),
        (61, CHILD, "call_exit", (-1, 0)),
        *EXEC[12:],
    ]
    parts = parts_of(events)
    assert (parts["child_helper"], parts["child_program"]) == (4, 9)
    assert parts["child_exec"] == 10 + 5


def test_stamps_alone_make_parts_too() -> None:
    launch = Launch(0, 100, {"call_returns": 30, "task_runs": 55})
    durations = {segment.part: segment.end_ns - segment.start_ns for segment in partition_by_stamps(launch)}
    assert durations == {"until_returned": 30, "until_task_ran": 25, "until_reaped": 45}


def test_a_stamp_after_the_end_is_left_out() -> None:
    launch = Launch(0, 100, {"call_returns": 30, "task_runs": 101})
    assert [segment.part for segment in partition_by_stamps(launch)] == [
        "until_returned",
        "until_reaped",
    ]


def test_the_parents_own_switches_tell_sleep_from_work() -> None:
    launch = Launch(0, 100, {"call_returns": 30, "task_runs": 55})
    durations = {
        segment.part: segment.end_ns - segment.start_ns for segment in partition_by_switches(launch, [(40, 90)])
    }
    assert durations == {"until_returned": 30, "wait_begins": 10, "until_task_ran": 15, "away": 35, "reaping": 10}


EXEC = [
    *FORK[:9],
    (42, CHILD, "call_enter", (59, 0)),
    (50, CHILD, "exec", (0, 9)),
    (52, CHILD, "call_exit", (-1, 0)),
    (70, CHILD, "call_enter", (231, 0)),
    *FORK[13:],
]


def test_user_code_of_a_new_program_is_split_at_its_own_stamps() -> None:
    block = launches_block([0], [100], image_entered_ns=[54], image_runs_ns=[64], image_ends_ns=[67])
    events = events_array([(1000 + when, task, kind, values) for when, task, kind, values in EXEC])
    (launch,) = traced_launches(FakeTrace("fast", events, [block]))
    totals = launch.totals()
    assert sum(totals.values()) == 100
    # From the return of exec to the entry, to main, to main's end, to the call that exits.
    assert [totals[part] for part in ("child_loader", "child_library_start", "child_main", "child_library_exit")] == [
        2,
        10,
        3,
        3,
    ]
    assert totals["child_user"] == 2
    assert "child_program" not in totals


def test_user_code_of_a_program_that_stamps_nothing_stays_together() -> None:
    events = events_array([(1000 + when, task, kind, values) for when, task, kind, values in EXEC])
    (launch,) = traced_launches(FakeTrace("fast", events, [launches_block([0], [100])]))
    assert launch.totals()["child_program"] == 18
    assert not {"child_loader", "child_library_start", "child_main", "child_library_exit"} & set(launch.totals())


def test_a_tier_that_does_not_see_the_child_splits_its_life_at_its_stamps() -> None:
    launch = Launch(0, 100, {"call_returns": 30, "image_entered": 45, "image_runs": 70, "image_ends": 75})
    durations = {
        segment.part: segment.end_ns - segment.start_ns for segment in partition_by_switches(launch, [(40, 90)])
    }
    assert durations == {
        "until_returned": 30,
        "wait_begins": 10,
        "until_image_entered": 5,
        "until_image_ran": 25,
        "until_image_ended": 5,
        "away": 15,
        "reaping": 10,
    }


PRESENT_WRITE, ABSENT_WRITE, ABSENT_READ = 7, 6, 4


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        (0x400000, "file"),
        (0x500010, "anonymous"),
        (0x7F0000002000, "stack"),  # above a guard page: a thread's
        (0x7FFC00000010, "stack"),
        (0x600000, None),
        (0x7FFD00000000, "stack"),  # grown meanwhile
    ],
)
def test_what_lies_at_an_address(address: int, kind: str | None) -> None:
    assert Memory(MAPS).kind(address) == kind


def test_a_write_to_a_page_that_is_there_is_copied() -> None:
    memory = Memory(MAPS)
    assert memory.cause(0x7FFC00000010, PRESENT_WRITE) == "cow"
    assert memory.cause(0x7FFC00000010, ABSENT_WRITE) == "stack"
    assert memory.cause(0x400010, ABSENT_READ) == "file"
    assert memory.cause(0x600000, ABSENT_READ) == "anonymous"


def test_shared_memory_and_lines_that_are_none() -> None:
    memory = Memory("garbage\n7f0000000000-7f0000001000 rw-s 00000000 00:01 5 /memfd:x (deleted)\n")
    assert memory.cause(0x7F0000000000, ABSENT_WRITE) == "shared"


STEPS = ProgramSteps(1_000, 3, ended=True, main_from_entry=-0x40)


def launch(program: object) -> Target:
    return Target("launch.posix_spawn", {"program": str(program)}, (), Limits())


def elf(segments: list[tuple[int, int, int, int]], entry: int, magic: bytes = b"\x7fELF\x02\x01") -> bytes:
    """An ELF file's header and table; a segment is its kind, place in the file, address and length."""
    head = magic.ljust(24, b"\0") + struct.pack("<QQQIHHHHHH", entry, 64, 0, 0, 64, 56, len(segments), 0, 0, 0)
    table = [
        struct.pack("<IIQQQQQQ", kind, 5, at, first, first, long, long, 4096) for kind, at, first, long in segments
    ]
    return head + b"".join(table)


def test_addresses_become_places_in_the_file_by_the_segment_that_loads_them(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(
        elf([(6, 64, 0x401000, 0x2000), (1, 0, 0x400000, 0x1000), (1, 0x800, 0x401800, 0x900)], 0x401A00)
    )
    link = tmp_path / "link"
    link.symlink_to(program)
    assert marks_of(launch(link), STEPS) == (
        {"mark_file": str(program), "marks": f"{0xA00},{0x9C0},{0x9C0}r"},
        None,
    )


@pytest.mark.parametrize(
    ("content", "steps", "words"),
    [
        (b"#!/bin/sh\n", STEPS, "no ELF file of 64 bits"),
        (elf([(1, 0, 0x400000, 0x10)], 0x401000), STEPS, "no ELF file of 64 bits"),
        (elf([(1, 0, 0x400000, 0x1000)], 0x400100)[:80], STEPS, "no ELF file of 64 bits"),
        (b"", ProgramSteps(reason="yama"), "cannot be looked for: yama"),
        (b"", ProgramSteps(5_000, ended=False), "given up after 5,000 instructions"),
        (b"", ProgramSteps(5_000, ended=True), "no main"),
        (None, STEPS, "cannot be read: No such file"),
    ],
)
def test_what_is_not_known_has_its_reason(
    tmp_path: Path, content: bytes | None, steps: ProgramSteps, words: str
) -> None:
    program = tmp_path / "program"
    if content is not None:
        program.write_bytes(content)
    marks, why = marks_of(launch(program), steps)
    assert marks == {}
    assert words in str(why)


def test_our_own_programs_stamp_these_places_themselves() -> None:
    assert marks_of(launch("static"), STEPS) == ({}, None)
    assert marks_of(launch("/bin/true"), None) == ({}, None)


def test_user_code_is_of_the_part_whose_place_the_program_has_come_to() -> None:
    execs, exits = 59, 231
    begin = [
        (0, PARENT, "call_enter", (56, 0, 0)),
        (5, PARENT, "new_task", (CHILD, 0, 0)),
        (8, PARENT, "switch", (PARENT, ASLEEP, CHILD)),
        (10, CHILD, "call_exit", (56, 0, 0)),
        (12, CHILD, "call_enter", (execs, 0, 0)),
        (20, CHILD, "exec", (0, 0, 0)),
        (22, CHILD, "call_exit", (execs, 0, 0)),
    ]
    marks = [(30, CHILD, "mark", (0, 0, 0)), (36, CHILD, "mark", (1, 0, 0)), (50, CHILD, "mark", (2, 0, 0))]
    end = [
        (57, CHILD, "call_enter", (exits, 0, 0)),
        (60, CHILD, "exit", (CHILD, 0, 0)),
        (70, CHILD, "switch", (CHILD, ZOMBIE, PARENT)),
    ]
    parts = parts_of([*begin, *marks, *end])
    spent = {name: parts[f"child_{name}"] for name in ("loader", "library_start", "main", "library_exit")}
    assert spent == {"loader": 8, "library_start": 6, "main": 14, "library_exit": 7}
    assert parts_of([*begin, *end])["child_program"] == 35, "without the places it is all in one part"


def test_what_noting_costs_or_why_nothing_is_noted_is_said() -> None:
    whole = replace(explained(), budget=(BudgetPart("child_program", IntervalEstimate(9, 9, 9), 0.5),))
    split = replace(explained(), budget=(BudgetPart("child_main", IntervalEstimate(9, 9, 9), 0.5),))
    assert "some µs" in notes_on_parts(split, {"marks": "1"}, None)[0]
    assert notes_on_parts(split, {}, None) == ()
    assert notes_on_parts(whole, {"marks": "1"}, "uprobes: refused")[0].endswith("uprobes: refused")
    assert "do not note places" in notes_on_parts(whole, {"marks": "1"}, None)[0]
