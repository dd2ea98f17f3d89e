from __future__ import annotations

import numpy as np
import pytest

from clonometer.stats.steps import (
    LEAST_VALUES,
    best_steps,
    clipped,
    detectable_size,
    evidence_for,
    find_steps,
    suspected_step,
)


def wandering(random: np.random.Generator, days: int, series: int, sd: float, correlation: float) -> np.ndarray:
    values = np.empty((days, series))
    values[0] = random.normal(size=series)
    for day in range(1, days):
        values[day] = correlation * values[day - 1] + random.normal(size=series) * np.sqrt(1 - correlation**2)
    return sd * values


def test_the_evidence_is_the_likelihood_ratio_of_least_squares_where_noise_is_independent() -> None:
    """With noise that no AR(1) suits better, it is n - 1 halves of the logarithm of the ratio of the squares."""
    random = np.random.default_rng(4)
    values = random.normal(size=40)
    values[25:] += 4
    best = best_steps(values[:, None])
    squares = [
        ((values[:place] - values[:place].mean()) ** 2).sum() + ((values[place:] - values[place:].mean()) ** 2).sum()
        for place in range(1, 40)
    ]
    assert int(best.place[0]) == 1 + int(np.argmin(squares)) == 25
    assert best.size[0] == pytest.approx(values[25:].mean() - values[:25].mean())
    assert best.error[0] == pytest.approx(np.sqrt(min(squares) / 38 * (1 / 25 + 1 / 15)))
    assert best.first[0] <= 25 <= best.last[0]


def test_a_fixed_series_has_its_two_steps_and_no_other() -> None:
    random = np.random.default_rng(1)
    values = 0.01 * random.normal(size=(150, 3))
    values[50:, 0] += 0.1
    values[100:, 0] -= 0.06
    # One wild day hides no step, and is none.
    values[:, 2] += np.where(np.arange(150) == 70, 0.5, 0.0) + np.where(np.arange(150) >= 90, 0.06, 0.0)
    first, steady, outlier = find_steps(values, evidence_for(0.01 / 3, 150))
    assert [(step.place, round(step.size, 2)) for step in first] == [(50, 0.1), (100, -0.06)]
    assert first[0].seen in range(57, 59)
    assert all(abs(step.size - size) < 4 * step.error for step, size in zip(first, (0.1, -0.06), strict=True))
    assert steady == []
    assert [step.place for step in outlier] == [90]
    assert outlier[0].seen < 105


def test_what_wanders_is_no_step_and_a_step_within_it_is() -> None:
    random = np.random.default_rng(2)
    values = wandering(random, 250, 40, 0.02, 0.9) + 0.003 * random.normal(size=(250, 40))
    assert sum(bool(steps) for steps in find_steps(values, evidence_for(0.01 / 40, 250), stride=4)) <= 1
    values[200:] += 0.1
    seen = [[step for step in steps if abs(step.place - 200) <= 1] for steps in find_steps(values, 16.0, stride=4)]
    assert sum(bool(steps) for steps in seen) >= 36


def test_few_values_have_no_step_and_no_detectable_size() -> None:
    assert find_steps(np.arange(LEAST_VALUES - 1.0)[:, None], 1.0) == [[]]
    assert detectable_size(np.zeros(LEAST_VALUES - 1), 12.0) is None
    assert find_steps(np.ones((40, 1)), 12.0) == [[]]


def test_a_step_of_the_detectable_size_is_mostly_seen_and_a_third_of_it_is_not() -> None:
    random = np.random.default_rng(3)
    values = 0.01 * random.normal(size=(60, 60))
    limit = evidence_for(0.01, 120)
    sizes = [detectable_size(column, limit) for column in values.T]
    for factor, least, most in ((2.0, 50, 60), (0.3, 0, 4)):
        after = 0.01 * random.normal(size=(7, 60)) + factor * np.array(sizes, np.float64)
        seen = find_steps(np.concatenate([values, after]), limit)
        assert least <= sum(bool(steps) for steps in seen) <= most


def test_clipping_leaves_steps_and_takes_single_values() -> None:
    random = np.random.default_rng(5)
    values = random.normal(size=(60, 1))
    values[30:] += 20
    values[10] = 90
    nearer = clipped(values)
    assert abs(nearer[10, 0]) < 10
    assert nearer[30:].min() > 10


def test_bursts_of_three_days_are_no_steps_and_are_suspected_at_first() -> None:
    random = np.random.default_rng(6)
    values = 0.01 * random.normal(size=(120, 20))
    for place in (30, 70, 100):
        values[place : place + 3] += 0.1
    limit = evidence_for(0.01, 120)
    assert find_steps(values, limit, stride=3) == [[]] * 20
    # The first one, on its third day and a week later.
    suspected = [suspected_step(column[:33], [], limit) for column in values.T]
    assert sum(step is not None and step.place == 30 for step in suspected) >= 15
    assert all(suspected_step(column[:40], [], limit) is None for column in values.T)
