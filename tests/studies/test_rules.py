"""The ledger's rules against results that would mislead them: each line was once answered wrongly."""

from __future__ import annotations

import json

import made
import numpy as np
import pytest
from made import judged, measured, series

from clonometer.records import to_json
from clonometer.stats.interval import Interval
from clonometer.stats.processes import Processes
from clonometer.stats.verdict import ERROR_RATE, Levels
from clonometer.studies.answer import answer
from clonometer.studies.cells import LOOP_FORK, LOOP_THREAD, axes_of, cell, heap, sysel_fork, sysel_thread
from clonometer.studies.judge import CALL, REAPED, RUNS, Judge
from clonometer.studies.measured import CALL_MOVED, CALL_STAYED, MIGRATED, Measurements, made_row
from clonometer.studies.thresholds import Threshold
from clonometer.studies.verdicts import over_conditions, over_demands, over_some, verdict
from clonometer.views.studies import outcome_text

WHOLE = "whole_ns"


def part(value, low, high, expected="above", least=0.05, *, n=12):
    threshold = Threshold(least, "", "", "")
    return Judge(measured({})).judged(
        "made", Interval(value, low, high, 0.95, "made", n), expected, threshold, ("a", "b")
    )


YES, NO, UNCLEAR = part(2.0, 1.98, 2.02), part(0.5, 0.49, 0.51), part(1.5, 0.5, 4.0)
FEW = part(2.0, 1.99, 2.01, n=3)


@pytest.mark.parametrize(
    ("chrono_ns", "status"),
    [(90.0, "holds"), (66.0, "unknown"), (60.0, "unknown"), (30.0, "fails")],
)
def test_chrono_is_dearer_only_by_more_than_a_step_of_the_clock(chrono_ns, status):
    pairs = {
        (cell("clock.first_pair"), "pair_ns"): 60.0,
        (cell("clock.first_pair", read_clock="chrono"), "pair_ns"): chrono_ns,
    }
    assert judged(measured({**pairs, ("clock.realtime", "step_ns"): 20.0}))["S23"].status == status


@pytest.mark.parametrize(
    ("judged_part", "outcome"),
    [
        (part(2.0, 1.01, 4.0, least=1.0), "unknown"),
        (part(1.99, 1.98, 2.01, least=1.0), "unknown"),
        (part(1.99, 1.98, 1.995, least=1.0), "fails"),
        (part(1.5, 1.49, 1.51, least=1.0), "fails"),
        (part(1.02, 1.01, 1.03, least=1.0), "fails"),
        (part(0.9, 0.89, 0.91, least=1.0), "fails"),
        (part(2.1, 2.01, 2.2, least=1.0), "holds"),
        (part(0.9, 0.89, 0.91, "below", 0.25), "fails"),
        (part(0.8, 0.5, 0.99, "below", 0.25), "unknown"),
        (part(0.7, 0.6, 0.79, "below", 0.25), "holds"),
        (part(1.016, 1.01, 1.0199, least=0.02), "fails"),
        (part(1.0, 0.97, 1.03, "alike"), "holds"),
        (part(1.04, 1.02, 1.06, "alike"), "unknown"),
        (part(1.2, 1.1, 1.3, "alike"), "fails"),
        (FEW, "unknown"),
    ],
)
def test_a_part_is_what_its_whole_interval_says(judged_part, outcome):
    assert judged_part.outcome == outcome


@pytest.mark.parametrize(
    ("parts", "conditions", "demands", "some"),
    [
        ([YES, YES], "holds", "holds", "holds"),
        ([NO, NO], "fails", "fails", "fails"),
        ([YES, NO], "depends", "fails", "holds"),
        ([YES, UNCLEAR], "unknown", "unknown", "holds"),
        ([YES, YES, FEW], "unknown", "unknown", "holds"),
        ([NO, UNCLEAR, UNCLEAR, UNCLEAR], "fails", "fails", "unknown"),
        ([UNCLEAR, UNCLEAR], "unknown", "unknown", "unknown"),
    ],
)
def test_it_depends_only_where_two_conditions_disagree(parts, conditions, demands, some):
    outcomes = [rule(parts).status(ERROR_RATE, ERROR_RATE) for rule in (over_conditions, over_demands, over_some)]
    assert outcomes == [conditions, demands, some]


def test_in_how_many_of_several_conditions_it_is_sure_is_said():
    assert "(yes in 2 of 3, certainly no in 0)" in verdict(over_conditions, [YES, YES, FEW], "words", "").reason
    assert "yes in" not in verdict(over_conditions, [YES, YES], "words", "").reason


