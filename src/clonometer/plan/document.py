"""A plan as a run's document and a fleet's jobs have it (docs/runfile.md), and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from clonometer.errors import RunFileError
from clonometer.plan.cell import Cell
from clonometer.plan.types import TARGET_WIDTH, Limits, Plan, Target
from clonometer.run_document import PlanCell, PlanDocument, PlanTarget


def document_of(plan: Plan) -> PlanDocument:
    """Write down a plan, with the cells of its targets as a list of their own."""
    return PlanDocument(
        name=plan.name,
        title=plan.title,
        budget_seconds=plan.budget_seconds,
        target_width=plan.target_width,
        cells=[PlanCell(cell.text, cell.workload, cell.condition, cell.temperature) for cell in plan.cells],
        targets=[
            PlanTarget(target.workload, [cell.text for cell in target.cells], asdict(target.limits), target.options)
            for target in plan.targets
        ],
    )


def plan_of(document: PlanDocument) -> Plan:
    """Read a plan back.

    Where there are no targets, cells of one workload and condition become a target with the usual limits.

    Raises
    ------
    RunFileError
        If its parts do not belong together.
    """
    planned = (Cell(entry.cell, entry.workload, entry.condition, entry.temperature) for entry in document.cells)
    cells = {cell.text: cell for cell in planned}
    try:
        targets = tuple(_target(entry, cells) for entry in document.targets) or _grouped(list(cells.values()))
    except (KeyError, TypeError, IndexError) as error:
        raise RunFileError(f"the plan in the run's metadata is damaged: {type(error).__name__}: {error}") from None
    width = TARGET_WIDTH if document.target_width is None else float(document.target_width)
    return Plan(document.name, document.title, float(document.budget_seconds), targets, width)


def _target(entry: PlanTarget, cells: Mapping[str, Cell]) -> Target:
    members = tuple(cells[text] for text in entry.cells)
    limits = Limits(**entry.limits)  # type: ignore[arg-type]
    return Target(entry.workload, members[0].condition, members, limits, entry.options)


def _grouped(cells: Sequence[Cell]) -> tuple[Target, ...]:
    groups: dict[tuple[str, frozenset[tuple[str, object]]], list[Cell]] = {}
    for cell in cells:
        groups.setdefault((cell.workload, frozenset(cell.condition.items())), []).append(cell)
    return tuple(
        Target(members[0].workload, members[0].condition, tuple(members), Limits()) for members in groups.values()
    )
