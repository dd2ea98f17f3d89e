from __future__ import annotations

import numpy as np
import pytest

from clonometer.stats.serial import deflated_p, inflated_p, serial_inflation

Floats = np.ndarray


def autoregressive(random: np.random.Generator, phi: float, rows: int, size: int) -> Floats:
    noise = random.normal(size=(rows, size))
    values = np.empty_like(noise)
    values[:, 0] = noise[:, 0]
    for at in range(1, size):
        values[:, at] = phi * values[:, at - 1] + (1 - phi**2) ** 0.5 * noise[:, at]
    return values


@pytest.mark.parametrize("size", [8, 12, 24])
def test_independent_values_cost_next_to_nothing(size: int) -> None:
    random = np.random.default_rng(1)
    found = [serial_inflation(random.lognormal(size=(30, size))) for _ in range(50)]
    assert 1.0 <= np.mean(found) <= 1.12


@pytest.mark.parametrize("phi", [0.3, 0.5, 0.7])
def test_long_series_have_the_inflation_of_their_autocorrelation(phi: float) -> None:
    random = np.random.default_rng(2)
    found = np.mean([serial_inflation(autoregressive(random, phi, 40, 200)) for _ in range(5)])
    assert found == pytest.approx((1 + phi) / (1 - phi), rel=0.2)


def test_short_series_show_a_good_part_of_it() -> None:
    random = np.random.default_rng(3)
    found = np.mean([serial_inflation(autoregressive(random, 0.6, 40, 12)) for _ in range(20)])
    assert 1.5 <= found <= 4


def test_alternation_and_constants_are_no_inflation() -> None:
    assert serial_inflation([[1.0, 2.0] * 10] * 5) == 1.0
    assert serial_inflation([[5.0] * 12] * 5) == 1.0
    assert serial_inflation([[1.0, 2.0, 3.0]] * 5) == 1.0
    assert serial_inflation([]) == 1.0


def test_p_values_move_towards_one_half_and_back() -> None:
    for p in (1e-9, 1e-3, 0.2, 0.5):
        assert inflated_p(p, 1.0) == pytest.approx(p)
        assert deflated_p(inflated_p(p, 2.5), 2.5) == pytest.approx(p)
        assert p <= inflated_p(p, 2.5) <= 0.5
    assert inflated_p(1.0, 3.0) == deflated_p(1.0, 3.0) == 1.0
