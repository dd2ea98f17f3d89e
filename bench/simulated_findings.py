"""Hundreds of simulated reports: how many state a difference where nothing differs, how many state the one there is.

Each report has 15 cells of three stages: fork, vfork and pthread, with memory of four sizes, pages of three states,
VMAs and another linkage. Their processes ran in turn; stages of one process rise and fall together. The machine may
wander by 8% (AR(1) of 0.9 from one turn to the next). Findings are those of `show`, read by the verdicts in their
numbers. About three minutes; `BENCH_REPORTS=50` tries it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.harness import Line, say
from clonometer.results.findings.comparing import Comparer
from clonometer.results.findings.finder import find_all
from clonometer.results.noise.noise import rate_interval
from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.types import Estimate, Finding
from clonometer.stats.bootstrap import Processes
from clonometer.stats.serial import median_in_time

REPORTS = int(os.environ.get("BENCH_REPORTS", "500"))
MOST_WRONG, MOST_MISSED = 0.05, 0.05
LEVEL_NS = 50_000.0
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
_CATALOGUE = {"axes": _AXES, "workloads": [{"id": workload} for workload in dict.fromkeys(cell[0] for cell in _CELLS)]}

Generator = np.random.Generator
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """How processes scatter, as a logarithm, and whether with heavy tails; by how much the machine wanders.

    ``change``: how much longer the first cell takes, as a share.
    """

    processes: int = 12
    scatter: float = 0.05
    heavy: bool = False
    drift: float = 0.0
    change: float = 0.0


def report(random: Generator, machine: Machine) -> tuple[Finding, ...]:
    """The findings of one simulated run."""
    n = machine.processes
    wander = np.zeros(n)
    for turn in range(1, n):
        wander[turn] = 0.9 * wander[turn - 1] + random.normal() * np.sqrt(1 - 0.9**2)
    rows = []
    for place, (workload, changes) in enumerate(_CELLS):
        level = LEVEL_NS * (1 + (machine.change if place == 0 else 0.0))
        common = 0.8 * _scattered(random, machine)
        for stage in STAGES:
            logs = machine.drift * wander + common + 0.6 * _scattered(random, machine)
            starts = np.arange(n, dtype=np.float64) + place / len(_CELLS)
            rows.append(_row(workload, changes, stage, Processes(level * np.exp(logs), starts)))
    return find_all(Comparer(Book(rows, {"catalogue": _CATALOGUE}), seed=1))


def _scattered(random: Generator, machine: Machine) -> Floats:
    if machine.heavy:
        return machine.scatter * random.standard_t(3, machine.processes) / np.sqrt(3)
    return machine.scatter * random.normal(size=machine.processes)


def _row(workload: str, changes: Mapping[str, int | str], stage: str, processes: Processes) -> Evidence:
    condition = {axis: changes.get(axis, facts["default"]) for axis, facts in _AXES.items()}
    middle = median_in_time(processes.values)
    estimate = Estimate(
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
    )
    return Evidence(estimate, processes)


def differences(numbers: Any) -> list[Mapping[str, Any]]:
    """All comparisons within the numbers of findings whose verdict is a difference."""
    if isinstance(numbers, Mapping):
        stated = [numbers] if numbers.get("verdict") in ("longer", "shorter") else []
        return stated + [each for value in numbers.values() for each in differences(value)]
    if isinstance(numbers, list | tuple):
        return [each for value in numbers for each in differences(value)]
    return []


def simulated(reports: int, machine: Machine, *, seed: int = 1) -> tuple[int, int]:
    """How many reports state a difference, and how many state that of fork and pthread until reaped."""
    random = np.random.default_rng(seed)
    stating = seen = 0
    for _ in range(reports):
        findings = {finding.id: finding for finding in report(random, machine)}
        stating += bool(differences([finding.numbers for finding in findings.values()]))
        seen += findings["process_vs_thread.warm"].numbers["verdict"] == "longer"
    return stating, seen


def run() -> Iterator[Line]:
    cases = {
        "usual": Machine(),
        "few": Machine(processes=6),
        "many": Machine(processes=30),
        "heavy": Machine(heavy=True),
        "drifting": Machine(drift=0.08),
    }
    for name, machine in cases.items():
        stating, _ = simulated(REPORTS, machine)
        yield _share(f"{name}.wrong", stating, MOST_WRONG, f"{stating} of {REPORTS} reports state a difference")
    _, seen = simulated(REPORTS, Machine(change=0.15))
    yield _share("changed.missed", REPORTS - seen, MOST_MISSED, f"15% not stated in {REPORTS - seen} of {REPORTS}")


def _share(name: str, count: int, most: float, note: str) -> Line:
    low, high = rate_interval(count, REPORTS)
    return say(Line(f"simulated_findings.{name}", count / REPORTS, low, high, most, "share", note))
