from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from tests.model.synthetic import calibration

from clonometer.model.features import Features
from clonometer.model.predictor import predict
from clonometer.model.types import CostRange
from clonometer.model.validated import ValidatedFork
from clonometer.model.validation import random_mixture, summarize_validation, validated_forks
from clonometer.records import from_json, to_json

MAKER = Path(__file__).parents[2] / "core" / "targets" / "maker.c"


def test_mixtures_are_drawn_from_all_that_the_maker_knows() -> None:
    keys = set(re.findall(r'\] = "(\w+)"', MAKER.read_text()))
    chance = random.Random(1)
    drawn = [random_mixture(chance) for _ in range(200)]
    # What few processes have and not all machines can make is calibrated, and not drawn.
    keys -= {"hugetlb_pages", "userfaultfd_areas"}
    assert set(drawn[0]) == keys
    for key in keys - {"dense_parts"}:
        assert {mixture[key] > 0 for mixture in drawn} == {True, False}


def test_errors_and_coverage() -> None:
    forks = [
        ValidatedFork("first", CostRange(80, 100, 120), (100.0, 110.0, 130.0), 110.0, "small pages"),
        ValidatedFork("first", CostRange(80, 100, 120), (95.0, 100.0, 100.0), 100.0, "base"),
        ValidatedFork("later", CostRange(40, 50, 60), (100.0, 100.0, 100.0), 100.0, "base"),
    ]
    result = summarize_validation(forks)
    assert result.whole.median_error == pytest.approx(1 - 100 / 110)
    assert result.whole.coverage == pytest.approx(5 / 9)
    assert [(group.group, group.processes) for group in result.states] == [("first", 2), ("later", 1)]
    assert {group.group: round(group.bias, 3) for group in result.terms} == {"small pages": -0.091, "base": -0.25}
    assert to_json(result)["whole"]["processes"] == 3


def test_a_prediction_is_set_beside_each_state() -> None:
    prediction = predict(Features(anon_areas=3, anon_pages=100_000, anon_tables=200), calibration())
    made = validated_forks(prediction, {"fork.first": [1, 2], "fork.later_hot": [3]})
    assert [(fork.state, fork.predicted, fork.largest_term) for fork in made] == [
        ("first", prediction.fork.first, "small pages"),
        ("later_hot", prediction.fork.later_hot, "small pages"),
    ]
    assert from_json(ValidatedFork, to_json(made[0])) == made[0]
