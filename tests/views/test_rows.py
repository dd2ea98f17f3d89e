from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tools.reference import reference

from clonometer.records import to_json
from clonometer.results.findings.wording import median_with_ends, short_median
from clonometer.results.types import CellOutcome
from clonometer.views import statistics
from clonometer.views.documents.run import run_document
from clonometer.views.exports import encode
from clonometer.views.html.document import render_document_page
from clonometer.views.plots import interval_text
from clonometer.views.rows import (
    effective_frequency,
    fact_text,
    failures,
    families,
    floor_costs,
    host_phrases,
    launches_unit,
    make_rows,
    median_text,
    pick_rows,
    quantity_label,
    quantity_text,
    row_unit,
    what_ended,
)
from clonometer.views.statistics import STATISTICS, Statistic
from clonometer.views.terminal import render_answer


def test_a_row_has_both_temperatures_and_families_stay_apart(results):
    rows = make_rows(results.cells)
    fork = [row for row in rows if row.label == "fork"]
    assert [row.stage for row in fork] == ["call returns", "task runs", "reaped"]
    assert all(set(row.estimates) == {"warm", "cold"} for row in fork)
    assert list(families(rows)) == ["same_image", "new_program", "floor"]


def test_what_is_no_stage_comes_after_the_stages_in_time(results):
    """A worker that was woken has answered after it ran, and its answer is no stage of a launch."""
    runs = next(cell for cell in results.cells if cell.workload == "launch.fork" and cell.stage == "task_runs")
    call = next(cell for cell in results.cells if cell.cell == runs.cell and cell.stage == "call_returns")
    answered = replace(runs, stage=None, quantity="answered_ns")
    rows = make_rows([replace(estimate, workload="wake.pipe", family="wake") for estimate in (answered, runs, call)])
    assert [row.stage for row in rows] == ["call returns", "task runs", "answered"]


def test_observed_placements_are_rows_of_their_own(results):
    labels = {row.label for row in make_rows(results.cells)}
    assert {"fork, free, same CPU", "fork, free, other CPU"} <= labels


def test_the_short_table_has_each_mechanism_in_its_plainest_condition(results):
    picked = pick_rows(make_rows(results.cells), 16)
    assert len(picked) == 16
    assert {row.label for row in picked} == {"fork", "vfork", "pthread", "posix_spawn", "fork+exec"}


def test_further_conditions_come_in_whole_while_there_is_room(results):
    picked = pick_rows(make_rows(results.cells), 20)
    extra = [row for row in picked if row.phrases]
    assert [row.label for row in extra] == ["fork, lazily bound"] * 3


def test_all_rows_are_shown_where_they_fit(results):
    rows = make_rows([cell for cell in results.cells if "parent_bytes=" in cell.cell])
    assert pick_rows(rows, len(rows)) == rows


def test_the_floor_is_shown_only_where_nothing_else_was_measured(results):
    rows = make_rows(results.cells)
    assert not [row for row in pick_rows(rows, 1000) if row.family == "floor"]
    floor = [row for row in rows if row.family == "floor"]
    assert pick_rows(floor, 25) == floor


def test_the_instrument_has_one_figure_of_each_name(results):
    """The last stage, and the warm one: what the finding tells; a cold stamp is three times as dear."""
    stamp = next(cell for cell in results.cells if cell.workload == "launch.stamp")
    none = next(cell for cell in results.cells if cell.workload == "launch.none")
    cells = [
        replace(none, stage="call_returns", quantity="call_returns_ns", median_ns=23.0),
        replace(none, stage="reaped", quantity="reaped_ns", median_ns=45.0),
        replace(stamp, temperature="cold", median_ns=3_700.0),
        replace(stamp, temperature="warm", median_ns=1_000.0),
    ]
    costs = {row.workload: figure.median_ns for row, figure in floor_costs(make_rows(cells))}
    assert costs == {"launch.none": 45.0, "launch.stamp": 1_000.0}


def test_a_figure_has_the_digits_its_interval_supports(results):
    row = replace(results.cells[0], median_ns=61_234.0, median_low_ns=60_800.0, median_high_ns=61_700.0)
    assert (median_text(row, "µs").value, median_text(row, "µs").low) == ("61.2", "60.8")
    wide = replace(row, median_low_ns=41_000.0, median_high_ns=81_000.0)
    assert (median_text(wide, "µs").value, median_text(wide, "µs").high) == ("60", "80")


