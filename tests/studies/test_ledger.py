"""Claims against made results: every status can be reached, and says its evidence."""

from __future__ import annotations

import pytest
from made import measured, series

from clonometer.stats.interval import Interval
from clonometer.studies.answer import CLAIMS, answer, answer_to_json
from clonometer.studies.cells import LOOP_FORK, LOOP_THREAD, cell, heap, sysel_fork, sysel_thread
from clonometer.studies.claims_loop import RAW_FORK, RAW_THREAD
from clonometer.studies.judge import CALL, IMAGE, REAPED, RUNS, judge_all
from clonometer.studies.measured import Measurements
from clonometer.studies.published import load_published
from clonometer.studies.types import STATUSES
from clonometer.studies.verdicts import JudgedRatio, over_conditions, over_demands


def ratio(value, half=0.01, n=12):
    return Interval(value, value * (1 - half), value * (1 + half), 0.95, "made", n)


def part(value, expected="above", least=0.05, **how):
    return JudgedRatio("made", ratio(value, **how), expected, least, ("a", "b"))


@pytest.mark.parametrize(
    ("judged", "outcome"),
    [
        (part(1.2), "yes"), (part(0.8), "no"), (part(1.03), "unclear"), (part(1.2, half=0.3), "unclear"),
        (part(1.2, n=3), "unclear"), (part(0.8, "below"), "yes"), (part(1.2, "below"), "no"),
        (part(1.5, least=1.0), "unclear"), (part(2.1, least=1.0), "yes"),
        (part(1.0, "alike"), "yes"), (part(1.04, "alike", half=0.02), "unclear"), (part(1.2, "alike"), "no"),
        (part(1.0, "alike", n=2), "unclear"),
    ],
)  # fmt: skip
def test_a_part_is_met_contradicted_or_unclear(judged, outcome):
    assert judged.outcome == outcome


@pytest.mark.parametrize(
    ("values", "conditions", "demands"),
    [
        ([1.2, 1.3], "holds", "holds"),
        ([0.8, 0.7], "does_not_hold", "does_not_hold"),
        ([1.2, 0.7], "depends", "does_not_hold"),
        ([1.2, 1.0], "depends", "not_distinguishable"),
        ([1.0, 1.0], "not_distinguishable", "not_distinguishable"),
        ([0.8, 1.0], "does_not_hold", "does_not_hold"),
        ([], "not_measurable", "not_measurable"),
    ],
)
def test_parts_make_a_status(values, conditions, demands):
    parts = [part(value) for value in values]
    assert over_conditions(parts) == conditions
    assert over_demands(parts) == demands


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
    [(1.3, 1.2, "holds"), (0.5, 0.1, "does_not_hold"), (1.4, 0.1, "depends"), (1.01, 0.99, "not_distinguishable")],
)
def test_s11_is_asked_of_first_and_later_launches(cold, warm, status):
    verdict = judge_all(CLAIMS, measured(sysel(cold, warm)))["S11"]
    assert verdict.status == status
    assert sysel_fork("cold") in verdict.evidence
    assert verdict.interval[0] <= verdict.effect <= verdict.interval[1]
    assert "3,000 MHz" in verdict.reason


def test_what_was_not_measured_is_said_with_its_reason():
    verdicts = judge_all(CLAIMS, measured({}, missing={sysel_thread("cold"): "no more threads: 7 of 7"}))
    assert {verdict.status for verdict in verdicts.values()} == {"not_measurable"}
    assert "no more threads: 7 of 7" in verdicts["S11"].reason


def memory(fork, thread):
    big = "1GiB"
    return sysel(1, 1) | {
        (sysel_fork("cold", parent_bytes=big), CALL): 100_000.0 * fork,
        (sysel_thread("cold", parent_bytes=big), CALL): 100_000.0 * thread,
    }


@pytest.mark.parametrize(
    ("fork", "thread", "status"),
    [(90, 1.02, "holds"), (90, 1.8, "does_not_hold"), (1.0, 1.0, "not_distinguishable"), (0.4, 1, "does_not_hold")],
)
def test_s12_demands_growth_of_one_and_none_of_the_other(fork, thread, status):
    assert judge_all(CLAIMS, measured(memory(fork, thread)))["S12"].status == status


def flags(total, vm):
    values = {}
    for temperature in ("cold", "warm"):
        for stage in (CALL, RUNS, REAPED):
            for name, value in (("none", 50.0), ("sysvsem", 50.0), ("vm", 50 * vm), ("settls", 50 * total)):
                values[cell(f"flags.{name}", temperature=temperature), stage] = value * 1e3
    return values