def test_what_holds_everywhere_is_told_by_the_part_that_nearly_did_not():
    nearly = part(1.1, 1.06, 1.2)
    assert verdict(over_conditions, [YES, nearly, YES], "words", "").effect == 1.1


def test_one_ratio_that_is_sure_never_makes_a_claim_of_eight_hold():
    """Threads take 1.25 times as long at one number of workers, and 0.95 times at the seven others."""
    generator = np.random.default_rng(11)
    for n in (6, 12, 20):
        for _ in range(20):
            parts = [compared(generator, n, times) for times in (1.25, *7 * [0.95])]
            assert over_conditions(parts).status(ERROR_RATE, ERROR_RATE) != "holds"


def test_a_message_through_shared_memory_that_costs_the_same_is_a_no_and_not_a_doubt():
    values = {}
    for way, ratio in (("shared_memory", 0.998), ("pipe", 3.0)):
        values[cell("ipc.shared_memory", message_bytes="1KiB"), "latency_ns"] = 500.0
        values[cell(f"ipc.{way}", message_bytes="1KiB", task_kind="process"), "latency_ns"] = 500.0 * ratio
    assert judged(measured(values))["S16"].status == "depends"
    values[cell("ipc.shared_memory", message_bytes="1KiB", task_kind="process"), "latency_ns"] = 1500.0
    assert judged(measured(values))["S16"].status == "holds"


def test_s13_is_not_met_by_holding_warm_against_cold():
    """Shared pages cost what private ones do, and cold 1.4 times what warm does: nothing but that differs."""
    values = {(cell("memcpy.private", copy_bytes="64MiB"), "copy_ns"): 1e7}
    for temperature, times in (("cold", 1.4), ("warm", 1.0)):
        for axes in ({}, {"page_kind": "shared"}):
            values[sysel_fork(temperature, parent_bytes="64MiB", **axes), CALL] = 1e6 * times
    assert judged(measured(values))["S13"].status == "fails"
    for temperature in ("cold", "warm"):
        values[sysel_fork(temperature, parent_bytes="64MiB", page_kind="shared"), CALL] = 1e5
    assert judged(measured(values))["S13"].status == "holds"
    del values[sysel_fork("cold", parent_bytes="64MiB", page_kind="shared"), CALL]
    assert judged(measured(values))["S13"].status == "not_measurable"


def compared(generator, n, times=1.0):
    """A part whose sides scatter by 10%, of so many processes each."""
    sides = [made_row(name, CALL, "ns", Processes.of(level * np.exp(generator.normal(0.0, 0.1, n))), n)
             for name, level in (("a", times), ("b", 1.0))]  # fmt: skip
    return Judge(measured({})).compare("", *sides)


@pytest.mark.parametrize(("n", "k"), [(6, 20), (8, 12)])
def test_one_of_many_is_enough_only_where_chance_alone_would_not_do_it(n, k):
    """Nothing differs: at most 5% of families may hold, and something that does differ is still seen."""
    generator = np.random.default_rng(5)
    families = 40
    held = 0
    for _ in range(families):
        parts = [compared(generator, n) for _ in range(k)]
        held += over_some(parts).status(ERROR_RATE, ERROR_RATE) == "holds"
    assert held <= 0.05 * families
    assert over_some([*parts[1:], compared(generator, n, 3.0)]).status(ERROR_RATE, ERROR_RATE) == "holds"


def loops(ratio, **how):
    return measured({(LOOP_FORK, "wall_ns"): 1e4 * ratio, (LOOP_THREAD, "wall_ns"): 1e4}, **how)


@pytest.mark.parametrize(
    ("ratio", "how", "status", "agrees", "words"),
    [
        (2.05, {}, "holds_in_direction", "fails", "Holds in direction: 2.05"),
        (3.5, {}, "holds_in_direction", "fails", ", not 13."),
        (13.2, {}, "holds", "holds", "as in the study (13)"),
        (12.0, {"spread": 0.6}, "holds_in_direction", "unknown", "whether that is the study's 13 is open"),
        (0.9, {}, "fails", "fails", ", not 13."),
        (1.02, {}, "fails", "fails", ", not 13."),
        (1.5, {"spread": 0.9}, "unknown", "fails", ", not 13."),
    ],
)
def test_direction_and_size_are_two_things(ratio, how, status, agrees, words):
    reproduction = answer(loops(ratio, **how), ["loop-10000"])
    entry = next(entry for entry in to_json(reproduction)["items"] if entry["id"] == "L6")
    assert entry["status"] == status
    assert entry["direction"] == ("holds" if status.startswith("holds") else status)
    assert words in entry["reason"]
    assert entry["size"]["published"] == 13
    assert entry["size"]["value"] == pytest.approx(ratio / 13)
    assert entry["size"]["interval"][0] <= entry["size"]["value"] <= entry["size"]["interval"][1]
    assert entry["size"]["agrees"] == agrees


