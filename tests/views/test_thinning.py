"""Long timelines are drawn with a bounded number of marks, and nothing of their time goes missing."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.tracing.test_anatomy import explained

from clonometer.tracing.types import CallText, Explanation, Moment, Segment, Timeline
from clonometer.views.documents.explain import explain_document
from clonometer.views.explain_picture import launch_panels
from clonometer.views.html.document import render_document_page
from clonometer.views.terminal.document import render_document
from clonometer.views.thinning import MOST_DRAWN, ends, marked, thinned

LENGTHS = st.lists(st.tuples(st.integers(1, 1000), st.sampled_from(["child_user", "child_file"])), max_size=200)


@given(LENGTHS, st.integers(1, 30))
def test_what_is_drawn_is_bounded_and_lasts_as_long(lengths: list[tuple[int, str]], most: int) -> None:
    pieces, at = [], 0
    for length, part in lengths:
        pieces.append((at, at + length, part))
        at += length
    drawn = thinned(pieces, at, most)
    assert len(drawn) <= max(most, 2 * most + 1)
    assert sum(bar.end_ns - bar.start_ns for bar in drawn) == at
    assert sum(bar.pieces for bar in drawn) == len(pieces)
    assert [bar.start_ns for bar in drawn] == sorted(bar.start_ns for bar in drawn)


def test_pieces_that_do_not_touch_are_not_joined() -> None:
    drawn = thinned([(0, 1, "a"), (50, 51, "a"), (51, 52, "b"), (90, 91, "b")], 100, 3)
    assert [(bar.start_ns, bar.end_ns, bar.pieces) for bar in drawn] == [(0, 1, 1), (50, 52, 2), (90, 91, 1)]


def test_stamps_stay_and_of_marks_on_each_other_one() -> None:
    moments = [Moment(at, "child", 1, f"fault {at}", "") for at in range(100)] + [Moment(99, "child", -1, "stamp", "")]
    shown = marked(moments, 100, 10)
    assert len(shown) == 11
    assert shown[-1].words == "stamp"
    assert len(marked(moments, 100, 200)) == 101


def test_ends_of_a_table() -> None:
    assert ends(1000) == (1000, 0)
    assert ends(1001) == (500, 1)


def long_one(count: int) -> Explanation:
    """A launch with so many faults."""
    explanation = explained()
    segments = [Segment(10 * n, 10 * n + 10, ("child_user", "child_file")[n % 2]) for n in range(count)]
    moments = [Moment(10 * n, "child", 1, f"page fault number {n}", "touched") for n in range(count)]
    timeline = Timeline("median", 10 * count, {}, tuple(moments), tuple(segments))
    calls = tuple(CallText("child", f"brk({n})", "0") for n in range(count))
    return replace(explanation, timelines=(timeline, replace(timeline, which="p99")), listing=calls)


def test_a_page_about_a_hundred_thousand_faults_stays_a_page_and_says_what_it_leaves_out() -> None:
    short, long = (render_document_page(explain_document(long_one(count))) for count in (MOST_DRAWN, 100_000))
    assert len(long) < 2 * len(short)
    assert "99,000 rows in the middle are left out" in long
    assert "page fault number 99999" in long
    assert "Neighbours too short to draw are joined" in long
    assert "500 rows in the middle are left out" in short
    assert "Neighbours too short" not in short


def test_a_terminal_has_fewer_events_and_says_so() -> None:
    text = render_document(explain_document, replace(long_one(1000), listing=()), width=80, timeline=True)
    assert len(text.splitlines()) < 300
    assert "940 rows in the middle are left out" in text
    assert "page fault number 999" in text
    assert "page fault number 500" not in text
    # Whoever asks for the calls with their arguments gets them all.
    assert "brk(500) = 0" in render_document(explain_document, long_one(1000), width=80)


def test_a_bar_that_stands_for_many_says_so() -> None:
    layers = launch_panels(long_one(100_000))[1].draw()["layer"]
    bars, ticks = (layer["data"]["values"] for layer in layers)
    assert len(bars) <= 2 * MOST_DRAWN + 1
    assert len(ticks) <= 2 * MOST_DRAWN
    assert bars[0]["part"].startswith("mostly child: ")
    assert "pieces too short to draw" in bars[0]["meaning"]
    assert bars[0]["share"]
    assert "stroke" not in layers[0]["mark"]
    assert launch_panels(explained())[1].draw()["layer"][0]["mark"]["stroke"] == "white"
