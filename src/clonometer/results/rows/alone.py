"""Which launches had their core to themselves: additions right before and after them took no longer than they must.

Both hardware threads of a core share the units that add, so that a neighbour makes independent additions take up to
twice as long. The time of the launch itself is never looked at (docs/methods.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.grouping import group_by
from clonometer.results.rows.groups import ADDITIONS_NS
from clonometer.results.rows.source import PiecewiseSource, RunSource, null_mask
from clonometer.run_document import BlockEntry, RunDocument

ADDITIONS = 7680  # docs/protocol.md
NEEDED = ("process", "block", "cpu_before", "cpu_after", *ADDITIONS_NS)
_SENSES = tuple(zip(ADDITIONS_NS, ("cpu_before", "cpu_after"), strict=True))
#: A process counts with so many launches alone, or with a third of its launches where that is fewer: of dear ones it
#: has but a few.
FEWEST_LAUNCHES = 5
_LEAST_SHARE = 3
FEWEST_PROCESSES = 6
#: What takes longer meets a neighbour that came and went between its two senses. Decided by rows: never a launch by
#: the time that it took.
LONGEST_NS = 10e6
_TOLERANCE = 1.05
#: Below the first hundredth lie accidents of the clock.
_FLOOR_SHARE = 0.01
#: Cores of x86-64 with two hardware threads make four additions or more in a cycle (since 2013), beside a busy
#: neighbour half as many. One that never makes nearly four was never alone.
_LEAST_EACH_CYCLE = {"x86_64": 3.6}
_STEPS = 400  # of the histogram, for each factor of e
_MOST_STEPS = 12_000

Array = NDArray[Any]


@dataclass(frozen=True)
class Cores:
    """What the additions took on each CPU of a run: ``limits`` in cycles, None where that CPU was never alone."""

    limits: Mapping[int, float | None]
    clocks: Mapping[int, _Clock]
    #: How many times additions were made, and how many of them beside a neighbour.
    senses: int
    shared: int

    @property
    def share_shared(self) -> float:
        """The share of all senses in which the core was shared; 1 where no CPU was ever alone."""
        return self.shared / self.senses if self.senses else 0.0

    def alone(self, columns: Mapping[str, Array]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Tell which launches were alone, and of which that is known; None where these rows have no additions.

        Parameters
        ----------
        columns
            Those of `NEEDED`, each of shape (rows,).
        """
        if any(name not in columns for name in NEEDED):
            return None
        known = ~(null_mask(columns[ADDITIONS_NS[0]]) | null_mask(columns[ADDITIONS_NS[1]]))
        if not known.any():
            return None
        alone = known.copy()
        for name, where in _SENSES:
            # A launch that nobody waits for has no CPU at its end: it is still where it began.
            cpus = np.where(null_mask(columns[where]), columns["cpu_before"], columns[where])
            for cpu in np.unique(cpus[alone]).tolist():
                on_cpu = alone & (cpus == cpu)
                limit = self.limits.get(cpu)
                cycles = _cycles(self.clocks, cpu, columns, name, on_cpu)
                alone[on_cpu] = False if limit is None else cycles <= limit
        return alone, known


@dataclass(frozen=True)
class _Clock:
    """The frequency of one CPU in each block of a run, in GHz; ``keys`` rise. Without any, times are taken as they are.

    A core that is throttled adds no slower in cycles: it is not taken for one that is shared.
    """

    keys: Array
    ghz: Array

    def of(self, process: Array, block: Array) -> Array | float:
        """The frequency in blocks, the usual one where it was not measured."""
        if self.keys.size == 0:
            return 1.0
        wanted = process.astype(np.int64) << 32 | block.astype(np.int64)
        places = np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)
        return np.where(self.keys[places] == wanted, self.ghz[places], np.median(self.ghz))

    @property
    def usual_ghz(self) -> float | None:
        """The median frequency; None where none was measured."""
        return float(np.median(self.ghz)) if self.keys.size else None


_NO_CLOCK = _Clock(np.zeros(0, np.int64), np.zeros(0))


