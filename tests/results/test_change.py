"""The record of every comparison: how it turns round, what it says, and what of it stands in JSON."""

from __future__ import annotations

import pytest

from clonometer.results.change import Change, ChangeScale
from clonometer.verdicts import Direction

SLOWER = Change(base="thread", other="fork", value=4.0, low=2.0, high=5.0, direction=Direction.MORE, n=12)
LONGER = Change(
    base="a", other="b", scale=ChangeScale.DIFFERENCE, unit="ns", value=-300.0, low=-400.0, high=-100.0, n=12
)
ALONE = Change(base="a", other="b", value=2.0, n=1, caveat=", from only 1 process")


def test_a_change_is_the_same_from_either_side() -> None:
    faster = Change(base="fork", other="thread", value=0.25, low=0.2, high=0.5, direction=Direction.LESS, n=12)
    assert faster.upward == SLOWER
    assert SLOWER.upward is SLOWER
    assert (faster.size, SLOWER.size, faster.rises, SLOWER.rises) == (4, 4, False, True)
    assert (LONGER.upward.value, LONGER.upward.interval, LONGER.upward.sides) == (300, (100, 400), ("a", "b"))
    assert LONGER.upward.direction == Direction.UNKNOWN
    assert (SLOWER.reversed, LONGER.reversed.reversed) == (faster, LONGER)


def test_what_has_no_value_has_no_words_and_no_direction() -> None:
    nothing = Change(base="a", other="b")
    assert (nothing.text, nothing.upward, nothing.size, nothing.interval) == ("", nothing, 1.0, None)
    assert not nothing.rises


@pytest.mark.parametrize(
    ("change", "text", "aside"),
    [
        (SLOWER, "4 (2 to 5)", "4, 2 to 5"),
        (LONGER, "-300 (-400 to -100) ns", "-300, -400 to -100 ns"),
        (ALONE, "2.00", "2.00, from only 1 process"),
    ],
)
def test_it_is_written_with_its_interval(change: Change[str], text: str, aside: str) -> None:
    assert (change.text, change.aside) == (text, aside)


def test_its_json_names_what_it_is() -> None:
    ratio, difference = SLOWER.numbers, LONGER.numbers
    assert (ratio["ratio"], ratio["ratio_low"], ratio["ratio_high"], ratio["verdict"]) == (4, 2, 5, "more")
    assert (difference["difference_ns"], difference["difference_low_ns"]) == (-300, -400)
    assert difference.keys() - ratio.keys() == {"difference_ns", "difference_low_ns", "difference_high_ns"}
    assert (ALONE.numbers["ratio_low"], ALONE.numbers["n_processes"]) == (None, 1)


def test_a_difference_is_divided_with_its_interval() -> None:
    assert LONGER.over(100).interval == (-4, -1)
    assert LONGER.over(100).value == -3
