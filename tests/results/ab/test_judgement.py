"""Verdicts on two sides by a run in memory."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from tests.catalogue import CATALOGUE
from tests.fakes.documents import EMPTY, PROCESS, planned

from clonometer.errors import ClonometerError, InputError, RunFileError
from clonometer.plan.sides import with_side_axis
from clonometer.results.ab.judgement import judge_run
from clonometer.results.ab.turns import paired_placement
from clonometer.results.ab.types import AbResult
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.finder import find_all
from clonometer.results.rows.estimates import estimate_cells
from clonometer.results.rows.observed import observe
from clonometer.results.rows.run_estimates import RunEstimates
from clonometer.run_document import RunDocument, read_document
from clonometer.verdicts import Gate

DESCRIBED = with_side_axis(CATALOGUE).raw
# An end that is compared, and a detail that is not.
WORKLOAD = "launch.posix_spawn"
QUANTITIES = ("reaped_ns", "image_ends_ns")


class Pairs:
    """A run whose pairs have these logarithms of B over A; A takes 100 us and less by a drift that falls on both."""

    def __init__(self, changes: list[float], **about: Any) -> None:
        self.changes = changes
        cells = [f"{WORKLOAD}[side={side},temperature=warm]" for side in "ab"]
        self.metadata: dict[str, Any] = {
            **EMPTY,
            "columns": {name: {"unit": DESCRIBED["quantities"][name]["unit"], "type": "i64"} for name in QUANTITIES},
            "catalogue": DESCRIBED,
            "plan": planned(
                *(
                    {"cell": cell, "workload": WORKLOAD, "condition": {"side": side}, "temperature": "warm"}
                    for cell, side in zip(cells, "ab", strict=True)
                )
            )
            | {
                "targets": [{"workload": WORKLOAD, "cells": [cell], "limits": {}, "options": {}} for cell in cells],
            },
            "cells": [{"cell": cell, "status": "ok", "reason": None, "stopped_by": None} for cell in cells],
            # The odd pairs have B first.
            "processes": [
                {
                    **PROCESS,
                    "process": 2 * pair + place,
                    "started_ns": pair,
                    "pair": pair,
                    "cells": [cells[(place + pair) % 2]],
                }
                for pair in range(len(changes))
                for place in range(2)
            ],
            "sides": {
                "a": ["linkage=static"],
                "b": [],
                "stages": [],
                "most_pairs": 100,
                "minimum_effect": 0.02,
                "error_rate": 0.05,
                "max_regression": None,
                **about,
            },
        }
        self.path = "ab.parquet"

    @property
    def document(self) -> RunDocument:
        return read_document(self.metadata)

    def cells(self) -> list[str]:
        return [entry["cell"] for entry in self.metadata["plan"]["cells"]]

    def columns(self, cell: str, names: object) -> dict[str, Any]:
        drift = 1e5 * np.exp(np.linspace(0, 1, len(self.changes)))
        is_b = "side=b" in cell
        values = drift * np.exp(self.changes) if is_b else drift
        processes = [entry["process"] for entry in self.metadata["processes"] if entry["cells"] == [cell]]
        kept = [
            pair for pair in range(len(self.changes)) if len(processes) == len(self.changes) or pair < len(processes)
        ]
        reaped = np.rint(values[kept]).astype(np.int64)
        zeros = np.zeros(len(kept), np.int32)
        return {
            "process": np.array(processes, np.int32),
            "block": zeros,
            "sample": zeros,
            "reaped_ns": reaped,
            "image_ends_ns": reaped,
        }


def judged(changes: list[float], **about: Any) -> AbResult:
    return judge_run(Pairs(changes, **about), "ab.parquet")


def scattered(centre: float, n: int = 30, scatter: float = 0.02, seed: int = 1) -> list[float]:
    return list(np.random.default_rng(seed).normal(centre, scatter, n))


def test_a_slower_side_is_called_so_in_a_sentence_that_can_be_counted_again() -> None:
    changes = scattered(0.06)
    [row] = judged(changes).rows
    above = sum(change > 0 for change in changes[: row.pairs])
    assert (row.verdict, row.b_slower, row.change.word) == ("more", above, "sure")
    assert row.cell == f"{WORKLOAD}[temperature=warm]"
    assert row.sentence.startswith(
        f"posix_spawn, warm, until the task is reaped: B was slower in {above} of {row.pairs} pairs, by "
    )
    assert row.change.interval is not None
    assert row.change.interval[0] <= np.exp(0.06) <= row.change.interval[1]
    assert row.change.p is not None
    assert row.change.p <= 0.05


def test_it_is_judged_by_the_pairs_until_it_was_sure() -> None:
    [row] = judged(scattered(0.5, 40)).rows
    assert row.pairs == 22
    assert row.b.n_processes == 40


def test_a_faster_side_the_same_and_what_cannot_be_told() -> None:
    [faster] = judged(scattered(-1.2)).rows
    assert (faster.verdict, faster.b_slower) == ("less", 0)
    assert f"B was faster in {faster.pairs} of {faster.pairs} pairs, 3.3" in faster.sentence
    [same] = judged(scattered(0.0, 60, 0.005)).rows
    assert same.verdict == "equal"
    assert "the same within" in same.sentence
    [unclear] = judged(scattered(0.0, 30, 0.2)).rows
    assert unclear.verdict == "unknown"
    assert "open, B was slower in " in unclear.sentence
    assert unclear.change.p is not None
    assert unclear.change.p > 0.05


def test_few_pairs_give_no_verdict_however_different_they_are() -> None:
    result = judged([0.5] * 5)
    [row] = result.rows
    assert (row.verdict, row.change.interval, row.pairs) == ("unknown", None, 5)
    assert not result.has_answer
    assert judged([0.5] * 8).rows[0].verdict == "unknown"
    assert judged([0.5] * 12).rows[0].verdict == "more"


def test_what_one_side_leaves_to_the_next_is_no_verdict_and_never_the_same() -> None:
    # A is slower where it comes after B, which has the odd pairs: all together B looks 4% faster.
    left = [change - 0.08 * (pair % 2) for pair, change in enumerate(scattered(0.0, 60, 0.01))]
    [row] = judged(left).rows
    assert row.verdict == "unknown"
    assert row.change.interval is not None
    assert row.change.interval[1] < 1
    assert row.order_p is not None
    assert row.order_p < 0.01
    assert row.reason is not None
    assert "the order matters: the change is 0% when A comes first and -8% when B does" in row.reason
    assert (row.change.word, "B was likely faster in " in row.sentence) == ("likely", True)
    # B's own 4% is hidden by what it leaves to A: the pairs together are the same, and it is not said.
    hidden = [change + 0.015 * (-1) ** pair for pair, change in enumerate(scattered(0.0, 60, 0.003))]
    [row] = judged(hidden).rows
    assert row.change.interval is not None
    assert 0.98 < row.change.interval[0] < row.change.interval[1] < 1.02
    assert row.verdict == "unknown"


def test_the_ratio_of_medians_stands_beside_that_of_pairs() -> None:
    changes = [0.2 * (pair % 5 in (0, 3)) + change for pair, change in enumerate(scattered(0.0, 100, 0.01))]
    run = Pairs(changes, most_pairs=200)
    [row] = judge_run(run, "").rows
    assert row.ratio_of_medians == pytest.approx((row.b.median_ns or 0) / (row.a.median_ns or 1))


@pytest.mark.parametrize(
    ("centre", "scatter", "verdict", "allowed"),
    [
        (0.3, 0.02, Gate.FAIL, False),
        (0.03, 0.02, Gate.PASS, True),
        (-0.5, 0.02, Gate.PASS, True),
        (0.05, 0.1, Gate.UNKNOWN, None),
    ],
)
def test_a_gate_asks_on_which_side_of_the_limit_the_whole_interval_is(
    centre: float, scatter: float, verdict: str, allowed: bool | None
) -> None:
    result = judged(scattered(centre, 30, scatter), max_regression=0.05)
    assert (result.verdict, result.rows[0].allowed) == (verdict, allowed)
    assert judged(scattered(centre, 30, scatter)).verdict is None


def test_a_pair_of_which_only_one_side_was_measured_counts_nowhere() -> None:
    run = Pairs([0.5] * 9)
    run.metadata["processes"].pop()
    result = judge_run(run, "")
    assert (result.pairs, result.rows[0].pairs) == (8, 8)


def test_a_run_without_pairs_is_refused() -> None:
    run = Pairs([0.5] * 9)
    del run.metadata["sides"]
    with pytest.raises(InputError, match="not started in pairs"):
        judge_run(run, "run.parquet")


def test_findings_say_the_same_and_no_other_comparison_of_the_sides_is_made() -> None:
    run = Pairs(scattered(0.06))
    estimates = RunEstimates(estimate_cells(observe(run), run.document), run.document)
    [finding] = [
        finding
        for finding in find_all(PairwiseTests(estimates, 1))
        if "side" in finding.sentence.lower() or finding.sentence.startswith("B: ")
    ]
    [row] = judge_run(run, "").rows
    assert finding.sentence == f"B: defaults; A: linkage=static; {row.sentence}."
    assert finding.numbers["rows"][0]["ratio"] == row.change.value


def test_a_program_that_cannot_say_where_it_ran_is_compared_with_one_that_can_where_both_have_one_cpu() -> None:
    assert paired_placement({"placement": "pinned"}, "same_cpu") == paired_placement({"placement": "pinned"}, None)
    assert paired_placement({"placement": "free"}, "same_cpu") == "same_cpu"
    assert paired_placement({}, "other_cpu") == "other_cpu"


@pytest.mark.parametrize("settings", [[{}], [{"side": "c"}], "x", [{"side": "a", "name": "x", "times": -1}], [3]])
def test_damaged_settings_are_refused(settings: object) -> None:
    run = Pairs([0.5] * 9)
    run.metadata["settings"] = settings
    with pytest.raises(RunFileError):
        judge_run(run, "")


@pytest.mark.parametrize("value", [None, "x", -1, 0, 1e308, 10**30, float("nan"), [], {}, [1], {"a": 1}, True])
def test_a_damaged_file_is_refused_or_answered(value: object) -> None:
    for key in Pairs([0.5] * 9).metadata["sides"]:
        run = Pairs([0.5] * 9)
        run.metadata["sides"][key] = value
        with contextlib.suppress(ClonometerError):
            judge_run(run, "")
    run = Pairs([0.5] * 9)
    run.metadata["plan"]["targets"] = run.metadata["plan"]["targets"][:1]
    with pytest.raises(RunFileError, match="odd number"):
        judge_run(run, "")


def test_nothing_is_the_same_where_a_setting_may_never_have_been_switched() -> None:
    run = Pairs(scattered(0.0, 60, 0.005), max_regression=0.05)
    run.metadata["settings"] = [
        {"side": "b", "name": "", "before": None, "during": None, "after": None, "times": 3}
        | {"not_verified": "it names no file"}
    ]
    result = judge_run(run, "")
    [row] = result.rows
    assert (row.verdict, row.allowed, result.verdict) == ("unknown", None, Gate.UNKNOWN)
    assert row.reason == "it is not known whether do changed anything: it names no file"
    run.metadata["settings"][0]["not_verified"] = None
    [row] = judge_run(run, "").rows
    assert (row.verdict, row.allowed) == ("equal", True)


class SensedPairs(Pairs):
    """Each process has 12 launches, of which two to seven meet a neighbour and take 1.6 times as long."""

    LAUNCHES = 12

    def __init__(self, changes: list[float], **about: Any) -> None:
        super().__init__(changes, **about)
        for name in ("cpu_before", "cpu_after", "additions_before_ns", "additions_after_ns"):
            self.metadata["columns"][name] = {"unit": "ns" if name.endswith("_ns") else "", "type": "i32"}

    def columns(self, cell: str, names: object) -> dict[str, Any]:
        made = {name: np.repeat(column, self.LAUNCHES) for name, column in super().columns(cell, names).items()}
        random = np.random.default_rng(len(cell) + ("side=b" in cell))
        beside = np.array([random.permutation(12) < random.integers(2, 8) for _ in self.changes]).ravel()
        additions = np.where(beside, 1200, 640).astype(np.int32)
        ones = np.ones(beside.size, np.int32)
        made |= {name: (made[name] * np.where(beside, 1.6, 1.0)).astype(np.int64) for name in QUANTITIES}
        made |= {"sample": np.arange(beside.size, dtype=np.int32), "cpu_before": ones, "cpu_after": ones}
        return made | {"additions_before_ns": additions, "additions_after_ns": additions}


def test_pairs_are_of_launches_that_had_their_core_to_themselves_and_none_is_lost() -> None:
    run = SensedPairs(scattered(0.04, 30, 0.005))
    [row] = judge_run(run, "").rows
    assert (row.verdict, row.change.word, row.pairs) == ("more", "sure", 22)
    assert row.change.interval is not None
    assert 1.03 < row.change.interval[0] < row.change.interval[1] < 1.05
    for name in ("additions_before_ns", "additions_after_ns"):
        del run.metadata["columns"][name]
    [row] = judge_run(run, "").rows
    assert (row.verdict, row.pairs) == ("unknown", 30)
