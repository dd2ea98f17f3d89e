"""What results need of a run's metadata beyond its outer shape.

Checked before anything is computed, and before a run is measured whose file would be refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from clonometer.errors import RunFileError

_NUMERIC_AXES = ("bytes", "count")
#: Of a comparison of two sides: of so many pairs each two are combined.
MOST_PAIRS = 1000
_TEMPERATURES = ("cold", "warm", None)
_CLOCK_NUMBERS = ("clock_hz", "cost_ns")
_FACT_NUMBERS = ("involuntary_switches", "voluntary_switches", "wall_ns", "cpu_ns")


def check_soundness(metadata: Mapping[str, Any]) -> None:
    """Refuse metadata that a driver or the runner cannot have written.

    Raises
    ------
    RunFileError
        That names the place and what stands there.
    KeyError
        If a key is missing.
    """
    catalogue = _mapping(metadata["catalogue"], "catalogue")
    for name, axis in _mapping(catalogue["axes"], "catalogue.axes").items():
        where = f"catalogue.axes.{name}"
        _need(_mapping(axis, where)["type"], f"{where}.type", "a text", _is_text)
        _need(axis["default"], f"{where}.default", "a whole number or a text", _is_value)
    for name, quantity in _mapping(catalogue["quantities"], "catalogue.quantities").items():
        stage = _mapping(quantity, f"catalogue.quantities.{name}").get("stage")
        _need(stage, f"catalogue.quantities.{name}.stage", "a text or null", _is_text_or_none)
    for place, workload in enumerate(_list(catalogue["workloads"], "catalogue.workloads")):
        _check_workload(workload, f"catalogue.workloads[{place}]")
    clock = _mapping(metadata.get("clock") or {}, "clock")
    for key in _CLOCK_NUMBERS:
        _need(clock.get(key), f"clock.{key}", "a number or null", _is_number_or_none)
    for place, block in enumerate(metadata["blocks"]):
        _check_facts(_mapping(block.get("facts") or {}, f"blocks[{place}].facts"), f"blocks[{place}].facts")
    for place, cell in enumerate(metadata["plan"]["cells"]):
        _check_cell(cell, f"plan.cells[{place}]", catalogue["axes"])
    for place, target in enumerate(_list(metadata["plan"].get("targets") or (), "plan.targets")):
        _check_target(_mapping(target, f"plan.targets[{place}]"), f"plan.targets[{place}]")
    if metadata.get("sides") is not None:
        _check_sides(_mapping(metadata["sides"], "sides"), metadata["plan"])


def _check_workload(workload: object, where: str) -> None:
    entry = _mapping(workload, where)
    for key in ("id", "family", "summary"):
        _need(entry[key], f"{where}.{key}", "a text", _is_text)
    for key in ("temperatures", "quantities"):
        _need(entry[key], f"{where}.{key}", "a list of texts", _are_texts)
    contains = entry.get("call_returns_contains")
    _need(contains, f"{where}.call_returns_contains", "a text or null", _is_text_or_none)


def _check_facts(facts: Mapping[str, Any], where: str) -> None:
    for key in _FACT_NUMBERS:
        _need(facts.get(key), f"{where}.{key}", "a number or null", _is_number_or_none)
    for cpu, mhz in _mapping(facts.get("effective_mhz") or {}, f"{where}.effective_mhz").items():
        _need(mhz, f"{where}.effective_mhz.{cpu}", "a number or null", _is_number_or_none)


def _check_cell(cell: Mapping[str, Any], where: str, axes: Mapping[str, Any]) -> None:
    _need(cell["temperature"], f"{where}.temperature", "cold, warm or null", lambda value: value in _TEMPERATURES)
    for axis, value in cell["condition"].items():
        if axes.get(axis, {}).get("type") in _NUMERIC_AXES:
            _need(value, f"{where}.condition.{axis}", "a whole number", _is_whole)


def _check_target(target: Mapping[str, Any], where: str) -> None:
    _need(target.get("cells"), f"{where}.cells", "a list of texts", _are_texts)
    for key in ("options", "limits"):
        values = _mapping(target.get(key) or {}, f"{where}.{key}")
        for name, value in values.items():
            _need(value, f"{where}.{key}.{name}", "a whole number or a text", _is_value)


def _check_sides(sides: Mapping[str, Any], plan: Mapping[str, Any]) -> None:
    for key in ("a", "b", "stages"):
        _need(sides.get(key), f"sides.{key}", "a list of texts", _are_texts)
    pairs = sides.get("most_pairs")
    _need(
        pairs,
        "sides.most_pairs",
        f"a whole number from 1 to {MOST_PAIRS}",
        lambda value: _is_whole(value) and 1 <= value <= MOST_PAIRS,
    )
    for key in ("minimum_effect", "error_rate"):
        _need(sides.get(key), f"sides.{key}", "a share", _is_share)
    limit = sides.get("max_regression")
    _need(limit, "sides.max_regression", "a share or null", lambda value: value is None or _is_share(value))
    targets = plan.get("targets") or ()
    _need(len(targets), "the number of plan.targets", "even: each is of A or of B", lambda count: count % 2 == 0)


def _need(value: object, where: str, what: str, holds: Callable[[Any], bool]) -> None:
    if not holds(value):
        shown = repr(value)
        shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
        raise RunFileError(f"the run's metadata is damaged: {where} is {shown}, not {what}")


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    _need(value, where, "an object", lambda candidate: isinstance(candidate, Mapping))
    assert isinstance(value, Mapping)
    return value


def _list(value: object, where: str) -> Iterable[Any]:
    _need(value, where, "a list", lambda candidate: isinstance(candidate, (list, tuple)))
    assert isinstance(value, (list, tuple))
    return value


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_text_or_none(value: object) -> bool:
    return value is None or isinstance(value, str)


def _are_texts(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(text, str) for text in value)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63


def _is_value(value: object) -> bool:
    return isinstance(value, str) or _is_whole(value)


def _is_share(value: object) -> bool:
    return _is_number_or_none(value) and value is not None and value != 0


def _is_number_or_none(value: object) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1e18 and math.isfinite(value)
    )
