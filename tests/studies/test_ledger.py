"""Claims against made results: every status can be reached, and says its evidence."""

from __future__ import annotations

import pytest
from made import judged, measured

from clonometer.records import to_json
from clonometer.studies.answer import answer
from clonometer.studies.cells import FOUR_GB, LOOP_FORK, LOOP_THREAD, cell, heap, sysel_fork, sysel_thread
from clonometer.studies.claims_loop import RAW_FORK, RAW_THREAD
from clonometer.studies.judge import CALL, IMAGE, REAPED, RUNS
from clonometer.studies.published import load_published
from clonometer.verdicts import Status


def sysel(cold, warm):
    """Thread over fork, cold and warm."""
    values = {}
    for temperature, thread in (("cold", cold), ("warm", warm)):
        for stage in (CALL, RUNS, REAPED):
            values[sysel_fork(temperature), stage] = 100_000.0
            values[sysel_thread(temperature), stage] = 100_000.0 * thread
    return values


@pytest.mark.parametrize(
    ("cold", "warm", "status"),
    [(1.3, 1.2, "holds"), (0.5, 0.1, "fails"), (1.4, 0.1, "depends"), (1.06, 1.05, "unknown")],
)
def test_s11_is_asked_of_first_and_later_launches(cold, warm, status):
    verdict = judged(measured(sysel(cold, warm)))["S11"]
    assert verdict.status == status
    assert sysel_fork("cold") in verdict.evidence
    assert verdict.interval[0] <= verdict.effect <= verdict.interval[1]
    assert "3,000 MHz" in verdict.reason


def test_what_was_not_measured_is_said_with_its_reason():
    verdicts = judged(measured({}, missing={sysel_thread("cold"): "no more threads: 7 of 7"}))
    assert {verdict.status for verdict in verdicts.values()} == {"not_measurable"}
    assert "no more threads: 7 of 7" in verdicts["S11"].reason


def flags(total, vm):
    values = {}
    for temperature in ("cold", "warm"):
        for stage in (CALL, RUNS, REAPED):
            for name, value in (("none", 50.0), ("sysvsem", 50.0), ("vm", 50 * vm), ("settls", 50 * total)):
                values[cell(f"flags.{name}", temperature=temperature), stage] = value * 1e3
    return values


def test_s21_and_b12_never_hold_together():
    for total, s21, b12 in ((0.2, "fails", "holds"), (3.0, "holds", "fails")):
        verdicts = judged(measured(flags(total, 0.3)))
        assert (verdicts["S21"].status, verdicts["B12"].status) == (s21, b12)
        assert (verdicts["L7"].status, verdicts["B11"].status) == ("holds", "holds")
    # As long with as without, to a percent: neither costs nor saves anything.
    verdicts = judged(measured(flags(1.0, 1.0)))
    assert {verdicts[id_].status for id_ in ("S21", "B12", "L7", "B11")} == {"fails"}


def test_the_heap_claims():
    values = {}
    for size, fork in (("1MiB", 36e3), ("2MiB", 40e3), ("64MiB", 500e3)):
        values[heap("launch.fork", size), CALL] = values[heap("launch.fork", size), RUNS] = fork
        values[heap("launch.pthread", size), CALL] = values[heap("launch.pthread", size), RUNS] = 5e3
    values |= {
        ("memcpy.private", "copy_ns"): 90e3,
        (heap("launch.fork", "64MiB", page_kind="thp"), CALL): 45e3,
        (heap("launch.fork", "64MiB", page_kind="untouched"), CALL): 38e3,
    }
    verdicts = judged(measured(values))
    assert {verdicts[id_].status for id_ in ("B6", "B7", "B8", "B9")} == {"holds"}
    assert "an entry costs 28.77" in verdicts["B9"].reason
    values[heap("launch.pthread", "64MiB"), CALL] = 8e3
    values["memcpy.private", "copy_ns"] = 10e3
    verdicts = judged(measured(values))
    assert (verdicts["B7"].status, verdicts["B8"].status) == ("fails", "fails")


def loop(whole, call):
    values = {(LOOP_FORK, "wall_ns"): 1e4 * whole, (LOOP_THREAD, "wall_ns"): 1e4}
    for stage, share in ((CALL, 0.4), (RUNS, 0.6), (REAPED, 1.0)):
        values[LOOP_FORK, stage] = 1e4 * whole * share
        values[LOOP_THREAD, stage] = 1e4 * share
    return values | {(RAW_FORK, CALL): 4e3 * call, (RAW_THREAD, CALL): 4e3}


