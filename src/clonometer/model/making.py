"""Makes a calibration: from processes that forked in turn, and from a run of the plan ``calibrate`` for what else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from clonometer.model import calibration as names
from clonometer.model.calibration import Calibration
from clonometer.model.features import PAGES_OF_HUGE, Features
from clonometer.model.fitting import Observation, fit_model
from clonometer.model.measured import MeasuredCondition, read_conditions
from clonometer.model.turns import Turn
from clonometer.model.types import CostRange
from clonometer.results.rows.source import RunSource
from clonometer.stats.quantiles import Floats

_CALL = "call_returns_ns"
_RUNS = "task_runs_ns"
_WRITE = "write_each_ns"
#: Between these quantiles lie nine in ten.
_TAILS = (0.05, 0.95)
#: The state whose turns have such waits.
_WAITED_IN = {names.EXIT: names.FORK_FIRST, names.EXEC: names.FORK_UNWRITTEN}


@dataclass
class ForkedProcess:
    """A process that was made and forked: its condition, what it had, by state its calls and its waits after them."""

    condition: str
    features: Features
    calls_ns: dict[str, list[int]] = field(default_factory=dict)
    waits_ns: dict[str, list[int]] = field(default_factory=dict)

    def add(self, turn: Turn) -> None:
        """Add what its forks of a turn took."""
        self.calls_ns.setdefault(turn.state, []).extend(turn.calls_ns)
        self.waits_ns.setdefault(turn.state, []).extend(turn.waits_ns)

    def times_ns(self, model: str) -> Sequence[int]:
        """What a model is of: the calls of a state, or the waits after those of the state that has such waits."""
        if model in _WAITED_IN:
            return self.waits_ns.get(_WAITED_IN[model], ())
        return self.calls_ns.get(model, ())


def make_calibration(
    forked: Sequence[ForkedProcess],
    run: RunSource | None,
    *,
    made_at: int,
    quick: bool,
    machine: Mapping[str, str],
    lacks: Mapping[str, str],
    seed: int,
) -> Calibration:
    """Fit every model.

    ``run`` is of the plan ``calibrate`` or its quick form, None where nothing of it could be measured; ``made_at`` in
    seconds since 1970; ``lacks`` are conditions that could not be made, and why.

    Raises
    ------
    InputError
        If conditions without which nothing can be predicted were not measured.
    """
    models = {
        name: fit_model(_observed(forked, name), caches_are_hot=name in names.HOT, seed=seed) for name in names.NEEDED
    }
    conditions = [] if run is None else read_conditions(run)
    for name in (names.POSIX_SPAWN, names.VFORK, names.PTHREAD):
        calls = list(_of_launches(conditions, f"launch.{name}"))
        if calls:
            models[name] = fit_model(calls, copies_memory=False, seed=seed)
    for name in (names.FORK_STARTS, names.PTHREAD_STARTS):
        starts = list(_starts_of_launches(conditions, f"launch.{name.removesuffix(names.STARTS)}"))
        if starts:
            models[name] = fit_model(starts, copies_memory=False, seed=seed)
    not_run = {} if run is None else {cell.cell: cell.reason for cell in run.document.cells if cell.reason}
    return Calibration(
        made_at=made_at,
        quick=quick,
        machine=dict(machine),
        models=models,
        first_writes=_first_writes(conditions),
        lacks={**lacks, **not_run},
    )


def _observed(forked: Iterable[ForkedProcess], model: str) -> list[Observation]:
    return [
        Observation(each.condition, each.features, np.array(times, dtype=np.float64))
        for each in forked
        if (times := each.times_ns(model))
    ]


def _of_launches(conditions: Iterable[MeasuredCondition], workload: str) -> Iterable[Observation]:
    for each in conditions:
        if each.workload == workload and each.features is not None:
            for calls in each.columns.get(_CALL, ()):
                yield Observation(each.cell, each.features, calls)


def _starts_of_launches(conditions: Iterable[MeasuredCondition], workload: str) -> Iterable[Observation]:
    """How long after the call's return the new task runs."""
    for each in conditions:
        if each.workload == workload and each.features is not None:
            for calls, runs in zip(each.columns.get(_CALL, ()), each.columns.get(_RUNS, ()), strict=True):
                if calls.size == runs.size:
                    # On another CPU it may run before the call has returned: then it waits for nothing.
                    yield Observation(each.cell, each.features, np.maximum(runs - calls, 1.0))


def _first_writes(conditions: Sequence[MeasuredCondition]) -> dict[str, CostRange]:
    """The first write of the parent or the child to a page, small or huge, or to all of a huge page (``huge_all``).

    What the other process has is copied, a huge page split; it is kept where the other has gone (``alone``).
    """
    writes = {}
    for each in conditions:
        if _WRITE not in each.columns:
            continue
        side = each.workload.rpartition(".")[2]
        alone = "_alone" if each.condition["other_process"] == "gone" else ""
        pages, times = _pages_written(each)
        writes[f"{side}_{pages}{alone}"] = _range(each.columns[_WRITE], times)
    return writes


def _pages_written(each: MeasuredCondition) -> tuple[str, int]:
    """What kind of page is written to, and how many writes a page takes."""
    if each.condition["page_kind"] != "thp":
        return "small", 1
    return ("huge", 1) if each.condition["write_step"] == "page" else ("huge_all", PAGES_OF_HUGE)


def _range(processes: Sequence[Floats], times: int) -> CostRange:
    values = np.concatenate(processes) * times
    low, median, high = np.quantile(values, (_TAILS[0], 0.5, _TAILS[1]))
    return CostRange(float(low), float(median), float(high))
