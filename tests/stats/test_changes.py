from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from clonometer.stats.changes import (
    LogChange,
    change_of_ratio,
    change_of_runs,
    variance_of_runs,
)
from clonometer.stats.interval import Interval
from clonometer.stats.multiplicity import score


@pytest.mark.parametrize("degrees", [3, 8])
@pytest.mark.parametrize("error", [0.05, 1e-5])
def test_scores_are_those_of_students_t(degrees: int, error: float) -> None:
    assert score(error, degrees) == pytest.approx(stats.t.isf(error / 2, degrees), rel=1e-6)
    assert score(error) == pytest.approx(stats.norm.isf(error / 2))


def test_the_interval_of_a_ratio_is_kept_and_moments_add_to_it() -> None:
    ratio = Interval(1.2, 1.1, 1.4, 0.95, "made", 12)
    low, high = change_of_ratio(ratio).ends(0.05)
    assert (math.exp(low), math.exp(high)) == pytest.approx((1.1, 1.4))
    with_moments = change_of_ratio(ratio, 0.05).ends(0.05)
    for end, plain in zip(with_moments, (low, high), strict=True):
        apart = math.log(1.2) - plain
        assert abs(math.log(1.2) - end) == pytest.approx(math.hypot(apart, score(0.05) * 0.05))


def test_what_is_hardly_known_of_moments_widens_and_what_processes_scatter_does_not() -> None:
    ratio = Interval(1.2, 1.1, 1.4, 0.95, "made", 6)
    known, hardly = (np.diff(change_of_ratio(ratio, 0.2, degrees).ends(0.001))[0] for degrees in (None, 3))
    assert hardly > 1.5 * known
    assert change_of_ratio(ratio, 0.0, 3).ends(0.001) == change_of_ratio(ratio).ends(0.001)
    still = Interval(1.2, 1.2, 1.2, 0.95, "made", 6)
    assert change_of_ratio(still, 0.05).ends(0.001)[1] == pytest.approx(math.log(1.2) + 0.05 * score(0.001))


@pytest.mark.parametrize("degrees", [None, 5])
def test_the_p_value_is_the_level_at_which_the_interval_ends_at_nothing(degrees: int | None) -> None:
    change = LogChange(-0.1, 0.02, 0.03, 0.03, between_degrees=degrees)
    assert change.ends(change.p_value())[1] == pytest.approx(0.0, abs=1e-9)
    # Beyond what everything else changed by, and of something that went the other way than the rest as it is.
    assert change.p_value(-0.05) == LogChange(-0.05, 0.02, 0.03, 0.03, between_degrees=degrees).p_value()
    assert change.p_value(0.05) == change.p_value() < change.p_value(-0.05) < change.p_value(-0.2) == 1.0


def test_what_is_needed_is_found_as_often_as_is_said() -> None:
    change = LogChange(0.0, 0.03, 0.03, between=0.02)
    needed = change.needed(0.01, 0.95)
    values = needed + np.random.default_rng(1).normal(0, math.hypot(0.03, 0.02), 20_000)
    low = change.ends(0.01)[0]
    assert np.mean(values + low > 0) == pytest.approx(0.95, abs=0.01)


def test_runs_as_units_are_students_test() -> None:
    base, other = [0.1, 0.3, 0.2], [0.5, 0.9, 0.6, 0.7]
    change = change_of_runs(base, other)
    wanted = stats.ttest_ind(other, base).confidence_interval(0.95)
    assert change.ends(0.05) == pytest.approx((wanted.low, wanted.high))
    variance = variance_of_runs(base, other)
    shared = change_of_runs(base, other, typical=3 * variance)
    assert (shared.degrees, shared.above**2) == (10, pytest.approx(2 * change.above**2))
