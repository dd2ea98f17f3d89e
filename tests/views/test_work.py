"""Why threads and processes at work differ, on the terminal, as a page, a picture, and trace events."""

from __future__ import annotations

import json
from functools import partial

import pytest
from tests.fakes.fake_work import FakeWorkTracer, explained
from tests.tracing.test_work import with_ablation

from clonometer.errors import UsageError
from clonometer.tracing.parts import CPUS, LIFE, UNEXPLAINED, WORK_KINDS
from clonometer.tracing.work.types import WorkExplanation
from clonometer.views.documents.work import work_document
from clonometer.views.explain_panels import KIND_COLOURS
from clonometer.views.explain_picture import explain_picture
from clonometer.views.html.document import render_document_page
from clonometer.views.terminal.document import render_document
from clonometer.views.trace_events import trace_events
from clonometer.views.work_picture import work_panels

render_work = partial(render_document, work_document)


def text(explanation: WorkExplanation, width: int = 80) -> str:
    return render_work(explanation, width=width, colour=False, ascii_only=False)


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_the_gap_fits_and_has_every_part_and_its_sums(width: int) -> None:
    for explanation in (explained(), explained(tier="proc"), explained(FakeWorkTracer(blocked=0)), with_ablation()):
        rendered = text(explanation, width)
        assert all(len(line) <= width for line in rendered.splitlines())
        assert "unexplained" in rendered
        assert "overhead" in rendered
        # In a narrow column a label is wrapped.
        assert "the whole program" in rendered if width > 40 else {"whole", "program"} <= set(rendered.split())
        assert "nan" not in rendered.lower()


def test_the_table_shows_threads_processes_and_what_each_part_adds() -> None:
    rendered = text(explained())
    [row] = [line.split() for line in rendered.splitlines() if line.startswith("blocked in futex")]
    assert row[3:5] == ["0.100", "-"]
    assert 45 <= int(row[-1].removesuffix("%")) <= 55
    # Each worker's launch waits for the one before: the other half.
    [row] = [line.split() for line in rendered.splitlines() if line.startswith("not launched")]
    assert 20 <= int(row[-1].removesuffix("%")) <= 30
    assert "Threads need" in rendered
    assert "other programs" not in rendered


def test_what_is_measured_beside_it_stands_beside_it() -> None:
    assert "what is removed" in text(with_ablation())
    assert "what is removed" not in text(explained())


def test_where_tracing_is_refused_it_is_said_what_cannot_be_seen() -> None:
    rendered = " ".join(text(explained(FakeWorkTracer(refuse=("fast", "tracepoints")))).split())
    assert rendered.index("Kernel tracepoints cannot be used: fast is not permitted.") < rendered.index(
        "processes of each kind"
    )
    assert "cannot see what a blocked worker waits for" in rendered
    assert "overhead none" in rendered


def test_ascii_where_nothing_else_can_be_written() -> None:
    assert render_work(with_ablation(), width=80, colour=False, ascii_only=True).isascii()


def test_every_part_has_a_colour() -> None:
    kinds = {*WORK_KINDS, UNEXPLAINED}
    assert {part.kind for part in (*LIFE.values(), *CPUS.values())} | {UNEXPLAINED} == kinds <= set(KIND_COLOURS)


def test_the_page_is_whole_and_fetches_nothing() -> None:
    page = render_document_page(work_document(with_ablation()))
    assert page.rstrip().endswith("</html>")
    assert "http://" not in page.partition("<script")[0]
    for name in ("lives", "cpus", "timeline-threads", "timeline-processes", "ablation"):
        assert f'id="{name}"' in page
    assert "blocked in futex" in page
    bare = render_document_page(work_document(explained(tier="proc")))
    assert 'id="cpus"' not in bare
    assert 'id="timeline-threads"' not in bare


def test_all_charts_have_one_time_axis_on_which_every_bar_has_room() -> None:
    panels = [panel.draw() for panel in work_panels(with_ablation())]
    assert len(panels) == 4
    [(low, high)] = {tuple(panel["encoding"]["x"]["scale"]["domain"]) for panel in panels}
    for panel in panels[:2]:
        for bar in ("threads", "processes", "difference"):
            lasts_ns = [row["lasts_ns"] for row in panel["data"]["values"] if row["bar"] == bar]
            assert low <= sum(each for each in lasts_ns if each < 0)
            assert sum(each for each in lasts_ns if each > 0) <= high
    assert all(row["end_ns"] <= high for panel in panels[2:] for row in panel["data"]["values"])


def test_pictures() -> None:
    svg = explain_picture(explained(), "svg")
    assert isinstance(svg, str)
    assert "difference" in svg
    assert explain_picture(explained(tier="proc"), "png")[:4] == b"\x89PNG"
    with pytest.raises(UsageError, match="gif"):
        explain_picture(explained(), "gif")


def test_a_process_a_side_and_a_thread_a_worker_for_perfetto() -> None:
    document = json.loads(json.dumps(trace_events(explained()), allow_nan=False))
    names = [event["args"]["name"] for event in document["traceEvents"] if event["name"] == "thread_name"]
    assert names == ["program", "worker 0", "worker 1"] * 2
    whole = {}
    for event in document["traceEvents"]:
        assert event["ph"] in ("M", "X")
        if event["ph"] == "X":
            key = (event["pid"], event["tid"])
            assert event["ts"] == pytest.approx(whole.get(key, 0.0))
            whole[key] = event["ts"] + event["dur"]
    # Every lane ends with the program.
    assert len({(key[0], round(end, 6)) for key, end in whole.items()}) == 2
