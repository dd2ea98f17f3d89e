"""A plan as it stands in the metadata of a run file (docs/runfile.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from clonometer.errors import RunFileError
from clonometer.plan.cell import Cell
from clonometer.plan.types import TARGET_WIDTH, Limits, Plan, Target


def to_metadata(plan: Plan) -> dict[str, Any]:
    """Write a plan as a JSON-able object: its fields, and the cells of its targets as a list of their own."""
    return {
        "name": plan.name,
        "title": plan.title,
        "budget_seconds": plan.budget_seconds,
        "target_width": plan.target_width,
        "cells": [
            {
                "cell": cell.text,
                "workload": cell.workload,
                "condition": dict(cell.condition),
                "temperature": cell.temperature,
            }
            for cell in plan.cells
        ],
        "targets": [
            {
                "workload": target.workload,
                "cells": [cell.text for cell in target.cells],
                "limits": asdict(target.limits),
                "options": dict(target.options),
            }
            for target in plan.targets
        ],
    }


def from_metadata(metadata: Mapping[str, Any]) -> Plan:
    """Read a plan back from the object that `to_metadata` wrote.

    Where ``targets`` is absent, cells of one workload and condition become a target with the usual limits.

    Raises
    ------
    RunFileError
        If the object is not such a plan.
    """
    try:
        cells = {
            entry["cell"]: Cell(entry["cell"], entry["workload"], dict(entry["condition"]), entry["temperature"])
            for entry in metadata["cells"]
        }
        if "targets" in metadata:
            targets = tuple(_target(entry, cells) for entry in metadata["targets"])
        else:
            targets = _grouped(list(cells.values()))
        # Older files have none.
        width = float(metadata.get("target_width", TARGET_WIDTH))
        return Plan(metadata["name"], metadata["title"], float(metadata["budget_seconds"]), targets, width)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise RunFileError(f"the plan in the run's metadata is damaged: {type(error).__name__}: {error}") from None


def _target(entry: Mapping[str, Any], cells: Mapping[str, Cell]) -> Target:
    members = tuple(cells[text] for text in entry["cells"])
    limits = Limits(**entry["limits"])
    return Target(entry["workload"], members[0].condition, members, limits, dict(entry["options"]))


def _grouped(cells: Sequence[Cell]) -> tuple[Target, ...]:
    groups: dict[tuple[str, frozenset[tuple[str, object]]], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.workload, frozenset(cell.condition.items())), []).append(cell)
    return tuple(
        Target(members[0].workload, members[0].condition, tuple(members), Limits()) for members in groups.values()
    )
