from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.distributions.empirical_distribution import ECDF

from clonometer.stats.ecdf import MOST_POINTS, thin_ecdf


def test_every_point_is_on_statsmodels_ecdf() -> None:
    values = np.random.default_rng(1).lognormal(size=5000).round(3)
    x, fraction = thin_ecdf(values)
    np.testing.assert_allclose(fraction, ECDF(values)(x))
    assert x.size == pytest.approx(MOST_POINTS, abs=5)
    assert x.size <= MOST_POINTS


def test_ends_are_kept() -> None:
    values = np.random.default_rng(2).normal(size=10_000)
    x, fraction = thin_ecdf(values, 10)
    assert (x[0], x[-1]) == (values.min(), values.max())
    assert fraction[-1] == 1.0


def test_thinning_never_skips_more_than_its_share() -> None:
    _, fraction = thin_ecdf(np.arange(100_000.0))
    assert np.diff(fraction).max() <= 1 / (MOST_POINTS - 1) + 1e-4


def test_few_values_stay_as_they_are() -> None:
    x, fraction = thin_ecdf([5.0, 1.0, 1.0, 9.0])
    assert x.tolist() == [1.0, 5.0, 9.0]
    assert fraction.tolist() == [0.5, 0.75, 1.0]


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=300), st.integers(2, 20))
def test_rises_within_the_limit(values: list[int], most: int) -> None:
    x, fraction = thin_ecdf(values, most)
    assert x.size <= most or x.size == len(set(values)) <= most
    assert np.all(np.diff(x) > 0)
    assert np.all(np.diff(fraction) > 0)
    assert (x[0], x[-1], fraction[-1]) == (min(values), max(values), 1.0)


def test_one_point_is_no_picture() -> None:
    with pytest.raises(ValueError, match="at least its two ends"):
        thin_ecdf([1.0], 1)
