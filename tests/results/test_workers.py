"""Workers: curves through scans, threads against processes, and ablations, from runs of known numbers."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from tests.results.runs import KINDS
from tests.results.runs_of_workers import (
    NUMBERS,
    PARABOLA,
    ablation,
    ablation_without_gap,
    variants,
    whole_times,
    work_by_numbers,
    work_by_workers,
)

from clonometer.results.series import ablation as ladders
from clonometer.results.series import fits
from clonometer.results.summary import summarize
from clonometer.results.types import Finding
from clonometer.views.fitted import fitted_charts


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


@pytest.fixture(scope="module")
def ops() -> Any:
    return work_by_numbers()


@pytest.fixture(scope="module")
def scanned() -> Any:
    return work_by_workers()


@pytest.fixture(scope="module")
def ablated() -> Any:
    return ablation()


def test_a_parabola_through_numbers_has_its_known_terms(ops: Any) -> None:
    curves = _findings(ops)["fit.numbers.work.factor"].numbers["curves"]
    for kind in KINDS:
        for (low, high), truth in zip(curves[kind]["coefficients_ns_intervals"], PARABOLA[kind], strict=True):
            assert low <= truth <= high
        assert 0.9 < curves[kind]["r_squared"] <= 1


def test_findings_tables_and_figures_share_what_is_resampled(ops: Any, ablated: Any) -> None:
    with (
        patch.object(fits, "polynomial_through_medians", wraps=fits.polynomial_through_medians) as curve,
        patch.object(ladders, "ladder_of_differences", wraps=ladders.ladder_of_differences) as ladder,
    ):
        assert len(summarize(ops).series["fits"]) == curve.call_count == len(KINDS)
        assert len(summarize(ablated).series["ablations"]) == ladder.call_count == 1


def test_terms_are_compared_between_threads_and_processes(ops: Any) -> None:
    finding = _findings(ops)["fit.numbers.work.factor"]
    constant, _, quadratic = finding.numbers["coefficient_ratios"]
    assert constant[1] <= 1 / 3 <= constant[2]
    assert quadratic[1] <= 1 <= quadratic[2]


def test_a_line_goes_through_what_is_beyond_the_cpus(scanned: Any) -> None:
    numbers = _findings(scanned)["fit.workers.work.factor"].numbers
    for kind, slope in (("thread", 1.2e6), ("process", 1.0e6)):
        assert numbers["curves"][kind]["x"][0] == 3
        low, high = numbers["curves"][kind]["coefficients_ns_intervals"][1]
        assert low <= slope <= high
    assert numbers["coefficient_ratios"][1][0] == pytest.approx(1.2, rel=0.1)


def test_threads_and_processes_are_compared_within_and_beyond_the_cpus(scanned: Any) -> None:
    finding = _findings(scanned)["workers.work.factor"]
    assert finding.numbers["workers"] == [2, 32]
    verdicts = [ratio["verdict"] for ratio in finding.numbers["ratios"]]
    assert verdicts == ["unknown", "more"]


def test_what_has_a_shape_has_no_line_of_its_own(ops: Any, scanned: Any) -> None:
    for run in (ops, scanned):
        assert not [name for name in _findings(run) if name.startswith("scan.")]


def test_panels_are_the_whole_the_dense_and_the_fitted_part(ops: Any, scanned: Any) -> None:
    def drawn(run: Any) -> tuple[list[str], list[list[int]], list[bool]]:
        results = summarize(run)
        titles, panels = zip(*fitted_charts(results.scans, results.series["fits"]), strict=True)
        first = [
            [point["x"] for point in panel.points if point["label"] == next(iter(panel.drawn))] for panel in panels
        ]
        return [title.split(", ")[0] for title in titles], first, [bool(panel.curves) for panel in panels]

    titles, (whole, dense), curves = drawn(ops)
    assert (whole, dense) == (list(NUMBERS), [5000, 5040, 5080, 5120, 5160, 5200])
    assert (len(titles), curves) == (2, [True, False])
    titles, (_, dense, fitted, _), curves = drawn(scanned)
    assert (dense, fitted[0]) == ([1, 2, 3, 4, 5, 6, 7, 8], 3)
    assert curves == [False, False, True, False]
    assert titles[-1] == "Whole time for each worker"


def test_too_few_points_have_no_curve(builder: Any) -> None:
    for n in (1000, 2000, 3000):
        builder.cell("work.factor", whole_times(1e6 * n), None, numbers=n)
    assert summarize(builder.run).series["fits"] == ()


def test_an_ablation_finds_what_each_thing_costs(ablated: Any) -> None:
    (measured,) = summarize(ablated).series["ablations"]
    assert [rung.axis for rung in measured.rungs] == [None, "output", "file_table", "counters"]
    for rung, truth in zip(measured.rungs, (10e6, 4e6, 4e6, 1e6), strict=True):
        assert rung.gap_ns[1] <= truth <= rung.gap_ns[2]
    for rung, truth in zip(measured.rungs[1:], (6e6, 0.0, 3e6), strict=True):
        assert rung.step_ns is not None
        assert rung.step_ns[1] <= truth <= rung.step_ns[2]
    assert measured.remainder_share is not None
    assert measured.remainder_share[1] <= 0.1 <= measured.remainder_share[2]


def test_an_ablation_says_what_remains(ablated: Any) -> None:
    finding = _findings(ablated)["ablation.work.factor"]
    low, high = finding.numbers["unexplained_ns_interval"]
    assert low <= 1e6 <= high
    assert not [name for name in _findings(ablated) if name.startswith("workers.")]


def test_single_rungs_of_an_ablation_are_no_choices(ablated: Any) -> None:
    assert not [name for name in _findings(ablated) if name.startswith("choice.")]


def test_a_scan_or_a_cross_is_no_ablation(ops: Any, builder: Any) -> None:
    assert summarize(ops).series["ablations"] == ()
    for kind in KINDS:
        for output in ("worker_file", "shared_stream"):
            for table in ("inherited", "own"):
                builder.cell("work.factor", whole_times(1e6), None, task_kind=kind, output=output, file_table=table)
    assert summarize(builder.run).series["ablations"] == ()


def test_no_gap_is_said_to_be_none() -> None:
    numbers = _findings(ablation_without_gap())["ablation.work.factor"].numbers
    low, high = numbers["gap_ns_interval"]
    assert low < 0 < high
    assert numbers["unexplained_share"] is None


def test_variants_are_told_together_with_their_known_ratios() -> None:
    ratios = _findings(variants())["variants.work.factor.8"].numbers["ratios"]
    assert [ratio["ratio"] for ratio in ratios] == pytest.approx([1.0, 1.3, 2.5, 0.8], rel=0.05)
    assert [ratio["condition"] for ratio in ratios] == [
        {},
        {"output": "shared_stream"},
        {"counters": "adjacent"},
        {"output": "none"},
    ]
    assert [ratio["verdict"] for ratio in ratios[1:]] == ["more", "more", "less"]


def test_of_points_on_a_curve_only_the_last_is_compared(ops: Any) -> None:
    contests = [name for name in _findings(ops) if name.startswith("workers.")]
    assert contests == ["workers.work.factor.19000"]
