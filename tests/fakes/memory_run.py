"""Runs in memory: made of chosen numbers, so that every result has a known answer; written as files where asked."""

from __future__ import annotations

import copy
import functools
import marshal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from clonometer.answers import Block, Done
from clonometer.errors import ClonometerError
from clonometer.protocol import AnswerReader, RawWriter, preamble
from clonometer.records import from_json
from clonometer.run_document import CatalogueEntry, RunDocument, read_document
from clonometer.runfile import RunFileWriter
from tests.catalogue import CATALOGUE
from tests.fakes.answers import encode_block, encode_done
from tests.fakes.documents import EMPTY

NULL_I32 = np.iinfo(np.int32).min
NULL_I64 = np.iinfo(np.int64).min
MIB, GIB = 1 << 20, 1 << 30
Array = np.ndarray[Any, Any]

# What no driver measures, for tests of other units: a time in microseconds and a plain size.
INVENTED: dict[str, Any] = {
    "id": "queue.wait",
    "family": "other",
    "summary": "a wait in a queue",
    "axes": ["placement"],
    "temperatures": [],
    "quantities": ["wait_us", "queue_bytes"],
    "nulls": {},
    "call_returns_contains": None,
    "available": True,
    "reason": None,
}
INVENTED_QUANTITIES: dict[str, Any] = {
    "wait_us": {"unit": "us", "stage": None, "summary": "until served"},
    "queue_bytes": {"unit": "bytes", "stage": None, "summary": "what the queue holds"},
}


def of_language(name: str, word: str, family: str, quantities: list[str], launch_path: str | None) -> dict[str, Any]:
    """A workload of a language, whose drivers are not among those that are frozen."""
    return {
        **INVENTED,
        "id": f"{name}.{word}",
        "family": family,
        "summary": f"{word} in {name}",
        "axes": ["placement", "parent_bytes"],
        "temperatures": ["cold", "warm"],
        "quantities": quantities,
        "launch_path": launch_path,
    }


_STAGES = ["call_returns_ns", "reaped_ns"]
LANGUAGES = [
    of_language("python", "os_thread", "runtime_thread", _STAGES, "threading"),
    of_language("python", "task", "runtime_thread", _STAGES, None),
    of_language("python", "command", "runtime_command", _STAGES, "subprocess"),
    of_language("rust", "os_thread", "runtime_thread", ["call_returns_ns", "task_runs_ns", "reaped_ns"], "thread"),
    of_language("go", "os_thread", "runtime_thread", _STAGES, None),
    of_language("ruby", "os_thread", "runtime_thread", _STAGES, "thread"),
    of_language("node", "os_thread", "runtime_thread", _STAGES, "worker"),
    of_language("perl", "os_thread", "runtime_thread", _STAGES, "threads"),
    of_language("node", "command", "runtime_command", [*_STAGES, "collector_ns", "loop_blocked_ns"], "stdio"),
    of_language("java_25_0", "command", "runtime_command", _STAGES, "redirect"),
    of_language("python_3_13", "os_thread", "runtime_thread", _STAGES, "threading"),
    of_language("python_3_13", "command", "runtime_command", _STAGES, None),
    of_language("python", "none", "floor", _STAGES, None),
    of_language("python", "thread_pool", "runtime_call", ["call_returns_ns", "result_ns"], None),
    of_language("ruby", "worker", "runtime_call", ["result_ns", "lock_wait_ns"], None),
    of_language("ruby", "fork", "runtime_call", ["result_ns", "lock_wait_ns"], None),
    of_language("ruby", "thread_pool", "runtime_call", ["result_ns", "lock_wait_ns"], None),
]
INVENTED_QUANTITIES["result_ns"] = {"unit": "ns", "stage": "result", "summary": "until the result is here"}
for _name, _summary in (
    ("collector_ns", "pauses of the collector"),
    ("loop_blocked_ns", "the loop stands still"),
    ("lock_wait_ns", "the task waits for the lock"),
):
    INVENTED_QUANTITIES[_name] = {"unit": "ns", "stage": None, "summary": _summary, "detail": _name == "collector_ns"}
