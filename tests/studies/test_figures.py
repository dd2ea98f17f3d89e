"""Published numbers beside ours: units, sizes, reasons, curves."""

from __future__ import annotations

import pytest
from made import measured, series

from clonometer.studies.answer import answer
from clonometer.studies.cells import FOUR_GB, LOOP_FORK, heap, sysel_fork, sysel_thread
from clonometer.studies.figures import figure_rows, figure_verdict
from clonometer.studies.judge import CALL, RUNS
from clonometer.studies.measured import Measurements, merge
from clonometer.studies.published import load_published


def rows(id_, results):
    return figure_rows(load_published().item(id_), results)


def test_ours_has_the_unit_of_the_study_and_a_ratio_to_the_middle():
    [row] = rows("S1", measured({(sysel_fork("cold"), RUNS): 101_000.0}))
    assert row.value == pytest.approx(101.0)
    assert row.low < row.value < row.high
    assert row.ratio == pytest.approx(101 / (60 * 170) ** 0.5)
    processes, threads = rows("L1", measured({(LOOP_FORK, "wall_ns"): 200_000.0}))
    assert processes.value == pytest.approx(2.0)
    assert threads.value is None
    assert "it was not measured" in threads.note


def test_four_gigabytes_have_no_number_where_less_was_measured():
    results = measured(
        {
            (sysel_thread("cold"), RUNS): 50_000.0,
            (sysel_thread("cold", parent_bytes="512MiB"), RUNS): 161_000.0,
            (sysel_thread("cold", parent_bytes=FOUR_GB, page_kind="untouched"), RUNS): 51_000.0,
        }
    )
    row, control = rows("S7", results)
    assert (row.value, row.low, row.high, row.ratio) == (None, None, None, None)
    assert row.note.startswith("not measured here: needs 3.73 GiB; with 512 MiB 161 (160 to 162) µs")
    assert control.value == pytest.approx(51.0)
    # None with less, and none with more, is not what is asked for.
    bare = rows("S7", measured({(sysel_thread("cold"), RUNS): 50_000.0}))[0]
    more = rows("S7", measured({(sysel_thread("cold", parent_bytes="8GiB"), RUNS): 50_000.0}))[0]
    assert "it was not measured" in bare.note
    assert "it was not measured" in more.note
    assert figure_verdict([row, control]).reason.startswith("Not measured here: needs 3.73 GiB; with 512 MiB")


def test_what_was_measured_at_full_size_stands_there():
    full = sysel_fork("cold", parent_bytes=FOUR_GB)
    row = rows("S3", measured({(full, CALL): 2e7, (sysel_fork("cold", parent_bytes="512MiB"), CALL): 1e5}))[0]
    assert (row.value, row.note) == (pytest.approx(20_000.0), "")


def test_a_free_launch_says_where_its_task_ran():
    cell = sysel_fork("cold")
    both = [series(cell, RUNS, 1e5, placement=where, samples=n) for where, n in (("same_cpu", 70), ("other_cpu", 30))]
    [row] = rows("S1", Measurements(both, {}, {}))
    assert row.note == "same CPU (70%)"


def test_a_figure_is_measured_if_one_of_its_numbers_is():
    fork_rows = rows("L1", measured({(LOOP_FORK, "wall_ns"): 2e5}))
    assert figure_verdict(fork_rows).status == "measured"
    assert figure_verdict(rows("L1", measured({}))).status == "not_measurable"


def test_runs_of_one_machine_join_their_processes():
    cell = sysel_fork("cold")
    joined = merge([measured({(cell, CALL): 1.0}, n=5), measured({(cell, CALL): 3.0}, n=7)])
    assert joined.find(cell, CALL).processes.values.size == 12
    assert merge([measured({}, missing={cell: "why"}), measured({(cell, CALL): 1.0})]).missing == {}


def test_the_heap_is_drawn_with_the_published_points():
    values = {}
    for workload, base in (("launch.fork", 30e3), ("launch.pthread", 5e3)):
        for size in (1, 2, 4):
            values[heap(workload, f"{size}MiB"), CALL] = base * (1 + size / 10)
    [curve] = answer(measured(values), ["bendersky-2018"]).curves
    assert [line.label for line in curve.lines] == ["process launch", "thread launch"]
    assert curve.lines[0].x == [1.0, 2.0, 4.0]
    assert curve.lines[0].y[0] == pytest.approx(33.0)
    assert curve.lines[0].published == ((2.0, 35.0),)
    assert answer(measured({}), ["bendersky-2018"]).curves == ()
