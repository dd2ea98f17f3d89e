from __future__ import annotations

import numpy as np
import pytest

from clonometer.stats.paired_parts import covariate_effect, shares_of_mean


def test_shares_sum_to_one_and_their_intervals_hold_them() -> None:
    generator = np.random.default_rng(1)
    parts = generator.normal([30.0, 60.0, 10.0], 5.0, (20, 3))
    shares = shares_of_mean(parts, parts.sum(axis=1), seed=3)
    assert sum(share.value for share in shares) == pytest.approx(1.0)
    for share, truth in zip(shares, (0.3, 0.6, 0.1), strict=True):
        assert share.low < truth < share.high
        assert share.high - share.low < 0.1


def test_the_seed_and_nothing_else_fixes_what_is_drawn() -> None:
    parts = np.random.default_rng(1).normal([30.0, 60.0], 5.0, (20, 2))
    first, again, other = (shares_of_mean(parts, parts.sum(axis=1), seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_a_whole_whose_sign_is_in_doubt_does_not_turn_shares_over() -> None:
    whole = [1.0, 1.0, 1.0, 1.0, 1.0, -3.0]
    [share] = shares_of_mean([[value] for value in whole], whole, seed=1)
    assert share.value == 1.0
    # Draws with the other sign are divided by the whole's own mean: they are negative, not positive again.
    assert share.low < 0


@pytest.mark.parametrize(
    ("parts", "whole"), [([[1.0]], [0.0]), ([[1.0]], [1.0, 2.0]), ([1.0], [1.0]), ([[float("nan")]], [1.0])]
)
def test_shares_of_nothing_and_shapes_that_do_not_fit_are_refused(parts: list[float], whole: list[float]) -> None:
    with pytest.raises(ValueError, match=r"shares|row"):
        shares_of_mean(parts, whole, seed=1)


def test_the_slope_is_found_whatever_the_groups_have_in_common() -> None:
    generator = np.random.default_rng(2)
    products, squares = [], []
    for _ in range(15):
        x = generator.integers(0, 6, 40).astype(float)
        y = 7.0 * x + generator.normal(0, 3, 40) + generator.normal(0, 1000)
        x -= x.mean()
        products.append(float((x * y).sum()))
        squares.append(float((x * x).sum()))
    effects = covariate_effect(products, squares, [2.0] * 15, seed=1)
    assert effects is not None
    slope, effect = effects
    assert slope.low < 7 < slope.high
    assert slope.high - slope.low < 1
    assert effect.value == pytest.approx(2 * slope.value)


def test_a_covariate_that_never_differs_has_no_slope() -> None:
    assert covariate_effect([0.0, 0.0], [0.0, 0.0], [1.0, 2.0], seed=1) is None
    with pytest.raises(ValueError, match="2 products, 1 squares"):
        covariate_effect([0.0, 0.0], [1.0], [1.0], seed=1)