@pytest.mark.parametrize(("low_ns", "high_ns"), [(380e3, 430e3), (394.9e3, 395.2e3), (100e3, 9e6), (None, None)])
def test_a_table_and_a_sentence_print_one_number(results, low_ns, high_ns):
    row = replace(results.cells[0], median_ns=395_123.0, median_low_ns=low_ns, median_high_ns=high_ns)
    table = median_text(row, "µs")
    assert short_median(row) == f"{table.value} µs" == quantity_text(row)
    assert interval_text(row).startswith(table.value)
    assert table.value == {380e3: "400", 394.9e3: "395.1", 100e3: "400", None: "395"}[low_ns]
    ends = "" if low_ns is None else f" ({table.low} to {table.high})"
    assert median_with_ends(row) == f"{table.value}{ends} µs"


def test_what_lies_below_the_resolution_is_less_than_it(results):
    row = replace(results.cells[0], median_ns=4.0, resolution_ns=10.0)
    assert median_text(row, "ns").value == "< 10"
    assert median_text(row, "ns").low == ""


def test_an_interval_that_does_not_exist_is_a_dash(results):
    row = replace(results.cells[0], median_ns=61_234.0, median_low_ns=None, median_high_ns=None)
    assert (median_text(row, "µs").value, median_text(row, "µs").interval) == ("61.2", "-")
    assert median_text(replace(row, median_low_ns=60_800.0, median_high_ns=61_700.0), "µs").interval == "60.8 – 61.7"


def test_what_was_not_measured_is_a_dash(results):
    assert median_text(None, "µs").value == "-"
    assert median_text(replace(results.cells[0], median_ns=None), "µs").value == "-"


def test_host_phrases_leave_out_what_is_not_known(results):
    bare = replace(results, host={"kernel.release": "6.1.0"}, cells=[])
    assert host_phrases(bare) == ["unknown CPU", "Linux 6.1.0", "no hypervisor"]


def test_a_frequency_that_moved_is_a_range(results):
    cells = [replace(results.cells[0], effective_mhz=mhz) for mhz in (2000.0, 3000.0)]
    assert effective_frequency(replace(results, cells=cells)) == "2000 to 3000 MHz"


def test_troubles_join_cells_of_the_same_reason(results):
    statuses = [CellOutcome("a", "ok", None), *(CellOutcome(name, "skipped", "no room") for name in "bc")]
    reasons = failures(replace(results, cell_outcomes=statuses))
    assert [(reason, [cell.cell for cell in cells]) for reason, cells in reasons] == [("skipped: no room", ["b", "c"])]


def test_a_cell_of_dashes_says_why(results):
    row = replace(results.cells[0], n_samples=0, median_ns=None)
    cells = [
        replace(row, cell="a", outcomes={"ok": 0, "EAGAIN": 96, "ENOMEM": 1}),
        replace(row, cell="b", outcomes={"ok": 7, "EAGAIN": 3}, clock_skew=7),
        replace(row, cell="c", outcomes={"ok": 7}, clock_skew=0),
        replace(row, cell="d", outcomes={"ok": 7}),
        replace(row, cell="d", outcomes={"ok": 7}, n_samples=7),
    ]
    statuses = [CellOutcome(name, "ok", None) for name in "abcde"]
    reasons = failures(replace(results, cells=cells, cell_outcomes=statuses))
    assert [(reason, [status.cell for status in of_reason]) for reason, of_reason in reasons] == [
        ("no sample: every launch failed: 96 EAGAIN, 1 ENOMEM", ["a"]),
        ("no sample: in each, a stage came before the call or after reaping", ["b"]),
        ("no sample: every value is missing", ["c"]),
    ]


def test_facts_read_as_people_write():
    assert fact_text("memory.total_bytes", 8 << 30) == "8 GiB"
    assert fact_text("limit.as_bytes", None) == "unlimited"
    assert fact_text("cgroup.pids_max", None) == "unlimited"
    assert fact_text("cpu.microcode", None) == "not known"
    assert fact_text("cpu.smt", True) == "yes"
    assert fact_text("hugetlb.free", {}) == "none"


