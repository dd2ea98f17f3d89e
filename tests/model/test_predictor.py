"""Wall time over CPU time of work beside others."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.model.synthetic import calibration, model

from clonometer.model.features import Features, add_features
from clonometer.model.later import UNKNOWN_SHARE, RewrittenShare, later_cost
from clonometer.model.predictor import predict, shares
from clonometer.model.stretch import StretchAt, stretch_at, stretches_of
from clonometer.model.types import NINE_IN_TEN, CostRange, Scale, Scales
from clonometer.prediction.spans import PredictedTime

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


def cost(median_ns: float, deviation: float) -> CostRange:
    ratio = math.exp(NINE_IN_TEN * deviation)
    return CostRange(median_ns / ratio, median_ns, median_ns * ratio)


def known(share: float) -> RewrittenShare:
    return RewrittenShare(share, share, share, "given")


FIRST, UNWRITTEN = CostRange(90.0, 100.0, 115.0), CostRange(60.0, 70.0, 80.0)


@pytest.mark.parametrize(
    ("share", "low_ns", "median_ns", "high_ns"), [(1.0, 90, 100, 115), (0.0, 60, 70, 80), (0.5, 75, 85, 97.5)]
)
def test_a_known_share_mixes_both_times(share: float, low_ns: float, median_ns: float, high_ns: float) -> None:
    assert later_cost(FIRST, UNWRITTEN, known(share)) == CostRange(low_ns, median_ns, high_ns)


def test_an_unknown_share_spans_both_and_what_waits_longest_is_the_headline() -> None:
    assert later_cost(FIRST, UNWRITTEN, UNKNOWN_SHARE) == CostRange(60, 100, 115)


def test_what_is_known_narrows_the_span() -> None:
    narrowed = later_cost(FIRST, UNWRITTEN, RewrittenShare(0.2, 0.3, 0.4, "measured"))
    assert (narrowed.low_ns, narrowed.median_ns, narrowed.high_ns) == pytest.approx((66, 79, 94))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("deviation", [0.05, 0.2])
def test_simulated_forks_lie_in_the_span_whatever_was_rewritten(share: float, deviation: float) -> None:
    first, unwritten = cost(100.0, deviation), cost(80.0, deviation)
    forks = (share * 100 + (1 - share) * 80) * np.exp(np.random.default_rng(3).normal(0, deviation, 20_000))
    for known_share, least, most in ((UNKNOWN_SHARE, 0.9, 1.0), (known(share), 0.89, 0.91)):
        span = later_cost(first, unwritten, known_share)
        assert least <= np.mean((span.low_ns <= forks) & (forks <= span.high_ns)) <= most


def test_a_dearer_unwritten_fork_is_still_within() -> None:
    """What does not depend on pages has no difference: the fit's noise may turn the two round."""
    first, unwritten = cost(50.0, 0.1), cost(51.0, 0.1)
    span = later_cost(first, unwritten, UNKNOWN_SHARE)
    assert (span.low_ns, span.median_ns, span.high_ns) == (first.low_ns, 50.0, unwritten.high_ns)


MS = 1_000_000
BUSY = [StretchAt(MS, 1.0, 1.0, 1.5), StretchAt(25 * MS, 2.0, 4.0, 8.0)]


def test_a_stretch_is_that_of_its_length() -> None:
    assert stretch_at(BUSY, MS) == BUSY[0]
    between = stretch_at(BUSY, 5 * MS)
    assert (between.low, between.median, between.high) == pytest.approx((1.5, 2.5, 4.75))
    # Beyond the ends as at the ends.
    assert stretch_at(BUSY, 10_000 * MS).median == 4.0
    assert stretch_at(BUSY, 0).median == 1.0
    with pytest.raises(ValueError, match="no stretch"):
        stretch_at([], MS)


def test_quantiles_are_those_of_what_was_measured_and_never_below_one() -> None:
    [short] = stretches_of({MS: [0.999, 1.0, 5.0, *[2.0] * 97]})
    assert (short.low, short.median, short.high) == (2.0, 2.0, 2.0)
    [free] = stretches_of({MS: [0.999] * 20, 5 * MS: []})
    assert (free.low, free.median, free.high) == (1.0, 1.0, 1.0)


def test_uncertainties_of_work_and_of_cpus_add_as_squares_of_logarithms() -> None:
    cpu = PredictedTime(10 * MS, 25 * MS, 50 * MS)
    wall = cpu.stretched(BUSY)
    assert wall.median == 100 * MS
    assert math.log(wall.median / wall.low) == pytest.approx(math.hypot(math.log(2.5), math.log(2)))
    assert math.log(wall.high / wall.median) == pytest.approx(math.hypot(math.log(2), math.log(2)))
    assert cpu.stretched(None) == cpu.stretched([]) == cpu
    free = [StretchAt(MS, 1.0, 1.0, 1.0)]
    assert cpu.stretched(free).high == pytest.approx(cpu.high)