def test_s21_and_b12_never_hold_together():
    for total, s21, b12 in ((0.2, "does_not_hold", "holds"), (3.0, "holds", "does_not_hold")):
        verdicts = judge_all(CLAIMS, measured(flags(total, 0.3)))
        assert (verdicts["S21"].status, verdicts["B12"].status) == (s21, b12)
        assert (verdicts["L7"].status, verdicts["B11"].status) == ("holds", "holds")
    verdicts = judge_all(CLAIMS, measured(flags(1.0, 1.0)))
    assert {verdicts[id_].status for id_ in ("S21", "B12", "L7", "B11")} == {"not_distinguishable"}


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
    verdicts = judge_all(CLAIMS, measured(values))
    assert {verdicts[id_].status for id_ in ("B6", "B7", "B8", "B9")} == {"holds"}
    assert "an entry costs 28.8" in verdicts["B9"].reason
    values[heap("launch.pthread", "64MiB"), CALL] = 8e3
    values["memcpy.private", "copy_ns"] = 10e3
    verdicts = judge_all(CLAIMS, measured(values))
    assert (verdicts["B7"].status, verdicts["B8"].status) == ("does_not_hold", "does_not_hold")


def loop(whole, call):
    values = {(LOOP_FORK, "wall_ns"): 1e4 * whole, (LOOP_THREAD, "wall_ns"): 1e4}
    for stage, share in ((CALL, 0.4), (RUNS, 0.6), (REAPED, 1.0)):
        values[LOOP_FORK, stage] = 1e4 * whole * share
        values[LOOP_THREAD, stage] = 1e4 * share
    return values | {(RAW_FORK, CALL): 4e3 * call, (RAW_THREAD, CALL): 4e3}


@pytest.mark.parametrize(
    ("whole", "call", "status"), [(13, 6, "holds"), (6, 13, "does_not_hold"), (9, 9, "not_distinguishable")]
)
def test_l9_answers_where_the_rest_of_the_loop_lies(whole, call, status):
    verdict = judge_all(CLAIMS, measured(loop(whole, call)))["L9"]
    assert verdict.status == status
    assert "the call 40%, until the task runs after it 20%, its end and its reaping 40%" in verdict.reason
    assert judge_all(CLAIMS, measured(loop(whole, call)))["L6"].status == "holds"


def test_exec_and_copies():
    def program(name):
        return cell("launch.fork_exec", linkage="dynamic_now", placement="free", program=name, temperature="cold")

    values = sysel(1, 1) | {
        (program("target_dynamic"), IMAGE): 700e3,
        (program("target_cxx"), IMAGE): 1200e3,
        (program("target_nolibc"), IMAGE): 400e3,
        (sysel_fork("cold", parent_bytes="64MiB"), CALL): 1e6,
        (sysel_fork("warm", page_kind="shared", parent_bytes="64MiB"), CALL): 1e5,
        (cell("memcpy.private", copy_bytes="64MiB"), "copy_ns"): 1e7,
    }
    verdicts = judge_all(CLAIMS, measured(values))
    assert (verdicts["S13"].status, verdicts["S14"].status) == ("holds", "holds")
    values[program("target_cxx"), IMAGE] = 300e3
    assert judge_all(CLAIMS, measured(values))["S14"].status == "does_not_hold"


def placed(share, slower):
    rows = []
    for make in (sysel_fork, sysel_thread):
        for temperature in ("cold", "warm"):
            for stage in (CALL, RUNS):
                for placement, samples, median in (
                    ("same_cpu", 1000 - share, 100e3),
                    ("other_cpu", share, 100e3 * slower),
                ):
                    if samples:
                        text = make(temperature)
                        rows.append(series(text, stage, median, placement=placement, samples=samples))
    return Measurements(rows, {}, {"cpu.allowed": 2})


@pytest.mark.parametrize(
    ("share", "slower", "status"),
    [(20, 1.0, "holds"), (20, 2.0, "does_not_hold"), (400, 1.0, "does_not_hold"), (20, 1.1, "not_distinguishable")],
)
def test_s15_asks_how_many_migrate_and_what_that_does(share, slower, status):
    verdict = judge_all(CLAIMS, placed(share, slower))["S15"]
    assert verdict.status == status
    assert verdict.effect == pytest.approx(share / 1000)


def test_on_one_cpu_nothing_can_migrate():
    verdicts = judge_all(CLAIMS, measured(sysel(1, 1), host={"cpu.allowed": 1}))
    assert verdicts["S15"].status == "not_measurable"
    assert "one CPU" in verdicts["S15"].reason


def test_an_answer_has_every_item_once_and_only_known_statuses():
    reproduction = answer(measured(sysel(1.3, 0.2) | loop(13, 6)), [])
    document = answer_to_json(reproduction)
    ids = [entry["id"] for entry in document["items"]]
    assert ids == [item.id for item in load_published().items]
    assert {entry["status"] for entry in document["items"]} <= set(STATUSES)
    for entry in document["items"]:
        assert {"id", "status", "effect", "interval", "evidence", "reason"} <= set(entry)
        assert entry["reason"].endswith(".")
        assert entry["kind"] == "figure" or entry["status"] != "measured"
    assert [entry["id"] for entry in answer_to_json(answer(measured({}), ["loop-10000"]))["items"]] == [
        f"L{number}" for number in range(1, 10)
    ]
