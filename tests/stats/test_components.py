from __future__ import annotations

import numpy as np
import pytest

from clonometer.stats.components import odd_limit, odd_scores, variance_components


def test_balanced_components_are_those_of_the_closed_form() -> None:
    """Mean squares 32 and 2 with 2 values a unit: within 2, between (32 - 2) / 2; the second family is shifted."""
    values = [1.0, 3.0, 9.0, 11.0, 9.0, 7.0]
    parts = variance_components([*values, *(value + 5 for value in values)], [0, 2, 4, 6, 8, 10], [0, 3])
    means = [2.0, 10.0, 8.0]
    between_square = 2 * sum((mean - np.mean(means)) ** 2 for mean in means) / 2
    assert parts.within.tolist() == [2.0, 2.0]
    assert parts.between == pytest.approx([(between_square - 2.0) / 2] * 2)


def test_uneven_units_are_weighed_as_searle_does() -> None:
    """Units of 1 and 3 values: n0 = (4 - 10 / 4) / 1 = 1.5."""
    parts = variance_components([10.0, 1.0, 2.0, 3.0], [0, 1], [0])
    within = 2.0 / 2
    grand = (10.0 + 6.0) / 4
    between_square = (10 - grand) ** 2 + 3 * (2 - grand) ** 2
    assert parts.within[0] == pytest.approx(within)
    assert parts.between[0] == pytest.approx((between_square - within) / 1.5)


def test_components_cover_the_truth_and_say_when_there_are_none() -> None:
    random = np.random.default_rng(1)
    levels = np.repeat(0.3 * random.normal(size=400), 5)
    parts = variance_components(levels + 0.1 * random.normal(size=2000), np.arange(0, 2000, 5), [0])
    assert parts.between[0] == pytest.approx(float(np.var(levels[::5], ddof=1)), rel=0.02)
    assert parts.within[0] == pytest.approx(0.01, rel=0.1)
    single = variance_components([1.0, 2.0, 4.0], [0, 1, 2], [0])
    assert np.isnan(single.within[0])
    assert single.between[0] == pytest.approx(np.var([1, 2, 4], ddof=1))
    assert np.isnan(variance_components([1.0, 2.0], [0], [0]).between[0])


def test_odd_scores_call_at_most_some_of_equal_hosts_odd() -> None:
    random = np.random.default_rng(2)
    false = 0
    for _ in range(300):
        scores = odd_scores(random.normal(size=40))
        assert scores is not None
        false += bool((np.abs(scores) > odd_limit(40)).any())
    assert false / 300 <= 0.1
    scores = odd_scores([*random.normal(size=39), 9.0])
    assert scores is not None
    assert np.flatnonzero(np.abs(scores) > odd_limit(40)).tolist() == [39]
    assert odd_scores([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 3.0]) is None
    assert odd_scores(range(7)) is None
