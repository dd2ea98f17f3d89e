from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.views.sample_results import sample_results

from clonometer.results.check.types import Checked, CheckedRow
from clonometer.results.compare.types import ComparedRow, Difference, LeftOut
from clonometer.views.terminal.check import render_check


def checked(again: bool = False, **fields: Any) -> Checked:
    """Every row of the sample results, one of them regressed, one suspected, one without a ratio."""
    rows = []
    for place, estimate in enumerate(cell for cell in sample_results().cells if cell.median_ns):
        compared = ComparedRow(estimate, estimate, 1.001, 0.99, 1.012, 0.4, 1.0, "not distinguishable", None, None)
        row = CheckedRow(compared, "fine", 0.07)
        if place == 5:
            slow = replace(compared, ratio=1.31, low=1.24, high=1.36, p_value=1e-6, p_adjusted=1e-4)
            row = CheckedRow(slow, "regressed", 0.065, replace(slow, ratio=1.29) if again else None)
        if place == 6:
            row = CheckedRow(replace(compared, ratio=1.08, low=0.98, high=1.2), "suspect", 0.4)
        if place == 7:
            none = replace(compared, ratio=None, low=None, high=None, p_value=None, p_adjusted=None)
            row = CheckedRow(none, "not distinguishable", None)
        rows.append(row)
    made = Checked(
        baseline="main.parquet",
        run="run.parquet",
        verdict="confirmed",
        reasons=(),
        rows=rows,
        left_out=[LeftOut("launch.vfork[temperature=warm]", "only in main.parquet")],
        differences=[Difference("kernel.release", "6.1.0", "6.18.5")],
        max_regression=0.05,
        error_rate=0.01,
        n_tests=len(rows) - 1,
        rerun=again,
    )
    return replace(made, **fields)


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("again", [False, True])
def test_no_line_is_longer_than_the_terminal(width: int, wide: bool, again: bool) -> None:
    text = render_check(checked(again), width=width, wide=wide)
    assert max(map(len, text.splitlines())) <= width
    assert "nan" not in text.lower()
    assert "None" not in text


def test_the_short_answer_has_what_is_flagged_and_the_verdict_last() -> None:
    lines = render_check(checked()).splitlines()
    assert [line.split()[-1] for line in lines if line.endswith(("regressed", "suspect"))] == ["regressed", "suspect"]
    assert not any(line.endswith("fine") for line in lines)
    assert lines[-1] == "Regression: 1 row is slower by 5% or more."


def test_wide_shows_every_row_and_what_is_detectable() -> None:
    text = render_check(checked(), width=120, wide=True)
    assert sum(
        line.endswith(("fine", "regressed", "suspect", "not distinguishable")) for line in text.splitlines()
    ) == len(checked().rows)
    assert "6.5%" in text


def test_what_the_check_can_see_is_said() -> None:
    total = len(checked().rows)
    text = " ".join(render_check(checked()).split())
    assert f"{total} rows: 1 regressed, 1 suspect, {total - 3} fine, 1 not distinguishable." in text
    assert f"A slow-down of 10% would be found in {total - 2} of them." in text
    assert "kernel: 6.1.0 → 6.18.5" in text


def test_a_second_measurement_stands_beside() -> None:
    text = render_check(checked(again=True), width=100)
    [line] = [line for line in text.splitlines() if line.endswith("regressed")]
    assert "1.31" in line
    assert "1.29" in line
    assert "measured again." in text


@pytest.mark.parametrize(
    ("fields", "last"),
    [
        ({"verdict": "none"}, "No regression of 5% or more."),
        ({"verdict": "cannot tell", "reasons": ("too few",)}, "Cannot tell: too few."),
    ],
)
def test_the_other_verdicts(fields: dict[str, Any], last: str) -> None:
    assert render_check(checked(**fields)).splitlines()[-1] == last


def test_of_what_the_ratios_are_is_said_where_it_is_no_median() -> None:
    made = checked(machine_shift=0.02, machine_kinds=7)
    assert "fastest tenth" not in render_check(made)
    mixed = replace(made, rows=[replace(row, level="lower decile") for row in made.rows[:6]] + list(made.rows[6:]))
    text = " ".join(render_check(mixed).split())
    assert "All that was measured was 2% slower (the median of 7 kinds of process): ratios are without that." in text
    assert (
        "Compared is the fastest tenth of processes, which neighbours on the machine spare; medians in rows of fewer "
        "than 50." in text
    )
    alone = replace(mixed, rows=mixed.rows[:6], machine_kinds=0)
    text = " ".join(render_check(alone).split())
    assert "too few kinds of process" in text
    assert "neighbours on the machine spare." in text


def test_what_is_slower_in_part_of_its_processes_says_so() -> None:
    made = checked()
    reason = "its median is 1.20 times as large, its fastest tenth is not: part of its processes"
    rows = [
        replace(row, compared=replace(row.compared, reason=reason)) if row.verdict == "suspect" else row
        for row in made.rows
    ]
    text = " ".join(render_check(replace(made, rows=rows)).split())
    assert reason in text
    assert reason not in " ".join(render_check(made).split())
