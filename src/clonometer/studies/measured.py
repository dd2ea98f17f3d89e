"""What was measured for the studies: a value for each process of every cell and quantity, from one or several runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from statistics import median
from typing import Any

import numpy as np

from clonometer.results.rows.estimates import estimate_cells
from clonometer.results.rows.groups import ObservedCell
from clonometer.results.rows.observed import observe
from clonometer.results.rows.run_estimates import RowKey, RunEstimate, RunEstimates
from clonometer.results.rows.source import RunSource
from clonometer.run_document import BlockFacts, RunDocument
from clonometer.stats.processes import Processes
from clonometer.studies.cells import axes_of, parent_bytes, without_memory
from clonometer.studies.explained import Answer, loops_of, worked_of

#: Quantities that are facts of blocks (docs/protocol.md), for one launch each, and their units.
FACTS = {"wall_ns": "ns", "user_ns": "ns", "system_ns": "ns", "cpu_percent": "%", "vm_pte_bytes": "bytes"}

#: Of launches that were left to the scheduler: the share after which the parent is on another CPU than before, and how
#: long the call takes with and without that.
MIGRATED, CALL_MOVED, CALL_STAYED = "migrated_share", "call_returns_moved_ns", "call_returns_stayed_ns"
_CALL = "call_returns_ns"
#: How far the executions of a process lie from the median of their cell, on average, as a share of that median.
SCATTER = "whole_scatter"
#: The first execution of each process: all that a study has that runs each point once.
SINGLE = "whole_single_ns"
#: How many of the others were alive after one had failed, a value for each launch: what happened is counted.
SURVIVORS = "survivors_of_each"
_ALIVE = "survivors"
_WHOLE = "whole_ns"


class Measurements(RunEstimates):
    """All that was measured, by cell and quantity; of one machine, from any number of runs.

    ``rows`` stand in any order; those of the same cell, quantity and placement are joined: their processes count alike.
    ``missing`` says of a cell why it was not measured, ``host`` has the facts of the machine, ``started`` is when the
    last run began. ``observed`` is what a demo's program printed, for claims about facts and not about times,
    ``explained`` what was found when launches or workers were explained, by name
    (`clonometer.studies.explained.EXPLANATIONS`).
    """

    def __init__(
        self,
        rows: Iterable[RunEstimate],
        missing: Mapping[str, str] | None = None,
        host: Mapping[str, Any] | None = None,
        observed: Mapping[str, Mapping[str, str]] | None = None,
        explained: Mapping[str, Answer] | None = None,
        *,
        started: str = "",
    ) -> None:
        joined: dict[tuple[str, RowKey], RunEstimate] = {}
        for row in rows:
            place = (row.cell, row.key)
            joined[place] = _joined(joined[place], row) if place in joined else row
        super().__init__(joined.values())
        self.missing = {cell: why for cell, why in (missing or {}).items() if cell not in self.cells}
        self.host = dict(host or {})
        self.started = started
        self.observed = dict(observed or {})
        self.loops = loops_of(explained or {})
        self.worked = worked_of(explained or {})

    @property
    def cpus(self) -> int:
        """How many CPUs may be used."""
        return int(self.host.get("cpu.allowed") or self.host.get("cpu.online") or 1)

    def scans(self, cell: str) -> list[tuple[int, str]]:
        """Cells that differ from it in the parent's memory alone, with that memory, rising."""
        bare = without_memory(cell)
        return sorted((parent_bytes(other), other) for other in self.cells if without_memory(other) == bare)

    def largest(self, cell: str) -> str | None:
        """Of those the one with the most memory that was measured; None where none has any."""
        loaded = [text for memory, text in self.scans(cell) if memory > 0]
        return loaded[-1] if loaded else None

    def why(self, cell: str) -> str:
        """Why a cell has no value."""
        return self.missing.get(cell, "it was not measured in this run")

    def why_none(self, start: str, otherwise: str = "it was not measured in this run") -> str:
        """Why no cell whose text begins so has a value."""
        return next((why for cell, why in self.missing.items() if cell.startswith(start)), otherwise)


def _joined(a: RunEstimate, b: RunEstimate) -> RunEstimate:
    """One row of the processes of both."""
    starts = None
    if a.processes.starts is not None and b.processes.starts is not None:
        starts = np.concatenate([a.processes.starts, b.processes.starts])
    processes = Processes.of(np.concatenate([a.processes.values, b.processes.values]), starts)
    n_samples = a.n_samples + b.n_samples
    return replace(a, processes=processes, n_samples=n_samples, n_processes=int(processes.values.size))


def made_row(
    cell: str, quantity: str, unit: str, processes: Processes, n_samples: int, *, placement: str | None = None
) -> RunEstimate:
    """A row of what no column of a run file holds."""
    workload, axes = axes_of(cell)
    middle = median(processes.values.tolist())
    return RunEstimate(
        cell=cell,
        workload=workload,
        condition=axes,
        temperature=axes.get("temperature"),
        stage=None,
        placement=placement,
        quantity=quantity,
        unit=unit,
        n_samples=n_samples,
        n_processes=int(processes.values.size),
        median_ns=middle if unit == "ns" else None,
        median_low_ns=None,
        median_high_ns=None,
        p99_ns=None,
        p99_reason=None,
        min_ns=None,
        effective_mhz=None,
        resolution_ns=1.0,
        family="",
        value=None if unit == "ns" else middle,
        processes=processes,
    )


