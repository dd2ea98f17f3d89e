from __future__ import annotations

from dataclasses import replace

import pytest
from tests.results.start_methods.samples import FakeRuns, start_methods, trials_of

from clonometer.runner.start_methods.program import METHODS
from clonometer.runner.start_methods.running import StartMethodTrial
from clonometer.views.documents.start_method import start_method_document
from clonometer.views.terminal.document import render_document


def later(answer):
    return next(each for each in answer.rankings if each.quantity == "later").methods


def test_methods_are_ranked_beside_the_next_cheaper_and_what_scatters_is_too_close_to_call() -> None:
    ranked = later(start_methods())
    assert [each.method for each in ranked[:2]] == ["thread", "fork"]
    assert [each.verdict for each in ranked] == ["equal", "more", "more", "unknown"]
    assert {ranked[2].method, ranked[3].method} == {"spawn", "forkserver"}
    assert ranked[1].ratio == pytest.approx(10, rel=0.01)


def test_too_few_rounds_give_no_interval_and_no_verdict() -> None:
    answer = start_methods(rounds=5)
    assert all(each.low is None and each.verdict in ("equal", "unknown") for each in later(answer))
    assert all(figure.low is None for row in answer.rows for figure in row.figures)
    text = render_document(start_method_document, answer, width=80, colour=False)
    assert "No difference is sure" in text
    assert "too close to call" not in text
    assert "too close to call" in render_document(start_method_document, start_methods(), width=80, colour=False)


def test_every_method_has_its_turn_in_each_round_and_not_always_in_the_same_order() -> None:
    runs = FakeRuns()
    trials = trials_of(runs, 6)
    turns = [method for method, what in runs.turns if what == "times"]
    usable = [each for each in METHODS if each != "interpreter"]
    rounds = [turns[at : at + 4] for at in range(0, len(turns), 4)]
    assert len(trials.rounds) == len(rounds) == 6
    assert all(sorted(each) == sorted(usable) for each in rounds)
    assert len(set(map(tuple, rounds))) > 1


def test_a_trial_that_dies_leaves_the_cases_after_it_unknown_with_the_reason() -> None:
    row = next(each for each in start_methods().rows if each.method == "fork")
    outcomes = {each.case: each for each in row.cases}
    assert outcomes["threads"].outcome == "warns"
    assert outcomes["lock"].outcome == "unknown"
    assert "SIGSEGV" in (outcomes["lock"].words or "")
    assert outcomes["guard"].outcome == "works"


def test_a_method_that_fails_twice_is_given_up_and_named_and_the_others_go_on() -> None:
    answer = start_methods(spawn=StartMethodTrial({}, failure="gave no answer within 120 s and was stopped"))
    rows = {row.method: row for row in answer.rows}
    assert rows["spawn"].status == "failed"
    assert rows["spawn"].failures == 2
    assert rows["interpreter"].status == "unavailable"
    assert rows["fork"].status == "measured"
    text = " ".join(render_document(start_method_document, answer, width=80, colour=False).split())
    assert "spawn failed: gave no answer" in text
    assert "sub-interpreter unavailable: needs another Python" in text
    assert "has 3 threads after the import" in text


def test_a_method_whose_workers_all_hang_is_given_up_before_anything_is_timed() -> None:
    cases = [{"case": each, "outcome": "breaks", "words": "no result within 3 s"} for each in ("threads", "lock")]
    # This one fails in the program, which asks no worker.
    cases.append({"case": "lambda", "outcome": "breaks", "words": "PicklingError"})
    runs = FakeRuns(fork=StartMethodTrial({}, cases))
    trials = trials_of(runs, 1)
    assert trials.reasons["fork"] == ("failed", "no worker gave a result: no result within 3 s")
    assert ("fork", "times") not in runs.turns
    assert ("spawn", "times") in runs.turns


def test_the_answer_says_by_which_lock_threads_take_turns_or_that_it_is_off() -> None:
    text = render_document(start_method_document, start_methods(), width=120, colour=False)
    assert "CPython 3.12.1 (its threads compute in turn, by the GIL): fork is the default" in text
    free = replace(start_methods(), lock="no GIL")
    text = render_document(start_method_document, free, width=120, colour=False)
    assert "(free-threaded: the GIL is off)" in text


def test_computing_on_fewer_cpus_than_workers_is_noted() -> None:
    few, many = (replace(start_methods(), cpus=cpus) for cpus in (1, 2))
    words = "Computing is for 2 workers, which have 1 CPU."
    assert words in render_document(start_method_document, few, width=120, colour=False)
    assert "Computing is for" not in render_document(start_method_document, many, width=120, colour=False)


def test_a_method_with_which_one_case_works_is_timed_although_others_hang() -> None:
    cases = [{"case": each, "outcome": "breaks", "words": "no result within 3 s"} for each in ("threads", "lock")]
    cases.append({"case": "state", "outcome": "works", "words": ""})
    runs = FakeRuns(fork=StartMethodTrial({}, cases))
    trials_of(runs, 1)
    assert ("fork", "times") in runs.turns
