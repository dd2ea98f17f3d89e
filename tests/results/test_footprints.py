from __future__ import annotations

from typing import Any

import pytest

from clonometer.results import summarize
from clonometer.results.types import Finding

KIB = 1024


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


def _held(kernel: float, user: float, **more: float) -> dict[str, float]:
    return {
        "whole_each_bytes": kernel + user,
        "kernel_each_bytes": kernel,
        "user_each_bytes": user,
        "virtual_each_bytes": 1 << 20,
        "resident_each_bytes": 400 * KIB,
        "create_each_ns": 200_000.0,
        "reap_each_ns": 100_000.0,
        **more,
    }


@pytest.fixture
def held(builder: Any) -> Any:
    parts = {"kernel_stack_each_bytes": 16 * KIB, "page_tables_each_bytes": 40 * KIB, "slab_each_bytes": 4 * KIB}
    for tasks in (100, 1000):
        builder.cell("footprint.process", _held(70 * KIB, 20 * KIB, **parts), None, tasks=tasks)
        builder.cell("footprint.thread", _held(25 * KIB, 5 * KIB), None, tasks=tasks)
    return builder.run


def test_a_task_is_told_with_its_parts_at_the_most_tasks(held: Any) -> None:
    finding = _findings(held)["footprint.process"]
    assert finding.sentence.startswith("Each of 1,000 idle processes takes ")
    for words in (
        "of the kernel's (",
        "kernel stack, ",
        "page tables and ",
        "slab)",
        "of pages that it wrote",
        "to reap it",
    ):
        assert words in finding.sentence
    assert "KiB" in finding.sentence
    assert finding.numbers["tasks"] == 1000
    assert finding.numbers["whole_each_bytes"] == pytest.approx(90 * KIB, rel=0.05)
    assert finding.numbers["slab_each_bytes"] == pytest.approx(4 * KIB, rel=0.05)
    assert finding.headline.startswith("Each idle process takes ")


def test_parts_that_the_account_does_not_tell_are_not_said(held: Any) -> None:
    sentence = _findings(held)["footprint.thread"].sentence
    assert "slab" not in sentence
    assert "of the kernel's and" in sentence


def test_a_process_is_held_against_a_thread(held: Any) -> None:
    finding = _findings(held)["footprint.process_thread"]
    assert finding.numbers["ratio"] == pytest.approx(3.0, rel=0.05)
    assert finding.numbers["ratio_low"] <= 3.0 <= finding.numbers["ratio_high"]
    assert finding.sentence.startswith("An idle process takes ")
    assert "1,000 of each" in finding.sentence


def test_bars_have_the_parts_and_what_remains(held: Any) -> None:
    bars = {bar.label: bar.parts_bytes for bar in summarize(held).series["footprints"]}
    assert list(bars) == ["process", "thread", "process, 1,000 at once", "thread, 1,000 at once"]
    process = bars["process"]
    assert list(process) == ["kernel stack", "page tables", "slab", "other kernel memory", "own pages"]
    assert process["other kernel memory"] == pytest.approx(10 * KIB, rel=0.5)
    assert list(bars["thread"]) == ["kernel", "own pages"]


def test_what_is_below_zero_is_no_bar_and_no_error(builder: Any) -> None:
    builder.cell("footprint.thread", _held(25 * KIB, -5 * KIB), None)
    results = summarize(builder.run)
    assert list(results.series["footprints"][0].parts_bytes) == ["kernel"]
    assert "-5" in _findings(builder.run)["footprint.thread"].sentence


def test_sizes_take_no_part_in_findings_about_times(held: Any) -> None:
    findings = _findings(held)
    assert not [name for name in findings if name.startswith("scan.") and name.endswith("_bytes")]
    assert {scan.quantity for scan in summarize(held).scans} == {"create_each_ns", "reap_each_ns"}


def test_what_the_machine_does_besides_is_not_taken_for_a_task(builder: Any) -> None:
    builder.cell("footprint.process", _held(-5 * KIB, 0.0), None, tasks=100)
    finding = _findings(builder.run)["footprint.process"]
    assert "lost in the noise of what else the machine allocates" in finding.sentence
    assert "accounting=cgroup" in finding.sentence
    assert finding.headline == ""


def test_free_memory_that_lost_less_than_was_made_is_not_told_as_the_whole(builder: Any) -> None:
    builder.cell("footprint.thread", _held(25 * KIB, 5 * KIB, whole_each_bytes=12 * KIB), None, tasks=1000)
    assert "is lost in the noise of" in _findings(builder.run)["footprint.thread"].sentence


def test_the_machines_account_is_not_compared_where_a_groups_is_there(builder: Any) -> None:
    for accounting in ("machine", "cgroup"):
        builder.cell("footprint.process", _held(70 * KIB, 20 * KIB), None, tasks=100, accounting=accounting)
        builder.cell("footprint.thread", _held(25 * KIB, 5 * KIB), None, tasks=100, accounting=accounting)
    found = [name for name in _findings(builder.run) if "process_thread" in name]
    assert found == ["footprint.process_thread.cgroup"]
