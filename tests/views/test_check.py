from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from typing import Any

import pytest
from tests.views.sample_results import sample_results

from clonometer.results.change import Change
from clonometer.results.check.types import Checked, CheckedRow
from clonometer.results.compare.types import CommonShift, ComparedRow, Difference
from clonometer.results.types import LeftOut
from clonometer.verdicts import Gate
from clonometer.views.documents.check import check_document
from clonometer.views.terminal.document import render_document


def checked(again: bool = False, **fields: Any) -> Checked:
    """Every row of the sample results, one of them regressed, one suspected, one without a ratio."""
    rows = []
    for place, estimate in enumerate(cell for cell in sample_results().cells if cell.median_ns):
        compared = ComparedRow(Change(base=estimate, other=estimate, value=1.001, low=0.99, high=1.012))
        row = CheckedRow(compared, Gate.PASS, False, 0.07)
        if place == 5:
            slow = compared.changed(value=1.31, low=1.24, high=1.36)
            row = CheckedRow(slow, Gate.FAIL, False, 0.065, slow.changed(value=1.29) if again else None)
        if place == 6:
            row = CheckedRow(compared.changed(value=1.08, low=0.98, high=1.2), Gate.UNKNOWN, True, 0.4)
        if place == 7:
            none = compared.changed(value=None, low=None, high=None)
            row = CheckedRow(none, Gate.UNKNOWN, False, None)
        rows.append(row)
    made = Checked(
        baseline="main.parquet",
        run="run.parquet",
        verdict=Gate.FAIL,
        reasons=(),
        rows=rows,
        left_out=[LeftOut("launch.vfork[temperature=warm]", "only in main.parquet")],
        differences=[Difference("kernel.release", "6.1.0", "6.18.5")],
        max_regression=0.05,
        error_rate=0.01,
        n_tests=len(rows) - 1,
        noise_source="assumed",
        rerun=again,
    )
    return replace(made, **fields)


def test_the_short_answer_has_what_is_flagged_and_the_verdict_last() -> None:
    lines = render_document(check_document, checked()).splitlines()
    assert [line.split()[-1] for line in lines if line.endswith(("regressed", "suspect"))] == ["regressed", "suspect"]
    assert not any(line.endswith("fine") for line in lines)
    assert lines[-1] == "Regression: 1 row is slower by 5% or more."


def test_wide_shows_every_row_and_what_is_detectable() -> None:
    text = render_document(check_document, checked(), width=220, wide=True)
    assert sum(line.endswith(("fine", "regressed", "suspect", "open")) for line in text.splitlines()) == len(
        checked().rows
    )
    assert "6.5%" in text


def test_what_the_check_can_see_is_said() -> None:
    total = len(checked().rows)
    text = " ".join(render_document(check_document, checked()).split())
    assert f"{total} rows: 1 regressed, 1 suspect, {total - 3} fine, 1 open." in text
    assert f"A slowdown of 10% would be detected in {total - 2} of them." in text
    assert "kernel: 6.1.0 → 6.18.5" in text


def test_a_second_measurement_stands_beside() -> None:
    text = render_document(check_document, checked(again=True), width=140)
    [line] = [line for line in text.splitlines() if line.endswith("regressed")]
    assert "31% slower (24 to 36)  29% slower (24 to 36)" in line
    assert "measured again." in text


@pytest.mark.parametrize(
    ("fields", "last"),
    [
        ({"verdict": Gate.PASS, "rows": ()}, "No regression of 5% or more."),
        ({"verdict": Gate.UNKNOWN, "reasons": ("too few",)}, "Cannot tell: too few."),
    ],
)
def test_the_other_verdicts(fields: dict[str, Any], last: str) -> None:
    text = render_document(check_document, checked(**fields))
    assert text.splitlines()[-1] == last
    assert "would be detected" not in text


def test_a_gate_that_passes_denies_nothing_for_rows_that_cannot_tell() -> None:
    """Half of the rows must be able to show twice what is allowed; the others may hide a regression."""
    some = [replace(row, verdict=verdict) for row, verdict in zip(checked().rows, cycle((Gate.PASS, Gate.UNKNOWN)))]
    fine = sum(row.verdict == Gate.PASS for row in some)
    last = " ".join(render_document(check_document, checked(verdict=Gate.PASS, rows=some)).split()).rpartition("No ")[2]
    assert last.startswith(f"regression detected: {fine} of {len(some)} rows are surely not slower by 5%; a slowdown")
    assert last.count("would be detected") == 1


def test_what_all_rows_changed_by_is_said_and_that_both_are_one_run() -> None:
    shifts = (CommonShift("warm", 1.02, 0.97, 1.1, 7), CommonShift("control", 1.0, 1.0, 1.0, 1))
    text = " ".join(render_document(check_document, checked(shifts=shifts)).split())
    assert "Overall: warm rows took 1.02 times as long in the second run (7 conditions, 0.97 to 1.10)" in text
    assert "clocks and empty loops 1.00." in text
    assert "One condition alone" in " ".join(render_document(check_document, checked()).split())
    assert "Both sides are the same run" in render_document(check_document, checked(same_run=True))