@pytest.mark.parametrize(
    ("whole", "call", "status"),
    [(13, 6, "holds"), (6, 13, "fails"), (9, 9, "fails"), (9.45, 9, "unknown")],
)
def test_l9_answers_where_the_rest_of_the_loop_lies(whole, call, status):
    verdict = judged(measured(loop(whole, call)))["L9"]
    assert verdict.status == status
    assert "the call 40%, until the task runs after it 20%, its end and its reaping 40%" in verdict.reason


def test_exec_takes_longer_and_the_more_the_larger_the_program():
    def program(name):
        return cell("launch.fork_exec", linkage="dynamic_now", placement="free", program=name, temperature="cold")

    values = sysel(1, 1) | {
        (program("target_dynamic"), IMAGE): 700e3,
        (program("target_cxx"), IMAGE): 1200e3,
        (program("target_nolibc"), IMAGE): 400e3,
    }
    assert judged(measured(values))["S14"].status == "holds"
    values[program("target_cxx"), IMAGE] = 300e3
    assert judged(measured(values))["S14"].status == "fails"


def test_on_one_cpu_nothing_can_migrate():
    verdicts = judged(measured(sysel(1, 1), host={"cpu.allowed": 1}))
    assert verdicts["S15"].status == "not_measurable"
    assert "one CPU" in verdicts["S15"].reason


def test_an_answer_has_every_item_once_and_only_known_statuses():
    reproduction = answer(measured(sysel(1.3, 0.2) | loop(13, 6)), [])
    document = to_json(reproduction)
    ids = [entry["id"] for entry in document["items"]]
    assert ids == [item.id for item in load_published().items]
    assert {entry["status"] for entry in document["items"]} <= set(Status)
    for entry in document["items"]:
        assert {"id", "status", "effect", "interval", "evidence", "reason"} <= set(entry)
        assert entry["reason"].endswith(".")
        assert entry["kind"] == "figure" or entry["status"] != "measured"
    assert [entry["id"] for entry in to_json(answer(measured({}), ["loop-10000"]))["items"]] == [
        f"L{number}" for number in range(1, 10)
    ]


@pytest.mark.parametrize(("untouched", "words"), [(51e3, "memory just written counts"), (160e3, "the control")])
def test_untouched_memory_stands_beside_what_was_written(untouched, words):
    values = {}
    for make, written in ((sysel_fork, 2e7), (sysel_thread, 160e3)):
        for stage in ("call_returns_ns", "task_runs_ns"):
            values[make("cold"), stage] = 50e3
            values[make("cold", parent_bytes="512MiB"), stage] = written
            values[make("cold", parent_bytes=FOUR_GB, page_kind="untouched"), stage] = untouched
    verdict = judged(measured(values))["S12"]
    # The control decides nothing: the thread's growth does.
    assert verdict.status == "fails"
    assert f"With 4 GB allocated and untouched ({words}" in verdict.reason
    assert any("untouched" in cell for cell in verdict.evidence)


def test_a_launch_stands_beside_the_work_of_its_task():
    values = {(heap("launch.fork", "2MiB"), REAPED): 100e3, (heap("launch.pthread", "2MiB"), REAPED): 10e3}
    verdict = judged(measured(values))["B14"]
    # A launch of 100 us is 5% of 2 ms.
    assert verdict.status == "depends"
    assert (verdict.effect, verdict.effect_is[:10]) == (pytest.approx(2.0), "work besid")
    assert "1.80" in verdict.reason
    assert judged(measured({}))["B14"].status == "not_measurable"


@pytest.mark.parametrize(
    ("beyond", "in_all", "prefer"),
    [(1.1, "fails", "holds"), (0.8, "fails", "fails"), (1.0, "fails", "holds")],
)
def test_processes_in_all_cases_means_at_every_point(beyond, in_all, prefer):
    values = {}
    for kind, times in (("thread", beyond), ("process", 1.0)):
        axes = {"task_kind": "process"} if kind == "process" else {}
        for number in (1, 2, 4, 8):
            workers = {"workers": str(number)} if number > 1 else {}
            values[cell("work.factor", numbers="3000", **workers, **axes), "whole_ns"] = (
                1e6 * number * (times if number > 2 else 1.0)
            )
        for n in (2000, 4000, 6000):
            values[cell("work.factor", numbers=str(n), workers="4", **axes), "whole_ns"] = 1e3 * n
    verdicts = judged(measured(values))
    assert (verdicts["U14"].status, verdicts["U15"].status) == (in_all, prefer)
    everywhere = {key: value * (1.1 if "process" not in key[0] else 1.0) for key, value in values.items()}
    if beyond > 1:
        assert judged(measured(everywhere))["U14"].status == "holds"
