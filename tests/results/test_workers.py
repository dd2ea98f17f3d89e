"""Workers: curves through scans, threads against processes, and ablations, from runs of known numbers."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest

from clonometer.results import summarize
from clonometer.results.series import ablation, fits
from clonometer.results.types import Finding
from clonometer.views.fitted import fitted_charts

KINDS = ("thread", "process")
PARABOLA = {"thread": (300_000.0, 90.0, 0.32), "process": (900_000.0, 90.0, 0.32)}
NUMBERS = (1000, 3000, 5000, 5040, 5080, 5120, 5160, 5200, 7000, 11_000, 15_000, 19_000)


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


def _whole(value_ns: float, workers: int = 1) -> dict[str, float]:
    return {"whole_ns": value_ns, "whole_each_ns": value_ns / workers}


@pytest.fixture(scope="module")
def ops(make_builder: Any) -> Any:
    builder = make_builder()
    for kind in KINDS:
        for n in NUMBERS:
            value = sum(c * n**k for k, c in enumerate(PARABOLA[kind]))
            builder.cell("work.factor", _whole(value), None, task_kind=kind, numbers=n)
    return builder.run


@pytest.fixture(scope="module")
def scanned(make_builder: Any) -> Any:
    """On 2 CPUs: the same up to 2 workers; beyond, each thread adds 1.2 ms, each process 1 ms."""
    builder = make_builder()
    builder.run.metadata["host"]["cpu.online"] = 2
    for kind, slope in (("thread", 1.2e6), ("process", 1.0e6)):
        for w in (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32):
            value = 2e6 if w <= 2 else 2e6 + slope * (w - 2)
            builder.cell("work.factor", _whole(value, w), None, task_kind=kind, workers=w)
    return builder.run


@pytest.fixture(scope="module")
def ablated(make_builder: Any) -> Any:
    """The stream costs threads 6 ms, the counters 3; 1 remains, and the file table is nothing."""
    builder = make_builder()
    shared = {"output": "shared_stream", "counters": "adjacent"}
    steps: list[tuple[float, dict[str, str]]] = [
        (30e6, shared),
        (24e6, {"counters": "adjacent"}),
        (24e6, {"counters": "adjacent", "file_table": "own"}),
        (21e6, {"file_table": "own"}),
    ]
    for threads_ns, condition in steps:
        for kind, value in (("thread", threads_ns), ("process", 20e6)):
            builder.cell("work.factor", _whole(value), None, processes=20, spread=0.004, task_kind=kind, **condition)
    return builder.run


def test_a_parabola_through_numbers_has_its_known_terms(ops: Any) -> None:
    curves = _findings(ops)["fit.numbers.work.factor"].numbers["curves"]
    for kind in KINDS:
        for (low, high), truth in zip(curves[kind]["coefficients_ns_intervals"], PARABOLA[kind], strict=True):
            assert low <= truth <= high
        assert 0.9 < curves[kind]["r_squared"] <= 1


def test_findings_tables_and_figures_share_what_is_resampled(ops: Any, ablated: Any) -> None:
    with (
        patch.object(fits, "polynomial_through_medians", wraps=fits.polynomial_through_medians) as curve,
        patch.object(ablation, "ladder_of_differences", wraps=ablation.ladder_of_differences) as ladder,
    ):
        assert len(summarize(ops).series["fits"]) == curve.call_count == len(KINDS)
        assert len(summarize(ablated).series["ablations"]) == ladder.call_count == 1


def test_terms_are_compared_between_threads_and_processes(ops: Any) -> None:
    finding = _findings(ops)["fit.numbers.work.factor"]
    constant, _, quadratic = finding.numbers["coefficient_ratios"]
    assert constant[1] <= 1 / 3 <= constant[2]
    assert quadratic[1] <= 1 <= quadratic[2]
    assert "A parabola from 1,000 to 19,000 numbers" in finding.sentence
    assert "threads over processes: quadratic term" in finding.sentence


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
    assert verdicts == ["same", "longer"]
    assert "With 2 workers, threads and processes cannot be told apart" in finding.sentence
    assert "with 32 workers, threads take 1." in finding.sentence


def test_what_has_a_shape_has_no_line_of_its_own(ops: Any, scanned: Any) -> None:
    for run in (ops, scanned):
        assert not [name for name in _findings(run) if name.startswith("scan.")]


def test_panels_are_the_whole_the_dense_and_the_fitted_part(ops: Any, scanned: Any) -> None:
    def drawn(run: Any) -> tuple[list[str], list[list[int]], list[bool]]:
        results = summarize(run)
        charts = fitted_charts(results.scans, results.series["fits"])
        first = [[point["x"] for point in chart.points if point["label"] == chart.labels[0]] for chart in charts]
        return [chart.title.split(", ")[0] for chart in charts], first, [bool(chart.curves) for chart in charts]

    titles, (whole, dense), curves = drawn(ops)
    assert (whole, dense) == (list(NUMBERS), [5000, 5040, 5080, 5120, 5160, 5200])
    assert (len(titles), curves) == (2, [True, False])
    titles, (_, dense, fitted, _), curves = drawn(scanned)
    assert (dense, fitted[0]) == ([1, 2, 3, 4, 5, 6, 7, 8], 3)
    assert curves == [False, False, True, False]
    assert titles[-1].startswith("whole for each of them")


def test_too_few_points_have_no_curve(builder: Any) -> None:
    for n in (1000, 2000, 3000):
        builder.cell("work.factor", _whole(1e6 * n), None, numbers=n)
    assert summarize(builder.run).series["fits"] == ()


def test_an_ablation_finds_what_each_thing_costs(ablated: Any) -> None:
    (ablation,) = summarize(ablated).series["ablations"]
    assert [rung.axis for rung in ablation.rungs] == [None, "output", "file_table", "counters"]
    for rung, truth in zip(ablation.rungs, (10e6, 4e6, 4e6, 1e6), strict=True):
        assert rung.gap_ns[1] <= truth <= rung.gap_ns[2]
    for rung, truth in zip(ablation.rungs[1:], (6e6, 0.0, 3e6), strict=True):
        assert rung.step_ns is not None
        assert rung.step_ns[1] <= truth <= rung.step_ns[2]
    assert ablation.remainder_share is not None
    assert ablation.remainder_share[1] <= 0.1 <= ablation.remainder_share[2]


def test_an_ablation_says_what_remains(ablated: Any) -> None:
    finding = _findings(ablated)["ablation.work.factor"]
    low, high = finding.numbers["unexplained_ns_interval"]
    assert low <= 1e6 <= high
    assert "unexplained" in finding.sentence
    assert "a file each" in finding.sentence
    assert "own file table" not in finding.sentence
    assert not [name for name in _findings(ablated) if name.startswith("workers.")]


def test_single_rungs_of_an_ablation_are_no_choices(ablated: Any) -> None:
    assert not [name for name in _findings(ablated) if name.startswith("choice.")]


def test_a_scan_or_a_cross_is_no_ablation(ops: Any, builder: Any) -> None:
    assert summarize(ops).series["ablations"] == ()
    for kind in KINDS:
        for output in ("worker_file", "shared_stream"):
            for table in ("inherited", "own"):
                builder.cell("work.factor", _whole(1e6), None, task_kind=kind, output=output, file_table=table)
    assert summarize(builder.run).series["ablations"] == ()


def test_no_gap_is_said_to_be_none(make_builder: Any) -> None:
    builder = make_builder()
    shared = {"output": "shared_stream", "counters": "adjacent", "file_table": "own"}
    for taken in range(4):
        condition = dict(list(shared.items())[taken:])
        for kind in KINDS:
            builder.cell("work.factor", _whole(20e6), None, processes=20, spread=0.01, task_kind=kind, **condition)
    finding = _findings(builder.run)["ablation.work.factor"]
    assert "With all shared, threads and processes cannot be told apart" in finding.sentence
    assert "there is no gap to explain" in finding.sentence
    assert "unexplained" not in finding.sentence
    assert finding.numbers["unexplained_share"] is None


def test_variants_are_told_together_the_largest_first(make_builder: Any) -> None:
    builder = make_builder()
    builder.run.metadata["host"]["cpu.online"] = 2
    variants: list[tuple[float, dict[str, str]]] = [
        (1.0, {}),
        (1.3, {"output": "shared_stream"}),
        (2.5, {"counters": "adjacent"}),
        (0.8, {"output": "none"}),
    ]
    for times, condition in variants:
        for kind, factor in (("thread", times), ("process", 1.0)):
            builder.cell("work.factor", _whole(10e6 * factor, 8), None, task_kind=kind, workers=8, **condition)
    finding = _findings(builder.run)["variants.work.factor.8"]
    assert finding.sentence.startswith("With 8 workers of work.factor, threads take longer than processes with adj")
    first, second = finding.sentence.index("adjacent counters 2.5"), finding.sentence.index("one stream 1.3")
    assert first < second < finding.sentence.index("processes take longer with no output 1.2")
    assert "nothing shared" in finding.sentence
    assert len(finding.numbers["ratios"]) == 4


def test_of_points_on_a_curve_only_the_last_is_compared(ops: Any) -> None:
    contests = [name for name in _findings(ops) if name.startswith("workers.")]
    assert contests == ["workers.work.factor.19000"]
