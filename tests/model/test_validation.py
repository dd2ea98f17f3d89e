from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from tests.model.synthetic import calibration

from clonometer.model.features import Features
from clonometer.model.making import ForkedProcess
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
    features = Features(anon_areas=3, anon_pages=100_000, anon_tables=200, placed_pages=100_000)
    prediction = predict(features, calibration())
    calls = {"fork.first": [4, 4], "fork.half_written": [3], "fork.unwritten": [2], "fork.unwritten_hot": [1]}
    waits = {"fork.first": [10, 20], "fork.unwritten": [30]}
    forks = validated_forks(prediction, ForkedProcess("it", Features(), calls, waits))
    judged = {fork.state: fork for fork in forks}
    assert [(fork.state, fork.calls_ns) for fork in forks if not fork.state.startswith("later")] == [
        ("first", (4, 4)), ("half_written", (3,)), ("unwritten", (2,)), ("unwritten_hot", (1,)),
        ("until_exit", (14, 24)), ("until_exec", (32,)),
    ]  # fmt: skip
    # A later fork is judged by a span that does not know which of the three it is.
    assert [fork.calls_ns for fork in forks if fork.state == "later"] == [(4, 4), (3,), (2,)]
    fork = prediction.fork
    span = judged["later"].predicted
    assert (span.low_ns, span.high_ns) == pytest.approx((fork.unwritten.median_ns, fork.first.median_ns))
    assert span.median_ns == fork.first.median_ns
    half = judged["half_written"].predicted.median_ns
    assert half == pytest.approx((fork.first.median_ns + fork.unwritten.median_ns) / 2)
    assert judged["until_exec"].predicted.median_ns == fork.unwritten.median_ns + prediction.exec.median_ns
    assert {fork.largest_term for fork in forks} == {"small pages"}
    assert from_json(ValidatedFork, to_json(forks[0])) == forks[0]