def with_heaps(slope, others=()):
    """A loop of 4 times, and the same with heaps: a process dearer by ``slope`` for each MiB."""
    values = {}
    for stage in ("wall_ns", REAPED):
        values[LOOP_FORK, stage], values[LOOP_THREAD, stage] = 4e4, 1e4
    for mib in (2, 4, 8):
        values[heap("launch.fork", f"{mib}MiB"), REAPED] = 1e4 * (4 + slope * mib)
        values[heap("launch.pthread", f"{mib}MiB", thread_ending="pthread_exit"), REAPED] = 1e4
    for axes, ratio in others:
        values[cell("launch.fork", temperature="cold", **axes), REAPED] = 1e4 * ratio
        values[cell("launch.pthread", temperature="cold", **axes), REAPED] = 1e4
    return judged(measured(values))["L6"]


def test_the_memory_that_gives_the_published_size_is_solved_for():
    reached = with_heaps(1.8)
    assert reached.size.given_by == "when the parent has touched about 5 MiB"
    assert reached.reason.endswith("Here it is 13 times when the parent has touched about 5 MiB; 4.00 times without.")
    assert heap("launch.fork", "4MiB") in reached.evidence
    # Beyond what was measured a line is followed for a while, which is said; and no further.
    beyond = with_heaps(0.5)
    assert "about 18 MiB, by a line through sizes up to 8 MiB" in beyond.size.answer
    far = with_heaps(0.1)
    assert far.size.given_by is None
    assert far.size.answer == "13 times is out of reach here: 4.00 times without, at most 4.8 times up to 8 MiB."


def test_a_size_that_is_exceeded_without_memory_is_out_of_reach():
    values = {}
    for stage in ("wall_ns", REAPED):
        values[LOOP_FORK, stage], values[LOOP_THREAD, stage] = 20e4, 1e4
    for mib in (2, 4):
        values[heap("launch.fork", f"{mib}MiB"), REAPED] = 1e4 * (20 + mib)
        values[heap("launch.pthread", f"{mib}MiB", thread_ending="pthread_exit"), REAPED] = 1e4
    size = judged(measured(values))["L6"].size
    assert size.answer == "It is more than 13 times here even without memory: 20.0 times without."


def test_a_size_that_was_not_claimed_is_null():
    items = to_json(answer(measured({}), []))["items"]
    assert {entry["id"] for entry in items if "size" in entry} == {
        entry["id"] for entry in items if entry["kind"] != "figure"
    }
    assert judged(measured(made_launches()))["S11"].size is None


def made_launches(**doubled):
    """Launches with and without memory that cost the same, but for those that are named."""
    values = {}
    for make, name in ((sysel_fork, "fork"), (sysel_thread, "thread")):
        for stage in (CALL, RUNS):
            values[make("cold"), stage] = values[make("warm"), stage] = 1e5
            values[make("cold", parent_bytes="512MiB"), stage] = 1e5 * doubled.get(f"{name}_{stage}", 1.0)
    return values


@pytest.mark.parametrize(("thread_runs", "s12"), [(1.0, "holds"), (1.8, "fails"), (1.2, "holds"), (1.25, "unknown")])
def test_s12_and_b7_also_ask_until_the_thread_runs(thread_runs, s12):
    grown = {f"fork_{stage}": 50.0 for stage in (CALL, RUNS)}
    values = made_launches(**grown, **{f"thread_{RUNS}": thread_runs})
    assert judged(measured(values))["S12"].status == s12
    for stage in (CALL, RUNS):
        for kind, times in (("launch.fork", 50.0), ("launch.pthread", thread_runs if stage == RUNS else 1.0)):
            values[heap(kind, "1MiB"), stage] = 1e4
            values[heap(kind, "64MiB"), stage] = 1e4 * times
    # Two studies, one threshold for threads that are flat.
    assert judged(measured(values))["B7"].status == s12


