"""Makes a calibration from a run of the plan ``calibrate``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from clonometer.model import calibration as names
from clonometer.model.calibration import Calibration, CostModel
from clonometer.model.fitting import Observation, fit_model
from clonometer.model.measured import PAGE_TABLE_ENTRIES, MeasuredCondition, read_conditions
from clonometer.model.terms import Floats
from clonometer.model.types import CostRange
from clonometer.results.rows.source import RunSource

CALL = "call_returns_ns"
_END = "end_ns"
_WRITE = "write_each_ns"
#: Between these quantiles lie nine in ten.
_TAILS = (0.05, 0.95)


def make_calibration(
    run: RunSource, *, made_at: int, quick: bool, machine: Mapping[str, str], seed: int
) -> Calibration:
    """Fit every model to a run.

    Parameters
    ----------
    run
        Of the plan ``calibrate`` or its quick form.
    made_at
        Seconds since 1970.
    machine
        The facts for which it holds (`clonometer.model.store.machine_of`).
    seed
        Fixes the bootstraps.

    Raises
    ------
    InputError
        If conditions without which nothing can be predicted were not measured.
    """
    conditions = read_conditions(run)
    return Calibration(
        made_at=made_at,
        quick=quick,
        machine=dict(machine),
        models=_models(conditions, seed),
        first_writes=_first_writes(conditions),
        reference_ns=reference_values(conditions),
        lacks={cell["cell"]: cell["reason"] for cell in run.metadata["cells"] if cell.get("reason")},
    )


def reference_values(conditions: Iterable[MeasuredCondition]) -> dict[str, float]:
    """The median of fork's call over processes, for each condition."""
    return {
        each.cell: float(np.median(each.medians(CALL)))
        for each in conditions
        if each.workload == "launch.fork" and CALL in each.columns
    }


def _models(conditions: Sequence[MeasuredCondition], seed: int) -> dict[str, CostModel]:
    forks = [each for each in conditions if each.workload == "launch.fork"]
    cold = [each for each in forks if each.condition["caches"] == "idle"]
    hot = [each for each in forks if each.condition["caches"] == "hot"]
    models = {
        names.FORK_FIRST: _fit([each for each in cold if not _is_clean(each)], CALL, seed),
        names.FORK_LATER: _fit([each for each in cold if _is_later(each)], CALL, seed),
        names.FORK_FIRST_HOT: _fit([each for each in hot if not _is_clean(each)], CALL, seed),
        names.FORK_LATER_HOT: _fit([each for each in hot if _is_later(each)], CALL, seed),
        names.EXIT: _fit(cold, _END, seed),
    }
    for name in (names.POSIX_SPAWN, names.VFORK):
        calls = [each for each in conditions if each.workload == f"launch.{name}" and CALL in each.columns]
        if calls:
            models[name] = _fit(calls, CALL, seed)
    return models


def _fit(conditions: Sequence[MeasuredCondition], quantity: str, seed: int) -> CostModel:
    observations = [
        Observation(each.cell, each.features, each.columns[quantity])
        for each in conditions
        if each.features is not None and quantity in each.columns
    ]
    return fit_model(observations, seed=seed)


def _is_clean(condition: MeasuredCondition) -> bool:
    return bool(condition.condition["pages"] == "clean")


def _is_later(condition: MeasuredCondition) -> bool:
    """Whether a later fork finds the parent so: its pages left clean, or so few that it does not matter."""
    memory = condition.condition["parent_bytes"] > 0 and condition.condition["page_kind"] == "4k"
    return _is_clean(condition) or not memory


def _first_writes(conditions: Sequence[MeasuredCondition]) -> dict[str, CostRange]:
    """The first write to each kind of page, by the fields of `clonometer.model.types.CowCost`."""
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
    return ("huge", 1) if each.condition["write_step"] == "page" else ("huge_all", PAGE_TABLE_ENTRIES)


def _range(processes: Sequence[Floats], times: int) -> CostRange:
    values = np.concatenate(processes) * times
    low, median, high = np.quantile(values, (_TAILS[0], 0.5, _TAILS[1]))
    return CostRange(float(low), float(median), float(high))
