"""Claims about tasks at work, on made results and observed facts."""

from __future__ import annotations

import made
import pytest
from made import measured, row_of

from clonometer.studies.cells import cell, sysel_fork, sysel_thread
from clonometer.studies.judge import CALL, RUNS
from clonometer.studies.measured import SURVIVORS, Measurements

FLAGS = {
    "thread_system_calls_next": "10", "fork_system_calls_next": "4", "thread_system_calls_first": "33",
    "fork_system_calls_first": "4",
}  # fmt: skip


def judged(values=None, **how):
    return made.judged(measured(values or {}, **how))


def failures(process=3.0, thread=0.0):
    values = {}
    for fault in ({}, {"fault": "kill"}):
        for kind, alive in (({"task_kind": "process"}, process), ({}, thread)):
            text = cell("isolate.worker", **fault, **kind)
            values |= {(text, SURVIVORS): alive, (text, "known_ns"): 50e3, (text, "restored_ns"): 90e3}
    return values


@pytest.mark.parametrize(
    ("alive", "status"), [({}, "holds"), ({"thread": 2.0}, "depends"), ({"thread": 2.0, "process": 0.0}, "fails")]
)
def test_s18_is_who_works_on_when_one_fails(alive, status):
    verdict = judged(failures(**alive), spread=0.0, n=40)["S18"]
    assert verdict.status == status
    assert cell("isolate.worker", task_kind="process") in verdict.evidence
    assert "noticed after 50.0 µs" in verdict.reason


def test_s18_is_counted_and_has_no_interval():
    """What happened is no sample of it: eight launches that went as said are eight of eight."""
    verdict = judged(failures(), spread=0.0, n=2)["S18"]
    assert (verdict.status, verdict.counted) == ("holds", "8 of 8 launches")
    assert (verdict.effect, verdict.interval, verdict.word) == (None, None, None)


def test_s18_is_not_refuted_by_one_odd_launch_which_is_said():
    rows = [
        row_of(text, quantity, "ns" if quantity != SURVIVORS else "count", [value] * 59 + [odd])
        for (text, quantity), value in failures().items()
        for odd in [2.0 if quantity == SURVIVORS and "task_kind=process" in text else value]
    ]
    verdict = made.judged(Measurements(rows, {}, {"cpu.allowed": 2}))["S18"]
    assert (verdict.status, verdict.counted) == ("holds", "238 of 240 launches")


def weights(held, create, reap):
    values = {}
    for quantity, ratio in (("whole_each_bytes", held), ("create_each_ns", create), ("reap_each_ns", reap)):
        values["footprint.thread", quantity] = 20e3
        values["footprint.process", quantity] = 20e3 * ratio
    return values


@pytest.mark.parametrize(
    ("ratios", "status"),
    [
        ((4, 5, 6), "holds"),
        ((4, 1, 1), "depends"),
        ((0.5, 0.5, 0.5), "fails"),
        ((1, 1, 1), "fails"),
    ],
)
def test_s22_weighs_what_idle_ones_hold_and_cost(ratios, status):
    verdict = judged(weights(*ratios))["S22"]
    assert verdict.status == status
    assert "an idle thread 19.5 KiB" in verdict.reason


def test_s22_prefers_the_account_that_counts_nothing_but_the_tasks():
    values = weights(1, 1, 1)
    for (text, quantity), value in weights(4, 5, 6).items():
        values[text + "[accounting=cgroup]", quantity] = value
    assert judged(values)["S22"].status == "holds"


def test_l8_counts_system_calls():
    assert judged(observed={"flags": FLAGS})["L8"].status == "holds"
    fewer = judged(observed={"flags": {**FLAGS, "thread_system_calls_next": "3"}})["L8"]
    assert fewer.status == "fails"
    assert fewer.effect == 0.75
    assert judged()["L8"].status == "not_measurable"


def switches(pipe, futex):
    values = {}
    for name, process in (("pipe", pipe), ("futex", futex)):
        values[f"switch.{name}", "handover_ns"] = 1000.0
        values[cell(f"switch.{name}", task_kind="process"), "handover_ns"] = 1000.0 * process
    return values


@pytest.mark.parametrize(
    ("pipe", "futex", "s17", "b10"),
    [
        (1.3, 1.2, "holds", "holds"),
        (1.0, 1.2, "holds", "depends"),
        (1.0, 1.0, "fails", "fails"),
        (0.8, 0.9, "fails", "fails"),
    ],
)
def test_one_cheaper_switch_is_enough_for_s17_and_b10_has_them_all(pipe, futex, s17, b10):
    verdicts = judged(switches(pipe, futex))
    assert (verdicts["S17"].status, verdicts["B10"].status) == (s17, b10)
    assert "pipe 1.00" in verdicts["B10"].reason
    assert "between threads" in verdicts["B10"].reason


def messages(*ratios):
    values = {}
    for size, ratio in zip(("1KiB", "64KiB"), ratios, strict=True):
        values[cell("ipc.shared_memory", message_bytes=size, partner_cpu="other"), "latency_ns"] = 500.0
        text = cell("ipc.pipe", message_bytes=size, partner_cpu="other", task_kind="process")
        values[text, "latency_ns"] = 500.0 * ratio
    return values


@pytest.mark.parametrize(
    ("ratios", "status"),
    [((5, 3), "holds"), ((5, 0.5), "depends"), ((0.5, 0.5), "fails"), ((1, 1), "fails")],
)
def test_s16_is_a_matter_of_size_and_s20_follows(ratios, status):
    verdicts = judged({**messages(*ratios), **failures()}, spread=0.0, n=40)
    assert verdicts["S16"].status == status
    assert verdicts["S20"].status == status
    assert "64 KiB" in verdicts["S16"].reason
    assert judged(messages(*ratios))["S20"].status == "not_measurable"


def contention(ratio):
    values = {}
    for name in ("fault", "mmap"):
        for workers in ("2", "4"):
            thread = 1000.0 * (ratio if name == "fault" else 1.0)
            values[cell(f"contend.{name}", workers=workers), "op_ns"] = thread
            values[cell(f"contend.{name}", workers=workers, task_kind="process"), "op_ns"] = 1000.0
    return values


@pytest.mark.parametrize(("ratio", "status"), [(2.0, "holds"), (1.0, "fails")])
def test_s19_needs_one_operation_where_not_sharing_wins(ratio, status):
    assert judged(contention(ratio))["S19"].status == status
    assert judged(contention(ratio), host={"cpu.allowed": 1})["S19"].status == "not_measurable"


def test_s19_is_contradicted_where_threads_win_everywhere():
    values = {key: value * (0.5 if "task_kind" not in key[0] else 1) for key, value in contention(1.0).items()}
    assert judged(values)["S19"].status == "fails"


def test_s11_is_asked_at_both_ends_of_the_frequency_where_it_can_be_set():
    values = {}
    for temperature in ("cold", "warm"):
        for stage in (CALL, RUNS):
            values[sysel_fork(temperature), stage] = 100.0
            values[sysel_thread(temperature), stage] = 150.0
    assert judged(values)["S11"].status == "holds"
    for stage in (CALL, RUNS):
        values[sysel_fork("cold", frequency="base"), stage] = 300.0
        values[sysel_thread("cold", frequency="base"), stage] = 200.0
    verdict = judged(values)["S11"]
    assert verdict.status == "depends"
    assert "base frequency" in verdict.reason
