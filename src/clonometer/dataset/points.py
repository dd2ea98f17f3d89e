"""All values of a folder one by one, for programs that keep series; and back from what such a program has."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from clonometer.dataset.load import Dataset
from clonometer.dataset.openmetrics import parse_openmetrics
from clonometer.dataset.types import FolderReading, Label, Point, PointRun, Points, RunEntry
from clonometer.errors import InputError
from clonometer.inputs import InputKind, read_text
from clonometer.results.compare.types import Provenance
from clonometer.words import cell_parts

_SERIES = InputKind("a file of series", 64 << 20, "export it by folder: history FOLDER --export openmetrics")
#: Facts that go with values: enough to name what changed.
POINT_FACTS = (
    "cpu.model",
    "cpu.online",
    "cpu.microcode",
    "kernel.release",
    "libc.version",
    "mitigations.summary",
    "virt.hypervisor",
    "virt.product",
)
_TIMES_NS = 1e9


def points_of(dataset: Dataset) -> Points:
    """Give all values of a dataset."""
    runs = tuple(
        PointRun(
            datetime.fromisoformat(run.started).timestamp(),
            run.host,
            {key: str(run.facts[key]) for key in POINT_FACTS if run.facts.get(key) is not None},
        )
        for run in dataset.runs
    )
    rows = dataset.rows
    order = np.lexsort((rows["run"], rows["label"]))
    columns = [rows[name][order].tolist() for name in ("run", "label", "value", "low", "high")]
    return Points(
        runs,
        tuple(
            Point(run, dataset.labels[label], value, _end(low), _end(high))
            for run, label, value, low, high in zip(*columns, strict=True)
            if not math.isnan(value)
        ),
    )


def _end(value: float) -> float | None:
    return None if math.isnan(value) else value


def dataset_of(runs: Iterable[PointRun], values: Iterable[tuple[int, Label, float]], name: str) -> Dataset:
    """Make a dataset of values that another program has kept.

    ``values`` has the place of the run, the label, and the median (ns of a time).

    Raises
    ------
    InputError
        If there is no value.
    """
    listed = list(runs)
    order = sorted(range(len(listed)), key=lambda place: listed[place].started_s)
    place_of = {old: new for new, old in enumerate(order)}
    labels: dict[str, int] = {}
    about: list[Label] = []
    rows: list[tuple[int, int, float]] = []
    for run, label, value in values:
        text = f"{label.cell}\n{label.quantity}\n{label.placement}"
        if text not in labels:
            labels[text] = len(about)
            about.append(label)
        rows.append((place_of[run], labels[text], value))
    if not rows:
        raise InputError(f"{name} contains no values from Clonometer", "clonometer history FOLDER --export openmetrics")
    entries = [
        RunEntry(
            f"{name}:{place}",
            datetime.fromtimestamp(listed[old].started_s, UTC).isoformat(),
            listed[old].host,
            "complete",
            _provenance(listed[old]),
        )
        for place, old in enumerate(order)
    ]
    run_of, label_of, medians = (np.array(column) for column in zip(*rows, strict=True))
    none = np.full(medians.size, math.nan)
    numbers: dict[str, Any] = {"value": medians, "low": none, "high": none}
    numbers |= {"n_samples": np.zeros(medians.size, np.int64), "n_processes": np.zeros(medians.size, np.int32)}
    hosts = len({entry.host for entry in entries})
    reading = FolderReading(name, 1, len(entries), hosts, (), (), 0, ())
    return Dataset(reading, entries, about, {"run": run_of, "label": label_of, **numbers})


def _provenance(run: PointRun) -> Provenance:
    return Provenance({**run.facts, "host.name_hash": run.host}, "", "complete", None)


def bare_label(cell: str, quantity: str, stage: str | None, placement: str | None, unit: str) -> Label:
    """A label of what a series tells of itself: its cell's text, and the axes in that."""
    workload, parts = cell_parts(cell)
    axes = dict(part.split("=", 1) for part in parts if "=" in part)
    temperature = axes.pop("temperature", None)
    is_time = unit == "ns"
    return Label(cell, workload, axes, temperature, stage, placement, quantity, unit, "other", 1.0, is_time)


def read_points(path: Path) -> Dataset:
    """Read what ``history --export openmetrics`` has written, or a program that keeps such series.

    Raises
    ------
    InputError
        If it cannot be read, or has no value of Clonometer's.
    """
    text = read_text(path, _SERIES)
    runs: dict[tuple[float, str], int] = {}
    facts: dict[tuple[float, str], dict[str, str]] = {}
    values: list[tuple[int, Label, float]] = []
    labels: dict[tuple[str | None, ...], Label] = {}
    for sample in parse_openmetrics(text, str(path)):
        if sample.timestamp_s is None or "host" not in sample.labels:
            continue
        key = (sample.timestamp_s, sample.labels["host"])
        if sample.name == "clonometer_run_info":
            facts[key] = {name.replace("_", ".", 1): value for name, value in sample.labels.items() if name != "host"}
        elif sample.name in ("clonometer_median_seconds", "clonometer_median"):
            is_time = sample.name.endswith("_seconds")
            which = tuple(sample.labels.get(name) for name in ("cell", "quantity", "stage", "placement", "unit"))
            if which not in labels:
                cell, quantity, stage, placement, unit = which
                unit = "ns" if is_time else unit or "count"
                labels[which] = bare_label(cell or "", quantity or "", stage, placement, unit)
            number = runs.setdefault(key, len(runs))
            values.append((number, labels[which], sample.value * _TIMES_NS if is_time else sample.value))
    return dataset_of([PointRun(*key, facts.get(key, {})) for key in runs], values, str(path))
