"""Lines of a census, gathered: mechanisms, groups, costs, and what a terminal shows."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.census_lines import FORK, THREAD, VFORK, ended, forked, taken, task
from tests.schemas import check

from clonometer.tracing.census import durations, tally
from clonometer.tracing.census.durations import Durations
from clonometer.tracing.census.savings import savings
from clonometer.tracing.census.tally import mechanism
from clonometer.tracing.census.to_json import census_to_json
from clonometer.views.documents.census import census_document
from clonometer.views.terminal.document import render_document

TIMES = ("call_ns", "making_ns", "cpu_wait_ns", "runs_ns", "exec_ns", "cost_ns", "life_ns")
OTHER = "clone(VM|VFORK)"


@pytest.mark.parametrize(
    ("call", "flags", "exit_signal", "own_stack", "expected"),
    [
        ("clone3", THREAD, None, None, "thread"),
        ("vfork", VFORK, None, None, "vfork"),
        ("clone", FORK, 17, False, "fork"),
        (None, [], None, None, "fork"),
        ("clone", ["CLONE_VM"], 17, True, "shares memory"),
        ("clone", ["CLONE_NEWNET", "CLONE_NEWPID"], 17, False, "container"),
        ("clone3", [*VFORK, "CLONE_NEWUSER"], None, None, "container"),
        # glibc before 2.38 and since, with a pidfd and a cgroup (2.39); musl; a kernel without clone3.
        ("clone3", VFORK, None, None, "posix_spawn"),
        ("clone3", VFORK, 17, True, "posix_spawn"),
        ("clone3", [*VFORK, "CLONE_CLEAR_SIGHAND"], None, None, "posix_spawn"),
        ("clone3", [*VFORK, "CLONE_CLEAR_SIGHAND", "CLONE_PIDFD", "CLONE_INTO_CGROUP"], None, None, "posix_spawn"),
        ("clone", VFORK, 17, True, "posix_spawn"),
        ("clone", [*VFORK, "CLONE_PIDFD"], 17, True, "posix_spawn"),
        # Go: on its creator's stack, with and without a pidfd; into a cgroup.
        ("clone", VFORK, 17, False, OTHER),
        ("clone", [*VFORK, "CLONE_PIDFD"], 17, False, OTHER),
        ("clone3", [*VFORK, "CLONE_PIDFD", "CLONE_INTO_CGROUP"], None, None, OTHER),
        ("clone3", [*VFORK, "CLONE_PIDFD", "CLONE_INTO_CGROUP"], 17, False, OTHER),
        # Others: no signal at the end; more shared than a library shares; a call that was not seen.
        ("clone", VFORK, 0, True, OTHER),
        ("clone", [*VFORK, "CLONE_FILES"], 17, True, OTHER),
        ("clone3", [*VFORK, "CLONE_FILES"], None, None, OTHER),
        (None, VFORK, None, None, OTHER),
    ],
)
def test_what_is_asked_for_tells_the_mechanism(
    call: str | None, flags: list[str], exit_signal: int | None, own_stack: bool | None, expected: str
) -> None:
    assert mechanism(call, flags, exit_signal=exit_signal, own_stack=own_stack) == expected


def test_tasks_are_gathered_by_creator_and_mechanism() -> None:
    census = taken(
        task(),
        task(making_ns=300_000, cost_ns=330_000, program="/bin/ld"),
        task(creator_program="/bin/sh", call="clone", flag_names=FORK, cpu_wait_ns=None, cost_ns=120_000),
        ended(),
    )
    first, second = census.by_cost()
    assert (first.creator, first.mechanism, first.created, first.execed) == ("/bin/make", "vfork", 2, 2)
    assert first.median_ns("making_ns") == 190_000
    assert (first.cost_ns, second.cost_ns) == (440_000, 120_000)
    assert (first.cpu_wait_ns, second.cpu_wait_ns) == (40_000, 0)
    assert first.programs == {"/bin/cc": 1, "/bin/ld": 1}
    assert census.creating_share == pytest.approx(0.1)


def test_what_was_not_seen_is_null_and_never_a_number() -> None:
    census = taken(task(**dict.fromkeys(TIMES), alive=True), ended(), how="ptrace", without="no tracefs")
    answer = census_to_json(census, ["make"], None)
    creator = answer["creators"][0]
    seen = {key: value for key, value in creator.items() if key.endswith("_ns") and value is not None}
    assert not seen
    assert "no wake-up" in answer["times_missing"]
    assert answer["creating_share"] is None
    assert answer["still_running"] == 1
    rendered = " ".join(render_census(census, "make").split())
    assert rendered.index("Kernel tracepoints cannot be used: no tracefs. Seen by ptrace") < rendered.index(
        "created by"
    )


def test_the_object_is_valid_and_counts_what_the_kernel_counted() -> None:
    census = taken(task(), ended(tasks_created=7, failed={"11": 2}, lost=3))
    answer = census_to_json(census, [], 4711)
    check(answer, "census")
    assert answer["tasks_created"] == 7
    assert answer["failed_calls"] == {"EAGAIN": 2}
    assert answer["exit_status"] is None
    text = render_census(census, "Process 4711")
    assert "2 calls created no task" in text
    assert "3 events were lost" in text


def test_a_program_that_makes_ever_new_programs_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tally, "_MOST_GROUPS", 3)
    monkeypatch.setattr(tally, "_MOST_PROGRAMS", 2)
    census = taken(
        *(task(creator_program=f"/tmp/{number}", program=f"/bin/{place}") for number in range(9) for place in range(4)),
        ended(tasks_created=36),
    )
    assert len(census.groups) <= 4
    assert sum(group.created for group in census.groups.values()) == 36
    assert all(len(group.programs) <= 2 for group in census.groups.values())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_terminal_shows_the_dearest_first_within_its_width(width: int) -> None:
    path = "/usr/lib/a-rather-long-folder/below-another-one/program-{}"
    lines = [task(creator_program=path.format(n), cost_ns=n * 1000) for n in range(1, 31)]
    census = taken(*lines, ended(tasks_created=30))
    text = render_census(census, "make", width=width)
    assert max(map(len, text.splitlines())) <= width
    assert text.startswith("make created 30 tasks in 0.01 s")
    assert "--wide adds 15 rows" in text
    assert text.isascii() is False
    assert render_census(census, "make", ascii_only=True).isascii()
    assert "--wide" not in render_census(census, "make", wide=True)
    assert "program-30 " in text, "a path is cut where it begins"
    assert "…" in text


def test_the_first_lines_say_which_ways_are_used_and_what_they_cost() -> None:
    census = taken(
        task(),
        task(making_ns=320_000),
        task(call="clone", flag_names=FORK, making_ns=50_000),
        task(call="clone3", flag_names=THREAD, making_ns=20_000),
        ended(tasks_created=4),
    )
    first = " ".join(render_census(census, "make", width=120).split("\n\n")[0].split())
    assert first == (
        "make created 4 tasks in 0.01 s, 400 a second: 2 by vfork, 1 by fork, 1 thread. 10% of that time (1.00 ms) "
        "was spent creating them and in exec. Median times: a vfork 200 µs, a fork "
        "50.0 µs, a thread 20.0 µs."
    )
    unseen = taken(task(**dict.fromkeys(TIMES)), ended(tasks_created=1), how="ptrace")
    assert "The cost of creating them cannot be seen this way." in render_census(unseen, "make", width=120)


@pytest.mark.parametrize(
    ("changes", "advice"),
    [
        (
            {"lost": 1},
            "! 1 event was lost because the buffer was full: tasks may be missing, or seem to be still running. "
            "Start with a larger --buffer.",
        ),
        (
            {"lost": 2500, "grown": 2, "ring_bytes": 32768},
            "! 2,500 events were lost because the buffer was full: tasks may be missing, or seem to be still running. "
            "The buffer was enlarged during the census, to 32KiB on a CPU. Start with a larger --buffer.",
        ),
        (
            {"grown": 1},
            "! The buffer was nearly full and was enlarged during the census, to 4MiB on a CPU; nothing was lost.",
        ),
    ],
)
def test_a_want_of_room_is_said(changes: dict[str, Any], advice: str) -> None:
    census = taken(task(), ended(**changes))
    shown = " ".join(render_census(census, "make").split())
    assert advice in shown
    if "lost" in changes:
        assert shown.index(advice) < shown.index("of that time"), "a figure that may be too small says so first"
    answer = census_to_json(census, ["make"], None)
    assert (answer["lost_events"], answer["buffer_grown"]) == (changes.get("lost", 0), changes.get("grown", 0))


def test_a_program_that_made_nothing_is_said_to_have_made_nothing() -> None:
    text = render_census(taken(ended(tasks_created=0)), "true")
    assert text == "true created 0 tasks in 0.01 s.\n"


def test_waiting_for_a_cpu_is_told_apart_from_what_making_costs() -> None:
    text = " ".join(render_census(taken(task(), task(cpu_wait_ns=80_000), ended()), "make", width=160).split())
    assert "making, µs CPU wait, µs" in text
    assert " 80.0 50.0 " in text
    assert "waited for a CPU, 100 µs together" in text
    alone = render_census(taken(task(call="clone", flag_names=FORK, cpu_wait_ns=None), ended()), "make")
    assert "sleeps until" not in alone
    assert "waited for a CPU" not in alone


def test_one_path_keeps_rows_of_its_own_where_two_look_alike_when_cut() -> None:
    long = "/{}/" + "x" * 60
    census = taken(task(creator_program=long.format("a")), task(creator_program=long.format("b")), ended())
    rows = [line for line in render_census(census, "make").splitlines() if line.startswith("…x")]
    assert len(rows) == 2


@pytest.mark.parametrize(
    ("changes", "advised"),
    [({}, True), ({"timed_out": True}, False), ({"interrupted": True}, False), ({"exit_status": -1}, False)],
)
def test_where_tasks_run_on_the_option_that_waits_for_them_is_named(changes: dict[str, Any], advised: bool) -> None:
    census = taken(task(alive=True, life_ns=None, minor_faults=None), ended(**changes))
    text = " ".join(render_census(census, "make").split())
    assert "1 of its tasks was still running when the census ended." in text
    assert ("--until-all-end" in text) is advised


COSTS = {"vfork": (45_000.0, 50_000.0), "posix_spawn": (70_000.0, 76_000.0), "thread": (7_000.0, 8_000.0)}


@pytest.mark.parametrize(
    ("tasks", "advised"),
    [
        # What shares the memory until exec is as cheap as it gets, and a thread executes no program.
        ([task(call_ns=400_000)] * 6, []),
        ([task(call="clone3", flag_names=THREAD, execs=0)] * 6, []),
        ([forked()] * 6, [(6, ["posix_spawn", "vfork"])]),
        ([forked(execs=0)] * 6, [(6, ["thread"])]),
        # Only those that execute a program are made otherwise.
        ([forked()] * 5 + [forked(execs=0)], [(5, ["posix_spawn", "vfork"])]),
        # Too few for an interval; an interval that reaches what the other way costs; one that waited for a CPU.
        ([forked()] * 5, []),
        ([forked(call_ns=60_000)] + [forked()] * 5, [(6, ["vfork"])]),
        ([forked(call_ns=60_000, making_ns=90_000_000)] * 6, [(6, ["vfork"])]),
        ([forked(cost_ns=1)] * 6 + [task(cost_ns=1_000_000)] * 6, []),
        ([forked(**dict.fromkeys(TIMES))] * 6, []),
        # Who writes for a shell cannot choose how it forks.
        ([forked(creator_program="/usr/bin/bash", execs=0)] * 6, []),
    ],
)
def test_other_ways_of_forks_are_advised_where_they_surely_save_a_tenth(
    tasks: list[dict[str, Any]], advised: list[tuple[int, list[str]]]
) -> None:
    worth = savings(taken(*tasks, ended()), COSTS)
    assert [(saving.created, [way.mechanism for way in saving.instead]) for saving in worth] == advised
    for saving in worth:
        for way in saving.instead:
            assert way.saved_ns == saving.created * (saving.making_ns - COSTS[way.mechanism][1])
    assert savings(taken(*tasks, ended()), {}) == [], "what costs nobody knows saves nothing"


render_census = partial(render_document, census_document)


def test_advice_is_for_the_two_dearest_groups_and_said_to_be_a_model() -> None:
    lines = [forked(creator_program=f"/bin/{n}", call_ns=200_000 * n, cost_ns=200_000 * n) for n in (1, 2, 3)] * 6
    census = taken(*lines, ended())
    worth = savings(census, COSTS)
    assert [saving.group.creator for saving in worth] == ["/bin/3", "/bin/2"]
    text = " ".join(render_census(census, "make", worth, width=80).split())
    assert (
        "What to do: /bin/3 started 6 programs by fork and exec. A fork took at least 600 µs, all of them 3.60 ms. "
        "This would save at least: posix_spawn 3.14 ms (76.0 µs each), vfork and exec 3.30 ms (50.0 µs each)."
    ) in text
    staying = taken(*[forked(execs=0)] * 6, ended())
    text = " ".join(render_census(staying, "make", savings(staying, COSTS), width=80).split())
    assert "made 6 tasks by fork that executed no program." in text
    assert "would save at least: threads 2.35 ms (8.00 µs each)." in text
    text = " ".join(render_census(census, "make", worth, width=80).split())
    assert text.endswith("It does not include the tasks' own work.")
    answer = census_to_json(census, ["make"], None, worth)
    check(answer, "census")
    assert answer["savings"][0]["instead"][1] == {"mechanism": "vfork", "making_ns": 50_000.0, "saved_ns": 3_300_000.0}


def test_the_programs_that_were_executed_are_named_with_counts_and_times() -> None:
    sort = [task(creator_program="/bin/sh", program="/bin/sort", life_ns=ms * 1_000_000) for ms in (3, 5)]
    date = task(creator_program="/bin/sh", program="/bin/date", life_ns=2_000_000)
    unexecuted = task(creator_program="/bin/sh", program="/bin/sh", execs=0)
    census = taken(*sort, date, unexecuted, task(), ended(tasks_created=5))
    rows = [line.split() for line in render_census(census, "x.sh").splitlines()]
    assert ["/bin/sort", "2", "4.00", "8.00"] in rows
    assert rows.index(["/bin/sort", "2", "4.00", "8.00"]) < rows.index(["/bin/date", "1", "2.00", "2.00"])
    assert not any(row[:1] == ["/bin/sh"] and len(row) == 4 for row in rows), "it executed nothing"
    wide = [line.split() for line in render_census(census, "x.sh", wide=True).splitlines()]
    assert ["/bin/sh", "/bin/sort", "2", "4.00", "8.00"] in wide
    assert ["/bin/make", "/bin/cc", "1", "5.00", "5.00"] in wide


def test_json_has_the_tree_of_executed_programs_with_counts_and_times() -> None:
    ms = 1_000_000
    lines = [
        # make (not in the tree) starts sh twice; each starts sort, and one of them cc, which starts as by a thread.
        task(tid=11, creator=10, program="/bin/sort", life_ns=3 * ms),
        task(tid=14, creator=13, program="/bin/as", life_ns=1 * ms),
        task(tid=13, creator=12, program="/bin/cc", execs=0),
        task(tid=12, creator=10, program="/bin/cc", life_ns=6 * ms),
        task(tid=10, creator=0, program="/bin/sh", life_ns=20 * ms),
        # The number 11 comes again, of another task.
        task(tid=11, creator=20, program="/bin/sort", life_ns=4 * ms),
        task(tid=20, creator=0, program="/bin/sh", life_ns=10 * ms),
        # A daemon that outlives its creator, and still runs.
        task(tid=30, creator=20, program="/bin/daemon", life_ns=None, alive=True),
    ]
    answer = census_to_json(taken(*lines, ended(tasks_created=8)), ["make"], None)
    check(answer, "census")

    def node(program, times, life_ms, *executed):
        return {"program": program, "times": times, "life_ns": life_ms * ms or None, "executed": list(executed)}

    assert answer["executed"] == [
        node("/bin/sh", 2, 30, node("/bin/sort", 2, 7), node("/bin/cc", 1, 6, node("/bin/as", 1, 1))),
        node("/bin/daemon", 1, 0),
    ]


def test_a_tree_of_programs_has_an_end_however_deep_they_call_each_other() -> None:
    lines = [task(tid=number, creator=number - 1, program="/bin/sh", life_ns=1) for number in range(5000, 0, -1)]
    nodes = census_to_json(taken(*lines, ended(tasks_created=5000)), ["sh"], None)["executed"]
    levels, times = 0, 0
    while nodes:
        levels += 1
        times += sum(node["times"] for node in nodes)
        nodes = [below for node in nodes for below in node["executed"]]
    assert (levels <= 20, times) == (True, 5000)


def test_few_programs_stand_on_the_first_screen() -> None:
    census = taken(*(task(program=f"/bin/{number}") for number in range(30)), ended(tasks_created=30))
    assert "--wide adds 20 programs" in render_census(census, "make")


def test_what_tasks_used_themselves_is_said_beside_what_their_creation_took() -> None:
    calm = [forked(execs=0, making_ns=200_000, cpu_ns=300_000, minor_faults=400, major_faults=0)] * 2
    census = taken(*calm, forked(execs=0, making_ns=200_000, cpu_ns=900_000, minor_faults=700), ended())
    used = census_to_json(census, ["make"], None)["creators"][0]["used"]
    assert used == {
        "known": 3,
        "cpu_median_ns": 300_000,
        "cpu_ns": 1_500_000,
        "minor_faults_median": 400,
        "minor_faults": 1_500,
        "major_faults": 1,
    }
    text = " ".join(render_census(census, "make").split())
    assert "then used 300 µs of CPU time and 400 page faults itself (medians). Its creation is 40% of both" in text


def test_what_a_task_used_that_still_runs_is_told_apart_from_what_others_used_until_their_end() -> None:
    runs = forked(execs=0, alive=True, life_ns=None, cpu_ns=900_000_000, minor_faults=90)
    census = taken(forked(execs=0, cpu_ns=300_000), runs, ended(own_faults=12_345))
    written = census_to_json(census, [], 7)
    assert written["creators"][0]["used"]["cpu_ns"] == 300_000
    assert written["creators"][0]["used_so_far"]["cpu_ns"] == 900_000_000
    assert written["own_faults"] == 12_345
    text = " ".join(render_census(census, "redis").split())
    assert "still running when the census ended, and had used 900 ms of CPU time and 91 page faults by then." in text
    assert "The watched process itself had 12,345 page faults meanwhile." in text
    # A program that was executed has none of its parent's pages.
    launched = taken(forked(execs=1), ended(own_faults=12_345))
    assert "itself had" not in render_census(launched, "redis")


def test_of_a_creator_that_sleeps_meanwhile_both_are_not_added() -> None:
    text = " ".join(render_census(taken(task(), ended()), "make").split())
    assert "then used 400 µs of CPU time and 417 page faults itself (medians), its exec and its tear-down" in text


def test_where_it_is_not_known_what_tasks_used_the_reason_is_said() -> None:
    unknown = task(cpu_ns=None, minor_faults=None, major_faults=None)
    census = taken(unknown, ended(without_usage="the kernel does not describe its structures"))
    written = census_to_json(census, ["make"], None)
    assert written["creators"][0]["used"] is None
    assert written["usage_missing"] == "the kernel does not describe its structures"
    text = " ".join(render_census(census, "make").split())
    assert "It is not known what tasks used themselves: the kernel does not describe its structures." in text
    assert "faults" not in text


def test_by_ptrace_the_faults_are_known_and_the_cpu_time_is_not() -> None:
    census = taken(task(**dict.fromkeys(TIMES), cpu_ns=None), ended(), how="ptrace")
    written = census_to_json(census, ["make"], None)
    assert written["usage_missing"] is not None
    used = written["creators"][0]["used"]
    assert (used["known"], used["cpu_median_ns"], used["cpu_ns"], used["minor_faults"]) == (1, None, None, 417)


SOME = st.lists(st.integers(0, 1 << 40), min_size=1, max_size=200)


@pytest.fixture
def blurred(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durations, "MOST_EXACT", 3)


def test_few_are_exact_and_their_median_has_its_interval() -> None:
    times = Durations(range(100))
    assert (len(times), times.total_ns, times.median_ns) == (100, 4950, 49.5)
    assert times.median_ends_ns == (39.0, 60.0)
    assert Durations([5, 1, 3]).median_ends_ns == (1.0, 5.0)
    assert Durations().median_ns is None
    with pytest.raises(IndexError):
        _ = Durations().median_ends_ns


@pytest.mark.usefixtures("blurred")
@settings(deadline=None)
@given(SOME, SOME)
def test_many_keep_their_order_within_a_256th(left: list[int], right: list[int]) -> None:
    times = Durations(left)
    times.extend(Durations(right))
    both = left + right
    assert (len(times), times.total_ns) == (len(both), sum(both))
    assert times.median_ns == pytest.approx(statistics.median(both), rel=1 / 250)
    low_ns, high_ns = times.median_ends_ns
    exact = Durations()
    exact._exact.extend(both)  # More than are kept exact here.
    assert (low_ns, high_ns) == pytest.approx(exact.median_ends_ns, rel=1 / 250)


@pytest.mark.usefixtures("blurred")
def test_many_take_no_more_room_than_few() -> None:
    times = Durations(10_000 + number % 5_000 for number in range(100_000))
    assert len(times._buckets) < 128


def test_those_at_a_bound_are_within_it() -> None:
    assert Durations([1, 10, 10, 11, 1000]).at_most([10, 100]) == [3, 4]
    many = Durations([1] * 5000 + [200] * 5000 + [10**6])
    assert many.at_most([1, 199, 200, 10**5]) == [5000, 5000, 10_000, 10_000]
