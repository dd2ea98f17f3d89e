"""Burian's figures and claims on made results whose curves, gaps and culprits are known."""

from __future__ import annotations

import numpy as np
import pytest
from made import judged, measured, row_of, verdicts

from clonometer.studies.answer import answer
from clonometer.studies.cells import cell
from clonometer.studies.explained import NamedDelay, Refused, WorkAnswer
from clonometer.studies.figures import figure_rows
from clonometer.studies.judge import Judge
from clonometer.studies.measured import SCATTER, SINGLE, Measurements
from clonometer.studies.published import load_published
from clonometer.studies.workers import by_numbers, by_workers
from clonometer.tracing.work.types import WorkTier

WHOLE, EACH = "whole_ns", "whole_each_ns"
DAY = 86400e9


def text(kind, numbers, workers, **axes):
    named = {"numbers": str(numbers)} if numbers != 1000 else {}
    named |= {"workers": str(workers)} if workers != 1 else {}
    named |= {"task_kind": "process"} if kind == "process" else {}
    return cell("work.factor", **named, **axes)


def workers_scan(gap, numbers=3000, up_to=33):
    """Time of W workers on 2 CPUs; ``gap`` gives what threads take more, as a factor of W."""
    values = {}
    for count in range(1, up_to):
        for kind in ("thread", "process"):
            whole = 1e6 * max(1.0, count / 2) * (gap(count) if kind == "thread" else 1.0)
            values[text(kind, numbers, count), WHOLE] = whole
            values[text(kind, numbers, count), EACH] = whole / count
    return values


def numbers_scan(thread=lambda n: 1.0):
    values = {}
    for n in (1000, 3000, 5000, 9000, 11_000, 11_040, 11_080, 11_120, 11_200, 15_000, 19_000):
        process = 1e6 + 50.0 * n + 0.02 * n * n
        values[text("process", n, 4), WHOLE] = process
        values[text("thread", n, 4), WHOLE] = process * thread(n)
    return values


CHAIN = (
    {"output": "shared_stream", "allocate": "each_number"},
    {"output": "shared_append", "allocate": "each_number"},
    {"allocate": "each_number"},
    {},
)


def ablation(gaps):
    values = {}
    for axes, gap in zip(CHAIN, gaps, strict=True):
        values[text("process", 2000, 8, **axes), WHOLE] = 1e7
        values[text("thread", 2000, 8, **axes), WHOLE] = 1e7 + gap * 1e6
    return values


def rows(id_, values):
    return figure_rows(load_published().item(id_), measured(values))


def test_the_experiments_are_found_with_the_number_that_is_held():
    results = measured(workers_scan(lambda w: 1.0) | numbers_scan() | ablation((3, 2, 1, 0)))
    assert (by_numbers(results).held, by_workers(results).held) == (4, 3000)
    assert by_workers(results).x == list(range(1, 33))
    assert by_numbers(results).x[:2] == [1000, 3000]


@pytest.mark.parametrize(("beyond", "u7"), [(1.1, "holds"), (0.9, "fails"), (1.0, "fails")])
def test_u7_and_u8_are_the_gap_beyond_and_within_the_cpus(beyond, u7):
    verdicts = judged(measured(workers_scan(lambda w: beyond if w > 2 else 1.0)))
    assert (verdicts["U7"].status, verdicts["U8"].status) == (u7, "holds")
    assert verdicts["U7"].effect == pytest.approx(beyond)
    assert judged(measured(workers_scan(lambda w: 1.3)))["U8"].status == "fails"


def test_the_quadratic_fit_is_found_in_days():
    fitted = rows("U2", numbers_scan())
    assert [row.published.what for row in fitted][:1] == ["threads, x^2"]
    for place in (0, 4):
        assert fitted[place].value == pytest.approx(0.02 / DAY, rel=1e-3)
        assert fitted[place + 1].value == pytest.approx(50.0 / DAY, rel=1e-2)
        assert fitted[place + 3].value > 0.99
        assert fitted[place].low <= fitted[place].value <= fitted[place].high


def test_figure_1_compares_close_numbers_and_u13_large_ones():
    values = numbers_scan(lambda n: 1.2 if n > 12_000 else 1.0)
    [row] = rows("U1", values)
    assert row.value == pytest.approx(1.0)
    assert len(row.cells) == 10
    assert judged(measured(values))["U13"].status == "holds"
    assert judged(measured(numbers_scan()))["U13"].status == "fails"