def test_an_interval_far_from_1_is_sure_and_says_how_far_at_least():
    """Fork takes 170 times as long with memory (110 to 250), a thread as long as without."""
    generator = np.random.default_rng(2)
    rows = []
    for make, times in ((sysel_fork, 170.0), (sysel_thread, 1.0)):
        for stage in (CALL, RUNS):
            for memory, level in (({}, 1e5), ({"parent_bytes": "512MiB"}, 1e5 * times)):
                spread = 0.45 if memory and times > 1 else 0.03
                values = level * np.exp(np.clip(generator.normal(0, spread, 12), -2 * spread, 2 * spread))
                rows.append(made.row_of(make("cold", **memory), stage, "ns", values))
    verdict = judged(Measurements(rows, {}, {"cpu.allowed": 2}))["S12"]
    assert (verdict.status, verdict.word) == ("holds", "sure")
    assert verdict.interval[1] / verdict.interval[0] > 1.3
    assert 80 < verdict.at_least < verdict.effect
    words = outcome_text(verdict)
    assert words.startswith("holds, sure: ")
    assert "×, at least " in words


def ledger(generator, n, spread):
    """A study's claims where nothing differs: each claim has one to eight parts at the very threshold of 1."""
    judge = Judge(measured({}))
    rules = (over_conditions, over_demands, over_some)
    return [
        rules[number % 3]([compared_at(judge, generator, n, spread) for _ in range(1 + number % 8)])
        for number in range(30)
    ]


def compared_at(judge, generator, n, spread):
    layout = np.exp(generator.normal(0, 0.03, 2))
    sides = [made_row(name, CALL, "ns", Processes.of(level * np.exp(generator.normal(0, spread, n))), n)
             for name, level in zip(("a", "b"), layout, strict=True)]  # fmt: skip
    judge._ratios.clear()
    return judge.compare("", *sides)


@pytest.mark.parametrize(("n", "spread"), [(6, 0.1), (12, 0.05)])
def test_of_ledgers_in_which_nothing_differs_few_say_that_something_does(n, spread):
    generator = np.random.default_rng(8)
    wrong, ledgers = 0, 60
    for _ in range(ledgers):
        outcomes = ledger(generator, n, spread)
        yes = Levels.of([min(outcome.holds, outcome.somewhere) for outcome in outcomes]).sure
        no = Levels.of([outcome.fails for outcome in outcomes]).sure
        wrong += any(outcome.status(yes, no) in ("holds", "depends") for outcome in outcomes)
    assert wrong <= 0.05 * ledgers


def migrating(cold, warm, slower=None, n=40):
    """Shares of launches that migrate; ``slower``: how much longer those take, None where nobody looked."""
    rows = []
    for make in (sysel_fork, sysel_thread):
        for temperature, shares in (("cold", cold), ("warm", warm)):
            text = make(temperature)
            rows.append(series(text, RUNS, 1e5, placement="other_cpu"))
            rows.append(made.row_of(text, MIGRATED, "ratio", np.resize(shares, n)))
            if slower is not None:
                rows.append(series(text, CALL_STAYED, 1e5))
                rows.append(series(text, CALL_MOVED, 1e5 * slower))
    return judged(Measurements(rows, {}, {"cpu.allowed": 2}))["S15"]


@pytest.mark.parametrize(
    ("cold", "warm", "slower", "status"),
    [
        ([0.0], [0.0], 1.0, "holds"),
        # Where nothing was seen of the effect nobody can say that there is none.
        ([0.0], [0.0], None, "unknown"),
        # All cold launches migrate, and far more warm ones do not.
        ([1.0], [0.0], 1.0, "fails"),
        ([0.0, 1.0], [0.0], 1.0, "fails"),
        ([0.0], [0.3], None, "fails"),
        ([0.0], [0.0], 2.0, "fails"),
        ([0.0] * 7 + [1.0], [0.0], 1.0, "unknown"),
    ],
)
def test_s15_asks_of_each_temperature_how_often_the_parent_migrates(cold, warm, slower, status):
    seen = migrating(cold, warm, slower)
    assert seen.status == status
    assert seen.interval[0] <= seen.effect <= seen.interval[1]
    # All tasks were placed elsewhere, which is no migration.
    assert "placed on another CPU than its parent's in 100%" in seen.reason


