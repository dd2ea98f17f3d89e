"""Lines of a census, gathered: mechanisms, groups, costs, and what a terminal shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from clonometer.explain import census as census_module
from clonometer.explain.census import Census, census_to_json, mechanism
from clonometer.views.terminal.census import render_census

VFORK = ["CLONE_VM", "CLONE_VFORK"]
FORK = ["CLONE_CHILD_SETTID", "CLONE_CHILD_CLEARTID"]
THREAD = ["CLONE_VM", "CLONE_FS", "CLONE_FILES", "CLONE_SIGHAND", "CLONE_THREAD"]


def task(**changes: Any) -> dict[str, Any]:
    line = {
        "line": "task",
        "creator_program": "/bin/make",
        "program": "/bin/cc",
        "call": "vfork",
        "flag_names": VFORK,
        "call_ns": 100_000,
        "runs_ns": 20_000,
        "exec_ns": 60_000,
        "life_ns": 5_000_000,
        "execs": 1,
        "failed_execs": 0,
    }
    return line | changes


def ended(**changes: Any) -> dict[str, Any]:
    line = {
        "line": "end",
        "exit_status": 0,
        "timed_out": False,
        "interrupted": False,
        "wall_ns": 10_000_000,
        "tasks_created": 3,
        "creating_ns": 1_000_000,
        "lost": 0,
        "grown": 0,
        "ring_bytes": 4194304,
        "not_started": 0,
        "unseen": 0,
        "failed": {},
    }
    return line | changes


def taken(*lines: dict[str, Any], how: str = "tracepoints", without: str | None = None) -> Census:
    census = Census()
    census.take({"line": "begin", "how": how, "without": without})
    for line in lines:
        census.take(line)
    return census


@pytest.mark.parametrize(
    ("call", "flags", "expected"),
    [
        ("clone3", THREAD, "thread"),
        ("vfork", VFORK, "vfork"),
        ("clone3", VFORK, "posix_spawn"),
        ("clone", VFORK, "posix_spawn"),
        ("clone", FORK, "fork"),
        (None, [], "fork"),
        ("clone", ["CLONE_VM"], "shares memory"),
        ("clone", ["CLONE_NEWNET", "CLONE_NEWPID"], "container"),
    ],
)
def test_flags_tell_the_mechanism(call: str | None, flags: list[str], expected: str) -> None:
    assert mechanism(call, flags) == expected


def test_tasks_are_gathered_by_creator_and_mechanism() -> None:
    census = taken(
        task(),
        task(call_ns=300_000, program="/bin/ld"),
        task(creator_program="/bin/sh", call="clone", flag_names=FORK, call_ns=50_000, exec_ns=70_000),
        ended(),
    )
    first, second = census.by_cost()
    assert (first.creator, first.mechanism, first.created, first.execed) == ("/bin/make", "vfork", 2, 2)
    assert first.median_ns("call_ns") == 200_000
    assert first.cost_ns == 400_000, "exec is within the call of a creator that waits for it"
    assert second.cost_ns == 120_000, "a fork's creator goes on: its child's exec comes on top"
    assert first.programs == {"/bin/cc": 1, "/bin/ld": 1}
    assert census.creating_share == pytest.approx(0.1)


def test_what_was_not_seen_is_null_and_never_a_number() -> None:
    census = taken(
        task(call_ns=None, runs_ns=None, exec_ns=None, life_ns=None), ended(), how="ptrace", without="no tracefs"
    )
    answer = census_to_json(census, ["make"], None)
    creator = answer["creators"][0]
    assert creator["cost_ns"] is None
    assert creator["call_median_ns"] is None
    assert answer["creating_share"] is None
    assert answer["still_running"] == 1
    said = " ".join(render_census(census, "make").split())
    assert said.index("Kernel tracepoints cannot be used: no tracefs. Seen by ptrace") < said.index("created by")


def test_the_object_is_valid_and_counts_what_the_kernel_counted() -> None:
    schema = json.loads((Path(__file__).parents[2] / "docs/schemas/census.schema.json").read_text())
    census = taken(task(), ended(tasks_created=7, failed={"11": 2}, lost=3))
    answer = census_to_json(census, [], 4711)
    jsonschema.validate(answer, schema)
    assert answer["tasks_created"] == 7
    assert answer["failed_calls"] == {"EAGAIN": 2}
    assert answer["exit_status"] is None
    text = render_census(census, "Process 4711")
    assert "2 calls made no task" in text
    assert "3 events were lost" in text


def test_a_program_that_makes_ever_new_programs_does_not_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(census_module, "_MOST_GROUPS", 3)
    monkeypatch.setattr(census_module, "_MOST_PROGRAMS", 2)
    census = taken(
        *(task(creator_program=f"/tmp/{number}", program=f"/bin/{place}") for number in range(9) for place in range(4)),
        ended(tasks_created=36),
    )
    assert len(census.groups) <= 4
    assert sum(one.created for one in census.groups.values()) == 36
    assert all(len(one.programs) <= 2 for one in census.groups.values())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_terminal_shows_the_dearest_first_within_its_width(width: int) -> None:
    lines = [task(creator_program=f"/usr/lib/a-rather-long-folder/program-{n}", call_ns=n * 1000) for n in range(1, 31)]
    census = taken(*lines, ended(tasks_created=30))
    text = render_census(census, "make", width=width)
    assert max(map(len, text.splitlines())) <= width
    assert text.startswith("make created 30 tasks in 0.01 s")
    assert "--wide adds 15 rows" in text
    assert text.isascii() is False
    assert render_census(census, "make", ascii_only=True).isascii()
    assert "--wide" not in render_census(census, "make", wide=True)


def test_the_first_lines_say_which_ways_are_used_and_what_they_cost() -> None:
    census = taken(
        task(),
        task(call_ns=300_000),
        task(call="clone", flag_names=FORK, call_ns=50_000),
        task(call="clone3", flag_names=THREAD, call_ns=20_000),
        ended(tasks_created=4),
    )
    first = " ".join(render_census(census, "make", width=120).split("\n\n")[0].split())
    assert first == (
        "make created 4 tasks in 0.01 s, 400 a second: 2 by vfork, 1 by fork, 1 thread. 10% of that time (1.00 ms) "
        "went to making them and beginning their programs. A median call takes: a vfork 200 µs, a fork 50.0 µs, a "
        "thread 20.0 µs."
    )
    unseen = taken(task(call_ns=None), ended(tasks_created=1), how="ptrace")
    assert "What making them costs cannot be seen this way." in render_census(unseen, "make", width=120)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lost": 1}, "! 1 event was lost for want of room: tasks may be missing, and seem to run on. A larger"),
        (
            {"lost": 2500, "grown": 2, "ring_bytes": 32768},
            "! 2,500 events were lost for want of room: tasks may be missing, and seem to run on. The buffer was made "
            "larger meanwhile, to 32KiB on a CPU. A larger --buffer from the beginning helps.",
        ),
        (
            {"grown": 1},
            "! The buffer was nearly full and was made larger meanwhile, to 4MiB on a CPU; nothing was lost.",
        ),
    ],
)
def test_a_want_of_room_is_said(changes: dict[str, Any], said: str) -> None:
    census = taken(task(), ended(**changes))
    assert said in " ".join(render_census(census, "make").split())
    answer = census_to_json(census, ["make"], None)
    assert (answer["lost_events"], answer["buffer_grown"]) == (changes.get("lost", 0), changes.get("grown", 0))


def test_a_program_that_made_nothing_is_said_to_have_made_nothing() -> None:
    text = render_census(taken(ended(tasks_created=0)), "true")
    assert text == "true created 0 tasks in 0.01 s.\n"