def test_lines_of_figure_4_have_slopes_intercepts_and_r2():
    values = {}
    for count in range(1, 33):
        values[text("process", 3000, count), WHOLE] = 2e6 + 1e6 * count
        values[text("thread", 3000, count), WHOLE] = 6e6 + 1.03e6 * count
    slope, intercept, threads, processes = rows("U4", values)
    assert slope.value == pytest.approx(1.03, rel=1e-3)
    assert intercept.value == pytest.approx(3.0, rel=1e-2)
    assert min(threads.value, processes.value) > 0.99
    verdicts = judged(measured(values))
    assert verdicts["U12"].status == "holds"
    assert judged(measured(workers_scan(lambda w: 1.0), n=12))["U12"].status == "unknown"


def test_u3_u5_u6_and_the_cpus():
    values = workers_scan(lambda w: 1.25 if w > 2 else 1.0)
    within, beyond = rows("U3", values)
    assert (within.value, beyond.value) == (pytest.approx(1.0), pytest.approx(1.25))
    processes, threads = rows("U5", values)
    assert processes.value == threads.value == pytest.approx(0.5)
    assert rows("U6", values)[0].value == pytest.approx(1.25)


def scattered(cell, values):
    """Workers' times with their scatter, as it is read from a run file."""
    deviations = np.abs(values / np.median(values) - 1)
    rows = ((WHOLE, "ns", values), (SCATTER, "ratio", deviations), (SINGLE, "ns", values))
    return [row_of(cell, *row) for row in rows]


def test_u9_is_about_scatter():
    def scan(thread, process):
        return Measurements(
            [
                row
                for w in range(1, 33)
                for kind, spread in (("thread", thread), ("process", process))
                for row in scattered(text(kind, 3000, w), 1e6 * w * (1 + np.linspace(-spread, spread, 12)))
            ],
            {},
            {"cpu.allowed": 2},
        )

    assert judged(scan(0.5, 0.01))["U9"].status == "holds"
    assert judged(scan(0.01, 0.5))["U9"].status == "fails"
    assert judged(scan(0.1, 0.1))["U9"].status == "fails"
    assert judged(scan(0.0, 0.0))["U9"].status == "unknown"


def test_a_line_that_is_less_steep_is_no_scatter():
    """Threads have half the scatter and a quarter of the slope, so that their R2 is lower by far."""
    generator = np.random.default_rng(3)
    results = Measurements(
        [
            row
            for w in range(1, 33)
            for kind, slope, spread in (("thread", 0.01, 0.05), ("process", 0.04, 0.1))
            for row in scattered(text(kind, 3000, w), 1e7 * (1 + slope * w) * generator.normal(1.0, spread, 12))
        ],
        {},
        {"cpu.allowed": 2},
    )
    verdict = judged(results)["U9"]
    assert verdict.status == "fails"
    assert verdict.effect == pytest.approx(0.5, rel=0.25)
    assert "R2 of the line" in verdict.reason


def test_the_questions_are_answered_by_the_ablation():
    values = workers_scan(lambda w: 1.2 if w > 2 else 1.0) | ablation((4.0, 1.0, 1.0, 0.2))
    for kind, sleeps in (("thread", 500.0), ("process", 10.0)):
        values[text(kind, 3000, 32), "voluntary_switches"] = sleeps
        scans = {(text(kind, 3000, w), SCATTER): 0.02 for w in range(9, 31)}
        values |= scans | {(place, SINGLE): values[place, WHOLE] for place, _ in scans}
    verdicts = judged(measured(values))
    assert verdicts["U11"].status == "holds"
    assert "1.200" in verdicts["U11"].reason or "1.20" in verdicts["U11"].reason
    for id_ in ("U10", "U11"):
        assert "unexplained 5%" in verdicts[id_].reason, verdicts[id_].reason
        assert "one appended file" in verdicts[id_].reason
        assert text("thread", 2000, 8, **CHAIN[0]) in verdicts[id_].evidence
    assert "sleeps 500 ns against 10" in verdicts["U10"].reason
    assert all("explain" not in source for source in verdicts["U11"].evidence)
    document = WorkAnswer(
        "Threads need 20% more: futex.",
        WorkTier("tracepoints", "events", {}, ()),
        ((NamedDelay("run_queue", "waits to run", 0.9),), ()),
    )
    verdicts = judged(measured(values, explained={"work": document}))
    assert "Threads need 20% more: futex." in verdicts["U11"].reason
    assert "those of threads: waits to run 90%" in verdicts["U10"].reason
    assert {
        source
        for id_ in ("U10", "U11")
        for source in verdicts[id_].evidence
        if source.startswith("explain work.factor")
    }
    refused = judged(measured(values, explained={"work": Refused("no perf")}))
    assert "could not be traced closely here (no perf)" in refused["U11"].reason
    assert "unexplained 5%" in refused["U11"].reason
    assert judged(measured(workers_scan(lambda w: 1.0)))["U11"].status == "not_measurable"


