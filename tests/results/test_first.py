"""What the first screen says of runs whose truth is known: ids, cells and numbers. The words are in the golden file."""

from __future__ import annotations

import re

import pytest
from tests.fakes.memory_run import RunBuilder
from tests.results.runs import FORK, PTHREAD, RUNS, plus

from clonometer.results.first.reasons import _reasons_finding, _say_shares
from clonometer.results.summary import summarize
from clonometer.results.types import FirstScreen
from clonometer.stats.interval import Interval
from clonometer.units import format_duration

KIB, GIB = 1 << 10, 1 << 30


def first(name: str) -> FirstScreen:
    return summarize(RUNS[name]()).first


def ids(findings) -> list[str]:
    return [finding.id for finding in findings]


@pytest.fixture(scope="module")
def default() -> FirstScreen:
    return first("default_plan")


def test_the_default_plan_says_what_why_and_what_to_do(default: FirstScreen) -> None:
    assert ids(default.answer) == ["answer.contest", "answer.effect.parent_bytes.launch.fork"]
    contest, effect = default.answer
    assert contest.numbers["ratio"] == pytest.approx(3, rel=0.03)
    assert effect.numbers["cells"][0] == f"launch.fork[parent_bytes={GIB},temperature=warm]"
    assert default.reasons[0].id == "why.difference"
    assert set(ids(default.advice)) == {"do.parent_bytes", "do.mechanism.same_image", "do.linkage"}
    assert default.next is not None
    assert default.next.words == ("explain", "fork", "--vs", "pthread")


def test_parts_of_a_difference_are_those_that_were_put_in() -> None:
    # Fork takes 40 us longer in the call, as long until the task runs, and 20 us longer in its end.
    builder = RunBuilder()
    builder.cell("launch.fork", FORK)
    builder.cell("launch.pthread", {**PTHREAD, "reaped_ns": PTHREAD["task_runs_ns"] + 10_000})
    [reason] = [finding for finding in summarize(builder.run).first.reasons if finding.id == "why.difference"]
    assert reason.numbers["shares"]["call_returns"] == pytest.approx(2 / 3, abs=0.03)
    assert reason.numbers["shares"]["task_runs"] == pytest.approx(0, abs=0.03)
    assert reason.numbers["shares"]["reaped"] == pytest.approx(1 / 3, abs=0.03)


def test_what_is_extra_is_the_difference_of_the_medians_shown_and_its_shares_add_up() -> None:
    for seed in range(1, 9):
        builder = RunBuilder(seed=seed)
        builder.cell("launch.fork", FORK, spread=0.1)
        builder.cell("launch.pthread", {**PTHREAD, "reaped_ns": PTHREAD["task_runs_ns"] + 10_000}, spread=0.1)
        results = summarize(builder.run)
        medians = {each.workload: each.median_ns for each in results.cells if each.stage == "reaped" and each.rankable}
        extra = format_duration(medians["launch.fork"] - medians["launch.pthread"])
        for reason in results.first.reasons:
            if reason.id == "why.difference":
                assert f"extra {extra}:" in reason.headline
                assert f"Of the {extra} that" in reason.sentence
                assert sum(map(int, re.findall(r"(\d+)%", reason.headline))) == 100


def test_parts_that_add_up_to_something_else_are_not_told() -> None:
    parts = {stage: Interval(ns, ns, ns, 0.95, "fixed", 12) for stage, ns in (("call_returns", 30e3), ("reaped", 20e3))}
    whole_ns = 50e3
    assert _reasons_finding("why.difference", ("of it", "it"), whole_ns, parts, []) is not None
    assert _reasons_finding("why.difference", ("of it", "it"), 1.3 * whole_ns, parts, []) is None


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ((0.5, 0.2, 0.3), "50% in the call, 20% starting the task, 30% in exit and wait"),
        ((0.335, 0.335, 0.33), "33% in the call, 34% starting the task, 33% in exit and wait"),
        ((0.92, 0.04, 0.04), "92% in the call, 8% elsewhere"),
        ((0.7, -0.04, 0.34), "66% in the call, 34% in exit and wait"),
    ],
)
def test_shares_add_up_to_100(shares: tuple[float, ...], sentence: str) -> None:
    assert ", ".join(_say_shares(dict(zip(("call_returns", "task_runs", "reaped"), shares, strict=True)))) == sentence


def test_parts_whose_order_differs_are_not_told() -> None:
    builder = RunBuilder()
    builder.cell("launch.fork", FORK)
    builder.cell("launch.pthread", {"call_returns_ns": 20_000, "task_runs_ns": 10_000, "reaped_ns": 30_000})
    assert "why.difference" not in ids(summarize(builder.run).first.reasons)


