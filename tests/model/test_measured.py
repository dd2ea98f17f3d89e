from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fakes.memory_run import MemoryRun, RunBuilder

from clonometer.errors import InputError
from clonometer.model.calibration import HOT, Calibration
from clonometer.model.conditions import FULL, QUICK, REFERENCE, affordable, memory_bytes
from clonometer.model.features import Features
from clonometer.model.fitting import middle
from clonometer.model.making import ForkedProcess, make_calibration
from clonometer.model.measured import features_of
from clonometer.model.predictor import predict
from clonometer.model.reference import ALONE, scale_of, scales_by
from clonometer.model.turns import Turn
from clonometer.model.types import NINE_IN_TEN

DEFAULT = {
    "parent_bytes": 0, "page_kind": "4k", "pages": "rewritten", "vmas": 0, "vma_kind": "untouched", "open_files": 0,
    "parent_threads": 0, "caches": "hot", "other_process": "alive", "write_step": "page",
}  # fmt: skip

BASE = Features(anon_areas=5, anon_pages=18, anon_tables=5, file_areas=9, open_files=6, threads=1)
FACTS = {"anon_areas": 5, "anon_bytes": 18 * 4096, "vmas": 14, "open_files": 6}


def whole_run() -> MemoryRun:
    """A run of two processes, whose last launches failed: they are no times at all."""
    builder = RunBuilder()

    def add(workload: str, times: Mapping[str, float], **condition: str) -> None:
        cell = builder.cell(
            workload, times, processes=2, samples=3, blocks=1, spread=0.0, facts=FACTS, **DEFAULT | condition
        )
        columns = builder.run.data[cell]
        columns["errno"][-1] = 11
        for name in times:
            columns[name][:] = columns[name] * np.array([0.9, 1.0, 1.1, 1.0, 1.0, 99.0])

    add("launch.posix_spawn", {"call_returns_ns": 200_000, "reaped_ns": 600_000}, caches="idle")
    add("cow.parent", {"write_each_ns": 600})
    add("cow.child", {"write_each_ns": 500}, page_kind="thp", write_step="small_page")
    add("cow.parent", {"write_each_ns": 300}, other_process="gone")
    # The least that any block saw counts, where it was seen.
    for block in builder.run.metadata["blocks"][1:]:
        block["facts"] = {**{key: value + 50 for key, value in FACTS.items()}, "anon_areas": -1}
    return builder.run


PROCESS = replace(BASE, anon_areas=6, anon_pages=18 + 16_384, anon_tables=37, placed_pages=16_402)
TIMES = {"fork.first": 4.0, "fork.unwritten": 2.0, "fork.first_hot": 2.0, "fork.unwritten_hot": 1.0}