def with_its_program(thread, process):
    """8 workers with 4,000 numbers: what each of the program's conditions takes, of threads and of processes."""
    return {
        (text(kind, 4000, 8, **axes), WHOLE): 1e7 * times[bool(axes)]
        for kind, times in (("thread", thread), ("process", process))
        for axes in ({}, {"allocate": "leaked"}, {"result_files": "overwritten"},
                     {"allocate": "leaked", "result_files": "overwritten"})
    }  # fmt: skip


def test_the_conditions_of_the_studys_program_stand_beside_the_open_questions():
    values = workers_scan(lambda w: 1.0) | ablation((3.0, 2.0, 1.0, 0.0)) | with_its_program((1.0, 1.5), (1.0, 1.0))
    scans = {(text(kind, 3000, w), SCATTER): 0.02 for kind in ("thread", "process") for w in range(9, 31)}
    values |= scans | {(place, SINGLE): values[place, WHOLE] for place, _ in scans}
    verdicts = judged(measured(values))
    for id_ in ("U10", "U11"):
        assert "threads over processes are 1.50" in verdicts[id_].reason
        assert "leaks alone 1.50" in verdicts[id_].reason
        assert "neither 1.0" in verdicts[id_].reason
        second = {"allocate": "leaked", "result_files": "overwritten"}
        assert text("process", 4000, 8, **second) in verdicts[id_].evidence
    assert "If each point were run only once" in verdicts["U9"].reason
    without = judged(measured(workers_scan(lambda w: 1.0) | ablation((3.0, 2.0, 1.0, 0.0))))
    assert "are not measured here" in without["U11"].reason


@pytest.mark.parametrize(
    ("smt", "words"), [(True, "has it too"), (False, "this machine does not use it either"), (None, "is not known")]
)
def test_u11_says_whether_the_suspect_is_on_this_machine(smt, words):
    values = workers_scan(lambda w: 1.0) | ablation((3.0, 2.0, 1.0, 0.0))
    host = {"cpu.allowed": 2} | ({} if smt is None else {"cpu.smt": smt})
    reason = judged(measured(values, host=host))["U11"].reason
    assert "hyper-threading, which its CPU does not have" in reason
    assert words in reason


def test_all_six_figures_are_drawn_with_fits_and_equations():
    curves = answer(measured(workers_scan(lambda w: 1.1) | numbers_scan()), ["burian-2015"]).curves
    assert [curve.name for curve in curves] == [f"burian-2015-figure-{number}" for number in range(1, 7)]
    assert all([line.label for line in curve.lines] == ["threads", "processes"] for curve in curves)
    assert "x^2" in curves[1].caption
    assert "R2 " in curves[1].caption
    assert curves[1].lines[0].fit
    assert (curves[3].lines[0].x[0], curves[3].lines[0].x[-1]) == (9.0, 30.0)


def test_on_one_cpu_there_is_no_number_between():
    on_one_cpu = judged(measured(workers_scan(lambda w: 1.0), host={"cpu.allowed": 1}))
    assert on_one_cpu["U8"].status == on_one_cpu["U11"].status == "not_measurable"
    reproduction = answer(measured(workers_scan(lambda w: 1.0), host={"cpu.allowed": 1}), ["burian-2015"])
    assert verdicts(reproduction)["U5"].status == "not_measurable"
    assert "one CPU" in verdicts(reproduction)["U5"].reason
    assert verdicts(reproduction)["U7"].status != "not_measurable"


def test_without_workers_every_item_says_so():
    reproduction = answer(measured({}), ["burian-2015"])
    assert {verdict.status for verdict in verdicts(reproduction).values()} == {"not_measurable"}
    assert not Judge(measured({})).measured.cells


def test_few_runs_say_nothing_of_studies_of_single_runs():
    values = workers_scan(lambda w: 1.0)
    scans = {(text(kind, 3000, w), SCATTER): 0.02 for kind in ("thread", "process") for w in range(9, 31)}
    values |= scans | {(place, SINGLE): values[place, WHOLE] for place, _ in scans}
    assert "If each point were run only once" not in judged(measured(values, n=1))["U9"].reason
    assert "If each point were run only once" in judged(measured(values, n=6))["U9"].reason
