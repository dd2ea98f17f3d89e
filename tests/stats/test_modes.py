from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats as scipy_stats

from clonometer.stats.modes import density, find_modes

RANDOM = np.random.default_rng(30)
ONE_MODE: dict[str, Callable[[int], np.ndarray]] = {
    "log-normal, narrow": lambda n: np.exp(RANDOM.normal(10, 0.03, n)),
    "log-normal, wide": lambda n: np.exp(RANDOM.normal(10, 1, n)),
    "exponential on a floor": lambda n: 10 + RANDOM.exponential(1, n),
    "uniform": lambda n: RANDOM.uniform(1, 2, n),
    "Pareto tail": lambda n: 1 + RANDOM.pareto(1.5, n),
    "clock ticks": lambda n: np.rint(np.exp(RANDOM.normal(3, 0.05, n))),
    "coarse clock ticks": lambda n: 10 * np.rint(np.exp(RANDOM.normal(1.7, 0.1, n))),
}


def _mixture(n: int, ratio: float, share: float) -> np.ndarray:
    return np.exp(RANDOM.normal(10, 0.05, n) + np.log(ratio) * (RANDOM.random(n) < share))


@pytest.mark.parametrize("name", ONE_MODE)
@pytest.mark.parametrize("n", [60, 300, 3000])
def test_one_mode_is_hardly_ever_taken_for_two(name: str, n: int) -> None:
    taken_for_two = [len(find_modes(ONE_MODE[name](n))) > 1 for _ in range(100)]
    assert sum(taken_for_two) <= 1


@pytest.mark.parametrize(
    ("n", "ratio", "share"), [(1000, 1.3, 0.2), (1000, 1.5, 0.2), (300, 1.5, 0.5), (3000, 2, 0.15)]
)
def test_two_modes_are_found_where_they_are(n: int, ratio: float, share: float) -> None:
    all_modes = [find_modes(_mixture(n, ratio, share)) for _ in range(40)]
    two = [modes for modes in all_modes if len(modes) == 2]
    assert len(two) >= 34
    for low, high in two:
        assert low.value == pytest.approx(np.exp(10), rel=0.03)
        assert high.value == pytest.approx(np.exp(10) * ratio, rel=0.05)
        assert high.share == pytest.approx(share, abs=0.12)


def test_three_modes() -> None:
    parts = [np.exp(RANDOM.normal(np.log(place), 0.04, 700)) for place in (10, 15, 30)]
    assert [round(mode.value) for mode in find_modes(np.concatenate(parts))] == [10, 15, 30]


def test_a_few_outliers_are_no_mode() -> None:
    values = np.concatenate([RANDOM.normal(100, 2, 950), RANDOM.normal(300, 5, 50)])
    assert len(find_modes(values)) == 1


def test_dependent_values_are_worth_less() -> None:
    values = _mixture(1000, 1.5, 0.5)
    assert len(find_modes(values)) == 2
    assert len(find_modes(values, effective=20)) == 1


def test_the_density_is_scipys_kernel_density() -> None:
    logs = RANDOM.normal(0, 1, 2000)
    place, height = density(logs, 0.3)
    other = scipy_stats.gaussian_kde(logs, 0.3 / logs.std(ddof=1))(place)
    middle = np.abs(place) < 2
    assert height[middle] == pytest.approx(other[middle], rel=0.02)


def test_constants_and_few_values_have_one_mode() -> None:
    assert [mode.share for mode in find_modes([5.0] * 500)] == [1.0]
    assert len(find_modes([1.0] * 10 + [9.0] * 10)) == 1
    assert len(find_modes([1.0] * 400 + [2.0])) == 1


def test_what_is_not_positive_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        find_modes([0.0, 1.0])
    with pytest.raises(ValueError, match="empty"):
        find_modes([])
