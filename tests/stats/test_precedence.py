from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy import stats

from clonometer.stats.precedence import critical_step, precedence_p, quantile_shift, steps


@pytest.mark.parametrize(("n", "m", "share"), [(4, 4, 0.25), (5, 3, 0.5), (3, 6, 0.1), (6, 4, 0.3)])
def test_p_values_are_the_shares_of_all_orders(n: int, m: int, share: float) -> None:
    orders = [set(chosen) for chosen in combinations(range(n + m), n)]
    p_values = []
    for order in orders:
        first = [float(rank) for rank in range(n + m) if rank in order]
        second = [float(rank) for rank in range(n + m) if rank not in order]
        p_values.append(precedence_p(first, second, share))
    for level in sorted(set(p_values)):
        # As likely as it says, exactly: but for the value that says nothing.
        if level < 1:
            assert np.mean(np.array(p_values) <= level) == pytest.approx(level)


@pytest.mark.parametrize(("n", "m"), [(100, 100), (64, 159), (159, 64), (1500, 900)])
def test_steps_are_nested_and_hypergeometric(n: int, m: int) -> None:
    claims = steps(n, m, 0.1)
    for claim, further in pairwise(claims):
        assert further.first >= claim.first
        assert further.second <= claim.second
        assert further.p <= claim.p
    for step in claims[:40]:
        smallest = step.first + step.second - 1
        assert step.p == pytest.approx(stats.hypergeom(n + m, n, smallest).sf(step.first - 1), rel=1e-6)
    # Both sides move away from the quantile.
    assert claims[0].second > 1
    assert claims[-1][:2] == (n, 1)
    assert claims[0].p > 0.4
    assert 0 < claims[-1].p < 1e-20
    assert critical_step(n, m, 0.1, 1e-4) == next(step for step in claims if step.p <= 1e-4)
    assert critical_step(n, m, 0.1, 0.0) is None


def test_nothing_is_rejected_oftener_than_it_says() -> None:
    random = np.random.default_rng(1)
    for n, m in ((50, 50), (100, 160)):
        p_values = np.array(
            [precedence_p(random.lognormal(size=n), random.lognormal(size=m), 0.1) for _ in range(4000)]
        )
        for level in (0.2, 0.05, 0.01):
            assert np.mean(p_values <= level) <= level + 3 * (level / p_values.size) ** 0.5
        assert np.mean(p_values <= 0.2) > 0.1


def test_how_slow_the_slow_ones_are_does_not_matter() -> None:
    random = np.random.default_rng(2)
    base, other = np.sort(random.normal(size=(2, 80)))
    slower = other + 0.9
    neighbour = slower.copy()
    neighbour[40:] += 50
    assert 0 < precedence_p(base, slower, 0.1) < 0.01
    assert precedence_p(base, neighbour, 0.1) == precedence_p(base, slower, 0.1)
    # Nor does half of them being slow alone.
    slow_half = base.copy()
    slow_half[40:] += 50
    assert precedence_p(base, slow_half, 0.1) > 0.4


def test_ties_speak_against_a_difference() -> None:
    assert precedence_p([5.0] * 60, [5.0] * 60, 0.1) == 1.0
    assert precedence_p([5.0] * 60, [6.0] * 60, 0.1) < 1e-20


def test_the_interval_is_what_the_test_does_not_reject() -> None:
    random = np.random.default_rng(3)
    base, other = random.normal(size=70), random.normal(0.3, 1, size=90)
    value, low, high = quantile_shift(base, other, 0.1)
    assert low < value < high
    assert value == pytest.approx(np.quantile(other, 0.1) - np.quantile(base, 0.1))
    tiny = 1e-9
    assert precedence_p(base, other - (low - tiny), 0.1) <= 0.025 < precedence_p(base, other - (low + tiny), 0.1)
    assert precedence_p(other - (high + tiny), base, 0.1) <= 0.025 < precedence_p(other - (high - tiny), base, 0.1)
    wider = quantile_shift(base, other, 0.1, inflation=4.0)
    assert wider[1] < low
    assert wider[2] > high
    # Of few values, the widest that they can give: never an infinity.
    few = quantile_shift([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], 0.1, inflation=50.0)
    assert np.isfinite(few).all()


@pytest.mark.parametrize("contaminated", [0.0, 0.4])
def test_the_interval_covers(contaminated: float) -> None:
    random = np.random.default_rng(4)
    covered = 0
    for _ in range(2000):
        sides = random.normal(size=(2, 80)) * 0.03
        sides += 0.4 * (random.random((2, 80)) < contaminated)
        _, low, high = quantile_shift(sides[0], sides[1] + 0.1, 0.1)
        covered += low <= 0.1 <= high
    assert 0.94 <= covered / 2000 <= 0.99


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        precedence_p([1.0, np.nan], [1.0], 0.1)
