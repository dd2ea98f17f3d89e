from __future__ import annotations

from typing import Any

import pytest
from tests.results.runs import copies_on_write, story_times, write_times

from clonometer.results.summary import summarize
from clonometer.results.types import Finding

GIB = 1 << 30
PAGES = GIB // 4096


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


@pytest.fixture(scope="module")
def copied() -> Any:
    return copies_on_write()


def test_who_copies_and_who_takes_over_is_said_beside_plain_faults(copied: Any) -> None:
    finding = _findings(copied)["cow.first_write"]
    assert finding.numbers["ratio"] == pytest.approx(3, rel=0.1)
    assert [write["other_process"] for write in finding.numbers["writes"]] == ["alive", "gone", "alive", "gone", None]
    assert finding.numbers["no_fault_ns"] == pytest.approx(10, rel=0.1)
    assert finding.headline


def test_a_side_that_was_not_measured_is_left_out(builder: Any) -> None:
    builder.cell("cow.child", write_times(4_000.0), None)
    finding = _findings(builder.run)["cow.first_write"]
    assert finding.numbers["cells"] == ["cow.child"]
    assert finding.headline == ""


def test_a_fork_is_told_as_one_story_at_the_largest_parent(copied: Any) -> None:
    finding = _findings(copied)["cow.story"]
    assert finding.numbers["parent_bytes"] == GIB
    assert finding.numbers["aftermath_extra_ns"] == pytest.approx(1_000 * PAGES, rel=0.05)
    low, high = finding.numbers["aftermath_extra_ns_interval"]
    assert low <= 1_000 * PAGES <= high


def test_an_aftermath_that_costs_nothing_is_said_as_such(copied: Any) -> None:
    low, high = _findings(copied)["cow.story.gone"].numbers["aftermath_extra_ns_interval"]
    assert low <= 0 <= high


def test_phases_of_an_event_that_nobody_tells_are_scans(builder: Any) -> None:
    builder.invent("server.serve", {"quiet_ns": None, "stall_ns": None}, "parent_bytes", family="servers", phases=True)
    for size in (0, 1 << 20, 4 << 20):
        builder.cell("server.serve", {"quiet_ns": 2_000, "stall_ns": 3_000 + size / 100}, None, parent_bytes=size)
    findings = _findings(builder.run)
    assert findings["scan.parent_bytes.server.serve.stall_ns"].numbers["verdict"] == "more"
    assert findings["scan.parent_bytes.server.serve.quiet_ns"].numbers["verdict"] == "unknown"


def test_phases_are_drawn_together_and_not_as_scans(copied: Any) -> None:
    results = summarize(copied)
    assert all(line.phase for line in results.scans)
    assert not [finding.id for finding in results.findings if finding.id.startswith("scan.")]
    assert {scan.quantity for scan in results.scans} == set(story_times(0, 0))
    assert {scan.x for scan in results.scans} == {(0, GIB)}
    assert {tuple(scan.condition.items()) for scan in results.scans} == {(), (("other_process", "gone"),)}


def test_what_waits_for_others_is_not_judged_by_its_wall_time(copied: Any) -> None:
    for block in copied.metadata["blocks"]:
        block["facts"] = {"wall_ns": 100, "cpu_ns": 1}
    assert "wall.far_above_cpu" not in {warning.id for warning in summarize(copied).warnings}
