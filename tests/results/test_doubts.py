"""Findings say nothing that their numbers do not bear: each of these runs once got a sentence that said too much."""

from __future__ import annotations

from typing import Any

import pytest
from bench.decisive import NULLS, Machine, differences, report, simulated
from tests.results import runs_of_doubts as doubts
from tests.results.runs import FORK, GIB, MIB, scaled

from clonometer.results.summary import summarize
from clonometer.results.types import Finding
from clonometer.views.rows import floor_costs, make_rows


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


def test_a_slope_is_no_longer_than_what_was_measured() -> None:
    numbers = _findings(doubts.memory_of_2_mib())["memory.fork"].numbers
    assert numbers["verdict"] == "more"
    assert numbers["slope_ns_per_page"] == pytest.approx(50, rel=0.05)
    assert numbers["straight_upto_bytes"] == numbers["parent_bytes"][-1] == 2 * MIB


def test_too_few_processes_give_no_slope_and_no_difference() -> None:
    numbers = _findings(doubts.memory_from_2_processes())["memory.fork"].numbers
    assert (numbers["verdict"], numbers["n_processes"]) == ("unknown", 2)
    assert numbers["confidence"] < 0.95
    for finding in _findings(doubts.ratios_from_2_processes()).values():
        assert differences(finding.numbers) == [], finding.id


def test_three_processes_beside_many_are_too_few(builder: Any) -> None:
    builder.cell("launch.fork", scaled(FORK, 10), processes=3)
    builder.cell("launch.pthread", FORK, processes=60)
    assert _findings(builder.run)["process_vs_thread.warm"].numbers["verdict"] == "unknown"


def test_what_takes_less_with_more_memory_is_no_cost() -> None:
    numbers = _findings(doubts.memory_that_helps())["memory.fork"].numbers
    assert numbers["verdict"] == "less"
    assert numbers["ratio"] == pytest.approx(0.7, rel=0.05)
    assert numbers["ratio_high"] < 1


def test_the_ratio_beside_a_sentence_is_the_one_in_it() -> None:
    ratio = _findings(doubts.memory_that_helps())["memory.fork"].stated_ratio
    assert ratio is not None
    value, low, high = ratio
    assert low is not None
    assert high is not None
    assert 1 < low < value < high
    assert value == pytest.approx(1 / 0.7, rel=0.05)
    assert _findings(doubts.memory_from_2_processes())["memory.fork"].stated_ratio is None


def test_a_line_is_told_as_far_as_it_holds_with_the_point_that_it_misses() -> None:
    finding = _findings(doubts.memory_that_bends())["memory.fork"]
    assert finding.numbers["straight_upto_bytes"] == 64 * MIB
    assert finding.numbers["straight_slope_ns_per_page"] == pytest.approx(75, rel=0.05)
    assert finding.numbers["parent_bytes"][-1] == GIB
    assert finding.numbers["median_ns"][-1] == pytest.approx(28.9e6, rel=0.05)


def test_a_hump_is_no_trend() -> None:
    """That its middle is told stands in the golden file."""
    numbers = _findings(doubts.hump())["scan.vmas.fork"].numbers
    assert (numbers["verdict"], numbers["x"]) == ("unknown", [0, 100, 10_000])
    ends, middle = (numbers["median_ns"][::2], numbers["median_ns"][1])
    assert [middle / end for end in ends] == pytest.approx([10, 10], rel=0.1)
    assert (numbers["straight_upto"], numbers["straight_slope_ns"]) == (None, None)


def test_the_first_of_a_ranking_is_told_from_all_others() -> None:
    stages = _findings(doubts.wide_third())["fastest.same_image.warm"].numbers["stages"]
    assert len(stages) == 3
    for stage in stages[1:]:
        assert stage["order"] == ["launch.pthread", "launch.vfork", "launch.fork"]
        assert stage["verdict"] == "more"
        assert stage["tied_for_fastest"] == ["launch.pthread", "launch.fork"]
        assert stage["fastest"] is None


def test_counters_that_share_nothing_get_no_verdict() -> None:
    numbers = _findings(doubts.sharing_nothing())["contention.packed_against_padded"].numbers
    assert [row["verdict"] for row in numbers["each"]] == ["unknown", "unknown"]
    assert numbers["verdict"] == "unknown"


def test_one_process_gives_a_ratio_and_no_interval() -> None:
    numbers = _findings(doubts.only_with_memory())["process_vs_thread.warm"].numbers
    assert (numbers["verdict"], numbers["n_processes"]) == ("unknown", 1)
    assert (numbers["ratio_low"], numbers["ratio_high"], numbers["confidence"]) == (None, None, None)
    assert all(f"parent_bytes={GIB}" in cell for cell in numbers["cells"])


def test_sizes_of_one_choice_of_pages_are_findings_of_their_own() -> None:
    ids = [id_ for id_ in _findings(doubts.ratios_from_2_processes()) if id_.startswith("pages")]
    assert ids == ["pages.fork.clean", f"pages.fork.clean.{64 * MIB}"]


def test_one_name_has_one_figure_on_a_page() -> None:
    results = summarize(doubts.stamps_of_two_temperatures())
    finding = next(finding for finding in results.findings if finding.id == "floor")
    assert finding.numbers["launch_stamp_ns"] == pytest.approx(1_240, rel=0.05)
    costs = {row.workload: estimate.median_ns for row, estimate in floor_costs(make_rows(results.cells))}
    assert costs["launch.stamp"] == finding.numbers["launch_stamp_ns"]
    assert costs["launch.none"] == finding.numbers["launch_none_ns"]


def test_of_equal_cells_hardly_any_report_states_a_difference() -> None:
    # Uncorrected, 14 of 40 did.
    assert simulated(24, Machine(), seed=5).stating <= 3
    run = doubts.equal_cells(1)
    assert len(run.cells()) == 15
    assert not differences([finding.numbers for finding in summarize(run).findings])


def test_a_difference_is_stated_beside_many_that_are_none() -> None:
    assert simulated(8, Machine(change=0.4), seed=6).seen == 8


@pytest.mark.parametrize("kind", ["peaks", "together", "alone", "layout"])
def test_what_a_cell_keeps_or_wanders_by_is_not_credited_to_its_mechanism(kind: str) -> None:
    # By the ranks of processes alone nine in ten reports of cells that wander alone stated a difference, and three in
    # four of those of layouts.
    counts = simulated(8, NULLS[kind], seed=7)
    assert counts.stating <= 1
    assert counts.advising <= 1


def test_one_bistable_row_does_not_hide_what_all_others_show() -> None:
    # With a mean of squares none of them told a ratio of 2.
    # In two of fifteen it is fork or the thread itself.
    assert simulated(6, Machine(step=6.0, change=1.0), seed=8).seen >= 4


def test_of_two_cells_a_ratio_of_three_is_sure_though_both_wander(builder: Any) -> None:
    builder.cell("launch.fork", scaled(FORK, 3), spread=0.05)
    builder.cell("launch.pthread", FORK, spread=0.05)
    assert _findings(builder.run)["process_vs_thread.warm"].numbers["sureness"] == "sure"


def test_on_a_noisy_machine_twice_as_long_is_told() -> None:
    """Processes have the residuals of a real run (tests/data/noisy_residuals.json)."""
    assert simulated(4, Machine(host="real", processes=24, change=1.0), seed=9).seen == 4


def test_whatever_is_compared_first_the_verdicts_are_the_same() -> None:
    import numpy as np

    first, second = (report(np.random.default_rng(9), Machine(processes=6, change=0.15)) for _ in range(2))
    assert first == second