def test_advice_needs_a_sure_difference_and_a_tenth() -> None:
    unsure, small, sure = RunBuilder(), RunBuilder(), RunBuilder()
    for builder, factor, processes in ((unsure, 3.0, 2), (small, 1.05, 12), (sure, 1.5, 12)):
        builder.cell("launch.fork", {name: value * factor for name, value in FORK.items()}, processes=processes)
        builder.cell("launch.pthread", FORK, processes=processes)
    made = [ids(summarize(builder.run).first.advice) for builder in (unsure, small, sure)]
    assert made == [[], [], ["do.mechanism.same_image"]]


def test_advice_names_the_cheaper_side_and_only_what_one_can_choose() -> None:
    builder = RunBuilder()
    builder.cell("launch.fork", plus(FORK, 900_000), parent_bytes=GIB)
    builder.cell("launch.fork", plus(FORK, 100_000), parent_bytes=GIB, page_kind="thp")
    # The state of the caches is nobody's choice.
    builder.cell("launch.fork", plus(FORK, 990_000), parent_bytes=GIB, caches="idle")
    advice = summarize(builder.run).first.advice
    assert ids(advice) == ["do.page_kind"]
    assert "page_kind=thp" in advice[0].numbers["cells"][0]


DETACHED = {name: value for name, value in PTHREAD.items() if name != "reaped_ns"}


@pytest.mark.parametrize(("factor", "effects"), [(1.0, []), (1.5, ["answer.effect.detached.launch.pthread"])])
def test_an_effect_is_told_at_the_last_stage_that_both_cells_have(factor: float, effects: list[str]) -> None:
    # A detached thread is never reaped; the joined one takes twice as long until then as until its task runs.
    builder = RunBuilder()
    builder.cell("launch.pthread", {**PTHREAD, "reaped_ns": 2 * PTHREAD["task_runs_ns"]}, spread=0.005)
    detached = {name: factor * value for name, value in DETACHED.items()}
    builder.cell("launch.pthread", detached, spread=0.005, detached="yes")
    answer = {finding.id: finding for finding in summarize(builder.run).first.answer}
    assert [name for name in answer if "effect" in name] == effects
    for name in effects:
        assert answer[name].numbers["stage"] == "task_runs"
        assert answer[name].numbers["ratio"] == pytest.approx(factor, rel=0.03)
        assert "until the task runs" in answer[name].sentence


def test_cells_without_a_stage_in_common_are_not_compared() -> None:
    builder = RunBuilder()
    builder.cell("launch.pthread", {"reaped_ns": 30_000})
    builder.cell("launch.pthread", {"task_runs_ns": 90_000}, detached="yes")
    assert [name for name in ids(summarize(builder.run).first.answer) if "effect" in name] == []


def test_rivals_are_compared_at_one_stage() -> None:
    # Fork has no end: until the task runs it takes 3 times as long as pthread, which takes 30 us to its end.
    builder = RunBuilder()
    builder.cell("launch.fork", {name: value for name, value in FORK.items() if name != "reaped_ns"})
    builder.cell("launch.pthread", PTHREAD)
    screen = summarize(builder.run).first
    for finding in (screen.answer[0], screen.advice[0]):
        assert finding.numbers["stage"] == "task_runs"
        assert finding.numbers["ratio"] == pytest.approx(3, rel=0.03)
        assert "until the task runs" in finding.sentence
    # A third that ends as pthread does is its rival; fork, cheaper than both as far as it was timed, is none.
    builder.cell("launch.clone", {name: 10 * value for name, value in PTHREAD.items()})
    screen = summarize(builder.run).first
    assert [finding.numbers["stage"] for finding in (screen.answer[0], screen.advice[0])] == ["reaped", "reaped"]
    assert all("launch.fork" not in cell for cell in screen.answer[0].numbers["cells"])


def test_what_disturbs_trust_is_counted_by_rows() -> None:
    doubts = {finding.id: finding.numbers for finding in first("few_processes").doubts}
    few = doubts["doubt.processes.few"]
    assert few["rows"] == few["of_rows"] > 0


def test_a_first_screen_changes_no_finding() -> None:
    from clonometer.results.findings.comparing import PairwiseTests
    from clonometer.results.findings.finder import find_all
    from clonometer.results.first.answer import first_question
    from clonometer.results.rows.estimates import estimate_cells
    from clonometer.results.rows.observed import observe
    from clonometer.results.rows.run_estimates import RunEstimates

    run = RUNS["default_plan"]()
    document = run.document
    rows = list(estimate_cells(observe(run), document))
    estimates = RunEstimates([row for row in rows if row.n_samples], document)
    assert summarize(run).findings == find_all(PairwiseTests(estimates, document.seed, first_question(estimates)))
