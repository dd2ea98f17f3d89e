"""What others wrote and somebody has tampered with: taken, or refused in a clear sentence; never a traceback."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.fakes.mutations import mutated, mutated_bytes
from tests.fakes.sample_run import sample_run
from tests.protocol.test_trace import HEAD, answer
from tests.tracing.test_from_json import SAMPLES, written

from clonometer.errors import InputError, ProtocolError, RunFileError
from clonometer.protocol.trace import parse_trace
from clonometer.records import to_json
from clonometer.results.workers.each_worker import each_worker
from clonometer.results.workers.types import WorkersOfRun
from clonometer.run_document import RunDocument
from clonometer.runfile.document import parse_document
from clonometer.tracing.from_json import read_explanation
from clonometer.views.documents.run_explained import explained_groups
from clonometer.views.documents.workers import workers_document
from clonometer.views.terminal.document import render_document

WORKERS = "work.factor[workers=2]"
COUNT = 400


class Tampered:
    """A run of two workers whose document says whatever it likes."""

    def __init__(self, document: RunDocument) -> None:
        self.document = document

    def cells(self) -> list[str]:
        return [WORKERS]

    def columns(self, cell: str, names: Sequence[str]) -> dict[str, Any]:
        return {name: np.array([0, 1, 0, 1]) for name in names}


def metadata_of_workers() -> dict[str, Any]:
    quantity = {"unit": "ns", "detail": True, "stage": None}
    cell = {"cell": WORKERS, "workload": "work.factor", "condition": {"workers": 2}, "temperature": None}
    whole = sample_run().metadata
    return {
        **whole,
        "plan": {**whole["plan"], "cells": [cell]},
        "catalogue": {
            "workloads": [{"id": "work.factor", "family": "work", "summary": "s", "temperatures": [],
                           "quantities": ["worker_ends_ns", "minor_faults"]}],
            "axes": {"workers": {"type": "count", "default": 1}},
            "quantities": {"worker_ends_ns": quantity, "minor_faults": {**quantity, "unit": "faults"}},
            "lacks": [],
        },
        "columns": {name: {"type": "i64", "unit": "ns"} for name in ("worker", "worker_ends_ns", "minor_faults")},
        "cells": [{"cell": WORKERS, "status": "ok", "reason": None, "stopped_by": None}],
        "processes": whole["processes"][:1],
        "blocks": [{"process": 0, "block": 0, "cell": WORKERS, "status": "ok", "reason": None, "rows": 4,
                    "outcomes": {"ok": 4}, "facts": {"wall_ns": 9}}],
    }  # fmt: skip


def show_workers(document: Any) -> None:
    read = parse_document(json.dumps(document).encode())
    tables = each_worker(Tampered(read), [WORKERS])
    render_document(workers_document, WorkersOfRun("run.parquet", tuple(tables)))
    json.dumps(to_json(WorkersOfRun("run.parquet", tuple(tables))), allow_nan=False)


def test_workers_of_a_run_with_hostile_metadata() -> None:
    show_workers(metadata_of_workers())
    refused = 0
    for number, document in enumerate(mutated(metadata_of_workers(), 13, COUNT)):
        try:
            show_workers(document)
        except RunFileError:
            refused += 1
        except Exception as error:
            raise AssertionError(f"mutation {number}: {json.dumps(document)}") from error
    assert COUNT / 4 < refused < COUNT


@pytest.mark.parametrize(
    ("place", "value"),
    [(("catalogue", "quantities", "minor_faults"), "text"), (("catalogue", "workloads", 0, "quantities"), -1)],
)
def test_metadata_that_was_seen_to_end_in_a_traceback(place: tuple[Any, ...], value: Any) -> None:
    document = metadata_of_workers()
    inside: Any = document
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = value
    with pytest.raises(RunFileError, match=str(place[-1])):
        show_workers(document)


@cache
def explanations() -> list[dict[str, Any]]:
    """Also one in which processes need more: its conclusion divides by another side."""
    made = [written(make()) for make in SAMPLES.values()]
    turned = {key: -value if key.startswith("gap") else value for key, value in made[2].items()}
    return [*made, {**turned, "gap_low": -0.6, "gap_high": -0.4}]


@pytest.mark.parametrize("sample", range(len(SAMPLES) + 1))
def test_hostile_explanations(sample: int) -> None:
    taken = 0
    for number, document in enumerate(mutated(explanations()[sample], 17 + sample, COUNT // 4)):
        try:
            explained_groups([read_explanation(json.dumps(document))], [])
            taken += 1
        except InputError:
            continue
        except Exception as error:
            raise AssertionError(f"mutation {number}: {json.dumps(document)}") from error
    assert 0 < taken < COUNT // 4


def test_processes_that_need_no_time_are_no_explanation() -> None:
    for gap in (-1, -1.0, -2):
        with pytest.raises(InputError, match="gap"):
            read_explanation(json.dumps({**explanations()[-1], "gap": gap}))


def test_hostile_answers_of_the_tracer() -> None:
    answers = [answer({**dict.fromkeys(HEAD), **head}) for head in mutated(HEAD, 19, COUNT)]
    answers += mutated_bytes(answer(), 23, COUNT)
    taken = 0
    for number, data in enumerate(answers):
        try:
            trace = parse_trace(data)
            trace.event_time_ns(10**9)
            taken += 1
        except ProtocolError:
            continue
        except Exception as error:
            raise AssertionError(f"answer {number}: {data!r}") from error
    assert 0 < taken < 2 * COUNT
