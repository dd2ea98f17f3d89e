"""Effects of a factorial whose answer is known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from clonometer.stats.factorial import DesignPoint, factorial_effects
from clonometer.stats.processes import Processes


def side(median, n=12):
    return Processes.of(median * (1 + np.linspace(-0.01, 0.01, n)))


def design(ratio):
    return [
        DesignPoint({"x": x, "y": y, "z": z}, side(100.0 * ratio(x, y, z)), side(100.0))
        for x, y, z in itertools.product((0, 1), repeat=3)
    ]


def test_main_effects_multiply_and_what_has_none_contains_one():
    effects = {
        effect.factors: effect.times for effect in factorial_effects(design(lambda x, y, z: 4.0**x * 0.5**y), seed=1)
    }
    assert effects[("x",)].value == pytest.approx(4.0)
    assert effects[("y",)].value == pytest.approx(0.5)
    assert effects[("z",)].value == pytest.approx(1.0)
    for factors, truth in {("x",): 4.0, ("y",): 0.5, ("z",): 1.0, ("x", "y"): 1.0}.items():
        assert effects[factors].contains(truth)
    assert not effects[("x",)].contains(1.0)
    assert len(effects) == 6


def test_an_interaction_is_found():
    # x multiplies by 9 where y is 1, and by 1 where it is 0.
    effects = {
        effect.factors: effect.times for effect in factorial_effects(design(lambda x, y, z: 9.0 ** (x * y)), seed=1)
    }
    assert effects[("x",)].value == pytest.approx(3.0)
    assert effects[("x", "y")].value == pytest.approx(3.0)
    assert effects[("x", "z")].contains(1.0)


def test_intervals_widen_with_the_spread_and_stay_ordered():
    def points(spread):
        rng = np.random.default_rng(3)
        return [
            DesignPoint({"x": x}, Processes.of(np.exp(rng.normal(0, spread, 12))), Processes.of(np.ones(12)))
            for x in (0, 1)
        ]

    narrow, wide = (factorial_effects(points(spread), seed=2)[0].times for spread in (0.01, 0.5))
    assert wide.high / wide.low > narrow.high / narrow.low
    assert narrow.low <= narrow.value <= narrow.high


@pytest.mark.parametrize("points", [[], design(lambda x, y, z: 1.0)[:7], [*design(lambda x, y, z: 1.0)] * 2])
def test_a_design_that_is_not_full_is_refused(points):
    with pytest.raises(ValueError, match="full factorial"):
        factorial_effects(points, seed=1)


def test_there_is_no_ratio_to_nothing():
    with pytest.raises(ValueError, match="positive"):
        factorial_effects([DesignPoint({"x": x}, side(1.0), Processes.of([0.0, 1.0])) for x in (0, 1)], seed=1)
