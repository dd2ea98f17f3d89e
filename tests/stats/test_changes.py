from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from clonometer.stats.changes import (
    LogChange,
    change_of_ratio,
    change_of_runs,
    sure_levels,
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


def test_few_processes_widen_what_they_scatter_and_not_what_is_known_of_moments() -> None:
    few, many = (Interval(1.2, 1.1, 1.4, 0.95, "made", n) for n in (6, 200))
    widths = [np.diff(change_of_ratio(ratio).ends(0.001))[0] for ratio in (few, many)]
    assert widths[0] > 1.5 * widths[1]
    still = Interval(1.2, 1.2, 1.2, 0.95, "made", 6)
    assert change_of_ratio(still, 0.05).ends(0.001)[1] == pytest.approx(math.log(1.2) + 0.05 * score(0.001))


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


def test_deciding_by_intervals_is_holms_procedure() -> None:
    random = np.random.default_rng(3)
    for tests in (None, 40):
        for _ in range(10):
            changes = [LogChange(value, 1.0, 1.0) for value in random.normal(0, 2.5, 12).tolist()]
            p_values = [2 * stats.norm.sf(abs(change.value)) for change in changes]

            def leaves_out_none(place: int, level: float, of: list[LogChange] = changes) -> bool:
                low, high = of[place].ends(level)
                return low > 0 or high < 0

            levels, sure = sure_levels(leaves_out_none, len(changes), 0.05, tests)
            # Tests that are not given are never rejected.
            family = p_values + [1.0] * ((tests or len(p_values)) - len(p_values))
            assert sure == multipletests(family, method="holm")[0][: len(p_values)].tolist()
            assert all(leaves_out_none(place, level) == sure[place] for place, level in enumerate(levels))