DESCRIBED: dict[str, Any] = {
    **CATALOGUE.raw,
    "workloads": [*CATALOGUE.raw["workloads"], INVENTED, *LANGUAGES],
    "quantities": {**CATALOGUE.raw["quantities"], **INVENTED_QUANTITIES},
}
# Copied a thousand times: quicker so than by copy.deepcopy.
_DESCRIBED = marshal.dumps(DESCRIBED, 2)
WORKLOADS: dict[str, Any] = {workload["id"]: workload for workload in DESCRIBED["workloads"]}


def _type(name: str, quantity: Mapping[str, Any]) -> str:
    """Stages, counts and sizes are whole numbers, as drivers send them, unless they are shares of several tasks."""
    whole = (
        quantity["stage"]
        or name in {"collector_ns", "loop_blocked_ns", "lock_wait_ns"}
        or (quantity["unit"] in {"count", "bytes"} and "_each_" not in name)
    )
    return "i64" if whole else "f64"


COLUMNS = {
    "start_ns": ("i64", "ns"),
    **{name: (_type(name, quantity), quantity["unit"]) for name, quantity in DESCRIBED["quantities"].items()},
    **dict.fromkeys(("cpu_before", "cpu_after", "cpu_child"), ("i32", "cpu")),
    "errno": ("i32", "errno"),
}


#: What a run's metadata has at its end only, besides its processes and blocks.
AT_THE_END = ("status", "status_reason", "ended", "cells")
#: What the entry of a process has at its end only.
OF_AN_ENDED_PROCESS = ("ended_ns", "status", "reason", "exit_status", "stderr")


@dataclass(frozen=True)
class Process:
    """One start of a driver: its entry in the metadata, the cell of each block, and its answer as bytes."""

    entry: Mapping[str, Any]
    cells: Sequence[str]
    answer: bytes

    def read(self) -> tuple[list[Block], Done]:
        """The answer's blocks and its end."""
        reader = AnswerReader()
        blocks = reader.feed(self.answer)
        return blocks, reader.finish()

    @property
    def entry_at_start(self) -> dict[str, Any]:
        """What the entry says while the process measures."""
        return {key: value for key, value in self.entry.items() if key not in OF_AN_ENDED_PROCESS}


@functools.lru_cache(maxsize=8)
def _catalogue(content: bytes) -> CatalogueEntry:
    return from_json(CatalogueEntry, marshal.loads(content))


