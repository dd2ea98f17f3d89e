"""What layouts of memory add to the scatter, from runs of which the answer is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clonometer.results.noise.layout import MOST_PAIRS, find_layouts
from clonometer.results.noise.types import LayoutRow, Layouts

Build = Callable[..., Any]
Draw = Callable[[np.random.Generator, int], Any]


def measured(make_builder: Build, values: Any, *, pairs: Any = None) -> Layouts:
    """A run with a process for each value, in order of time; of four, the second and third have one layout."""
    builder = make_builder(1)
    cell = builder.cell("launch.fork", {"reaped_ns": 90_000}, processes=len(values), samples=1, blocks=1)
    builder.run.data[cell]["reaped_ns"] = np.rint(90_000 * np.exp(values)).astype(np.int64)
    for place, entry in enumerate(builder.run.metadata["processes"]):
        pair = (place // 4 if place % 4 in (1, 2) else None) if pairs is None else pairs[place]
        if pair is not None:
            entry["pair"] = pair
    return find_layouts(builder.run)


def only(layouts: Layouts) -> LayoutRow:
    (row,) = layouts.rows
    return row


def scatter(draw: Draw, fours: int, layout: float, seed: int) -> Any:
    """Values of processes, each of which has a layout whose effect is so many times the rest of the scatter."""
    random = np.random.default_rng(seed)
    rest, effects = draw(random, 4 * fours), layout * draw(random, 4 * fours)
    effects[2::4] = effects[1::4]
    return 0.01 * (rest + effects)


def normal(random: np.random.Generator, size: int) -> Any:
    return random.normal(size=size)


def with_wild_ones(random: np.random.Generator, size: int) -> Any:
    return random.normal(size=size) * np.where(random.random(size) < 0.1, 8, 1)


def test_the_share_of_a_known_layout_is_found(make_builder: Build) -> None:
    row = only(measured(make_builder, scatter(normal, 400, 2.0, 3)))
    assert (row.drawn_pairs, row.same_pairs) == (400, 400)
    assert row.same_spread == pytest.approx(0.01, rel=0.15)
    assert row.drawn_spread == pytest.approx(0.01 * 5**0.5, rel=0.15)
    assert row.share is not None
    assert row.share_low is not None
    assert row.share_high is not None
    assert row.share_low < 0.8 < row.share_high
    assert 0.7 < row.share_low <= row.share <= row.share_high < 0.9
    assert row.is_shown


@pytest.mark.parametrize("draw", [normal, with_wild_ones])
@pytest.mark.parametrize("drift", [0.0, 0.2])
def test_where_no_layout_matters_few_intervals_say_that_one_does(make_builder: Build, draw: Draw, drift: float) -> None:
    runs = 200
    shown = 0
    for seed in range(runs):
        values = scatter(draw, 20, 0.0, seed) + drift * np.linspace(0, 1, 80)
        # As `LayoutHooks` does: who of four has the one layout is drawn.
        order = np.random.default_rng(seed)
        pairs = [pair for four in range(20) for pair in order.permutation([four, four, None, None]).tolist()]
        shown += only(measured(make_builder, values, pairs=pairs)).is_shown
    # 2.5% are 5: the chance of more than 12 is a thousandth.
    assert shown <= 12


@pytest.mark.parametrize("layout", [0.5, 1.0])
def test_intervals_hold_the_share_that_is_true(make_builder: Build, layout: float) -> None:
    runs, share = 200, layout**2 / (1 + layout**2)
    held = 0
    for seed in range(runs):
        row = only(measured(make_builder, scatter(normal, 25, layout, seed)))
        assert row.share_low is not None
        assert row.share_high is not None
        held += row.share_low <= share <= row.share_high
    # 95% are 190: the chance of fewer than 180 is a thousandth.
    assert held >= 180


def test_few_pairs_say_nothing_and_half_a_pair_is_none(make_builder: Build) -> None:
    row = only(measured(make_builder, scatter(normal, 3, 1.0, 1)))
    assert (row.drawn_pairs, row.same_pairs, row.share, row.is_shown) == (3, 3, None, False)
    assert row.reason == "too few pairs"
    row = only(measured(make_builder, scatter(normal, 2, 1.0, 1)[:7], pairs=[None, 0, 0, None, None, 1, None]))
    assert (row.drawn_pairs, row.same_pairs) == (2, 1)
    assert measured(make_builder, scatter(normal, 1, 1.0, 1), pairs=[None] * 4).rows == ()


def test_distances_below_a_step_of_the_clock_say_nothing_of_layouts(make_builder: Build) -> None:
    values = np.zeros(160)
    values[::16] = 0.01
    row = only(measured(make_builder, values))
    assert (row.share, row.share_low, row.share_high, row.reason) == (None, None, None, "below the clock")


def test_pairs_beyond_a_limit_are_left_out(make_builder: Build) -> None:
    row = only(measured(make_builder, scatter(normal, MOST_PAIRS + 5, 1.0, 1)))
    assert (row.drawn_pairs, row.same_pairs) == (MOST_PAIRS, MOST_PAIRS)


@pytest.mark.parametrize(("setting", "draws"), [(2, True), (0, False), (None, None)])
def test_it_says_whether_the_kernel_draws(make_builder: Build, setting: int | None, draws: bool | None) -> None:
    builder = make_builder(1)
    builder.cell("launch.fork", {"reaped_ns": 90_000})
    builder.run.metadata["host"]["kernel.randomize_va_space"] = setting
    assert find_layouts(builder.run).kernel_draws is draws
