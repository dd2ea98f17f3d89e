"""What findings and plots make of switches and messages whose costs are known."""

from __future__ import annotations

from typing import Any

import pytest
from tests.results.runs import (
    MESSAGE_SIZES,
    messages,
    switch_times,
    switches,
    switches_that_leave_caches_warm,
)
from tests.views.blocks import blocks_of

from clonometer.errors import InputError
from clonometer.results.summary import summarize
from clonometer.results.types import Finding
from clonometer.views.document import FigureBlock
from clonometer.views.documents.run import run_document
from clonometer.views.figures import figures
from clonometer.views.figures.scanned import drawn_kind
from clonometer.views.pictures import drawable_kinds, picture_spec

KIB = 1 << 10
#: Kinds of figures that draw a time against a number: a line belongs to one of them. Others may draw the same rows.
OF_NUMBERS = {"messages", *(figure.kind for figure in figures() if figure.scans)}


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


def drawn_figures(results: Any) -> dict[str, list[str]]:
    """The figures with a section of their own in the document of a run, each with the ids of its charts."""
    document = run_document(results)
    return {
        block.anchor: [panel.id for panel in block.panels]
        for block in blocks_of(document)
        if isinstance(block, FigureBlock)
    }


@pytest.fixture(scope="module")
def switched() -> Any:
    return switches()


def test_processes_are_held_against_threads_by_each_way(switched: Any) -> None:
    finding = _findings(switched)["switch.kinds"]
    ways = {way["workload"]: way for way in finding.numbers["ways"]}
    assert ways["switch.pipe"]["verdict"] == "more"
    assert ways["switch.pipe"]["ratio"] == pytest.approx(1.5, rel=0.05)
    assert ways["switch.pipe"]["process_switch_ns"] == pytest.approx(5000, rel=0.05)
    assert ways["switch.futex"]["verdict"] == "unknown"
    # Rings and work are conditions of their own.
    assert all("ring_tasks" not in cell and "working_set" not in cell for cell in finding.numbers["cells"])


def test_the_indirect_cost_is_what_work_adds_to_aswitch_times(switched: Any) -> None:
    finding = _findings(switched)["switch.indirect.pipe"]
    by_size = {size["bytes"]: size for size in finding.numbers["sizes"]}
    assert by_size[KIB]["verdict"] == "unknown"
    for size, truth in ((64 * KIB, 2000), (256 * KIB, 2500)):
        assert by_size[size]["verdict"] == "more"
        assert by_size[size]["indirect_ns"] == pytest.approx(truth, rel=0.1)
    assert by_size[KIB]["below_ns"] < 200


def test_work_that_changes_nothing_is_said_to_be_unseen() -> None:
    sizes = _findings(switches_that_leave_caches_warm())["switch.indirect.pipe"].numbers["sizes"]
    assert [(size["bytes"], size["verdict"]) for size in sizes] == [(4 * KIB, "unknown"), (64 * KIB, "unknown")]


def test_a_ring_has_its_slope_and_nothing_is_told_twice(switched: Any) -> None:
    findings = _findings(switched)
    low, high = findings["scan.ring_tasks.switch.pipe.handover_ns"].numbers["slope_ns_interval"]
    assert low <= 20 <= high
    assert not [name for name in findings if "working_set_bytes" in name or "alone_ns" in name]


def test_free_tasks_are_compared_where_both_ran_alike(builder: Any) -> None:
    for kind, factor in (("thread", 1.0), ("process", 1.3)):
        text = builder.cell("switch.futex", switch_times(2000 * factor), None, task_kind=kind, placement="free")
        columns = builder.run.data[text]
        columns["cpu_before"][:] = 0
        columns["cpu_child"][:] = columns["sample"] % 2
        columns["handover_ns"][columns["cpu_child"] == 1] *= 10
    findings = _findings(builder.run)
    for place in ("same_cpu", "other_cpu"):
        finding = findings[f"switch.kinds.free.{place}"]
        assert finding.numbers["ways"][0]["ratio"] == pytest.approx(1.3, rel=0.05)


@pytest.fixture(scope="module")
def exchanged() -> Any:
    return messages()


def test_messages_have_a_size_from_which_on_processes_take_longer(exchanged: Any) -> None:
    finding = _findings(exchanged)["messages.latency.other"]
    assert finding.numbers["crossovers"] == {"ipc.shared_memory": 1, "ipc.pipe": 64 * KIB}
    fastest = [entry["workload"] for entry in finding.numbers["fastest_between_processes"]]
    assert fastest == ["ipc.pipe", "ipc.pipe", "ipc.shared_memory", "ipc.shared_memory"]


