"""Published numbers beside ours: units, sizes, reasons, curves."""

from __future__ import annotations

import pytest
from made import measured, series

from clonometer.studies.answer import answer
from clonometer.studies.cells import FOUR_GB, LOOP_FORK, cell, heap, sysel_fork, sysel_thread
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
    assert row.note.startswith("not measured here: needs 4 GB; with 512 MiB 161.0 (160.5 to 161.5) µs")
    assert control.value == pytest.approx(51.0)
    # None with less, and none with more, is not what is asked for.
    bare = rows("S7", measured({(sysel_thread("cold"), RUNS): 50_000.0}))[0]
    more = rows("S7", measured({(sysel_thread("cold", parent_bytes="8GiB"), RUNS): 50_000.0}))[0]
    assert "it was not measured" in bare.note
    assert "it was not measured" in more.note
    assert figure_verdict([row, control]).reason.startswith("Not measured here: needs 4 GB; with 512 MiB")


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
    theirs = load_published().item("B13").values
    values = {(value.cell, CALL): 1e3 * value.value * 2 for value in theirs}
    [curve] = answer(measured(values), ["bendersky-2018"]).curves
    assert [line.label for line in curve.lines] == ["processes", "threads"]
    assert curve.lines[0].x == [0.0, 2.0, 4.0, 8.0]
    assert curve.lines[0].y == pytest.approx([44.6, 69.0, 89.4, 133.6])
    assert list(curve.lines[0].published) == [(0.0, 22.3), (2.0, 34.5), (4.0, 44.7), (8.0, 66.8)]
    assert {y for _, y in curve.lines[1].published} == {5.5}
    assert answer(measured({}), ["bendersky-2018"]).curves == ()
    large = {(heap("launch.fork", f"{size}MiB"), CALL): 30e3 * size for size in (1, 2, 64)}
    [other] = answer(measured(large), ["bendersky-2018"]).curves
    assert (other.name, other.lines[0].published) == ("bendersky-2018-large-heap", ())
    assert other.lines[0].x[-1] == pytest.approx(67.1, abs=0.1)


def test_the_study_of_workers_is_drawn_beside_ours():
    """At N = 19,000 its polynomials give 0.78 s, its lines a slope 3% steeper."""
    second, *_ = load_published().item("U2").values
    values = {}
    for kind in ("thread", "process"):
        for n in (1000, 5000, 9000, 19000):
            values[numbers_cell(kind, n), "whole_ns"] = n**2 + 1e6
        for w in range(9, 31):
            values[workers_cell(kind, w), "whole_ns"] = 2e6 * w + 1e6
    drawn = {curve.name: curve for curve in answer(measured(values), ["burian-2015"]).curves}
    threads = drawn["burian-2015-figure-2"].lines[0]
    assert threads.published[-1] == (
        19000.0,
        pytest.approx(86400e3 * (second.value * 19000**2 + 1.65e-10 * 19000 + 1.3e-7)),
    )
    related, processes = drawn["burian-2015-figure-4"].lines
    assert processes.published == ()
    flat = {key: 5e7 if "numbers=3000" in key[0] else value for key, value in values.items()}
    unrelated = {curve.name: curve for curve in answer(measured(flat), ["burian-2015"]).curves}
    assert unrelated["burian-2015-figure-4"].lines[0].published == ()
    assert related.published[0] == (9.0, pytest.approx(1.03 * 2 * 9 + 3.36 * 1, rel=0.02))


def numbers_cell(kind, n):
    return worker_cell(kind, numbers=str(n), workers="4") if n != 1000 else worker_cell(kind, workers="4")


def workers_cell(kind, w):
    return worker_cell(kind, numbers="3000", workers=str(w))


def worker_cell(kind, **axes):
    return cell("work.factor", **axes, **({"task_kind": "process"} if kind == "process" else {}))