class CoresInHand:
    """Learns, from launches that are added, how long additions take on a core that nobody shares."""

    def __init__(self, document: RunDocument | None = None) -> None:
        self._clocks = {} if document is None else _clocks(document.blocks)
        self._document = document
        self._counts: dict[int, Array] = {}

    def add(self, columns: Mapping[str, Array]) -> None:
        """Add launches: columns of `NEEDED`, each of shape (rows,)."""
        for name, where in _SENSES:
            known = ~(null_mask(columns[name]) | null_mask(columns[where]))
            for cpu in np.unique(columns[where][known]).tolist():
                cycles = _cycles(self._clocks, cpu, columns, name, known & (columns[where] == cpu))
                steps = np.clip(np.log(np.maximum(cycles, 1)) * _STEPS, 0, _MOST_STEPS - 1).astype(np.int64)
                self._counts[cpu] = self._counts.get(cpu, 0) + np.bincount(steps, minlength=_MOST_STEPS)

    def cores(self) -> Cores | None:
        """What is known of them so far; None without any additions."""
        if not self._counts:
            return None
        limits = {cpu: self._limit(cpu) for cpu in self._counts}
        senses = sum(int(counted.sum()) for counted in self._counts.values())
        alone = sum(_below(self._counts[cpu], limit) for cpu, limit in limits.items() if limit is not None)
        return Cores(limits, self._clocks, senses, senses - alone)

    def _limit(self, cpu: int) -> float | None:
        """The most cycles that additions take without a neighbour; None where there always was one."""
        counted = self._counts[cpu]
        first = int(np.searchsorted(np.cumsum(counted), max(1, _FLOOR_SHARE * counted.sum())))
        floor = math.exp((first + 0.5) / _STEPS)
        usual_ghz = self._clocks.get(cpu, _NO_CLOCK).usual_ghz
        if self._document is not None and usual_ghz is not None:
            least = _LEAST_EACH_CYCLE.get(str(self._document.host.get("cpu.arch")), 0.0)
            reading = (self._document.clock.cost_ns or 0.0) * usual_ghz
            if least * (floor - reading) > ADDITIONS:
                return None
        return floor * _TOLERANCE


def cores_of(run: RunSource) -> Cores | None:
    """Learn it from all launches of a run; None where the drivers made no additions."""
    document = run.document
    if not has_additions(document.columns):
        return None
    hand = CoresInHand(document)
    for cell in run.cells():
        for columns in run.pieces(cell, NEEDED) if isinstance(run, PiecewiseSource) else [run.columns(cell, NEEDED)]:
            hand.add(columns)
    return hand.cores()


def _clocks(blocks: Iterable[BlockEntry]) -> dict[int, _Clock]:
    measured = (
        (int(cpu), (block.process << 32 | block.block, mhz / 1e3))
        for block in blocks
        for cpu, mhz in (block.facts.get("effective_mhz") or {}).items()
        if mhz and cpu.isdecimal()
    )
    clocks = {}
    for cpu, entries in group_by(measured).items():
        keys, ghz = zip(*sorted(entries), strict=True)
        clocks[cpu] = _Clock(np.array(keys, np.int64), np.array(ghz))
    return clocks


def _cycles(
    clocks: Mapping[int, _Clock], cpu: int, columns: Mapping[str, Array], name: str, on_cpu: NDArray[np.bool_]
) -> Array:
    clock = clocks.get(cpu, _NO_CLOCK)
    cycles: Array = columns[name][on_cpu] * clock.of(columns["process"][on_cpu], columns["block"][on_cpu])
    return cycles


def _below(counted: Array, limit: float) -> int:
    return int(counted[: math.floor(math.log(limit) * _STEPS) + 1].sum())


def enough_alone(launches: int) -> int:
    """How many launches alone are enough for a process that has so many in all."""
    return min(FEWEST_LAUNCHES, -(-launches // _LEAST_SHARE))


def launches_that_count(process: Array, usable: NDArray[np.bool_], alone: NDArray[np.bool_]) -> Array | None:
    """Choose the launches of a row: those alone of each process that has enough; None where too few processes have.

    Parameters
    ----------
    process
        Shape (rows,), rising.
    usable, alone
        Shape (rows,): which launches succeeded at the row's placement, and which of all were alone.
    """
    numbers, whole = np.unique(process[usable], return_counts=True)
    counted = usable & alone
    having, launches = np.unique(process[counted], return_counts=True)
    most = whole[np.searchsorted(numbers, having)]
    enough = having[launches >= np.minimum(FEWEST_LAUNCHES, -(-most // _LEAST_SHARE))]
    return counted & np.isin(process, enough) if enough.size >= FEWEST_PROCESSES else None


def has_additions(columns: Mapping[str, Any]) -> bool:
    """Whether launches have columns of additions."""
    return all(name in columns for name in NEEDED[2:])


def of_one_process(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Columns of a process that is not numbered yet: its frequency is not known, and times stand for cycles."""
    size = len(columns[ADDITIONS_NS[0]])
    return {**columns, "process": np.zeros(size, np.int32), "block": np.zeros(size, np.int32)}


def only_alone(columns: Mapping[str, Array], cores: Cores) -> Mapping[str, Array]:
    """Keep the launches of a process that were alone; all of what has no additions."""
    sensed = cores.alone(of_one_process(columns)) if has_additions(columns) else None
    return columns if sensed is None else {name: column[sensed[0]] for name, column in columns.items()}
