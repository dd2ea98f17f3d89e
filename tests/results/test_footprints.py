from __future__ import annotations

from typing import Any

import pytest
from tests.results.runs import footprint_sizes, footprints, footprints_below_noise

from clonometer.results.summary import summarize
from clonometer.results.types import Finding, Results

KIB = 1024


@pytest.fixture(scope="module")
def held() -> Results:
    return summarize(footprints())


def _by_id(results: Results) -> dict[str, Finding]:
    return {finding.id: finding for finding in results.findings}


def test_a_task_is_told_with_its_parts_at_the_most_tasks(held: Results) -> None:
    numbers = _by_id(held)["footprint.process"].numbers
    assert numbers["tasks"] == 1000
    for part, truth in (("whole", 90), ("kernel_stack", 16), ("page_tables", 40), ("slab", 4)):
        assert numbers[f"{part}_each_bytes"] == pytest.approx(truth * KIB, rel=0.05)


def test_parts_that_the_account_does_not_tell_are_not_said(held: Results) -> None:
    numbers = _by_id(held)["footprint.thread"].numbers
    assert "kernel_each_bytes" in numbers
    assert not {"kernel_stack_each_bytes", "slab_each_bytes"} & set(numbers)


def test_a_process_is_held_against_a_thread(held: Results) -> None:
    numbers = _by_id(held)["footprint.process_thread"].numbers
    assert numbers["ratio"] == pytest.approx(3.0, rel=0.05)
    assert numbers["ratio_low"] <= 3.0 <= numbers["ratio_high"]
    assert all("tasks=1000" in cell for cell in numbers["cells"])


def test_bars_have_the_parts_and_what_remains(held: Results) -> None:
    bars = {bar.label: bar.parts_bytes for bar in held.series["footprints"]}
    assert list(bars) == ["process", "thread", "process, 1,000 at once", "thread, 1,000 at once"]
    process = bars["process"]
    assert list(process) == ["kernel stack", "page tables", "slab", "other kernel memory", "own pages"]
    assert process["other kernel memory"] == pytest.approx(10 * KIB, rel=0.5)
    assert list(bars["thread"]) == ["kernel", "own pages"]


def test_what_is_below_zero_is_no_bar_and_no_error(builder: Any) -> None:
    builder.cell("footprint.thread", footprint_sizes(25 * KIB, -5 * KIB), None)
    results = summarize(builder.run)
    assert list(results.series["footprints"][0].parts_bytes) == ["kernel"]
    assert _by_id(results)["footprint.thread"].numbers["user_each_bytes"] == pytest.approx(-5 * KIB, rel=0.1)


def test_sizes_take_no_part_in_findings_about_times(held: Results) -> None:
    assert not [name for name in _by_id(held) if name.startswith("scan.") and name.endswith("_bytes")]
    assert {scan.quantity for scan in held.scans} == {"create_each_ns", "reap_each_ns"}


def test_what_the_machine_does_besides_is_not_taken_for_a_task() -> None:
    findings = _by_id(summarize(footprints_below_noise()))
    process, thread = (findings[f"footprint.{kind}"] for kind in ("process", "thread"))
    assert process.numbers["whole_each_bytes"] < 0
    # Free memory that lost less than was made is not told as the whole.
    assert thread.numbers["whole_each_bytes"] < thread.numbers["kernel_each_bytes"]
    assert {process.headline, thread.headline} == {""}


@pytest.mark.parametrize(("whole_kib", "headline"), [(-88, False), (30, True), (900, False)])
def test_without_an_interval_too_no_task_takes_less_than_nothing_or_more_than_it_has(
    builder: Any, whole_kib: int, headline: bool
) -> None:
    """What a lesson of 5 s has: too few processes for an interval."""
    sizes = footprint_sizes(25 * KIB, 5 * KIB, whole_each_bytes=whole_kib * KIB, resident_each_bytes=8 * KIB)
    builder.cell("footprint.thread", sizes, None, processes=1, samples=2, tasks=100)
    finding = _by_id(summarize(builder.run))["footprint.thread"]
    assert finding.numbers["whole_each_bytes_interval"] == [None, None]
    assert bool(finding.headline) == headline


def test_the_machines_account_is_not_compared_where_a_groups_is_there(builder: Any) -> None:
    for accounting in ("machine", "cgroup"):
        builder.cell("footprint.process", footprint_sizes(70 * KIB, 20 * KIB), None, tasks=100, accounting=accounting)
        builder.cell("footprint.thread", footprint_sizes(25 * KIB, 5 * KIB), None, tasks=100, accounting=accounting)
    contests = [name for name in _by_id(summarize(builder.run)) if "process_thread" in name]
    assert contests == ["footprint.process_thread.cgroup"]
