"""Hundreds of simulated reports: how many state a difference where nothing differs, how many state the one there is.

Each report has 15 cells of three stages: fork, vfork and pthread, with memory of four sizes, pages of three states,
VMAs and another linkage. Their processes ran in turn; stages of one process rise and fall together. Six kinds of
machine on which nothing differs: processes scatter independently; they have one of two levels; all cells wander
together by 8% (AR(1) of 0.9 from one turn to the next); each cell wanders so by itself; one cell, drawn for each
report, wanders among still ones; a cell keeps an effect of its layout of 3%, drawn for each report. Findings and
advice are those of `show`, read by the verdicts in their numbers. About five minutes; `BENCH_REPORTS=50` tries it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.fakes.documents import made_document

from bench.harness import Line, say
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.finder import find_all
from clonometer.results.first.advice import advice
from clonometer.results.noise.noise import rate_interval
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import Finding
from clonometer.stats.bootstrap import Processes
from clonometer.stats.quantiles import quantile_interval
from clonometer.verdicts import Direction

REPORTS = int(os.environ.get("BENCH_REPORTS", "500"))
MOST_WRONG, MOST_MISSED = 0.05, 0.05
LEVEL_NS = 50_000.0
KEPT = 0.9
STAGES = ("call_returns", "task_runs", "reaped")
MIB = 1 << 20
_AXES: Mapping[str, Mapping[str, int | str]] = {
    "linkage": {"type": "choice", "default": "static"},
    "pages": {"type": "choice", "default": "rewritten"},
    "parent_bytes": {"type": "bytes", "default": 0},
    "placement": {"type": "choice", "default": "pinned"},
    "vmas": {"type": "count", "default": 0},
}
_CELLS: tuple[tuple[str, Mapping[str, int | str]], ...] = (
    ("launch.fork", {}),
    ("launch.vfork", {}),
    ("launch.pthread", {}),
    *(
        (workload, {"parent_bytes": size})
        for workload in ("launch.fork", "launch.pthread")
        for size in (MIB, 4 * MIB, 64 * MIB)
    ),
    *(("launch.fork", {"vmas": count}) for count in (10, 100, 1000)),
    ("launch.fork", {"linkage": "dynamic_lazy"}),
    *(("launch.fork", {"parent_bytes": 64 * MIB, "pages": state}) for state in ("first", "clean")),
)
_CATALOGUE = {
    "axes": _AXES,
    "workloads": [
        {"id": workload, "family": "", "summary": "", "temperatures": [], "quantities": []}
        for workload in dict.fromkeys(cell[0] for cell in _CELLS)
    ],
    "quantities": {},
}
_DOCUMENT = made_document(catalogue=_CATALOGUE)

Generator = np.random.Generator
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """How processes scatter, as a logarithm, and whether with heavy tails; what else moves them.

    ``peaks``: the distance of two levels, of which each process has one. ``drift``: by how much all cells wander
    together, ``alone``: each by itself, ``single``: one of them. ``layout``: the effect that a cell keeps, as a
    standard deviation. ``change``: how much longer the first cell takes, as a share.
    """

    processes: int = 12
    scatter: float = 0.05
    heavy: bool = False
    peaks: float = 0.0
    drift: float = 0.0
    alone: float = 0.0
    single: float = 0.0
    layout: float = 0.0
    change: float = 0.0


def report(random: Generator, machine: Machine) -> tuple[Finding, ...]:
    """The findings of one simulated run, and the advice of its first screen."""
    together = machine.drift * _wandering(random, machine.processes)
    wanderer = random.integers(len(_CELLS))
    rows = []
    for place, (workload, changes) in enumerate(_CELLS):
        level = LEVEL_NS * (1 + (machine.change if place == 0 else 0.0))
        alone = machine.alone + (machine.single if place == wanderer else 0.0)
        shared = together + alone * _wandering(random, machine.processes)
        shared += machine.layout * random.normal() + machine.peaks * random.integers(0, 2, machine.processes)
        shared += 0.8 * _scattered(random, machine)
        starts = np.arange(machine.processes, dtype=np.float64) + place / len(_CELLS)
        for stage in STAGES:
            logs = shared + 0.6 * _scattered(random, machine)
            rows.append(_row(workload, changes, stage, Processes(level * np.exp(logs), starts)))
    tests = PairwiseTests(RunEstimates(rows, _DOCUMENT), seed=1)
    findings = find_all(tests)
    return (*findings, *tests.with_correction(lambda: advice(tests)))


def _wandering(random: Generator, turns: int) -> Floats:
    """An AR(1) of variance 1."""
    levels = random.normal(size=turns)
    for turn in range(1, turns):
        levels[turn] = KEPT * levels[turn - 1] + levels[turn] * np.sqrt(1 - KEPT**2)
    return levels


def _scattered(random: Generator, machine: Machine) -> Floats:
    if machine.heavy:
        return machine.scatter * random.standard_t(3, machine.processes) / np.sqrt(3)
    return machine.scatter * random.normal(size=machine.processes)


def _row(workload: str, changes: Mapping[str, int | str], stage: str, processes: Processes) -> RunEstimate:
    condition = {axis: changes.get(axis, facts["default"]) for axis, facts in _AXES.items()}
    middle = quantile_interval(processes.values)
    return RunEstimate(
        cell=f"{workload}[{','.join(f'{axis}={value}' for axis, value in changes.items())}]",
        workload=workload,
        condition=condition,
        temperature="warm",
        stage=stage,
        placement=None,
        quantity=f"{stage}_ns",
        unit="ns",
        n_samples=processes.values.size,
        n_processes=processes.values.size,
        median_ns=middle.value,
        median_low_ns=middle.low,
        median_high_ns=middle.high,
        p99_ns=None,
        p99_reason="too few samples",
        min_ns=float(processes.values.min()),
        effective_mhz=None,
        resolution_ns=1.0,
        family="same_image",
        processes=processes,
    )


def differences(numbers: Any) -> list[Mapping[str, Any]]:
    """All comparisons within the numbers of findings whose verdict is a difference."""
    if isinstance(numbers, Mapping):
        stated = [numbers] if numbers.get("verdict") in (Direction.MORE, Direction.LESS) else []
        return stated + [each for value in numbers.values() for each in differences(value)]
    if isinstance(numbers, list | tuple):
        return [each for value in numbers for each in differences(value)]
    return []


class Counts(NamedTuple):
    """How many reports state a difference, give advice, and state the difference of fork and pthread until reaped."""

    stating: int
    advising: int
    seen: int


def simulated(reports: int, machine: Machine, *, seed: int = 1) -> Counts:
    """Count what so many reports say."""
    random = np.random.default_rng(seed)
    counts = np.zeros(3, np.int64)
    for _ in range(reports):
        findings = {finding.id: finding for finding in report(random, machine)}
        stating = bool(differences([finding.numbers for finding in findings.values()]))
        advising = any(id_.startswith("do.") for id_ in findings)
        seen = findings["process_vs_thread.warm"].numbers["verdict"] == Direction.MORE
        counts += stating, advising, seen
    return Counts(*counts.tolist())


#: Machines on which nothing differs.
NULLS: Mapping[str, Machine] = {
    "independent": Machine(),
    "peaks": Machine(peaks=0.2),
    "together": Machine(drift=0.08),
    "alone": Machine(alone=0.08),
    "single": Machine(single=0.08),
    "layout": Machine(layout=0.03),
    "few": Machine(processes=6),
    "many": Machine(processes=30),
    "heavy": Machine(heavy=True),
    "layout_many": Machine(processes=30, layout=0.03),
    "alone_many": Machine(processes=30, alone=0.08),
    "single_many": Machine(processes=30, single=0.08),
}


def run() -> Iterator[Line]:
    for name, machine in NULLS.items():
        stating, advising, _ = simulated(REPORTS, machine)
        text = f"{stating} of {REPORTS} reports state a difference, {advising} give advice"
        yield _share(f"{name}.wrong", stating, MOST_WRONG, text)
    seen = simulated(REPORTS, Machine(change=0.25)).seen
    yield _share("changed.missed", REPORTS - seen, MOST_MISSED, f"25% not stated in {REPORTS - seen} of {REPORTS}")


def _share(name: str, count: int, most: float, note: str) -> Line:
    low, high = rate_interval(count, REPORTS)
    return say(Line(f"simulated_findings.{name}", count / REPORTS, low, high, most, "share", note))
