from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.model.synthetic import calibration, model

from clonometer.model.features import Features, add_features
from clonometer.model.predictor import predict, shares
from clonometer.model.types import NINE_IN_TEN, Scale, Scales

PROCESS = Features(
    anon_areas=100, anon_pages=150_000, anon_tables=400, empty_areas=20, file_areas=30, shared_areas=5,
    dontfork_areas=1000, wipeonfork_areas=2, huge_pages=10, open_files=50, threads=4, placed_pages=1000,
    scattered_pages=300,
)  # fmt: skip
#: What a fork of it touches: descriptors, page tables twice, areas.
TOUCHED = 64 * 150_000 + 2 * 4096 * 400 + 500 * (2 * 100 + 20 + 2 + 1000 + 30 + 5)
SCATTERED_NS = 20 + 60 * math.log(TOUCHED / 1e6) / math.log(100)
FIRST_NS = (
    50_000 + 150_000 * 40 + 400 * 300 + 100 * 650 + 22 * 200 + 35 * 350 + 1000 * 310 + 10 * 500 + 50 * 9 + 3 * 100
    + 5000 + 0.3 * 150_000 * SCATTERED_NS
)  # fmt: skip


def test_a_prediction_is_the_sum_of_its_terms() -> None:
    prediction = predict(PROCESS, calibration())
    assert prediction.fork.first.median_ns == pytest.approx(FIRST_NS)
    assert prediction.fork.unwritten.median_ns == pytest.approx(0.8 * FIRST_NS)
    assert prediction.exit.median_ns == pytest.approx(0.9 * FIRST_NS)
    assert prediction.exec.median_ns == pytest.approx(0.95 * FIRST_NS)
    assert sum(part.first_ns for part in prediction.contributors) == pytest.approx(FIRST_NS)
    assert sum(part.unwritten_ns for part in prediction.contributors) == pytest.approx(0.8 * FIRST_NS)
    assert prediction.contributors[0].term == "small pages"
    assert prediction.page_tables_bytes == 4096 * (410 + 1 + 2)
    assert (prediction.beyond, prediction.posix_spawn, "child_small" in prediction.cow) == ((), None, False)


def test_a_swapped_page_costs_what_a_present_one_does_and_is_named_as_never_measured() -> None:
    swapped = predict(replace(PROCESS, anon_pages=100_000, swapped_pages=50_000), calibration())
    assert swapped.fork.first.median_ns == pytest.approx(FIRST_NS)
    assert "swapped pages" in swapped.beyond


def test_today_s_machine_scales_and_widens() -> None:
    made = calibration()
    made = replace(made, models={**made.models, "fork.first": model(misfit=0.03, scatter=0.04)})
    prediction = predict(PROCESS, made, scales=Scales(Scale(1.5, 0.12), Scale(1.2, 0.0), Scale(2.0, 0.0)))
    assert prediction.fork.first.median_ns == pytest.approx(1.5 * FIRST_NS)
    assert math.log(prediction.fork.first.high_ns / prediction.fork.first.median_ns) == pytest.approx(
        NINE_IN_TEN * 0.13
    )
    hot, ends = prediction.fork.unwritten_hot, (prediction.exit, prediction.exec)
    assert hot.low_ns == hot.median_ns == pytest.approx(1.2 * 0.5 * FIRST_NS)
    assert [end.median_ns / FIRST_NS for end in ends] == pytest.approx([2 * 0.9, 2 * 0.95])
    assert prediction.cow["parent_small"].median_ns == pytest.approx(900)
    assert sum(part.first_ns for part in prediction.contributors) == pytest.approx(1.5 * FIRST_NS)


def test_the_shares_of_mappings_add_up_to_all_but_the_base() -> None:
    heap = Features(
        anon_areas=1, anon_pages=120_000, anon_tables=300, huge_pages=10, placed_pages=800, scattered_pages=240
    )
    rest = replace(
        PROCESS, anon_areas=99, anon_pages=30_000, anon_tables=100, huge_pages=0, open_files=0,
        threads=0, placed_pages=200, scattered_pages=60,
    )  # fmt: skip
    whole = replace(add_features([heap, rest]), open_files=50, threads=4)
    assert whole == PROCESS
    divided = shares([heap, rest], whole, calibration())
    assert sum(first_ns for first_ns, _ in divided) == pytest.approx(FIRST_NS - 50_000 - 450 - 300 - 5000)
    assert divided[0][1] == pytest.approx(0.8 * divided[0][0])


def test_what_was_not_measured_is_named() -> None:
    huge = replace(PROCESS, anon_pages=3_000_000, swapped_pages=5)
    assert predict(huge, calibration()).beyond == ("small pages", "swapped pages")
    no_limit = predict(Features(anon_pages=500 << 18, anon_areas=1), calibration())
    assert math.isfinite(no_limit.fork.first.high_ns)


def test_where_pages_lie_widens_the_interval_as_long_as_it_is_not_seen() -> None:
    unseen = replace(PROCESS, placed_pages=0, scattered_pages=0)
    none, all_of_them = (replace(PROCESS, scattered_pages=count) for count in (0, 1000))
    costs = [predict(each, calibration()).fork.first for each in (none, unseen, all_of_them)]
    assert [cost.low_ns == cost.high_ns for cost in costs] == [True, False, True]
    assert costs[1].median_ns == pytest.approx((costs[0].median_ns + costs[2].median_ns) / 2)
    assert costs[0].median_ns < costs[1].high_ns
    spread = math.log(costs[1].high_ns / costs[1].median_ns) / NINE_IN_TEN
    assert spread == pytest.approx(150_000 * SCATTERED_NS / math.sqrt(12) / costs[1].median_ns)


def test_a_mapping_without_seen_frames_is_scattered_like_the_process() -> None:
    seen = Features(anon_areas=1, anon_pages=1000, anon_tables=2, placed_pages=100, scattered_pages=100)
    unseen = Features(anon_areas=1, anon_pages=1000, anon_tables=2)
    whole = add_features([seen, unseen])
    costs = shares([seen, unseen], whole, calibration())
    assert costs[0] == costs[1]
