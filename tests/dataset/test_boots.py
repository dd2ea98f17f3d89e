from __future__ import annotations

import numpy as np
import pytest

from clonometer.dataset.boots import beyond_boots, boot_change, second_boot
from clonometer.dataset.history import judged_steps
from clonometer.dataset.history_types import BOOTS, FEW_RUNS
from clonometer.stats.steps import evidence_limit, find_steps

LIMIT = evidence_limit(1)


def judged(levels: list[float], days: int = 30) -> list[tuple[int, str | None]]:
    """The steps of boots with such levels, and why each is not sure."""
    random = np.random.default_rng(3)
    boots = [str(number) for number in range(len(levels)) for _ in range(days)]
    logs = np.repeat(levels, days) + 0.01 * random.normal(size=len(boots))
    steps = find_steps(logs[:, None], LIMIT)[0]
    return [(each.step.place, each.unsure) for each in judged_steps(logs, boots, steps, LIMIT)]


def test_a_new_level_with_a_boot_is_sure_once_a_second_boot_has_it() -> None:
    assert judged([0.0, 0.0, 0.0, 0.1]) == [(90, BOOTS)]
    assert judged([0.0, 0.0, 0.0, 0.1, 0.1]) == [(90, None)]
    # Boots that each have a level are no steps, however evident each is.
    assert {unsure for _, unsure in judged([0.0, 0.06, -0.04, 0.05, 0.0, 0.07])} == {BOOTS}


def test_without_boots_a_step_is_sure_with_seven_runs_and_suspected_before() -> None:
    logs = np.where(np.arange(60) >= 50, 0.1, 0.0) + 0.01 * np.random.default_rng(1).normal(size=60)
    for size, unsure in ((54, FEW_RUNS), (60, None)):
        steps = find_steps(logs[:size, None], LIMIT)[0]
        listed = judged_steps(logs[:size], [None] * size, steps, LIMIT)
        assert [(each.step.place, each.unsure) for each in listed] == [(50, unsure)]


def test_boots_are_units_as_in_students_test() -> None:
    scipy = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(2)
    boots = [str(number) for number in range(12)]
    for size in (0.0, 0.02, 0.04, 0.06):
        logs = 0.01 * random.normal(size=12) + np.where(np.arange(12) >= 6, size, 0.0)
        expected = scipy.ttest_ind(logs[:6], logs[6:]).pvalue < 0.001
        assert beyond_boots(logs, boots, 6) == expected


def test_where_the_boot_changed() -> None:
    boots = ["a", "a", None, "b", "b", "c"]
    assert boot_change(boots, 3, 0, 5) == 5
    assert boot_change(boots, 3, 0, 4) is None
    assert second_boot(boots, 3) == 5
    assert second_boot(boots, 5) is None
