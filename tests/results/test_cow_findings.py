from __future__ import annotations

from typing import Any

import pytest

from clonometer.results import summarize
from clonometer.results.types import Finding

GIB = 1 << 30
PAGES = GIB // 4096


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


def _writes(each_ns: float) -> dict[str, float]:
    return {"write_each_ns": each_ns, "again_each_ns": 10.0}


def _story(parent_bytes: int, pass_ns: float) -> dict[str, float]:
    pages = parent_bytes / 4096
    return {
        "fork_call_ns": 100_000 + 50 * pages,
        "quiet_stall_ns": 2_000,
        "call_stall_ns": 20_000 + 40 * pages,
        "aftermath_stall_ns": 30_000,
        "quiet_pass_ns": 1_000 + 60 * pages,
        "aftermath_pass_ns": 1_000 + pass_ns * pages,
    }


@pytest.fixture
def told(builder: Any) -> Any:
    builder.cell("cow.parent", _writes(3_000.0), None)
    builder.cell("cow.parent", _writes(1_000.0), None, other_process="gone")
    builder.cell("cow.child", _writes(4_000.0), None)
    builder.cell("cow.child", _writes(1_200.0), None, other_process="gone")
    builder.cell("cow.fresh", _writes(2_000.0), None)
    for size in (0, GIB):
        builder.cell("cow.stall", _story(size, 1_060.0), None, parent_bytes=size)
        builder.cell("cow.stall", _story(size, 60.0), None, parent_bytes=size, other_process="gone")
    return builder.run


def test_who_copies_and_who_takes_over_is_said_beside_plain_faults(told: Any) -> None:
    finding = _findings(told)["cow.first_write"]
    assert "the parent's first write to a page costs " in finding.sentence
    assert "while the child lives (it copies)" in finding.sentence
    assert "the child's first write to a page costs" in finding.sentence
    assert "a page of new memory costs " in finding.sentence
    assert "a write that needs no fault " in finding.sentence
    assert finding.numbers["ratio"] == pytest.approx(3, rel=0.1)
    assert [write["other_process"] for write in finding.numbers["writes"]] == ["alive", "gone", "alive", "gone", None]
    assert finding.headline.startswith("After a fork the parent pays ")


@pytest.mark.parametrize(
    ("split", "faults", "words"),
    [
        (0.0, 228.0, "the whole huge page is reused: 228 faults in 8 MiB"),
        (1.0, 515.0, "still splits 1 of the huge pages: 515 faults in 8 MiB"),
    ],
)
def test_whether_huge_pages_were_taken_over_whole_is_said(
    builder: Any, split: float, faults: float, words: str
) -> None:
    huge: dict[str, Any] = {"page_kind": "thp", "write_step": "small_page", "written_bytes": 8 << 20}
    builder.cell("cow.parent", _writes(3_000.0) | {"faults": 2048.0, "split_pages": 4.0}, None, spread=0.0, **huge)
    counts = {"faults": faults, "split_pages": split}
    builder.cell("cow.parent", _writes(100.0) | counts, None, spread=0.0, other_process="gone", **huge)
    [finding] = [finding for name, finding in _findings(builder.run).items() if name.startswith("cow.first_write")]
    assert words in finding.sentence


def test_a_side_that_was_not_measured_is_left_out(builder: Any) -> None:
    builder.cell("cow.child", _writes(4_000.0), None)
    finding = _findings(builder.run)["cow.first_write"]
    assert "parent's" not in finding.sentence
    assert "gone" not in finding.sentence
    assert finding.headline == ""


def test_a_fork_is_told_as_one_story_at_the_largest_parent(told: Any) -> None:
    finding = _findings(told)["cow.story"]
    assert finding.numbers["parent_bytes"] == GIB
    assert finding.numbers["aftermath_extra_ns"] == pytest.approx(1_000 * PAGES, rel=0.05)
    low, high = finding.numbers["aftermath_extra_ns_interval"]
    assert low <= 1_000 * PAGES <= high
    assert finding.sentence.startswith("Fork of a parent with 1 GiB: the call takes ")
    assert "for each 4 KiB page" in finding.sentence
    assert "1 GiB" in finding.headline


def test_an_aftermath_that_costs_nothing_is_said_as_such(told: Any) -> None:
    finding = _findings(told)["cow.story.gone"]
    assert "other gone: the call takes" in finding.sentence
    assert "takes that thread no more than before, with" in finding.sentence


def test_phases_are_drawn_together_and_not_as_scans(told: Any) -> None:
    results = summarize(told)
    assert all(line.phase for line in results.scans)
    assert not [finding.id for finding in results.findings if finding.id.startswith("scan.")]
    assert {scan.quantity for scan in results.scans} == set(_story(0, 0))
    assert {scan.x for scan in results.scans} == {(0, GIB)}
    assert {tuple(scan.condition.items()) for scan in results.scans} == {(), (("other_process", "gone"),)}


def test_what_waits_for_others_is_not_judged_by_its_wall_time(told: Any) -> None:
    for block in told.metadata["blocks"]:
        block["facts"] = {"wall_ns": 100, "cpu_ns": 1}
    assert "wall.far_above_cpu" not in {warning.id for warning in summarize(told).warnings}
