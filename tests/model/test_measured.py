from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from clonometer.errors import InputError
from clonometer.model import calibration as names
from clonometer.model.features import Features
from clonometer.model.making import make_calibration
from clonometer.model.measured import features_of, read_conditions
from clonometer.model.predictor import predict
from clonometer.model.reference import MOMENTS, scale_by, scale_of

NULL = np.iinfo(np.int64).min
DEFAULT = {
    "parent_bytes": 0, "page_kind": "4k", "pages": "rewritten", "vmas": 0, "vma_kind": "untouched", "open_files": 0,
    "parent_threads": 0, "caches": "hot", "other_process": "alive", "write_step": "page",
}  # fmt: skip
BASE = Features(anon_areas=5, anon_pages=18, anon_tables=5, file_areas=9, open_files=6, threads=1)


class Run:
    """A run in memory: for each cell its workload, its condition and the times of its calls, two processes of two."""

    def __init__(self, cells: Mapping[str, tuple[str, Mapping[str, Any], float]], factor: float = 1.0) -> None:
        self._cells = cells
        self._factor = factor
        facts = {"anon_areas": 5, "anon_bytes": 18 * 4096, "vmas": 14, "open_files": 6}
        self.metadata = {
            "plan": {
                "cells": [
                    {"cell": cell, "workload": workload, "condition": {**DEFAULT, **condition}}
                    for cell, (workload, condition, _) in cells.items()
                ]
            },
            "cells": [{"cell": cell, "reason": None} for cell in cells],
            "blocks": [
                {"facts": facts},
                {"facts": {key: value + 50 for key, value in facts.items()} | {"anon_areas": -1}},
            ],
            "columns": {name: {"unit": "ns"} for name in ("call_returns_ns", "reaped_ns", "write_each_ns")},
        }

    def cells(self) -> list[str]:
        return list(self._cells)

    def columns(self, cell: str, wanted: Sequence[str]) -> dict[str, np.ndarray]:
        workload, _, ns = self._cells[cell]
        # The last launch failed: it is no time at all.
        times = np.array([0.9, 1.0, 1.0, 1.1, 99.0]) * ns * self._factor
        call = np.full(5, NULL) if workload.startswith("cow") else times.astype(np.int64)
        return {
            "process": np.array([0, 0, 1, 1, 1], dtype=np.int32),
            "errno": np.array([0, 0, 0, 0, 11], dtype=np.int32),
            "call_returns_ns": call,
            "reaped_ns": np.full(5, NULL) if workload.startswith("cow") else 3 * call,
            "write_each_ns": times if workload.startswith("cow") else np.full(5, np.nan),
        }


def whole_run(factor: float = 1.0) -> Run:
    cells = {}
    for caches, times in (("idle", 2.0), ("hot", 1.0)):
        cells[f"bare {caches}"] = ("launch.fork", {"caches": caches}, 50_000 * times)
        for pages, share in (("rewritten", 1.0), ("clean", 0.5)):
            condition = {"caches": caches, "parent_bytes": 64 << 20, "pages": pages}
            cells[f"memory {caches} {pages}"] = ("launch.fork", condition, (50_000 + 1_600_000 * share) * times)
    cells["spawn"] = ("launch.posix_spawn", {"caches": "idle"}, 200_000)
    cells["cow"] = ("cow.parent", {}, 600)
    cells["cow huge"] = ("cow.child", {"page_kind": "thp", "write_step": "small_page"}, 500)
    cells["cow gone"] = ("cow.parent", {"other_process": "gone"}, 300)
    return Run(cells, factor)


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


def test_a_run_brings_calls_and_what_follows_them() -> None:
    [bare, *_] = read_conditions(whole_run())
    assert bare.features == BASE
    assert bare.medians("call_returns_ns").tolist() == [95_000, 105_000]
    assert bare.medians("end_ns").tolist() == [190_000, 210_000]


def test_a_calibration_is_made_of_a_run() -> None:
    made = make_calibration(whole_run(), made_at=5, quick=True, machine={}, seed=1)
    process = Features(anon_areas=6, anon_pages=18 + 16_384, anon_tables=37, file_areas=9, open_files=6, threads=1)
    prediction = predict(process, made)
    assert prediction.fork.first.median_ns == pytest.approx(3_300_000, rel=0.001)
    assert prediction.fork.later.median_ns == pytest.approx(1_700_000, rel=0.001)
    assert prediction.fork.first_hot.median_ns == pytest.approx(1_650_000, rel=0.001)
    assert prediction.fork.later_hot.median_ns == pytest.approx(850_000, rel=0.001)
    assert prediction.posix_spawn is not None
    assert prediction.posix_spawn.median_ns == pytest.approx(200_000)
    assert prediction.vfork is None
    writes = {name: round(cost.median_ns) for name, cost in made.first_writes.items()}
    assert writes == {"parent_small": 600, "child_huge_all": 512 * 500, "parent_small_alone": 300}
    assert names.EXIT in made.models


def test_the_machine_of_now_is_that_of_then_times_a_factor() -> None:
    made = make_calibration(whole_run(), made_at=5, quick=True, machine={}, seed=1)
    scale = scale_by(whole_run(1.4), made)
    assert scale.factor == pytest.approx(1.4, rel=0.02)
    assert scale.pages == pytest.approx(1.4, rel=0.02)
    assert scale.spread < 0.05
    with pytest.raises(InputError, match="no condition"):
        scale_by(Run({"unknown": ("launch.fork", {}, 5.0)}), made)


def test_an_uncertain_scan_is_drawn_to_1() -> None:
    apart = np.linspace(-1, 1, 6)
    exact, rough = (scale_of([math.log(2) + noise * apart], [np.zeros(6)]) for noise in (0.001, 0.9))
    assert exact.pages == pytest.approx(2, rel=0.01)
    assert 1 < rough.pages < 1.8
    assert rough.factor == 1
    assert 0.1 < rough.spread < MOMENTS
