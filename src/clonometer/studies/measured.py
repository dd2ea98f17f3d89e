"""What was measured for the studies: a value for each process of every cell and quantity, from one or several runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median
from typing import Any

import numpy as np

from clonometer.results.rows.estimates import estimate_cell
from clonometer.results.rows.observed import observe
from clonometer.results.rows.source import RunSource
from clonometer.stats.bootstrap import Processes
from clonometer.studies.explained import WORK, read_explained, read_work

#: Quantities that are facts of blocks (docs/protocol.md), for one launch each, and their units.
FACTS = {"wall_ns": "ns", "user_ns": "ns", "system_ns": "ns", "cpu_percent": "%", "vm_pte_bytes": "bytes"}


@dataclass(frozen=True)
class Series:
    """One quantity of one cell at one observed placement: a value for each process.

    Attributes
    ----------
    cell, quantity, placement, unit
        As in the results; ``unit`` is ``ns`` for every time.
    processes
        Process medians.
    n_samples
        How many samples they rest on.
    mhz
        Median effective frequency of the CPUs used, None where it was not measured.
    """

    cell: str
    quantity: str
    placement: str | None
    unit: str
    processes: Processes
    n_samples: int
    mhz: float | None = None


class Measured:
    """All that was measured, by cell and quantity.

    Parameters
    ----------
    series
        In any order; those of the same cell, quantity and placement are joined: their processes count alike.
    missing
        Cell -> why it was not measured.
    host
        Host facts of the machine.
    observed
        Demo -> what its program printed, for claims about facts and not about times.
    explained
        Name (`clonometer.studies.explained.EXPLANATIONS`) -> what ``clonometer explain --json`` printed.
    """

    def __init__(
        self,
        series: Iterable[Series],
        missing: Mapping[str, str] | None = None,
        host: Mapping[str, Any] | None = None,
        observed: Mapping[str, Mapping[str, str]] | None = None,
        explained: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._series: dict[tuple[str, str], dict[str | None, Series]] = {}
        for one in series:
            own = self._series.setdefault((one.cell, one.quantity), {})
            own[one.placement] = _joined(own[one.placement], one) if one.placement in own else one
        self.missing = {cell: why for cell, why in (missing or {}).items() if not self.has(cell)}
        self.host = dict(host or {})
        self.observed = dict(observed or {})
        given = explained or {}
        self.explained = {name: read_explained(one) for name, one in given.items() if name != WORK}
        self.worked = read_work(given[WORK]) if WORK in given else None

    @property
    def series(self) -> tuple[Series, ...]:
        """All series."""
        return tuple(one for own in self._series.values() for one in own.values())

    @property
    def cells(self) -> tuple[str, ...]:
        """All cells with a value."""
        return tuple(dict.fromkeys(cell for cell, _ in self._series))

    @property
    def cpus(self) -> int:
        """How many CPUs may be used."""
        return int(self.host.get("cpu.allowed") or self.host.get("cpu.online") or 1)

    def has(self, cell: str) -> bool:
        """Whether anything was measured of a cell."""
        return any(name == cell for name, _ in self._series)

    def placements(self, cell: str, quantity: str) -> dict[str | None, Series]:
        """The series of a cell by observed placement."""
        return dict(self._series.get((cell, quantity), {}))

    def find(self, cell: str, quantity: str) -> Series | None:
        """The series at the placement that has most samples; None where there is none."""
        own = self._series.get((cell, quantity), {})
        return max(own.values(), key=lambda one: one.n_samples, default=None)

    def why(self, cell: str) -> str:
        """Why a cell has no value."""
        return self.missing.get(cell, "it was not measured in this run")


def _joined(a: Series, b: Series) -> Series:
    starts = None
    if a.processes.starts is not None and b.processes.starts is not None:
        starts = np.concatenate([a.processes.starts, b.processes.starts])
    values = np.concatenate([a.processes.values, b.processes.values])
    return replace(a, processes=Processes.of(values, starts), n_samples=a.n_samples + b.n_samples)


def gather(run: RunSource) -> Measured:
    """Take over a run.

    Parameters
    ----------
    run
        What `clonometer.runfile.open_run` gives, or anything like it.

    Raises
    ------
    RunFileError
        If samples and metadata do not belong together.
    """
    metadata = run.metadata
    began_ns = datetime.fromisoformat(metadata["started"]).timestamp() * 1e9
    found: list[Series] = []
    for cell in observe(run):
        for row in estimate_cell(cell, metadata):
            one = row.estimate
            if one.n_samples == 0:
                continue
            unit = "ns" if row.group.quantity.ns_per_unit is not None else one.unit
            own = _shifted(row.processes, began_ns)
            found.append(Series(one.cell, one.quantity, one.placement, unit, own, one.n_samples, one.effective_mhz))
    found += _facts(metadata, began_ns)
    ended = {entry["cell"]: str(entry["reason"] or entry["status"]) for entry in metadata["cells"]}
    return Measured(found, ended, metadata["host"])


def merge(
    parts: Sequence[Measured],
    observed: Mapping[str, Mapping[str, str]] | None = None,
    explained: Mapping[str, Mapping[str, Any]] | None = None,
) -> Measured:
    """Join what several runs of one machine measured, what demos observed and what was explained there."""
    missing = {cell: why for part in parts for cell, why in part.missing.items()}
    return Measured(
        [one for part in parts for one in part.series],
        missing,
        parts[-1].host if parts else None,
        observed,
        explained,
    )


def _shifted(processes: Processes, began_ns: float) -> Processes:
    if processes.starts is None:
        return processes
    return replace(processes, starts=processes.starts + began_ns)


def _facts(metadata: Mapping[str, Any], began_ns: float) -> list[Series]:
    starts = {one["process"]: float(one["started_ns"]) for one in metadata["processes"]}
    blocks: dict[tuple[str, str], dict[int, list[float]]] = {}
    rows: dict[str, int] = {}
    for block in metadata["blocks"]:
        if block["status"] != "ok" or not block["rows"]:
            continue
        rows[block["cell"]] = rows.get(block["cell"], 0) + int(block["rows"])
        for name, value in _fact_values(block["facts"] or {}, int(block["rows"])).items():
            blocks.setdefault((block["cell"], name), {}).setdefault(block["process"], []).append(value)
    return [
        Series(
            cell,
            name,
            None,
            FACTS[name],
            Processes.of(
                [median(values) for values in own.values()],
                [began_ns + starts[process] for process in own] if all(one in starts for one in own) else None,
            ),
            rows[cell],
        )
        for (cell, name), own in blocks.items()
    ]


def _fact_values(facts: Mapping[str, Any], launches: int) -> dict[str, float]:
    found: dict[str, float] = {}
    wall, pte = facts.get("wall_ns"), facts.get("vm_pte_bytes")
    if wall:
        found["wall_ns"] = wall / launches
    if pte is not None and pte > 0:
        found["vm_pte_bytes"] = float(pte)
    if all(facts.get(name) is not None for name in ("cpu_ns", "children_cpu_ns", "system_ns", "children_system_ns")):
        cpu = facts["cpu_ns"] + facts["children_cpu_ns"]
        system = facts["system_ns"] + facts["children_system_ns"]
        found |= {"user_ns": (cpu - system) / launches, "system_ns": system / launches}
        if wall:
            found["cpu_percent"] = 100.0 * cpu / wall
    return found
