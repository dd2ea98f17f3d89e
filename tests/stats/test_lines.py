from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike

from clonometer.stats.polynomial import Polynomial, polynomial_through_medians

PAGES = np.array([0.0, 512.0, 16_384.0, 262_144.0])


def line_through_medians(x: Sequence[float], groups: Sequence[ArrayLike], *, seed: int) -> Polynomial:
    return polynomial_through_medians(x, groups, 1, seed=seed)


def test_a_point_that_scatters_pulls_the_line_less() -> None:
    sure, unsure = [10.0, 10.0, 10.0, 10.0], [20.0, 40.0, 80.0, 100.0]
    line = line_through_medians([0, 1, 2], [sure, sure, unsure], seed=1)
    assert line.slope.value == pytest.approx(0.0, abs=0.1)
    assert line.coefficients[0].value == pytest.approx(10.0, abs=0.1)


def _groups(generator: np.random.Generator, slope: float, spread: float = 0.05, n: int = 12) -> list[np.ndarray]:
    return [(80_000 + slope * pages) * generator.lognormal(0, spread, n) for pages in PAGES]


def test_a_known_slope_is_found() -> None:
    line = line_through_medians(PAGES, _groups(np.random.default_rng(2), 50.0), seed=1)
    assert line.slope.contains(50.0)
    assert line.slope.value == pytest.approx(50.0, rel=0.05)
    assert line.coefficients[0].value == pytest.approx(80_000, rel=0.05)
    assert line.slope.n == 12


def test_exact_data_give_an_exact_line() -> None:
    line = line_through_medians(PAGES, [[80_000 + 50 * pages] * 6 for pages in PAGES], seed=1)
    assert line.slope.value == pytest.approx(50.0)
    assert line.slope.high - line.slope.low == pytest.approx(0.0, abs=1e-6)
    assert [line.at(x) for x in PAGES] == pytest.approx([80_000 + 50 * pages for pages in PAGES])


def test_nominal_95_percent_covers_the_slope() -> None:
    generator = np.random.default_rng(3)
    hits = sum(
        line_through_medians(PAGES, _groups(generator, 50.0), seed=seed).slope.contains(50.0) for seed in range(200)
    )
    assert 0.91 <= hits / 200 <= 0.99


def test_flat_data_have_no_slope() -> None:
    assert line_through_medians(PAGES, _groups(np.random.default_rng(4), 0.0), seed=1).slope.contains(0.0)


def test_zeros_have_a_line_too() -> None:
    line = line_through_medians([0, 1], [[0.0] * 3, [0.0] * 3], seed=1)
    assert (line.slope.value, line.coefficients[0].value) == (0.0, 0.0)


def test_a_single_process_a_point_reaches_no_confidence() -> None:
    assert not line_through_medians([0, 1], [[1.0], [2.0]], seed=1).slope.reaches_nominal


@pytest.mark.parametrize(
    ("x", "groups"),
    [
        ([1.0, 1.0], [[1.0], [2.0]]),
        ([1.0], [[1.0], [2.0]]),
        ([0.0, 1.0], [[1.0], []]),
        ([0.0, 1.0], [[1.0], [np.nan]]),
    ],
)
def test_what_is_no_line_is_refused(x: list[float], groups: list[list[float]]) -> None:
    with pytest.raises(ValueError, match=r"different x|groups|must"):
        line_through_medians(x, groups, seed=1)
