from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm

from clonometer.stats.polynomial import median_weights, polynomial_through_medians, ratio_of_coefficients

X = np.array([1_000.0, 3_000.0, 5_000.0, 9_000.0, 13_000.0, 19_000.0])
TRUTH = (200_000.0, 120.0, 0.3)


def _groups(
    generator: np.random.Generator, truth: tuple[float, ...] = TRUTH, spread: float = 0.03, n: int = 12
) -> list[np.ndarray]:
    return [sum(c * x**k for k, c in enumerate(truth)) * generator.lognormal(0, spread, n) for x in X]


def test_coefficients_are_statsmodels() -> None:
    groups = _groups(np.random.default_rng(1))
    medians = np.array([np.median(group) for group in groups])
    weights = median_weights(groups, medians)
    expected = sm.WLS(medians, np.vander(X, 3, increasing=True), weights=weights).fit().params
    fit = polynomial_through_medians(X, groups, 2, seed=1)
    assert [coefficient.value for coefficient in fit.coefficients] == pytest.approx(expected.tolist(), rel=1e-6)


def test_r_squared_is_of_all_process_values() -> None:
    groups = _groups(np.random.default_rng(2), spread=0.2)
    fit = polynomial_through_medians(X, groups, 2, seed=1)
    values = np.concatenate(groups)
    fitted = np.concatenate([np.full(group.size, fit.at(x)) for x, group in zip(X, groups, strict=True)])
    expected = 1 - ((values - fitted) ** 2).sum() / ((values - values.mean()) ** 2).sum()
    assert fit.r_squared.value == pytest.approx(expected)
    assert fit.r_squared.low < expected < fit.r_squared.high <= 1


def test_exact_data_give_an_exact_parabola() -> None:
    fit = polynomial_through_medians(X, [[sum(c * x**k for k, c in enumerate(TRUTH))] * 6 for x in X], 2, seed=1)
    assert [coefficient.value for coefficient in fit.coefficients] == pytest.approx(TRUTH)
    assert fit.r_squared.value == pytest.approx(1.0)
    assert fit.degree == 2


def test_more_scatter_has_a_lower_r_squared() -> None:
    steady, wild = (
        polynomial_through_medians(X, _groups(np.random.default_rng(3), spread=spread), 2, seed=1)
        for spread in (0.02, 0.3)
    )
    assert wild.r_squared.high < steady.r_squared.low


@pytest.mark.parametrize("power", [0, 1, 2])
def test_nominal_95_percent_covers_each_coefficient(power: int) -> None:
    generator = np.random.default_rng(4)
    hits = sum(
        polynomial_through_medians(X, _groups(generator), 2, seed=seed).coefficients[power].contains(TRUTH[power])
        for seed in range(200)
    )
    assert 0.90 <= hits / 200 <= 0.995


def test_the_ratio_of_two_curves_is_found() -> None:
    generator = np.random.default_rng(5)
    double = (TRUTH[0], TRUTH[1], 2 * TRUTH[2])
    a, b = (polynomial_through_medians(X, _groups(generator, truth), 2, seed=1) for truth in (double, TRUTH))
    ratio = ratio_of_coefficients(a, b, 2)
    assert ratio is not None
    assert ratio.contains(2.0)
    assert ratio.low > 1.5


def test_there_is_no_ratio_to_what_is_not_seen() -> None:
    generator = np.random.default_rng(6)
    flat = polynomial_through_medians(X, _groups(generator, (200_000.0, 0.0, 0.3)), 2, seed=1)
    assert flat.coefficients[1].contains(0.0)
    assert ratio_of_coefficients(flat, polynomial_through_medians(X, _groups(generator), 2, seed=1), 1) is None


def test_values_that_do_not_scatter_have_no_r_squared() -> None:
    fit = polynomial_through_medians([1, 2, 3, 4], [[5.0] * 6] * 4, 1, seed=1)
    assert fit.r_squared.value == 0
    assert fit.coefficients[1].value == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("x", "groups", "degree"),
    [([1, 2], [[1.0], [2.0]], 2), ([1, 1, 1], [[1.0]] * 3, 1), ([1, 2, 3], [[1.0]] * 2, 1), ([1, 2], [[1.0]] * 2, 0)],
)
def test_what_cannot_be_fitted_is_refused(x: list[float], groups: list[list[float]], degree: int) -> None:
    with pytest.raises(ValueError, match=r"degree|groups|different"):
        polynomial_through_medians(x, groups, degree, seed=1)
