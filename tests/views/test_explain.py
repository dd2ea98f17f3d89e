"""Explanations in the report of a run: a section each, with ids of its own, and what the run says of the same cell."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from functools import partial
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest
from tests.fakes.fake_trace import FORK, FakeTracer, events_array, fork_trace, launches_block
from tests.schemas import check
from tests.tracing.test_anatomy import explained, target
from tests.tracing.test_work import with_ablation
from tests.views.blocks import drawn_panels

from clonometer.errors import UsageError
from clonometer.records import to_json
from clonometer.tracing.anatomy import TraceOptions, explain
from clonometer.tracing.budget import set_beside
from clonometer.tracing.counters import counters_of
from clonometer.tracing.types import CallText, Counters, Explanation, Versus
from clonometer.views.document import Document, Heading, Paragraph
from clonometer.views.documents.explain import explain_document, explanation_document
from clonometer.views.documents.run import run_document
from clonometer.views.documents.run_explained import explained_groups
from clonometer.views.explain_panels import KIND_COLOURS
from clonometer.views.explain_picture import explain_picture, kinds_of_time, launch_panels, slow_panels
from clonometer.views.explain_texts import difference_sentence, side_names
from clonometer.views.figures.types import Panel
from clonometer.views.html.document import render_document_page
from clonometer.views.terminal.document import render_document
from clonometer.views.trace_events import trace_events

render_explanation = partial(render_document, explain_document)


def page_of(explanation: Explanation | Versus) -> str:
    return render_document_page(explain_document(explanation))


def versus() -> Versus:
    begin = [(1000 + at, task, kind, values) for at, task, kind, values in FORK if at < 25]
    short = fork_trace("fast", events=events_array(begin), blocks=(launches_block([0], [25]),))
    return set_beside(explained(), explained(fast=short))


def text(width: int = 80, **wishes: bool) -> str:
    return render_explanation(explained(), width=width, colour=False, ascii_only=False, **wishes)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_budget_fits_and_has_every_part_and_both_checks(width: int) -> None:
    rendered = text(width, timeline=True, calls=True)
    assert all(len(line) <= width for line in rendered.splitlines())
    assert "…" not in rendered, "labels and events are wrapped, not cut"
    for words in (
        "parent: the launching call",
        "child: exit",
        "unexplained",
        "overhead of tracing",
        "whole launch, until reaped",
        "100%",
    ):
        # In a narrow column a label is wrapped.
        assert words in rendered if width > 40 else set(words.split()) <= set(rendered.split())
    assert "exit_group" in rendered
    assert "Each event of the launch nearest the median, 100 ns:" in " ".join(rendered.split())
    assert "nan" not in rendered.lower()


def test_ascii_where_nothing_else_can_be_written() -> None:
    rendered = render_explanation(explained(), width=80, colour=False, ascii_only=True, timeline=True)
    assert rendered.isascii()


def test_a_label_for_which_there_is_no_room_is_wrapped_between_words() -> None:
    lines = render_explanation(versus(), width=60, colour=False, ascii_only=False).splitlines()
    assert all(len(line) <= 60 for line in lines)
    [place] = [place for place, line in enumerate(lines) if line.startswith("child: first steps")]
    label, _, figures = lines[place].partition("  ")
    assert figures.endswith("%"), "figures stand on the first line"
    assert f"{label} {lines[place + 1].strip()}" == "child: first steps in the kernel"


def test_no_time_is_said_to_be_in_what_somebody_does() -> None:
    reasons = [SimpleNamespace(part="until_returned", share=0.5), SimpleNamespace(part="parent_faults", share=0.2)]
    versus: Any = SimpleNamespace(against=SimpleNamespace(difference_ns=69_100, reasons=reasons))
    sentence = difference_sentence(versus)
    assert sentence.endswith('50% in "until the call returned" (parent), 20% in page faults (parent).')


def test_the_ratio_says_what_makes_it() -> None:
    rendered = render_explanation(versus(), width=80, colour=False, ascii_only=False)
    assert "4.00 times as long. The difference is 75.0 ns" in rendered.replace("\n", " ")
    assert rendered.index("child: exit") < rendered.index("child: first steps")
    assert all(len(line) <= 80 for line in rendered.splitlines())


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (("launch.fork[temperature=warm]", "launch.pthread[temperature=warm]"), ("fork", "pthread")),
        (
            ("launch.fork[parent_bytes=1GiB,temperature=warm]", "launch.fork[temperature=warm]"),
            ("parent_bytes=1GiB", "default"),
        ),
        (
            ("launch.fork[linkage=dynamic_now,vmas=9]", "launch.fork[linkage=dynamic_lazy,vmas=9]"),
            ("linkage=dynamic_now", "linkage=dynamic_lazy"),
        ),
        (("launch.fork", "launch.fork"), ("first", "second")),
    ],
)
def test_columns_are_named_by_what_differs(cells: tuple[str, str], names: tuple[str, str]) -> None:
    pair = versus()
    first, second = (replace(side, cell=cell) for side, cell in zip(pair.mechanisms, cells, strict=True))
    pair = replace(pair, first=first, against=replace(pair.against, other=second))
    assert side_names(pair) == names
    [heading] = [line for line in rendered_versus(pair).splitlines() if line.startswith("part ")]
    assert heading.split() == ["part", *names, "difference", "share"]


def rendered_versus(pair: Versus) -> str:
    return render_explanation(pair, width=100, colour=False, ascii_only=False)


def test_what_a_tier_cannot_see_and_why_no_better_is_used_is_said() -> None:
    rendered = render_explanation(
        explained("stamps", ptrace=None), width=80, colour=False, ascii_only=False, calls=True
    ).replace("\n", " ")
    assert "cannot see everything inside the kernel" in rendered
    assert "None of its system calls could be traced" in rendered
    assert "cannot be used" not in rendered, "it was asked for by name"
    tracer = FakeTracer({"none": fork_trace("none")})
    lesser = explain(tracer, target("launch.fork", "temperature=warm"), TraceOptions(processes=1))
    rendered = " ".join(render_explanation(lesser, width=80, colour=False, ascii_only=False).split())
    first = "Kernel tracepoints cannot be used: no fast here."
    assert rendered.index(first) < rendered.index("part time share")
    assert rendered.count("no fast here") == 1


# The trace event format: what each phase must have (its public description, section "Event Descriptions").
_NEEDS = {"M": {"name", "args"}, "X": {"ts", "dur", "cat"}, "i": {"ts", "s", "cat"}}


def check_trace_events(document: dict[str, Any]) -> None:
    """Every rule of the format that concerns what we write."""
    assert isinstance(document["traceEvents"], list)
    assert document["displayTimeUnit"] in ("ms", "ns")
    open_until: dict[tuple[int, int], float] = {}
    for event in document["traceEvents"]:
        assert event["ph"] in _NEEDS
        assert _NEEDS[event["ph"]] <= set(event)
        assert isinstance(event["name"], str)
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["ph"] == "X":
            assert event["dur"] >= 0
            lane = event["pid"], event["tid"]
            assert event["ts"] >= open_until.get(lane, 0) - 1e-9
            open_until[lane] = event["ts"] + event["dur"]
        if event["ph"] == "i":
            assert event["s"] in ("g", "p", "t")
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name")
            assert isinstance(event["args"]["name"], str)


def test_trace_events_keep_to_the_format_and_sum_to_the_launch() -> None:
    explanation = explained()
    document = json.loads(json.dumps(trace_events(explanation), allow_nan=False))
    check_trace_events(document)
    lasting = sum(event["dur"] for event in document["traceEvents"] if event["ph"] == "X" and event["pid"] == 1)
    assert lasting * 1000 == pytest.approx(explanation.timelines[0].reaped_ns)
    lanes = {event["args"]["name"] for event in document["traceEvents"] if event["name"] == "thread_name"}
    assert {"parent", "child"} <= lanes


def test_the_picture_has_both_panels() -> None:
    drawn = explain_picture(explained(), "svg")
    assert isinstance(drawn, str)
    assert "the launch nearest the median" in drawn
    assert "parent: the launching call" in drawn
    png = explain_picture(explained(), "png")
    assert isinstance(png, bytes)
    assert png.startswith(b"\x89PNG")
    with pytest.raises(UsageError, match="picture format"):
        explain_picture(explained(), "gif")


def test_every_part_has_a_colour() -> None:
    from clonometer.tracing.parts import ORDER, UNEXPLAINED, part_of

    assert {part_of(part).kind for part in (*ORDER, UNEXPLAINED)} <= set(KIND_COLOURS)


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(
            name in ("src", "href") and value and ":" in value and value != "data:," for name, value in attrs
        )


def test_the_page_is_complete_and_fetches_nothing() -> None:
    both = versus()
    page = page_of(both)
    reader = _Text()
    reader.feed(page.split('<script type="application/json"')[0])
    assert "Each event of the launch nearest the median, 100 ns" in page
    assert "copy on write, stack" in page
    assert "4.00 times as long" in page
    assert page.index("4.00 times as long") < page.index("What differs</h2>") < page.index("How it was measured</h2>")
    assert reader.tags.count("details") == 10
    assert len(page) < 2_000_000


def counted() -> Explanation:
    from tests.tracing.test_counters import counted_trace

    explanation = explained()
    return replace(
        explanation,
        counters=replace(counters_of("hardware", [counted_trace()]), missing={"tlb_misses": "too few counters"}),
        listing=(CallText("child", 'execve("/bin/<b>", ["b"], NULL)', "0"),),
    )


def test_counters_for_which_there_is_no_room_are_named() -> None:
    rendered = render_explanation(counted(), width=60, colour=False, ascii_only=False)
    assert all(len(line) <= 60 for line in rendered.splitlines())
    [left_out] = [line for line in rendered.splitlines() if line.startswith("(left out at 60 columns")]
    [head] = [line for line in rendered.splitlines() if "IPC" in line]
    assert "TLB miss" in left_out
    assert "TLB miss" not in head
    assert "cycles" in head


@pytest.mark.parametrize("width", [80, 120])
def test_counters_are_a_table_with_instructions_a_cycle(width: int) -> None:
    rendered = render_explanation(counted(), width=width, colour=False, ascii_only=False)
    assert all(len(line) <= width for line in rendered.splitlines())
    [row] = [line for line in rendered.splitlines() if line.startswith("parent: the") and "120" in line]
    assert row.split()[-6:] == ["2.00", "60.0", "120", "0", "0", "0"]
    [head] = [line for line in rendered.splitlines() if "IPC" in line]
    assert head.split()[:3] == ["IPC", "cycles", "instr."]
    assert "Not counted: tlb_misses: too few counters." in rendered
    assert "until task runs" in rendered
    assert 'execve("/bin/<b>", ["b"], NULL) = 0' in rendered


def test_the_calls_with_their_arguments_go_on_below_themselves() -> None:
    explanation = replace(
        explained(), listing=(CallText("child", "execve(1, 2)", "0"), CallText("parent", "a " * 40, "7"))
    )
    lines = render_explanation(explanation, width=60, colour=False, ascii_only=False).splitlines()
    start = lines.index("child   execve(1, 2) = 0")
    assert lines[start + 1].startswith("parent  a a ")
    assert lines[start + 2].startswith("        a a ")
    assert lines[start + 2].endswith("a = 7")


def test_counters_that_are_not_there_are_one_sentence() -> None:
    explanation = replace(explained(), counters=Counters("hardware", reason="this machine is virtual"))
    rendered = render_explanation(explanation, width=120, colour=False, ascii_only=False)
    assert "No hardware counters here: this machine is virtual." in rendered
    assert "IPC" not in rendered
    page = page_of(explanation)
    assert "No hardware counters here: this machine is virtual." in page


def test_the_page_has_counters_and_arguments() -> None:
    page = page_of(counted())
    assert '<th scope="col" class="number">IPC</th>' in page
    assert "execve(&#34;/bin/&lt;b&gt;&#34;" in page


def test_the_object_keeps_to_its_schema_with_counters_and_arguments() -> None:
    document = json.loads(json.dumps(to_json(counted()), allow_nan=False))
    check(document, "explain")
    [whole] = [row for row in document["counters"]["counts"] if row["kind"] == "all"]
    assert whole["cycles"] == pytest.approx(300)
    assert whole["instructions_per_cycle"] == pytest.approx(2)


def axes_and_colours(panel: Panel) -> tuple[set[tuple[float, ...]], set[tuple[str, ...]]]:
    encodings = [layer["encoding"] for layer in panel.draw()["layer"]]
    axes = {tuple(encoding["x"]["scale"]["domain"]) for encoding in encodings}
    return axes, {tuple(encoding["color"]["scale"]["domain"]) for encoding in encodings if "color" in encoding}


def test_all_charts_have_one_time_axis_and_the_colours_of_what_occurs() -> None:
    pair = versus()
    panels = launch_panels(pair)
    assert len(panels) == 3
    [[axis]] = {tuple(axes_and_colours(panel)[0]) for panel in panels}
    assert axis == (0, max(side.timelines[0].reaped_ns for side in pair.mechanisms))
    [[kinds]] = {tuple(axes_and_colours(panel)[1]) for panel in panels}
    drawn = {bar["kind"] for panel in panels[1:] for bar in panel.draw()["layer"][0]["data"]["values"]}
    assert drawn <= set(kinds) < set(KIND_COLOURS)
    assert list(kinds) == kinds_of_time(pair.mechanisms)
    slow = [timeline.reaped_ns for side in pair.mechanisms for timeline in side.timelines if timeline.which == "p99"]
    assert {end for panel in slow_panels(pair) for _, end in axes_and_colours(panel)[0]} == {max(slow)}


@pytest.mark.parametrize("explanation", [explained(), versus()])
def test_each_bar_begins_where_the_one_before_it_ends_and_they_reach_the_whole(
    explanation: Explanation | Versus,
) -> None:
    steps = launch_panels(explanation)[0].draw()["data"]["values"]
    wholes = [step["to_ns"] for step in steps if step.get("whole")]
    parts = [step for step in steps if not step.get("whole")]
    first = wholes[0] if isinstance(explanation, Versus) else 0
    assert [step["from_ns"] for step in parts] == [first, *(step["to_ns"] for step in parts[:-1])]
    assert parts[-1]["to_ns"] == pytest.approx(wholes[-1])
    assert wholes == ([25, 100] if isinstance(explanation, Versus) else [100])
    assert all(step["low_ns"] <= step["to_ns"] <= step["high_ns"] for step in parts if "low_ns" in step)


def ids(page: str) -> Counter[str]:
    return Counter(re.findall(r' id="([^"]+)"', page.partition('<script type="application/json"')[0]))


def test_each_explanation_is_a_section_and_no_id_is_there_twice(results) -> None:
    page = render_document_page(
        run_document(results, [counted(), versus(), with_ablation(), with_ablation(), counted()])
    )
    finding_ids = ids(page)
    assert max(finding_ids.values()) == 1, finding_ids.most_common(3)
    assert {"why", *(f"explained-{number}" for number in range(5))} <= set(finding_ids)
    assert {"parts-explained-1", "timeline-median-1-explained-1", "lives-explained-2"} <= set(finding_ids)
    assert '<a href="#why">Why</a>' in page
    assert "in separate, traced launches, not in those of this run" in page


def texts_of(explanations, cells) -> list[str]:
    blocks = [block for group in explained_groups(explanations, cells) for block in group]
    return [block.text for block in blocks if isinstance(block, (Heading, Paragraph))]


def test_every_chart_has_its_element_and_the_pages_of_their_own_keep_theirs() -> None:
    explanations = [counted(), versus(), with_ablation()]
    groups = explained_groups(explanations, [])
    assert [block.text for group in groups for block in group if isinstance(block, Heading)] == [
        "Why", "Where the time goes: fork, warm", "Fork vs fork, warm", "Threads against processes at work"
    ]  # fmt: skip
    drawn = drawn_panels(Document("", "", "", groups))
    assert max(Counter(panel.id for panel in drawn).values()) == 1
    assert len(drawn) == sum(len(drawn_panels(explanation_document(each))) for each in explanations)
    page = render_document_page(explanation_document(counted()))
    assert {"parts", "timeline-median-0", "section-1"} <= set(ids(page))
    assert {"lives", "cpus", "ablation"} <= set(ids(render_document_page(explanation_document(with_ablation()))))


def test_the_sentence_names_the_greatest_parts_and_what_is_unexplained() -> None:
    lead = texts_of([counted()], [])[3]
    assert lead.startswith("A launch takes 100 ns: ")
    assert re.search(r"\d+% [a-z :]+ \((parent|child)\)", lead)
    assert lead.endswith("; fully accounted for.")


def test_what_the_run_has_measured_stands_beside_it(results) -> None:
    row = next(cell for cell in results.cells if cell.stage == "reaped" and cell.median_ns is not None)
    in_run = texts_of([replace(counted(), cell=row.cell)], results.cells)[4]
    assert in_run.startswith(f"In the run, the median of {row.cell} is ")
    assert in_run in render_document_page(run_document(results, [replace(counted(), cell=row.cell)]))
    absent = texts_of([replace(counted(), cell="launch.fork[parent_bytes=3GiB]")], results.cells)
    assert absent[4] == "The run has no cell launch.fork[parent_bytes=3GiB]."


def test_a_report_without_explanations_has_no_such_section(results) -> None:
    page = render_document_page(run_document(results))
    assert 'id="why"' not in page
    assert "#why" not in page
