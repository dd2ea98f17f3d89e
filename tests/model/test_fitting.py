from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.model.synthetic import KNOTS, TERMS, calibration, model

from clonometer.errors import InputError
from clonometer.model.features import Features
from clonometer.model.fitting import Observation, fit_model
from clonometer.model.making import ForkedProcess
from clonometer.model.predictor import cost_of, predict
from clonometer.model.terms import design_row, scattered_pages
from clonometer.model.types import NINE_IN_TEN, CostRange
from clonometer.model.validated import ValidatedFork
from clonometer.model.validation import random_mixture, summarize_validation, validated_forks
from clonometer.records import from_json, to_json

BASE = Features(
    anon_areas=5, anon_pages=20, anon_tables=5, file_areas=8, open_files=4, threads=1, placed_pages=20
)  # fmt: skip


def plus(**counts: int) -> Features:
    return Features(**{name: getattr(BASE, name) + counts.get(name, 0) for name in BASE.__dataclass_fields__})


CONDITIONS = [
    BASE,
    *(plus(anon_areas=1, anon_pages=pages, anon_tables=pages // 512) for pages in (980, 5000, 20_000, 99_980, 400_000)),
    *(
        plus(anon_areas=1, anon_pages=pages, anon_tables=pages // 512, placed_pages=pages, scattered_pages=pages)
        for pages in (12_000, 100_000, 1_000_000)
    ),
    plus(anon_areas=1, anon_pages=512, anon_tables=512),
    plus(anon_areas=1000, anon_pages=1000, anon_tables=2),
    plus(empty_areas=1000),
    plus(shared_areas=1000),
    plus(dontfork_areas=3000),
    plus(huge_pages=200),
    plus(open_files=2000),
    plus(threads=1),
    plus(threads=50),
    plus(anon_areas=300, anon_pages=60_000, anon_tables=150, open_files=500, threads=5),
]

UNSEEN = plus(
    anon_areas=200, anon_pages=50_000, anon_tables=200, empty_areas=300, dontfork_areas=500, open_files=100,
    placed_pages=180, scattered_pages=100,
)  # fmt: skip


def truth_ns(features: Features) -> float:
    return float(design_row(features, TERMS, KNOTS) @ np.array(model().each_ns))


def observations(seed: int, noise: float, processes: int = 12) -> list[Observation]:
    random = np.random.default_rng(seed)
    return [
        Observation(
            str(number),
            features,
            truth_ns(features) * np.exp(noise * random.normal() + 0.02 * random.normal(size=3)),
        )
        for number, features in enumerate(CONDITIONS)
        for _ in range(processes)
    ]


def test_without_noise_the_truth_comes_back() -> None:
    fitted = fit_model(observations(1, 0.0, processes=40), seed=1, caches_are_hot=True, draws=2)
    # Times of scattered pages are known where they were measured, and in between by the same rule as the truth.
    assert cost_of(UNSEEN, fitted).median_ns == pytest.approx(truth_ns(UNSEEN), rel=0.03)
    each = dict(zip(fitted.terms, fitted.each_ns, strict=False))
    assert each["small pages"] == pytest.approx(40, rel=0.05)
    assert each["areas kept from children"] == pytest.approx(310, rel=0.05)
    assert each["huge pages"] == pytest.approx(500, rel=0.1)
    assert fitted.misfit < 0.02
    assert fitted.scatter == pytest.approx(0.02, rel=0.3)
    most = dict(zip((*fitted.terms, "scattered pages"), fitted.most, strict=True))
    assert (most["small pages"], most["scattered pages"]) == (1_000_020, 1_000_000)
    assert len(fitted.knots) == 3


def test_coefficients_are_costs_and_more_pages_cost_more() -> None:
    fitted = fit_model(observations(3, 0.4, processes=3), seed=1, caches_are_hot=True, draws=20)
    assert min(fitted.each_ns) >= 0
    assert min(min(draw) for draw in fitted.draws_ns) >= 0
    pages = [
        plus(anon_areas=1, anon_pages=count, anon_tables=count // 512, placed_pages=1)
        for count in range(0, 500_000, 25_000)
    ]
    costs = [cost_of(features, fitted).median_ns for features in pages]
    assert costs == sorted(costs)


def test_nine_in_ten_forks_of_an_unseen_process_lie_within() -> None:
    random = np.random.default_rng(5)
    noise, within, count = 0.08, 0, 60
    for seed in range(count):
        fitted = fit_model(observations(seed, noise, processes=8), seed=seed, caches_are_hot=True, draws=20)
        predicted = cost_of(UNSEEN, fitted)
        calls = truth_ns(UNSEEN) * np.exp(noise * random.normal(size=20) + 0.02 * random.normal(size=20))
        within += int(np.sum((predicted.low_ns <= calls) & (calls <= predicted.high_ns)))
    assert 0.84 < within / (20 * count) < 0.96


def test_with_cold_caches_a_scattered_page_has_one_price() -> None:
    cold = [
        Observation(
            each.condition,
            each.features,
            np.full(3, truth_ns(replace(each.features, scattered_pages=0)) + 50.0 * scattered_pages(each.features)),
        )
        for each in observations(1, 0.0, processes=1)
    ]
    fitted = fit_model(cold, seed=1, draws=2)
    assert fitted.each_ns[len(fitted.terms) :] == pytest.approx((50.0,), rel=0.01)
    assert fitted.misfit < 0.01


def test_nothing_measured_is_an_error() -> None:
    with pytest.raises(InputError, match="nothing was measured"):
        fit_model([], seed=1)


def test_noise_moves_no_coefficient_in_one_direction() -> None:
    """Errors as shares of what was measured pulled a fit to the short times: by 8% at this noise."""
    made = fit_model(observations(5, 0.3, processes=60), seed=1, caches_are_hot=True, draws=2)
    logs = [np.log(cost_of(features, made).median_ns / truth_ns(features)) for features in CONDITIONS]
    assert abs(float(np.mean(logs))) < 0.03


def test_an_unsteady_condition_widens_the_interval_as_a_steady_one_narrows_it() -> None:
    chance = np.random.default_rng(2)
    spreads = [0.05] * 6 + [0.4] * 4
    calls = [
        Observation(str(number), replace(BASE, empty_areas=number), 1e6 * np.exp(chance.normal(0, spread, 400)))
        for number, spread in enumerate(spreads)
    ]
    ratio = np.exp(NINE_IN_TEN * fit_model(calls, seed=1, draws=2).scatter)
    within = [np.mean(np.abs(np.log(each.calls / 1e6)) <= np.log(ratio)) for each in calls]
    assert float(np.mean(within)) == pytest.approx(0.9, abs=0.02)


@pytest.mark.parametrize("slower", [1.0, 3.0])
def test_a_call_that_copies_nothing_has_no_time_for_memory_nor_for_what_cannot_be_told_from_none(slower: float) -> None:
    """A slope of noise is nothing at 64 MiB, and minutes at the size of a real server.

    Beside other work the few launches of one condition may all be slower.
    """
    chance = np.random.default_rng(3)
    large = plus(anon_areas=1, anon_pages=16_384, anon_tables=32, placed_pages=16_384, scattered_pages=16_000)
    conditions = {"small": BASE, "memory": large, "files": plus(open_files=2000), "areas": plus(anon_areas=1000)}
    calls = [
        Observation(
            name,
            each,
            (3e5 + 40.0 * each.open_files)
            * (slower if name == "memory" else 1.0)
            * np.exp(0.03 * chance.normal(size=3)),
        )
        for name, each in conditions.items()
        for _ in range(6)
    ]
    fitted = fit_model(calls, copies_memory=False, seed=1)
    assert set(fitted.flat) >= {"small pages", "page tables", "scattered pages"}
    assert fitted.terms == ("base", "open files")
    at_64_gib = cost_of(plus(anon_pages=1 << 24, anon_tables=1 << 15), fitted).median_ns
    assert at_64_gib == pytest.approx(cost_of(BASE, fitted).median_ns)
    assert 3e5 <= at_64_gib * 1.05 <= 3e5 * slower * 1.1
    assert fit_model(calls, seed=1).flat == ()


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