@dataclass
class MemoryRun:
    """A run as `clonometer.results.rows.source.RunSource` wants it."""

    metadata: dict[str, Any]
    data: dict[str, dict[str, Array]] = field(default_factory=dict)
    _read: tuple[bytes, RunDocument] | None = field(default=None, init=False, repr=False)

    @property
    def document(self) -> RunDocument:
        """As a file would give it, whatever a test has changed: read anew where it has changed something."""
        content = marshal.dumps(self.metadata, 2)
        if self._read is None or self._read[0] != content:
            self._read = content, self._read_anew()
        return self._read[1]

    def _read_anew(self) -> RunDocument:
        """The catalogue is nearly all of it, and nearly always the same."""
        try:
            catalogue = _catalogue(marshal.dumps(self.metadata["catalogue"], 2))
            document = read_document({**self.metadata, "catalogue": EMPTY["catalogue"]})
        except (KeyError, ClonometerError):
            return read_document(self.metadata)
        document = replace(document, catalogue=catalogue)
        return document if document.fault() is None else read_document(self.metadata)

    def cells(self) -> list[str]:
        return sorted(self.data)

    def columns(self, cell: str, names: Sequence[str]) -> Mapping[str, Array]:
        unknown = set(names) - set(self.metadata["columns"]) - {"process", "block", "sample"}
        assert not unknown, f"asked for columns that the run does not declare: {unknown}"
        return {name: self.data[cell][name] for name in names}

    def add_block(
        self, cell: str, process: int, block: int, columns: Mapping[str, Array], **entry: Mapping[str, Any]
    ) -> None:
        """Add a block of chosen samples with its outcomes and facts; all blocks of a cell have the same columns."""
        rows = len(next(iter(columns.values())))
        numbers = {"process": np.full(rows, process), "block": np.full(rows, block), "sample": np.arange(rows)}
        new = {**{name: values.astype(np.int32) for name, values in numbers.items()}, **columns}
        before = self.data.get(cell)
        self.data[cell] = {name: np.concatenate([before[name], new[name]]) for name in new} if before else new
        key = {"process": process, "block": block, "cell": cell}
        self.metadata["blocks"].append({**key, "status": "ok", "reason": None, "rows": rows, **entry})

    @property
    def at_start(self) -> dict[str, Any]:
        """What is known before anything is measured."""
        later = (*AT_THE_END, "processes", "blocks", "columns")
        return {key: value for key, value in self.metadata.items() if key not in later}

    @property
    def ending(self) -> dict[str, Any]:
        """What is known at the end, but for processes."""
        return {key: self.metadata[key] for key in AT_THE_END}

    def processes(self) -> list[Process]:
        """Each start of a driver with its answer, in the order of the metadata."""
        return [self._process(entry) for entry in self.metadata["processes"]]

    def _process(self, entry: Mapping[str, Any]) -> Process:
        blocks = [block for block in self.metadata["blocks"] if block["process"] == entry["process"]]
        answer = preamble() + b"".join(map(self._encoded, blocks)) + encode_done(blocks=len(blocks))
        return Process(entry, [block["cell"] for block in blocks], answer)

    def _encoded(self, block: Mapping[str, Any]) -> bytes:
        """A block as its driver sends it: columns that the workload does not have are not sent."""
        data = self.data[block["cell"]]
        chosen = (data["process"] == block["process"]) & (data["block"] == block["block"])
        columns = {name: data[name][chosen] for name in self.metadata["columns"] if name in data}
        [cell] = (cell for cell in self.metadata["plan"]["cells"] if cell["cell"] == block["cell"])
        return encode_block(
            block["block"],
            cell["workload"],
            cell["temperature"],
            {name: values for name, values in columns.items() if not _is_all_null(values)},
            units={name: column["unit"] for name, column in self.metadata["columns"].items()},
            **{key: block[key] for key in ("status", "reason", "outcomes", "facts")},
        )


def write_run(path: Path, run: MemoryRun) -> Path:
    """Write a run file."""
    writer = RunFileWriter(path)
    for process in run.processes():
        for cell, block in zip(process.cells, process.read()[0], strict=True):
            writer.add_block(cell, process.entry["process"], block)
    path.parent.mkdir(parents=True, exist_ok=True)
    return writer.write(run.metadata)


def write_raw(path: Path, run: MemoryRun, *, n_processes: int | None = None, end: bool = True) -> Path:
    """Write NAME.raw, of a run that came to its end or of one that was killed after its last process."""
    with RawWriter(path, run.at_start) as raw:
        for process in run.processes()[:n_processes]:
            raw.begin_process(process.entry_at_start)
            blocks, done = process.read()
            for block in blocks:
                raw.add_block(block)
            raw.add_done(done)
            raw.end_process(process.entry)
        if end:
            raw.end(run.ending)
    return path


