from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student
from statsmodels.stats.multitest import multipletests

from clonometer.stats.multiplicity import false_discovery_level, simes_p, student_quantile


def test_quantiles_are_those_of_students_distribution() -> None:
    for freedom in (1, 2, 3, 5, 11, 40):
        for probability in (0.5, 0.9, 0.975, 0.9999):
            expected = student.ppf(probability, freedom)
            assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    with pytest.raises(ValueError, match=r"0\.4"):
        student_quantile(0.4, 3)


def test_false_discoveries_are_limited_as_in_the_example_of_benjamini_and_hochberg() -> None:
    # Benjamini and Hochberg (1995), section 4.1: four of 15 are rejected at 0.05.
    published = (
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590,
        1.0,
    )  # fmt: skip
    level = false_discovery_level(published, 0.05)
    assert [p for p in published if p <= level] == list(published[:4])
    assert false_discovery_level((), 0.05) == 0.05


@pytest.mark.parametrize("more", [0, 30])
def test_all_tests_are_judged_at_one_level_as_statsmodels_does(more: int) -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        p_values = random.random(12) ** random.integers(1, 6)
        # Tests that are not given are never rejected.
        wanted = multipletests([*p_values, *[1.0] * more], 0.05, method="fdr_bh")[0][:12]
        level = false_discovery_level(p_values, 0.05, 12 + more)
        assert (p_values <= level).tolist() == wanted.tolist()


def test_one_of_several_is_wrong_by_the_rate_at_which_any_is_counted() -> None:
    random = np.random.default_rng(3)
    chances = 0
    for _ in range(2000):
        p_values = random.random(8).tolist()
        p = simes_p(p_values)
        assert (p <= 0.05) == any(value <= false_discovery_level(p_values, 0.05) for value in p_values)
        chances += p <= 0.05
    # Where all of them are right, and independent, the chance is exactly the rate.
    assert 70 <= chances <= 130