def test_s15_is_not_answered_by_the_mean_over_conditions():
    """One condition of sixteen migrates in 60% of launches: together that is 3.8%."""
    rows = []
    for number in range(16):
        text = cell("launch.fork", linkage="dynamic_now", parent_bytes=f"{number + 1}MiB", placement="free",
                    temperature="cold")  # fmt: skip
        rows.append(series(text, RUNS, 1e5, placement="same_cpu"))
        rows.append(made.row_of(text, MIGRATED, "ratio", np.resize([0.6 if number == 5 else 0.0], 40)))
        rows += [series(text, CALL_STAYED, 1e5), series(text, CALL_MOVED, 1e5)]
    seen = judged(Measurements(rows, {}, {"cpu.allowed": 2}))["S15"]
    assert seen.status == "fails"
    assert seen.effect == pytest.approx(0.6)


def workers(gap):
    """Whole times with W workers on 2 CPUs; ``gap`` gives what threads take more."""
    values = {}
    for count in [*range(1, 10), 30]:
        axes = {"numbers": "3000"} | ({"workers": str(count)} if count > 1 else {})
        values[cell("work.factor", **axes, task_kind="process"), WHOLE] = 1e6 * count
        values[cell("work.factor", **axes), WHOLE] = 1e6 * count * gap(count)
    return values


@pytest.mark.parametrize(
    ("gap", "u7", "u8"),
    [
        (lambda w: {1: 1.25, 2: 0.8}.get(w, 1.1), "holds", "fails"),
        (lambda w: {1: 1.25}.get(w, 1.0), "fails", "depends"),
        (lambda w: 1.15 if 3 <= w <= 8 else 0.85 if w == 30 else 1.0, "depends", "holds"),
        (lambda w: 1.0, "fails", "holds"),
        (lambda w: 1.3, "holds", "fails"),
    ],
)
def test_a_mean_over_workers_hides_no_point(gap, u7, u8):
    verdicts = judged(measured(workers(gap)))
    assert (verdicts["U7"].status, verdicts["U8"].status) == (u7, u8)


@pytest.mark.parametrize(
    ("gap", "status"),
    [
        (lambda w: 1.2 if w > 2 else 1.0, "holds"),
        # Open already with one worker: the mean up to the CPUs hides it.
        (lambda w: {1: 1.25, 2: 0.8}.get(w, 1.1), "depends"),
        (lambda w: 1.2, "fails"),
        (lambda w: 1.2 if w > 5 else 1.0, "depends"),
    ],
)
def test_u11_holds_each_point_beyond_the_cpus_against_each_up_to_them(gap, status):
    chain = {}
    for axes in ({"output": "shared_stream"}, {}):
        for kind in ({}, {"task_kind": "process"}):
            chain[cell("work.factor", numbers="2000", workers="8", **axes, **kind), WHOLE] = 1e7
    assert judged(measured(workers(gap) | chain))["U11"].status == status


@pytest.mark.parametrize(
    ("thread", "fork", "status"),
    [("4", "3", "holds"), ("3.02", "3.00", "unknown"), ("3.00", "3.01", "unknown"),
     ("3.97", "3.01", "holds"), ("3", "3", "unknown"), ("3", "4", "fails")],
)  # fmt: skip
def test_l8_needs_one_call_more_and_claims_no_interval(thread, fork, status):
    seen = {f"{name}_system_calls_{which}": count for name, count in (("thread", thread), ("fork", fork))
            for which in ("next", "first")}  # fmt: skip
    counted = judged(measured({}, observed={"flags": seen}))["L8"]
    assert (counted.status, counted.interval) == (status, None)


def test_what_was_published_in_words_alone_has_no_number_and_no_ratio():
    values = workers(lambda w: 1.0)
    values |= {(text, "whole_each_ns"): time / int(axes_of(text)[1].get("workers", 1))
               for (text, _), time in values.items()}  # fmt: skip
    values[cell("launch.fork", linkage="dynamic_lazy", placement="free", temperature="warm"), "vm_pte_bytes"] = 4e4
    items = json.loads(json.dumps(to_json(answer(measured(values), []))))["items"]
    rows = [value | {"id": entry["id"]} for entry in items for value in entry.get("values", [])]
    in_words = [row for row in rows if row["wording"] is not None]
    assert [row["id"] for row in in_words] == [
        "S3",
        "S7",
        "S8",
        "S9",
        "B1",
        "B1",
        "B2",
        "B5",
        "U1",
        "U3",
        "U3",
        "U4",
        "U4",
        "U5",
        "U5",
        "U6",
    ]
    for row in in_words:
        assert [row[key] for key in ("published", "published_low", "published_high", "ratio")] == [None] * 4
    assert {row["id"] for row in in_words if row["value"] is not None} >= {"B5", "U3", "U5", "U6"}
    assert all(
        row["published"] is not None or row["published_low"] is not None for row in rows if row["wording"] is None
    )