class RunBuilder:
    """Adds cells to a run in memory, process by process, interleaved in time as the scheduler does."""

    def __init__(self, seed: int = 7) -> None:
        self.random = np.random.default_rng(seed)
        self._axes = {id_: workload["axes"] for id_, workload in WORKLOADS.items()}
        self._columns = dict(COLUMNS)
        self.run = MemoryRun(
            {
                **copy.deepcopy(EMPTY),
                "ended": "2026-01-01T12:01:02.500000+00:00",
                "seed": 42,
                "plan": {"name": "default", "title": "t", "budget_seconds": 60.0, "cells": [], "targets": []},
                "catalogue": marshal.loads(_DESCRIBED),
                "clock": {
                    "clock": "tsc",
                    "clock_hz": 2_000_000_000,
                    "cost_ns": 9.8,
                    "reason": "",
                    "method": "",
                },
                "host": {"cpu.model": "Test", "steal.share": 0.0, "thp.sizes": {}},
                "columns": {name: {"type": type_, "unit": unit} for name, (type_, unit) in COLUMNS.items()},
            }
        )

    def invent(self, workload: str, quantities: Mapping[str, str | None], *axes: str, **facts: Any) -> None:
        """Add a workload that nobody has heard of: its times with their stages, and axes that there are."""
        entry = {**INVENTED, "id": workload, "axes": list(axes), "quantities": list(quantities), **facts}
        self._axes[workload] = entry["axes"]
        self.run.metadata["catalogue"]["workloads"].append(entry)
        for name, stage in quantities.items():
            self._columns[name] = ("i64" if stage else "f64", "ns")
            self.run.metadata["columns"][name] = dict(zip(("type", "unit"), self._columns[name], strict=True))
            self.run.metadata["catalogue"]["quantities"][name] = {"unit": "ns", "stage": stage, "summary": name}

    def cell(
        self,
        workload: str,
        values: Mapping[str, float],
        temperature: str | None = "warm",
        *,
        processes: int = 12,
        samples: int = 30,
        blocks: int = 3,
        spread: float = 0.03,
        other_cpu: float = 0.0,
        mhz: float = 3000.0,
        facts: Mapping[str, Any] | None = None,
        **condition: int | str,
    ) -> str:
        """Add a cell whose process medians scatter log-normally by ``spread`` about ``values``.

        On the other CPU, where a share of ``other_cpu`` runs, ``task_runs_ns`` takes half as long again.
        """
        defaults = {axis: CATALOGUE.axes[axis].default for axis in self._axes[workload]}
        full = {axis: condition.get(axis, default) for axis, default in defaults.items()}
        shown = {axis: value for axis, value in full.items() if value != defaults[axis]}
        if temperature:
            shown["temperature"] = temperature
        inside = ",".join(f"{axis}={value}" for axis, value in sorted(shown.items()))
        text = f"{workload}[{inside}]" if inside else workload
        metadata = self.run.metadata
        metadata["plan"]["cells"].append(
            {"cell": text, "workload": workload, "condition": full, "temperature": temperature}
        )
        metadata["cells"].append({"cell": text, "status": "ok", "reason": None, "stopped_by": "budget"})
        if temperature == "cold":
            blocks, samples = 1, 1
        size = processes * blocks * samples
        first = len(metadata["processes"])
        columns = {name: np.full(size, *_null(type_)) for name, (type_, _) in self._columns.items()}
        columns["process"] = np.repeat(np.arange(first, first + processes), blocks * samples).astype(np.int32)
        columns["block"] = np.tile(np.repeat(np.arange(blocks), samples), processes).astype(np.int32)
        columns["sample"] = np.tile(np.arange(samples), processes * blocks).astype(np.int32)
        levels = np.repeat(np.exp(spread * self.random.normal(size=processes)), blocks * samples)
        noise = levels * np.exp(spread * self.random.normal(size=size))
        elsewhere = self.random.random(size) < other_cpu
        for name, value in values.items():
            measured = value * noise * np.where(elsewhere & (name == "task_runs_ns"), 1.5, 1.0)
            columns[name] = measured if self._columns[name][0] == "f64" else np.rint(measured).astype(np.int64)
        columns["errno"] = np.zeros(size, np.int32)
        if "task_runs_ns" in values or "image_runs_ns" in values:
            columns["cpu_before"] = np.zeros(size, np.int32)
            columns["cpu_child"] = elsewhere.astype(np.int32)
        self.run.data[text] = columns
        for process in range(first, first + processes):
            # Interleaved: the k-th process of each cell starts in the k-th second.
            started = (process - first) * 1_000_000_000 + len(self.run.data) * 1_000_000
            shared = {"process": process, "driver": "probe", "cells": [text], "status": "ok", "reason": None}
            times = {"started_ns": started, "ended_ns": started + 500}
            metadata["processes"].append({**shared, **times, "exit_status": 0})
            for block in range(blocks):
                block_facts = {
                    "wall_ns": 1000,
                    "effective_mhz": {"1": mhz},
                    "involuntary_switches": 0,
                    **(facts or {}),
                }
                metadata["blocks"].append(
                    {
                        "process": process,
                        "block": block,
                        "cell": text,
                        "status": "ok",
                        "reason": None,
                        "rows": samples,
                        "outcomes": {"ok": samples},
                        "facts": block_facts,
                    }
                )
        return text


