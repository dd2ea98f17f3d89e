"""Findings say nothing that their numbers do not bear: each of these runs once got a sentence that said too much."""

from __future__ import annotations

import re
from typing import Any

import pytest
from bench.simulated_findings import Machine, differences, report, simulated
from tests.results import runs_of_doubts as doubts
from tests.results.runs import FORK, GIB, MIB, scaled

from clonometer.results.summary import summarize
from clonometer.results.types import Finding
from clonometer.views.rows import floor_costs, make_rows


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


def test_a_slope_is_told_for_each_of_the_largest_unit_that_was_measured() -> None:
    finding = _findings(doubts.memory_of_2_mib())["memory.fork"]
    assert finding.sentence.startswith("Each MiB written in the parent adds 12.8")
    assert "GiB" not in finding.sentence + finding.headline
    assert finding.numbers["straight_upto_bytes"] == 2 * MIB


def test_too_few_processes_give_no_slope_and_no_difference() -> None:
    finding = _findings(doubts.memory_from_2_processes())["memory.fork"]
    assert finding.numbers["verdict"] == "same"
    assert "adds" not in finding.sentence + finding.headline
    assert "from only 2 processes" in finding.sentence
    for finding in _findings(doubts.ratios_from_2_processes()).values():
        assert differences(finding.numbers) == [], finding.id
        assert "times as long as" not in finding.sentence


def test_three_processes_beside_many_are_too_few(builder: Any) -> None:
    builder.cell("launch.fork", scaled(FORK, 10), processes=3)
    builder.cell("launch.pthread", FORK, processes=60)
    assert _findings(builder.run)["process_vs_thread.warm"].numbers["verdict"] == "same"


def test_what_takes_less_with_more_memory_is_no_cost() -> None:
    finding = _findings(doubts.memory_that_helps())["memory.fork"]
    assert finding.numbers["verdict"] == "shorter"
    assert "adds" not in finding.sentence + finding.headline
    assert "times as long with no memory as with 1 GiB" in finding.sentence


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
    for text in (finding.sentence, finding.headline):
        assert re.search(r"Each GiB .* adds (19|20).* ms to fork until reaped,? up to 64 MiB", text)
        assert re.search(r"2[89][.\d]* .*ms with 1 GiB", text)


def test_the_middle_of_a_scan_counts_as_its_ends_do() -> None:
    finding = _findings(doubts.hump())["scan.vmas.fork"]
    assert finding.numbers["verdict"] == "same"
    assert "times as long at 100 VMAs as at 0 VMAs" in finding.sentence
    assert "no trend" in finding.sentence
    assert "100 VMAs" in finding.headline


def test_the_first_of_a_ranking_is_told_from_all_others() -> None:
    stages = _findings(doubts.wide_third())["fastest.same_image.warm"].numbers["stages"]
    assert len(stages) == 3
    for stage in stages[1:]:
        assert stage["order"] == ["launch.pthread", "launch.vfork", "launch.fork"]
        assert stage["verdict"] == "longer"
        assert stage["tied_for_fastest"] == ["launch.pthread", "launch.fork"]
        assert stage["fastest"] is None


def test_no_headline_states_an_effect_that_its_verdict_denies() -> None:
    finding = _findings(doubts.sharing_nothing())["contention.packed_against_padded"]
    assert finding.numbers["verdict"] == "same"
    assert finding.headline.startswith("Could not tell a difference between an addition to counters side by side")


def test_a_compact_sentence_keeps_every_condition() -> None:
    finding = _findings(doubts.only_with_memory())["process_vs_thread.warm"]
    assert finding.headline.startswith("Warm, 1 GiB in the parent: could not tell")


def test_sizes_of_one_choice_of_pages_are_findings_of_their_own() -> None:
    ids = [id_ for id_ in _findings(doubts.ratios_from_2_processes()) if id_.startswith("pages")]
    assert ids == ["pages.fork.clean", f"pages.fork.clean.{64 * MIB}"]


def test_one_name_has_one_figure_on_a_page() -> None:
    results = summarize(doubts.stamps_of_two_temperatures())
    finding = next(finding for finding in results.findings if finding.id == "floor")
    assert finding.numbers["launch_stamp_ns"] == pytest.approx(1_240, rel=0.05)
    assert re.search(r"1\.2\d* µs warm and 3\.[678]\d* µs cold", finding.sentence)
    costs = {row.workload: estimate.median_ns for row, estimate in floor_costs(make_rows(results.cells))}
    assert costs["launch.stamp"] == finding.numbers["launch_stamp_ns"]
    assert costs["launch.none"] == finding.numbers["launch_none_ns"]


def test_of_equal_cells_hardly_any_report_states_a_difference() -> None:
    # Uncorrected, 14 of 40 did.
    stating, _ = simulated(24, Machine(), seed=5)
    assert stating <= 3
    run = doubts.equal_cells(1)
    assert len(run.cells()) == 15
    assert not differences([finding.numbers for finding in summarize(run).findings])


def test_a_difference_is_stated_beside_many_that_are_none() -> None:
    _, seen = simulated(8, Machine(change=0.2), seed=6)
    assert seen == 8


def test_whatever_is_compared_first_the_verdicts_are_the_same() -> None:
    import numpy as np

    first, second = (report(np.random.default_rng(9), Machine(processes=6, change=0.15)) for _ in range(2))
    assert first == second
