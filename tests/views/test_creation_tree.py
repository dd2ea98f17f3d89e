"""The tree of creation over time: which tasks have a track, what is folded, and what a trace says of them."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from tests.fakes.census_lines import FORK, LIBRARY, MODULES, STACKS, THREAD, ended, frame, site, task

from clonometer.tracing.census import timeline
from clonometer.tracing.census.tally import Census
from clonometer.tracing.census.timeline import TaskLives, parents, processes
from clonometer.views.census_events import census_events
from clonometer.views.creation_tree import MOST_FOLDED, MOST_TRACKS, CreationTree, creation_tree
from clonometer.views.html.tree import tree_block

MS = 1_000_000


def lived(tid: int, creator: int, start_ms: float, life_ms: float | None = 1.0, **changes: Any) -> dict[str, Any]:
    """A line of a task whose creation took 0.1 ms, which ran after half of that, and began its program then."""
    start_ns = round(start_ms * MS)
    times = {"start_ns": start_ns, "made_ns": start_ns + 40_000, "exec_at_ns": start_ns + 60_000}
    life_ns = None if life_ms is None else round(life_ms * MS)
    return task(tid=tid, creator=creator, life_ns=life_ns, runs_ns=50_000, making_ns=100_000, **times) | changes


def census_of(*lines: dict[str, Any]) -> Census:
    """A census that keeps times; lines come as tasks end, here in the opposite order of their creation."""
    census = Census(timeline=TaskLives())
    census.take({"line": "begin", "how": "tracepoints", "without": None})
    for line in [*reversed(lines), *MODULES, ended(stacks=STACKS, wall_ns=100 * MS, tasks_created=len(lines))]:
        census.take(line)
    return census


def tree_of(*lines: dict[str, Any]) -> CreationTree:
    census = census_of(*lines)
    assert census.timeline is not None
    return creation_tree(census.timeline, census.sites, 100 * MS)


def test_tasks_stand_below_their_creators_in_the_order_of_creation() -> None:
    tree = tree_of(
        lived(10, 1, 0, 50, program="/bin/sh"),
        lived(11, 10, 5, program="/bin/a", cost_ns=200_000),
        lived(20, 1, 8, 10, execs=0, flag_names=FORK, call="clone", program="/bin/make"),
        lived(12, 10, 20, program="/bin/b"),
        lived(21, 20, 9, execs=0, flag_names=THREAD),
    )
    assert [(track.depth, track.label, track.marked) for track in tree.tracks] == [
        (0, "sh", True),
        (1, "a", True),
        (1, "b", True),
        (0, "copy of make", True),
        (1, "thread of make", True),
    ]
    assert (tree.folded, tree.dropped) == (0, 0)
    (a,) = [track for track in tree.tracks if track.label == "a"]
    assert (a.runs_at_ns, a.exec_at_ns, a.end_ns) == (5_050_000, 5_060_000, 6_040_000)


def test_a_number_that_is_used_again_is_another_task() -> None:
    tree = tree_of(lived(10, 1, 0, 2, program="/bin/old"), lived(10, 1, 10, 20, program="/bin/new"), lived(11, 10, 15))
    assert [(track.depth, track.label) for track in tree.tracks] == [(0, "old"), (0, "new"), (1, "cc")]


def test_many_tasks_are_folded_by_creator_and_program_and_counted() -> None:
    cheap = [lived(100 + n, 10, 1 + n / 100, program="/bin/cheap", cost_ns=10) for n in range(900)]
    dear = lived(99, 10, 30, program="/bin/dear", cost_ns=50 * MS)
    tree = tree_of(lived(10, 1, 0, 60, program="/bin/sh"), *cheap, dear)
    assert len(tree.tracks) < 10
    (fold,) = [track for track in tree.tracks if track.tasks > 1]
    assert (fold.label, fold.tasks, fold.depth, fold.cost_ns) == ("cheap", 900, 1, 9000)
    assert tree.folded == 900
    assert [track.label for track in tree.tracks if track.marked] == ["dear"]
    block = tree_block(tree)
    assert any("900 tasks that cost less are folded" in text for text in block["notes"])
    assert [row["name"] for row in block["rows"]] == ["sh", "900 × cheap", "dear"]


def test_the_page_has_room_for_any_number_of_programs() -> None:
    tree = tree_of(*(lived(100 + n, 1, n / 50, program=f"/bin/{n}", cost_ns=1000 + n) for n in range(4000)))
    assert len(tree.tracks) <= MOST_TRACKS + MOST_FOLDED + 1
    assert sum(track.tasks for track in tree.tracks) == 4000


def test_a_chain_of_ten_thousand_tasks_is_drawn() -> None:
    tree = tree_of(*(lived(n + 1, n, n / 200, 90) for n in range(1, 10_001)))
    assert max(track.depth for track in tree.tracks) <= 12
    assert sum(track.tasks for track in tree.tracks) == 10_000


def test_only_the_most_expensive_are_kept_of_very_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_TASKS", 50)
    tree = tree_of(*(lived(100 + n, 1, n / 50, cost_ns=10**7 if n == 3 else 1000 + n) for n in range(500)))
    assert tree.dropped == 450
    assert any(track.cost_ns == 10**7 and track.marked for track in tree.tracks)
    assert any("450 tasks that cost least are not here" in text for text in tree_block(tree)["notes"])


def test_threads_are_of_the_process_of_their_creator() -> None:
    census = census_of(
        lived(10, 1, 0, 50),
        lived(11, 10, 1, 40, flag_names=THREAD, execs=0),
        lived(12, 11, 2, 30, flag_names=THREAD, execs=0),
        lived(13, 12, 3),
        lived(14, 1, 4, flag_names=THREAD, execs=0),
    )
    assert census.timeline is not None
    tasks = census.timeline.tasks()
    assert processes(tasks, parents(tasks)) == [10, 10, 10, 13, 1]


def test_a_trace_has_creation_program_and_call_site_on_the_tracks_of_task_and_creator() -> None:
    census = census_of(
        site(0, *LIBRARY, frame(1, "start_it", 80, line=12)),
        lived(10, 1, 0, 50, site=0, program="/bin/sh"),
        lived(11, 10, 1, None, execs=0, flag_names=THREAD, exec_at_ns=None),
    )
    assert census.timeline is not None
    trace = json.loads(json.dumps(census_events(census.timeline, census.sites, 100 * MS, "make"), allow_nan=False))
    slices = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    on_task = {event["name"]: (event["ts"], event["dur"]) for event in slices if event["tid"] == 10}
    assert on_task["being created"] == (0, 50)
    assert on_task["before its program"] == (50, 10)
    assert on_task["sh"] == (60, 49_980)
    (call,) = [event for event in slices if event["name"] == "creates sh"]
    assert (call["pid"], call["tid"], call["dur"]) == (1, 1, 100)
    assert call["args"]["created_at"] == "/src/a.c:12"
    assert call["args"]["stack"][-1] == "start_it (/src/a.c:12)"
    (thread,) = [event for event in slices if event["tid"] == 11 and event["cat"] == "life"]
    assert (thread["pid"], thread["ts"] + thread["dur"], thread["args"]["ran_on"]) == (10, 100_000, True)
    names = {
        (event["name"], event["pid"], event["tid"]): event["args"]["name"]
        for event in trace["traceEvents"]
        if event["ph"] == "M"
    }
    assert names["thread_name", 10, 11] == "thread of make"
    assert names["process_name", 1, 1] == "/bin/make"
    arrows = [event["ph"] for event in trace["traceEvents"] if event.get("id") == 0]
    assert arrows == ["s", "f"]


def test_slices_of_a_creator_do_not_overlap() -> None:
    census = census_of(*(lived(10 + n, 1, n * 0.2, execs=0) for n in range(20)))
    assert census.timeline is not None
    events = census_events(census.timeline, census.sites, 100 * MS, "x")["traceEvents"]
    calls = sorted((event["ts"], event["dur"]) for event in events if event["ph"] == "X" and event["tid"] == 1)
    assert all(ts + dur <= following for (ts, dur), (following, _) in pairwise(calls))
