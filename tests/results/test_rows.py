"""The table of a run's rows, and the one comparison of two of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from clonometer.results.change import Change, ChangeScale
from clonometer.results.compare.comparison import compare_cells
from clonometer.results.compare.sides import read_side
from clonometer.results.findings import comparing
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.rows.ratio import no_ratio_of
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.results.summary import summarize
from clonometer.stats.processes import Processes
from clonometer.verdicts import Direction

FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}


@pytest.fixture(scope="module")
def estimates(make_builder: Any) -> RunEstimates:
    builder = make_builder(1)
    builder.cell("launch.fork", FORK, placement="free", other_cpu=0.8)
    builder.cell("launch.pthread", {name: value / 3 for name, value in FORK.items()})
    return read_side(builder.run, "run")


def test_a_row_is_found_by_cell_and_quantity_at_the_placement_with_most_samples(estimates: RunEstimates) -> None:
    cell = next(cell for cell in estimates.cells if "placement=free" in cell)
    placed = estimates.placements(cell, "reaped_ns")
    assert set(placed) == {"same_cpu", "other_cpu"}
    assert estimates.find(cell, "reaped_ns") is placed["other_cpu"]
    assert estimates.find(cell, "no_such_ns") is None
    without = estimates.with_rows(row for row in estimates.all_rows if row.placement != "other_cpu")
    assert without.find(cell, "reaped_ns") is placed["same_cpu"]
    assert without.document == estimates.document


def test_a_ratio_is_the_same_in_findings_and_comparisons_of_cells(default_run: Any) -> None:
    numbers = next(finding for finding in summarize(default_run).findings if "cells" in finding.numbers).numbers
    longer, shorter = numbers["cells"]
    side = read_side(default_run, "run")
    alone = side.with_rows(row for row in side.all_rows if row.stage == numbers["stage"])
    [row] = compare_cells(alone, shorter, longer).pairs[0].rows
    assert row.change.value == pytest.approx(numbers["ratio"], rel=1e-9)
    assert (row.verdict, row.change.word) == (numbers["verdict"], numbers["sureness"])
    # What decides has layout and wandering in it, besides what the processes say.
    assert row.change.low < numbers["ratio_low"]
    assert row.change.high > numbers["ratio_high"]


def test_there_is_no_ratio_to_nothing(estimates: RunEstimates) -> None:
    row = estimates.rows[0]
    values = row.processes.values.copy()
    values[0] = 0.0
    assert no_ratio_of(row, row) is None
    assert no_ratio_of(row, replace(row, processes=Processes.of(values))) is not None


def test_a_pair_is_compared_once(estimates: RunEstimates, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    ratio_of = comparing.ratio_of
    monkeypatch.setattr(comparing, "ratio_of", lambda *rows: made.append(rows) or ratio_of(*rows))
    tests, row = PairwiseTests(estimates, 1), estimates.rows[0]
    assert tests.compare(row, row) == tests.compare(row, row)
    assert len(made) == 1


SLOWER = Change(base="thread", other="fork", value=4.0, low=2.0, high=5.0, direction=Direction.MORE, n=12)
LONGER = Change(
    base="a", other="b", scale=ChangeScale.DIFFERENCE, unit="ns", value=-300.0, low=-400.0, high=-100.0, n=12
)
ALONE = Change(base="a", other="b", value=2.0, n=1, caveat=", from only 1 process")


def test_a_change_is_the_same_from_either_side() -> None:
    faster = Change(base="fork", other="thread", value=0.25, low=0.2, high=0.5, direction=Direction.LESS, n=12)
    assert faster.upward == SLOWER
    assert SLOWER.upward is SLOWER
    assert (faster.size, SLOWER.size, faster.rises, SLOWER.rises) == (4, 4, False, True)
    assert (LONGER.upward.value, LONGER.upward.interval, LONGER.upward.sides) == (300, (100, 400), ("a", "b"))
    assert LONGER.upward.direction == Direction.UNKNOWN
    assert (SLOWER.reversed, LONGER.reversed.reversed) == (faster, LONGER)


def test_what_has_no_value_has_no_words_and_no_direction() -> None:
    nothing = Change(base="a", other="b")
    assert (nothing.text, nothing.upward, nothing.size, nothing.interval) == ("", nothing, 1.0, None)
    assert not nothing.rises


@pytest.mark.parametrize(
    ("change", "text", "aside"),
    [
        (SLOWER, "4 (2 to 5)", "4, 2 to 5"),
        (LONGER, "-300 (-400 to -100) ns", "-300, -400 to -100 ns"),
        (ALONE, "2.00", "2.00, from only 1 process"),
    ],
)
def test_it_is_written_with_its_interval(change: Change[str], text: str, aside: str) -> None:
    assert (change.text, change.aside) == (text, aside)


def test_its_json_names_what_it_is() -> None:
    ratio, difference = SLOWER.numbers, LONGER.numbers
    assert (ratio["ratio"], ratio["ratio_low"], ratio["ratio_high"], ratio["verdict"]) == (4, 2, 5, "more")
    assert (difference["difference_ns"], difference["difference_low_ns"]) == (-300, -400)
    assert difference.keys() - ratio.keys() == {"difference_ns", "difference_low_ns", "difference_high_ns"}
    assert (ALONE.numbers["ratio_low"], ALONE.numbers["n_processes"]) == (None, 1)


def test_a_difference_is_divided_with_its_interval() -> None:
    assert LONGER.over(100).interval == (-4, -1)
    assert LONGER.over(100).value == -3
