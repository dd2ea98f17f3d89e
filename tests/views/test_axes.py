"""Axes of numbers: all has room on them, zero too, and ticks are round."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.tracing.test_anatomy import explained

from clonometer.tracing.types import CallText, Explanation, Moment, Segment, Timeline
from clonometer.views.axes import BYTES_LABEL, NEVER, linear_ticks, log_ticks, number_axis
from clonometer.views.documents.explain import explain_document
from clonometer.views.explain_picture import launch_panels
from clonometer.views.html.document import render_document_page
from clonometer.views.multiples import MOST_LINES, joined, multiples
from clonometer.views.specs import frame, theme
from clonometer.views.terminal.document import render_document
from clonometer.views.thinning import MOST_DRAWN, ends, marked, thinned

numbers = st.just(0.0) | st.floats(1e-12, 1e18)


@given(st.lists(numbers, min_size=1), st.sampled_from([0.0, 5.0, 30.0, NEVER]), st.booleans())
@example([0.0], 0.0, True)
@example([-5.0, 3.0, 40.0], 0.0, True)
def test_every_number_stands_on_the_axis_off_its_ends_in_order(values, log_from, from_zero):
    axis = number_axis(values, "time", log_from=log_from, from_zero=from_zero)
    places = [axis.position(value) for value in sorted(values)]
    assert places == sorted(places)
    assert axis.low < axis.high
    assert all(axis.low <= place <= axis.high for place in places)
    assert axis.high > places[-1]
    assert axis.low < places[0] or axis.low == 0
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)


def test_an_axis_from_next_to_nothing_to_next_to_everything_has_few_ticks():
    assert 2 <= len(number_axis([1e-299, 1e299], "time").ticks) <= 13


def test_zero_has_a_place_and_a_label_of_its_own_on_a_log_axis_behind_a_break():
    axis = number_axis([0, 1024, 1 << 30], "memory", ticks=[0, 1024, 1 << 30])
    assert axis.low < axis.zero < axis.cut < 1024
    assert axis.ticks == (axis.zero, 1024, 1 << 30)
    assert f"datum.value <= {axis.zero} ? '0' :" in axis.encode("x")["axis"]["labelExpr"]
    [mark] = axis.break_marks(260)
    assert mark["mark"]["text"] == "//"
    assert number_axis([1024, 1 << 30], "memory").break_marks(260) == []
    assert "'≤ 0'" in number_axis([-4, 10, 1000], "time").encode("y")["axis"]["labelExpr"]


def test_labels_of_given_ticks_do_not_touch_and_the_ends_stay():
    ticks = number_axis(range(1, 34), "workers", log_from=NEVER, from_zero=False, ticks=list(range(1, 34))).ticks
    assert (ticks[0], ticks[-1]) == (1, 33)
    assert all(after - before >= 5 for before, after in pairwise(ticks))


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (5e3, 5e7, [1e4, 1e5, 1e6, 1e7]),
        (8e3, 4e5, [1e4, 3e4, 1e5, 3e5]),
        (3.1e3, 2.2e4, [5e3, 1e4, 2e4]),
        (2.3e5, 4.8e5, [2.5e5, 3e5, 3.5e5, 4e5, 4.5e5]),
        (0, 10, []),
    ],
)
def test_ticks_are_round_and_as_few_as_will_do(low, high, ticks):
    assert log_ticks(low, high) == ticks


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12))
def test_ticks_of_a_linear_axis_are_two_to_six_and_inside(low, length):
    ticks = linear_ticks(low, low + length)
    if low + length > low and length > 1e-9 * abs(low):
        assert 1 <= len(ticks) <= 6
        slack = 1e-9 * max(abs(low), length)
        assert all(low - slack <= tick <= low + length + slack for tick in ticks)
    assert all(math.isfinite(tick) for tick in ticks)


def test_the_labels_of_both_ends_are_drawn_at_their_ticks():
    """Vega hides the last label of a narrow panel unless it is told that none touch."""
    drawing = pytest.importorskip("vl_convert")
    sizes = [1 << 20, 4 << 20, 16 << 20, 64 << 20, 256 << 20, 1 << 30]
    axis = number_axis(sizes, "memory", BYTES_LABEL, ticks=sizes)
    spec = {
        **frame([{"size": size} for size in sizes], 289, 100, "sizes"),
        "mark": "point",
        "encoding": {"x": axis.encode("size")},
        "config": theme("black", "white"),
    }
    svg = drawing.vegalite_to_svg(spec)
    shown = re.findall(r'<text text-anchor="(\w+)"[^>]*opacity="1"[^>]*>(\d+ [MG]iB)', svg)
    assert shown == [("middle", label) for label in ("1 MiB", "4 MiB", "16 MiB", "64 MiB", "256 MiB", "1 GiB")]


words = st.tuples(st.sampled_from("abcdefghijklm"), st.sampled_from(["", "x", "y"]), st.sampled_from(["warm", "cold"]))


@given(st.lists(words, max_size=40))
def test_no_panel_has_more_than_five_lines_and_none_is_lost(names):
    panels = multiples(list(enumerate(names)))
    assert sorted(line for _, members in panels for line, _ in members) == list(range(len(names)))
    titles = [title for title, _ in panels]
    assert len(set(titles)) == len(titles)
    for _, members in panels:
        by_label = {label: names[line] for line, label in members}
        assert len(by_label) <= MOST_LINES
        assert all(by_label[label] == names[line] for line, label in members), "two lines of one name in a panel"


def test_few_lines_share_a_panel_under_their_whole_names():
    [(title, members)] = multiples([(0, ("fork", "", "warm")), (1, ("fork", "THP", "warm"))])
    assert (title, members) == ("", [(0, "fork, warm"), (1, "fork, THP, warm")])


def test_a_kind_of_word_parts_them_rather_than_a_number():
    sides = [(None, (name, after)) for after in ("", "after pthread") for name in ("fork", "vfork", "clone", "pthread")]
    assert [title for title, _ in multiples(sides)] == ["", "after pthread"]
    alone = [(None, (f"flags.{number}",)) for number in range(11)]
    sizes = {title: len(members) for title, members in multiples(alone)}
    assert sizes == {"1 of 3": 4, "2 of 3": 4, "3 of 3": 3}
    assert joined(("", "a", "")) == "a"


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
