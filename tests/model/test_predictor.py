from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.model.synthetic import calibration, model

from clonometer.model.features import Features, add_features
from clonometer.model.predictor import NINE_IN_TEN, predict, shares
from clonometer.model.types import Scale

PROCESS = Features(
    anon_areas=100, anon_pages=150_000, anon_tables=400, empty_areas=20, file_areas=30, shared_areas=5,
    dontfork_areas=1000, wipeonfork_areas=2, huge_pages=10, open_files=50, threads=4,
)  # fmt: skip
FIRST_NS = (
    50_000 + 400 * 300 + 100 * 650 + 22 * 200 + 35 * 350 + 1000 * 310 + 10 * 500 + 50 * 9 + 3 * 100 + 5000
    + 1000 * 30 + 99_000 * 40 + 50_000 * 60
)  # fmt: skip


def test_a_prediction_is_the_sum_of_its_terms() -> None:
    prediction = predict(PROCESS, calibration())
    assert prediction.fork.first.median_ns == pytest.approx(FIRST_NS)
    assert prediction.fork.later.median_ns == pytest.approx(0.8 * FIRST_NS)
    assert prediction.exit.median_ns == pytest.approx(0.9 * FIRST_NS)
    assert sum(part.first_ns for part in prediction.contributors) == pytest.approx(FIRST_NS)
    assert sum(part.later_ns for part in prediction.contributors) == pytest.approx(0.8 * FIRST_NS)
    assert prediction.contributors[0].term == "small pages"
    assert prediction.page_tables_bytes == 4096 * (410 + 1 + 2)
    assert (prediction.beyond, prediction.posix_spawn, prediction.cow.child_small) == ((), None, None)


def test_today_s_machine_scales_and_widens() -> None:
    made = calibration()
    made = replace(made, models={**made.models, "fork.first": model(misfit=0.03, scatter=0.04)})
    apart = predict(PROCESS, made, scale=Scale(1.5, 0.12, 2.0)).fork.first.median_ns
    pages_ns = 1000 * 30 + 99_000 * 40 + 50_000 * 60
    assert apart == pytest.approx(1.5 * (FIRST_NS - pages_ns) + 2.0 * pages_ns)
    scale = Scale(1.5, 0.12)
    prediction = predict(PROCESS, made, scale=scale)
    assert prediction.fork.first.median_ns == pytest.approx(1.5 * FIRST_NS)
    assert math.log(prediction.fork.first.high_ns / prediction.fork.first.median_ns) == pytest.approx(
        NINE_IN_TEN * 0.13
    )
    assert prediction.cow.parent_small is not None
    assert prediction.cow.parent_small.median_ns == pytest.approx(900)
    assert sum(part.first_ns for part in prediction.contributors) == pytest.approx(1.5 * FIRST_NS)


def test_the_shares_of_mappings_add_up_to_all_but_the_base() -> None:
    heap = Features(anon_areas=1, anon_pages=120_000, anon_tables=300, huge_pages=10)
    rest = replace(PROCESS, anon_areas=99, anon_pages=30_000, anon_tables=100, huge_pages=0, open_files=0, threads=0)
    whole = replace(add_features([heap, rest]), open_files=50, threads=4)
    assert whole == PROCESS
    divided = shares({"heap": heap, "rest": rest}, whole, calibration())
    assert sum(share.first_ns for share in divided.values()) == pytest.approx(FIRST_NS - 50_000 - 450 - 300 - 5000)
    assert divided["heap"].later_ns == pytest.approx(0.8 * divided["heap"].first_ns)


def test_what_was_not_measured_is_named() -> None:
    huge = replace(PROCESS, anon_pages=3_000_000, swapped_pages=5)
    assert predict(huge, calibration()).beyond == ("small pages", "swapped pages")
    no_limit = predict(Features(anon_pages=500 << 18, anon_areas=1), calibration())
    assert math.isfinite(no_limit.fork.first.high_ns)