def test_what_is_no_time_is_a_number_with_its_own_unit(results):
    clock = replace(results.cells[-1], median_ns=None, unit="count", quantity="backward_steps", stage=None)
    counted = replace(clock, value=0.0, value_low=0.0, value_high=0.0)
    row = make_rows([counted])[0]
    assert (median_text(counted, "µs").value, median_text(counted, "µs").interval) == ("0", "0 – 0")
    assert quantity_label(row) == "backward steps"
    (nothing,) = make_rows([replace(row.any_estimate, value=None, n_samples=0)])
    assert quantity_label(nothing) == "backward steps"
    assert quantity_text(counted) == "0"
    sized = replace(counted, unit="bytes", value=123_456.0, value_low=120_000.0, value_high=130_000.0)
    assert quantity_label(make_rows([sized])[0]) == "backward steps, KiB"
    assert (median_text(sized, "µs").value, median_text(sized, "KiB").interval) == ("121", "117 – 127")
    assert median_text(sized, "MiB").value == "0.118"
    assert quantity_text(sized) == "121 KiB"
    less = replace(sized, value=-2_048.0, value_low=-4_096.0, value_high=-1_024.0)
    assert (median_text(less, "KiB").value, median_text(less, "KiB").interval) == ("-2", "-4 – -1")
    exact = replace(counted, value=65_530.0, value_low=65_530.0, value_high=65_530.0)
    assert median_text(exact, "ns").value == "65,530"


def test_signed_figures_keep_their_sign(results):
    behind = replace(results.cells[-1], signed=True, median_ns=-41.23, median_low_ns=-43.0, median_high_ns=-40.0)
    behind = replace(behind, resolution_ns=1.0)
    assert (median_text(behind, "ns").value, median_text(behind, "ns").interval) == ("-41", "-43 – -40")
    assert median_text(replace(behind, median_ns=-0.2), "ns").value == "< 1"
    alone = median_text(replace(behind, median_low_ns=None, median_high_ns=None), "ns")
    assert (alone.value, alone.interval) == ("-41.2", "-")


def test_quantities_have_a_unit_each_and_stages_share_one(results):
    fork = next(cell for cell in results.cells if cell.stage == "reaped")
    slow = replace(fork, stage=None, quantity="teardown_ns", median_ns=4e6, median_low_ns=3.9e6, median_high_ns=4.2e6)
    rows = make_rows([fork, slow])
    assert [quantity_label(row) for row in rows] == ["reaped", "teardown, ms"]
    assert [row_unit(row, launches_unit(rows)) for row in rows] == ["µs", "ms"]


def test_what_ended_the_cells_is_said(results):
    statuses = [CellOutcome(f"c{place}", "ok", None, "budget") for place in range(5)]
    statuses += [CellOutcome("narrow", "ok", None, "target"), CellOutcome("lost", "failed", "x")]
    text = what_ended(replace(results, cell_outcomes=statuses))
    assert text == "Of 6 cells ended: 1 with intervals as narrow as requested (narrow); 5 when the budget was spent."
    assert what_ended(replace(results, cell_outcomes=statuses[:1])) == "Of 1 cell ended: 1 when the budget was spent."
    assert what_ended(results) == ""


def test_one_declaration_brings_a_statistic_into_every_view(results, monkeypatch: pytest.MonkeyPatch) -> None:
    mean = Statistic("mean_ns", "invented mean", "invented", "time", "What a test made up.")
    monkeypatch.setattr(statistics, "STATISTICS", (*STATISTICS, mean))
    results = replace(results, cells=[replace(estimate, mean_ns=4_321_000.0) for estimate in results.cells])
    document = to_json(results)
    for name, text in {
        "terminal": render_answer(results, wide=True, width=200),
        "page": render_document_page(run_document(results)),
        "markdown": "".join(encode("markdown", document, [])),
    }.items():
        assert "invented mean" in text, name
        assert re.search(r"\b4[.,]32", text), name
    assert "invented mean" in reference()
    metrics = "".join(encode("openmetrics", document, []))
    assert "# HELP clonometer_invented_seconds What a test made up." in metrics
    assert "} 0.004321\n" in metrics


def test_each_statistic_is_in_the_methods() -> None:
    methods = (Path(__file__).parents[2] / "docs/methods.md").read_text()
    assert [
        statistic.key for statistic in STATISTICS if statistic.kind == "time" and f"`{statistic.key}`" not in methods
    ] == []


def test_the_methods_can_be_read_in_twenty_minutes() -> None:
    lines = (Path(__file__).parents[2] / "docs/methods.md").read_text().splitlines()
    assert len(lines) <= 400
    assert [line for line in lines if len(line) > 130] == []