def _is_all_null(values: Array) -> bool:
    null = np.isnan(values) if values.dtype.kind == "f" else values == np.iinfo(values.dtype).min
    return bool(null.all())


def _null(type_: str) -> tuple[float | int, Any]:
    return {"i32": (NULL_I32, np.int32), "i64": (NULL_I64, np.int64), "f64": (np.nan, np.float64)}[type_]


def _times(call: float, task: float, reaped: float) -> dict[str, float]:
    return {"call_returns_ns": call, "task_runs_ns": task, "reaped_ns": reaped}


def add_default_plan(builder: RunBuilder) -> RunBuilder:
    """Add the default plan: fork takes 3 times as long as pthread until reaped and 50 ns a page."""
    for temperature, factor in (("cold", 4), ("warm", 1)):
        fork = _times(50_000 * factor, 60_000 * factor, 90_000 * factor)
        pthread = _times(10_000 * factor, 20_000 * factor, 30_000 * factor)
        vfork = _times(35_000 * factor, 15_000 * factor, 36_000 * factor)
        if temperature == "cold":
            pthread["task_runs_ns"] = fork["task_runs_ns"] * 1.25
            pthread["reaped_ns"] = fork["reaped_ns"] * 1.5
        for placement, share in (("pinned", 0.0), ("free", 0.7)):
            options: dict[str, Any] = {"placement": placement, "other_cpu": share}
            builder.cell("launch.fork", fork, temperature, **options)
            builder.cell("launch.vfork", vfork, temperature, **options)
            builder.cell("launch.pthread", pthread, temperature, **options)
        spawn = {
            "call_returns_ns": 150_000 * factor,
            "image_runs_ns": 180_000 * factor,
            "reaped_ns": 240_000 * factor,
        }
        exec_ = {**fork, "image_runs_ns": 230_000 * factor, "reaped_ns": 240_500 * factor}
        builder.cell("launch.posix_spawn", spawn, temperature)
        builder.cell("launch.fork_exec", exec_, temperature)
        slower = {name: value * 1.5 for name, value in fork.items()}
        builder.cell("launch.fork", slower, temperature, linkage="dynamic_lazy")
        for size in (2 * MIB, 64 * MIB, GIB):
            pages = size // 4096
            builder.cell("launch.fork", {n: v + 50 * pages for n, v in fork.items()}, temperature, parent_bytes=size)
            builder.cell("launch.pthread", pthread, temperature, parent_bytes=size)
        at_64 = {name: value + 50 * (64 * MIB // 4096) for name, value in fork.items()}
        for state, share in (("clean", 0.6), ("first", 1.3)):
            builder.cell(
                "launch.fork",
                {n: v * share for n, v in at_64.items()},
                temperature,
                parent_bytes=64 * MIB,
                pages=state,
            )
    builder.cell("launch.none", {"call_returns_ns": 12, "reaped_ns": 24}, None, spread=0.2)
    builder.cell("launch.stamp", {"stamp_ns": 1_050}, "warm")
    builder.cell("clock.used", {"cost_ns": 9.8}, None)
    return builder