def test_bandwidth_is_the_size_over_the_time_of_a_stream(exchanged: Any) -> None:
    results = summarize(exchanged)
    lines = results.series["messages"]
    series = {(line.workload, line.condition["task_kind"], line.quantity): line for line in lines}
    assert (len(series), results.scans) == (6, ())
    rates = series["ipc.shared_memory", "thread", "bandwidth"]
    assert tuple(rates.x) == MESSAGE_SIZES
    for size, rate, low, high in zip(MESSAGE_SIZES, rates.medians, rates.lows, rates.highs, strict=True):
        assert rate == pytest.approx(size / ((5000 + size / 4) / 2) * 1e9, rel=0.05)
        assert low <= rate <= high


@pytest.mark.parametrize(
    ("names", "axes"),
    [(["submit_ns"], ["task_kind"]), (["latency_ns", "stream_ns"], []), (["latency_ns"], ["task_kind"])],
)
def test_messages_that_are_no_exchange_are_drawn_as_any_scan(builder: Any, names: list[str], axes: list[str]) -> None:
    builder.invent("pool.submit", dict.fromkeys(names), "message_bytes", *axes)
    for size in MESSAGE_SIZES:
        builder.cell("pool.submit", dict.fromkeys(names, 1000 + size), None, message_bytes=size)
    results = summarize(builder.run)
    assert [(line.quantity, drawn_kind(line)) for line in results.scans] == [(name, "scan") for name in names]
    assert set(drawn_figures(results)) & OF_NUMBERS == set(drawable_kinds(results)) & OF_NUMBERS == {"scan"}
    with pytest.raises(InputError, match="message_bytes and have latency_ns, stream_ns and task_kind"):
        picture_spec(results, "messages")


def test_switches_of_no_kind_of_task_are_scans(builder: Any) -> None:
    """The working set of those that switch is told with its kind: what has none is told as any other number."""
    builder.invent("coroutine.resume", {"switch_ns": None}, "working_set_bytes")
    for size in (0, 1 << 20, 4 << 20):
        builder.cell("coroutine.resume", {"switch_ns": 2_000 + size / 1_000}, None, working_set_bytes=size)
    [finding] = summarize(builder.run).findings
    assert finding.id == "scan.working_set_bytes.coroutine.resume.switch_ns"
    assert finding.numbers["verdict"] == "more"


def test_each_axis_has_its_picture_and_the_report_has_them_all(switched: Any, exchanged: Any) -> None:
    switches, messages = summarize(switched), summarize(exchanged)
    assert set(drawable_kinds(switches)) & OF_NUMBERS == {"ring", "working_set"}
    assert set(drawable_kinds(messages)) & OF_NUMBERS == {"messages"}
    ring = picture_spec(switches, "ring")
    (group,) = ring["vconcat"]
    assert group["title"]["text"] == "Switching between tasks: tasks in the ring"
    assert [panel["title"] for panel in group["concat"]] == ["handover", "switch"]
    (group,) = picture_spec(messages, "messages")["vconcat"]
    assert group["title"]["text"] == "two CPUs"
    assert [panel["title"] for panel in group["concat"]] == ["latency", "bandwidth"]
    points = group["concat"][1]["data"]["values"]
    assert len(points) == 3 * len(MESSAGE_SIZES)
    assert {point["label"] for point in points} == {
        "shared memory, threads",
        "shared memory, processes",
        "pipe, processes",
    }
    drawn = drawn_figures(messages)
    assert {kind: drawn[kind] for kind in drawn.keys() & OF_NUMBERS} == {"messages": ["messages-0-0", "messages-0-1"]}
    drawn = drawn_figures(switches)
    assert {kind: len(drawn[kind]) for kind in drawn.keys() & OF_NUMBERS} == {"ring": 2, "working_set": 2}
    with pytest.raises(InputError, match="no cells that differ in message_bytes and have latency_ns"):
        picture_spec(switches, "messages")


def test_switches_by_design_are_no_neighbours(builder: Any) -> None:
    builder.cell(
        "switch.pipe", switch_times(4000), None, facts={"involuntary_switches": 5000, "cpu_ns": 10, "wall_ns": 1000}
    )
    warned = {warning.id for warning in summarize(builder.run).warnings}
    assert not warned & {"switches.involuntary", "wall.far_above_cpu"}
