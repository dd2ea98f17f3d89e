"""Axes of numbers: all has room on them, zero too, and ticks are round."""

from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clonometer.views.axes import BYTES_LABEL, NEVER, linear_ticks, log_ticks, number_axis
from clonometer.views.specs import frame, theme

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