def forked(factor: float = 1.0) -> list[ForkedProcess]:
    """Two conditions of two processes, which forked in all states; waits take half the time of the call."""
    processes = []
    for name, features, ns in (("bare", replace(BASE, placed_pages=18), 50_000), ("memory", PROCESS, 850_000)):
        for apart in (0.99, 1.01):
            process = ForkedProcess(name, features)
            for state, times in TIMES.items():
                calls = [round(ns * times * factor * apart)] * 4
                process.add(Turn(name, state, calls, [call // 2 for call in calls]))
            processes.append(process)
    return processes


def made(run: MemoryRun | None) -> Calibration:
    return make_calibration(forked(), run, made_at=5, quick=True, machine={}, lacks={"huge": "none"}, seed=1)


@pytest.mark.parametrize(
    ("condition", "counts"),
    [
        ({}, {}),
        ({"parent_bytes": 4 << 20}, {"anon_areas": 6, "anon_pages": 1042, "anon_tables": 7}),
        ({"parent_bytes": 4 << 20, "page_kind": "sparse"}, {"anon_areas": 6, "anon_pages": 20, "anon_tables": 7}),
        ({"parent_bytes": 4 << 20, "page_kind": "thp"}, {"anon_areas": 6, "huge_pages": 2}),
        ({"vmas": 600, "vma_kind": "touched"}, {"anon_areas": 605, "anon_pages": 618, "anon_tables": 7}),
        ({"vmas": 600}, {"empty_areas": 600}),
        ({"vmas": 600, "vma_kind": "dontfork"}, {"dontfork_areas": 600, "dontfork_pages": 600}),
        ({"vmas": 600, "vma_kind": "file"}, {"shared_areas": 600, "shared_pages": 600}),
        ({"open_files": 100}, {"open_files": 106}),
        ({"parent_threads": 3}, {"threads": 4, "anon_areas": 8, "anon_pages": 21, "empty_areas": 3}),
    ],
)
def test_a_condition_says_what_its_parent_has(condition: dict[str, Any], counts: dict[str, int]) -> None:
    features = features_of({**DEFAULT, **condition}, BASE)
    expected = {**BASE.__dict__, **counts}
    assert features is not None
    assert features.__dict__ == expected


def test_conditions_without_terms_are_left_out() -> None:
    assert features_of({**DEFAULT, "parent_bytes": 4096, "page_kind": "file_private"}, BASE) is None
    assert features_of({"written_bytes": 5}, BASE) is None


def test_a_calibration_is_made_of_forks_and_a_run() -> None:
    calibration = made(whole_run())
    prediction = predict(PROCESS, calibration)
    medians = [getattr(prediction.fork, state.removeprefix("fork.")).median_ns for state in TIMES]
    assert medians == pytest.approx([3_400_000, 1_700_000, 1_700_000, 850_000], rel=0.001)
    # The children of first forks end, those of unwritten ones execute a program.
    assert prediction.exit.median_ns == pytest.approx(0.5 * 4 * 850_000, rel=0.001)
    assert prediction.exec.median_ns == pytest.approx(0.5 * 2 * 850_000, rel=0.001)
    assert prediction.posix_spawn is not None
    assert prediction.posix_spawn.median_ns == pytest.approx(200_000, rel=0.05)
    assert prediction.vfork is None
    writes = {name: round(cost.median_ns) for name, cost in calibration.first_writes.items()}
    assert writes == {"parent_small": 600, "child_huge_all": 512 * 500, "parent_small_alone": 300}
    assert calibration.lacks == {"huge": "none"}


def test_without_a_run_forks_are_predicted_alone() -> None:
    prediction = predict(PROCESS, made(None))
    assert prediction.fork.first.median_ns == pytest.approx(3_400_000, rel=0.001)
    assert (prediction.posix_spawn, prediction.cow) == (None, {})


def test_each_kind_of_time_has_a_scale_of_its_own() -> None:
    now = forked(1.4)
    for process in now:
        for state in HOT:
            process.calls_ns[state] = [round(ns * 0.8 / 1.4) for ns in process.calls_ns[state]]
        for state in ("fork.first", "fork.unwritten"):
            process.waits_ns[state] = [2 * ns for ns in process.waits_ns[state]]
    scales = scales_by(now, made(None))
    factors = [scale.factor for scale in (scales.cold, scales.hot, scales.waits)]
    assert factors == pytest.approx([1.4, 0.8, 2.8], rel=0.02)
    assert max(scale.spread for scale in (scales.cold, scales.hot, scales.waits)) < 0.05
    predicted = predict(PROCESS, made(None), scales=scales).fork
    assert predicted.unwritten_hot.median_ns == pytest.approx(0.8 * 850_000, rel=0.02)
    with pytest.raises(InputError, match="no fork was timed"):
        scales_by([ForkedProcess("nothing", BASE)], made(None))


def test_an_uncertain_scan_has_its_mean_and_a_wide_spread() -> None:
    apart = np.linspace(-1, 1, 6)
    exact, rough = (scale_of(math.log(2) + noise * apart) for noise in (0.001, 0.9))
    assert exact.factor == pytest.approx(2, rel=0.01)
    # On a busy host: drawn to 1, it would foretell half of what comes.
    assert rough.factor == pytest.approx(2)
    assert rough.spread > 0.1
    # One process tells nothing of how far processes lie apart.
    single = scale_of([math.log(2)])
    assert (single.factor, single.spread) == (pytest.approx(2), ALONE)


@pytest.mark.parametrize("between_processes", [0.04, 0.08])
def test_the_scale_s_interval_counts_processes_and_not_calls(between_processes: float) -> None:
    """Five processes of 30 calls each: what a process's memory does to its calls does not go away with more calls."""
    chance = np.random.default_rng(7)
    covered = 0
    for _ in range(400):
        effects = chance.normal(0, between_processes, 5)
        scale = scale_of([middle(chance.normal(0.3 + effect, 0.1, 30)) for effect in effects])
        covered += abs(math.log(scale.factor) - 0.3) <= NINE_IN_TEN * scale.spread
    # 43 and 22% where each call counted as a process; 400 draws of 90% lie within 85 and 95%.
    assert 0.85 <= covered / 400 <= 0.95


MAKER = Path(__file__).parents[2] / "core" / "targets" / "maker.c"
GIB = 1 << 30


def test_conditions_ask_for_what_the_maker_knows_and_for_all_of_it() -> None:
    known = set(re.findall(r'\] = "(\w+)"', MAKER.read_text()))
    assert {key for wanted in FULL.values() for key in wanted} == known
    assert QUICK.keys() <= FULL.keys()
    assert REFERENCE.keys() <= QUICK.keys() | FULL.keys()


def test_what_does_not_fit_into_memory_is_left_out_and_named() -> None:
    assert memory_bytes({"dense_pages": 262_144, "huge_pages": 512}) == 2 * GIB
    assert affordable(FULL, None) == (FULL, {})
    assert affordable(FULL, 64 * GIB) == (FULL, {})
    chosen, left_out = affordable(FULL, 3 * GIB)
    assert set(left_out) >= {"262144 pages in a row", "262144 scattered pages"}
    assert "nothing" in chosen
    assert set(chosen).isdisjoint(left_out)
    assert sum(memory_bytes(wanted) for wanted in chosen.values()) <= 3 * GIB / 4
    assert "free memory" in left_out["262144 pages in a row"]
