"""Explanations as evidence: read, said in words, and what the ledger makes of them."""

from __future__ import annotations

import json

import made
import pytest
from explanations import loop
from made import measured

from clonometer.errors import InputError
from clonometer.records import to_json
from clonometer.studies.cells import LOOP_FORK, LOOP_THREAD
from clonometer.studies.claims_loop import RAW_FORK, RAW_THREAD
from clonometer.studies.explained import (
    EXPLANATIONS,
    LOOP,
    WORK,
    NamedDelay,
    Refused,
    WorkAnswer,
    read_answer,
    share_of,
    worked_of,
)
from clonometer.studies.figures import figure_rows
from clonometer.studies.judge import CALL, REAPED, RUNS
from clonometer.studies.published import load_published
from clonometer.tracing.work.types import WorkTier


def judged(document, **how):
    values = {(RAW_FORK, CALL): 40e3, (RAW_THREAD, CALL): 8e3}
    for stage, share in ((CALL, 0.4), (RUNS, 0.6), (REAPED, 1.0)):
        values[LOOP_FORK, stage] = 80e3 * share
        values[LOOP_THREAD, stage] = 15e3 * share
    return made.judged(measured(values, explained={LOOP: document}, **how))


@pytest.mark.parametrize(
    ("call", "exit_", "half", "status"),
    [
        (40e3, 30e3, 0.02, "holds"),
        (400e3, 7e3, 0.001, "fails"),
        (400e3, 30e3, 0.2, "unknown"),
    ],
)
def test_l9_is_judged_by_the_share_of_the_call_in_the_difference(call, exit_, half, status):
    verdict = judged(loop(call, exit_, half=half))["L9"]
    assert verdict.status == status
    low, high = verdict.interval
    assert low <= verdict.effect <= high
    assert verdict.effect == pytest.approx((call - 8e3) / (call + exit_ + 10e3 - 15e3))


def test_l9_names_the_parts_that_make_the_ratio():
    verdict = judged(loop())["L9"]
    assert "a process takes 5.3 times as long, and the call is 49% of the difference" in verdict.reason
    assert "child: exit 35% (30.0 µs against 7.0 µs)" in verdict.reason
    assert "child: faults: copy on write 15% (10.0 µs against none)" in verdict.reason
    assert verdict.evidence[-1] == EXPLANATIONS[LOOP].evidence
    assert verdict.evidence[-1].startswith("explain launch.fork --vs launch.pthread")


@pytest.mark.parametrize("document", [Refused("no perf"), loop(tier="own", refused={"tracepoints": "no perf"})])
def test_without_the_kernels_events_l9_falls_back_to_stages_and_says_why(document):
    verdict = judged(document)["L9"]
    assert "could not be traced here" in verdict.reason
    assert "no perf" in verdict.reason
    assert "the call 40%" in verdict.reason
    assert all(not source.startswith("explain") for source in verdict.evidence)


def test_l8_counts_the_calls_of_the_launch_without_those_of_the_probe():
    verdict = judged(loop())["L8"]
    assert verdict.status == "holds"
    assert verdict.effect == pytest.approx(5 / 3)
    assert "rt_sigprocmask 2 times, clone3" in verdict.reason
    assert "pwrite64" not in verdict.reason
    demo = {"flags": {f"{kind}_system_calls_{when}": "9" for kind in ("thread", "fork") for when in ("next", "first")}}
    verdict = judged(Refused("no perf"), observed=demo)["L8"]
    assert verdict.status == "unknown"
    assert verdict.evidence == ("demo flags",)
    assert judged(Refused("no perf"))["L8"].status == "not_measurable"


def test_l5_tells_the_call_as_the_kernel_saw_it():
    item = load_published().item("L5")
    values = {(item.values[0].cell, CALL): 46e3, (item.values[1].cell, CALL): 8e3}
    rows = figure_rows(item, measured(values, explained={LOOP: loop()}))
    assert [row.note for row in rows] == [
        "clone by the kernel's events 1.00 µs",
        "clone3 by the kernel's events 1.00 µs",
    ]
    rows = figure_rows(item, measured(values, explained={LOOP: loop(inflated=True)}))
    assert "under ptrace" in rows[0].note
    assert figure_rows(item, measured(values))[0].note == ""


def test_a_part_without_a_certain_difference_has_no_certain_share():
    share = share_of(loop(8e3, 7e3, half=0.5), "launch_call")
    assert (share.low, share.high) == (float("-inf"), float("inf"))


def work(tier="tracepoints", refused=None):
    """What explaining workers gives, made by hand."""
    return WorkAnswer(
        "Threads need 12% more than processes: 80% of it blocked in futex; unexplained 1% of it.",
        WorkTier(tier, "kernel tracepoints", refused or {}, ()),
        ((NamedDelay("futex_wait", "blocked in futex", 0.7),), ()),
    )


def test_workers_taken_to_pieces_say_why_the_gap_is_there_and_what_delays_them():
    worked = work()
    assert worked.text == (
        "Split into parts (kernel tracepoints): Threads need 12% more than processes: 80% of it blocked in futex; "
        "unexplained 1% of it."
    )
    assert worked.delayed.endswith("executions slow (kernel tracepoints), those of threads: blocked in futex 70%.")
    assert (
        "Closer tracing is not permitted here (tracepoints: no perf)" in work("proc", {"tracepoints": "no perf"}).text
    )


def test_what_was_refused_leaves_the_ablation_and_says_so():
    worked = worked_of({WORK: Refused("perf events are not permitted")})
    assert isinstance(worked, Refused)
    assert "perf events are not permitted" in worked.text
    assert "only the ablation answers" in worked.text


@pytest.mark.parametrize(("name", "answer"), [(LOOP, loop()), (LOOP, Refused("no perf")), (WORK, work())])
def test_an_answer_that_was_kept_is_read_as_it_was(name, answer):
    document = json.loads(json.dumps(to_json(answer)))
    # What an earlier version kept of workers besides.
    assert read_answer(name, {**document, "pairs": 3, "gap": {"value": 0.1}, "notes": []}) == answer


def test_an_answer_that_was_damaged_is_refused():
    document = to_json(work())
    with pytest.raises(InputError, match=r"delays has 1 entries, not 2"):
        read_answer(WORK, {**document, "delays": [[]]})
