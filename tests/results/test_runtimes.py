"""Pauses of collectors, event loops that stand still, tasks that are used again: what is claimed, and what is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import languages

from clonometer.results.rows.groups import MeasuredQuantity, SampleGroup
from clonometer.results.rows.runtimes import collector_pauses, tasks_created
from clonometer.results.summary import summarize
from clonometer.results.types import CollectorPauses, Finding, TasksCreated
from clonometer.run_document import BlockEntry

N = 600
REAPED = MeasuredQuantity("reaped_ns", "ns", "reaped", "i64")
COLLECTOR = MeasuredQuantity("collector_ns", "ns", None, "i64", detail=True)


def group_of(quantity: MeasuredQuantity, values: np.ndarray) -> SampleGroup:
    process = np.repeat(np.arange(6), values.size // 6)
    return SampleGroup(quantity, None, process, np.zeros_like(process), values.astype(float))


def block_of(rows: int = 50, **facts: Any) -> BlockEntry:
    outcomes = {"ok": rows}
    return BlockEntry(0, 0, "ruby.os_thread", "ok", None, rows, outcomes, facts)  # type: ignore[arg-type]


def pauses_of(times: np.ndarray, pauses: np.ndarray, **facts: Any) -> CollectorPauses:
    group = group_of(REAPED, times)
    seen = collector_pauses(group, [group, group_of(COLLECTOR, pauses)], [block_of(**facts)])
    assert seen is not None
    return seen


def test_pauses_that_make_the_slowest_launches_are_seen() -> None:
    pauses = np.zeros(N)
    pauses[::100] = 2_000_000
    seen = pauses_of(np.linspace(50_000, 60_000, N) + pauses, pauses, collections=6)
    assert (seen.share, seen.launches, seen.paused, seen.pause_ns) == (0.01, N, 6, 2_000_000)
    assert (seen.slowest, seen.slowest_paused, seen.slowest_by_pause) == (6, 6, 6)
    assert seen.makes_tail
    assert seen.collections == 6


def test_pauses_in_every_launch_do_not_make_the_slowest_ones() -> None:
    """They are in the slowest launches, too, but those are slow by something else."""
    times = np.full(N, 100_000.0)
    times[:6] = 5_000_000
    seen = pauses_of(times + np.arange(N), np.full(N, 20_000.0))
    assert seen.slowest_paused == seen.slowest
    assert not seen.makes_tail


def test_of_few_launches_the_slowest_twentieth_is_looked_at_and_of_fewer_none() -> None:
    assert pauses_of(np.arange(1, 121.0), np.zeros(120)).share == 0.05
    few = group_of(REAPED, np.arange(1, 61.0))
    assert collector_pauses(few, [few, group_of(COLLECTOR, np.zeros(60))], []) is None


def test_without_a_collector_nothing_is_said_of_one() -> None:
    group = group_of(REAPED, np.arange(1, N + 1.0))
    assert collector_pauses(group, [group], [block_of()]) is None


@pytest.mark.parametrize(
    ("counts", "per_launch"),
    [
        ([0, 0, 3], 0),
        ([50, 51, 90], 1),
        ([1, 0, 2], 0),
        # Two of an uncounted number of others have disturbed all blocks but one.
        ([50, 70, 90], None),
        ([50], None),
        # One quiet block is no proof that all others reuse.
        ([0, 50, 50], None),
        # Others create tasks all the time.
        ([80, 90, 99], None),
    ],
)
def test_tasks_per_launch_are_what_the_quietest_block_counted(counts: list[int], per_launch: int | None) -> None:
    created = tasks_created([block_of(tasks_created=count) for count in counts])
    assert created is not None
    assert created.per_launch == per_launch


def test_blocks_that_did_not_count_or_whose_launches_failed_say_nothing_of_tasks() -> None:
    failed = replace(block_of(tasks_created=0), outcomes={"ok": 40, "EAGAIN": 10})
    assert tasks_created([failed, block_of(tasks_created=-1), block_of()]) is None
    assert tasks_created([failed, block_of(tasks_created=50)]) == TasksCreated(1.0, None, 1.0)


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(languages()).findings}


def test_no_pause_is_said_so(findings: dict[str, Finding]) -> None:
    assert findings["collector.none"].numbers["launches"] == {"node": 1080}
    assert "Node.js" in findings["collector.none"].sentence


def test_a_tail_made_by_the_collector_is_said_with_its_counts() -> None:
    builder = RunBuilder()
    cell = builder.cell(
        "node.command", {"reaped_ns": 1_000_000, "collector_ns": 0}, samples=60, facts={"collections": 1}
    )
    columns = builder.run.data[cell]
    for name in ("reaped_ns", "collector_ns"):
        columns[name][::60] += 9_000_000
    made = {finding.id: finding for finding in summarize(builder.run).findings}
    assert "collector.none" not in made
    finding = made["collector.command"]
    assert finding.numbers["tail_by_collector"] == {"node": True}
    assert "the collector makes Node.js's slowest 1%" in finding.sentence
    assert "22 of 22" in finding.sentence


def test_collections_shorter_than_the_runtime_counts_are_not_taken_for_none() -> None:
    builder = RunBuilder()
    builder.cell("node.command", {"reaped_ns": 1_000_000, "collector_ns": 0}, samples=60, facts={"collections": 1})
    made = {finding.id: finding for finding in summarize(builder.run).findings}
    assert "collector.none" not in made
    assert "ran 36 times, but paused no launch" in made["collector.command"].sentence


def test_an_event_loop_that_stands_still_is_said_with_the_whole(findings: dict[str, Finding]) -> None:
    finding = findings["event_loop.node.command[temperature=warm]"]
    assert finding.numbers["share"] == pytest.approx(0.6, rel=0.1)


def test_a_level_that_never_settles_is_a_finding(findings: dict[str, Finding]) -> None:
    assert findings["steady_level"].numbers["never_steady"] == {}
    builder = RunBuilder()
    cell = builder.cell("python.os_thread", {"reaped_ns": 60_000}, samples=60, blocks=2)
    columns = builder.run.data[cell]
    late = (columns["block"] == 1) & (columns["sample"] >= 20)
    columns["reaped_ns"] = np.where(late, columns["reaped_ns"] * 3, columns["reaped_ns"])
    [finding] = [each for each in summarize(builder.run).findings if each.id == "steady_level"]
    assert finding.numbers["never_steady"] == {cell: 12}
    assert "Python has no steady level in a thread (12 of 12 processes)" in finding.sentence


MS = 1_000_000


def waits(runtime: dict[str, Any] | None = None, **waits_ns: float) -> Finding:
    """The finding of a run in which workloads of Ruby waited for so long for the lock."""
    builder = RunBuilder()
    builder.run.metadata["catalogue"]["drivers"] = [{"name": "ruby", "runtime": runtime or {}}]
    for word, wait_ns in waits_ns.items():
        builder.cell(f"ruby.{word}", {"result_ns": wait_ns + 2 * MS, "lock_wait_ns": wait_ns})
    made = [finding for finding in summarize(builder.run).findings if finding.id.startswith("lock_wait.")]
    assert len(made) == 1
    return made[0]


def test_who_waits_for_the_lock_is_named_and_who_was_late_for_another_reason_is_not_taken_for_it() -> None:
    finding = waits({"switch_interval_ns": 100 * MS}, thread_pool=104 * MS, fork=5 * MS, worker=0.3 * MS)
    assert finding.numbers["waiting"] == ["ruby.thread_pool"]
    assert finding.numbers["longer"]["ruby.fork"] == "more"
    assert "a thread that computes keeps it for 100 ms" in finding.sentence.casefold()
    assert "is no wait for the lock" in finding.sentence


def test_without_a_known_interval_who_waits_longer_than_another_waits() -> None:
    finding = waits(thread_pool=104 * MS, worker=0.3 * MS)
    assert finding.numbers["waiting"] == ["ruby.thread_pool"]
    assert "keeps it for" not in finding.sentence


def test_where_nobody_waits_longer_nobody_is_named_and_a_lock_that_is_off_is_said() -> None:
    finding = waits({"switch_interval_ns": 5 * MS, "gil": "off"}, thread_pool=0.1 * MS, worker=0.1 * MS)
    assert finding.numbers["waiting"] == []
    assert "the GIL is off" in finding.sentence


def test_what_is_too_short_to_judge_is_said_with_what_it_is() -> None:
    builder = RunBuilder()
    builder.cell("node.os_thread", {"reaped_ns": 60_000}, samples=3, blocks=2)
    [finding] = [each for each in summarize(builder.run).findings if each.id == "steady_level"]
    assert finding.numbers["not_judged"] == ["node.os_thread[temperature=warm]"]
    assert "too few launches to tell: a thread in Node.js" in finding.sentence