def gather(run: RunSource) -> Measurements:
    """Take over a run.

    It is what `clonometer.runfile.open_run` gives, or anything like it.

    Raises
    ------
    RunFileError
        If samples and metadata do not belong together.
    """
    document = run.document
    began_ns = datetime.fromisoformat(document.started).timestamp() * 1e9
    observed = observe(run)
    rows = [
        replace(row, processes=_shifted(row.processes, began_ns))
        for row in estimate_cells(observed, document, described=False)
        if row.n_samples
    ]
    rows += _facts(document, began_ns)
    rows += [row for seen in observed for row in (*_migrations(seen), *_scatter(seen), *_survivors(seen))]
    ended = {entry.cell: entry.reason or entry.status for entry in document.cells}
    return Measurements(rows, ended, document.host, started=document.started)


def merge(
    parts: Sequence[Measurements],
    observed: Mapping[str, Mapping[str, str]] | None = None,
    explained: Mapping[str, Answer] | None = None,
) -> Measurements:
    """Join what several runs of one machine measured, what demos observed and what was explained there."""
    missing = {cell: why for part in parts for cell, why in part.missing.items()}
    return Measurements(
        [row for part in parts for row in part.all_rows],
        missing,
        parts[-1].host if parts else None,
        observed,
        explained,
        started=parts[-1].started if parts else "",
    )


def _shifted(processes: Processes, began_ns: float) -> Processes:
    if processes.starts is None:
        return processes
    return replace(processes, starts=processes.starts + began_ns)


def _migrations(seen: ObservedCell) -> Iterable[RunEstimate]:
    """How often launches migrate, and how long those take that do, as rows."""
    groups = [group for group in seen.groups if group.quantity.name == _CALL and group.migrated is not None]
    if seen.condition.get("placement") != "free" or not groups:
        return
    process, values = (np.concatenate([getattr(group, name) for group in groups]) for name in ("process", "values"))
    moved = np.concatenate([group.migrated for group in groups if group.migrated is not None])
    shares = [float(moved[process == number].mean()) for number in np.unique(process)]
    if shares:
        yield made_row(seen.cell, MIGRATED, "ratio", Processes.of(shares), moved.size)
    for name, chosen in ((CALL_MOVED, moved), (CALL_STAYED, ~moved)):
        medians = [float(np.median(values[chosen & (process == number)])) for number in np.unique(process[chosen])]
        if medians:
            yield made_row(seen.cell, name, "ns", Processes.of(medians), int(chosen.sum()))


def _scatter(seen: ObservedCell) -> Iterable[RunEstimate]:
    """How much the executions of workers scatter, as a row: of all, since medians of processes hide what is rare."""
    groups = [group for group in seen.groups if group.quantity.name == _WHOLE and group.n_samples]
    if groups:
        process, values = (np.concatenate([getattr(group, name) for group in groups]) for name in ("process", "values"))
        deviations = np.abs(values / np.median(values) - 1)
        means = [float(deviations[process == number].mean()) for number in np.unique(process)]
        yield made_row(seen.cell, SCATTER, "ratio", Processes.of(means), values.size)
        first = np.unique(process, return_index=True)[1]
        yield made_row(seen.cell, SINGLE, "ns", Processes.of(values[first]), first.size)


def _survivors(seen: ObservedCell) -> Iterable[RunEstimate]:
    """How many others were alive after each launch."""
    groups = [group.values for group in seen.groups if group.quantity.name == _ALIVE and group.n_samples]
    if groups:
        values = np.concatenate(groups)
        yield made_row(seen.cell, SURVIVORS, "count", Processes.of(values), values.size)


def _facts(document: RunDocument, began_ns: float) -> list[RunEstimate]:
    """What blocks say of themselves, as rows."""
    starts = document.started_ns
    blocks: dict[tuple[str, str], dict[int, list[float]]] = {}
    n_samples: dict[str, int] = {}
    for block in document.blocks:
        if block.status != "ok" or not block.rows:
            continue
        n_samples[block.cell] = n_samples.get(block.cell, 0) + block.rows
        for name, value in _fact_values(block.facts, block.rows).items():
            blocks.setdefault((block.cell, name), {}).setdefault(block.process, []).append(value)
    rows = []
    for (cell, name), by_process in blocks.items():
        started = [began_ns + starts[process] for process in by_process] if starts.keys() >= by_process.keys() else None
        processes = Processes.of([median(values) for values in by_process.values()], started)
        rows.append(made_row(cell, name, FACTS[name], processes, n_samples[cell]))
    return rows


def _fact_values(facts: BlockFacts, launches: int) -> dict[str, float]:
    values: dict[str, float] = {}
    wall, pte = facts.get("wall_ns"), facts.get("vm_pte_bytes")
    if wall:
        values["wall_ns"] = wall / launches
    if pte is not None and pte > 0:
        values["vm_pte_bytes"] = float(pte)
    cpu = _sum(facts.get("cpu_ns"), facts.get("children_cpu_ns"))
    system = _sum(facts.get("system_ns"), facts.get("children_system_ns"))
    if cpu is not None and system is not None:
        values |= {"user_ns": (cpu - system) / launches, "system_ns": system / launches}
        if wall:
            values["cpu_percent"] = 100.0 * cpu / wall
    return values


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second
