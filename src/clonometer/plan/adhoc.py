"""Plans from the command line: workloads with settings, and changes to a plan that was loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from clonometer.errors import PlanError, UsageError, unknown
from clonometer.plan.catalogue import TEMPERATURES
from clonometer.plan.cell import Cell, make_cell
from clonometer.plan.expand import Entry, axes_of, expand, meaningful, with_condition
from clonometer.plan.limits import ASKED, estimated_process_ns, limits_for, sparing
from clonometer.plan.names import chosen_cells
from clonometer.plan.planfile import checked_budget
from clonometer.plan.types import Catalogue, Plan, Target
from clonometer.plan.values import read_value

TEMPERATURE = "temperature"
#: The name of a plan that a command line makes.
ADHOC = "adhoc"
_LEAST_BUDGET_SECONDS = 5.0
# Drivers are started and read one after another; a guess that is too short would leave intervals wide.
_BUDGET_MARGIN = 1.5


def parse_settings(settings: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Read ``axis=v1,v2`` texts; an axis that comes twice has the values of both.

    Raises
    ------
    UsageError
        For a text without ``=``, axis or value.

    Examples
    --------
    >>> parse_settings(["parent_bytes=0,1GiB", "pages=clean"])
    {'parent_bytes': ('0', '1GiB'), 'pages': ('clean',)}
    """
    read: dict[str, tuple[str, ...]] = {}
    for setting in settings:
        axis, equals, given = setting.partition("=")
        values = tuple(value.strip() for value in given.split(","))
        if not equals or not axis.strip() or not all(values):
            raise UsageError(f"--set {setting!r} is not a setting", "a setting looks like parent_bytes=0,64MiB")
        read[axis.strip()] = read.get(axis.strip(), ()) + values
    return read


def plan_from_arguments(
    workloads: Sequence[str],
    settings: Iterable[str],
    catalogue: Catalogue,
    *,
    budget_seconds: float | None = None,
    limits: Mapping[str, int] | None = None,
) -> Plan:
    """Make a plan from what a command line names.

    Workloads are ids, their last words where one workload bears it, or globs such as ``launch.*``. Settings are texts
    ``axis=v1,v2``; values of several axes are crossed, and ``temperature`` may stand among them. An axis applies to the
    workloads that have it (`lacking` says which do not), and at least one of them must. Without ``budget_seconds`` the
    plan lasts as long as its cells are guessed to need.

    Raises
    ------
    UsageError
        For unknown workloads, axes and values, with the nearest match and what exists.
    """
    read = parse_settings(settings)
    title = " ".join([*workloads, *(f"{axis}={','.join(values)}" for axis, values in read.items())])
    if not workloads:
        raise UsageError("no workload is named", f"available: {', '.join(sorted(catalogue.workloads))}")
    temperatures = read.pop(TEMPERATURE, None)
    entry = Entry("", tuple(workloads), read, temperatures, dict(limits or {}), some=True)
    targets = expand([entry], catalogue, ASKED, ease=True)
    budget = estimated_seconds(targets) if budget_seconds is None else checked_budget(budget_seconds, "--budget")
    return Plan(ADHOC, title, budget, targets)


def lacking(plan: Plan, settings: Iterable[str]) -> dict[str, list[str]]:
    """Axes that are set and that some workloads of a plan do not have, with these workloads."""
    read = parse_settings(settings)
    lacks = {
        axis: [target.workload for target in plan.targets if axis not in target.condition]
        for axis in read
        if axis != TEMPERATURE
    }
    return {axis: list(dict.fromkeys(workloads)) for axis, workloads in lacks.items() if workloads}


def estimated_seconds(targets: Iterable[Target]) -> float:
    """Guess how many seconds the least number of processes of all targets take, with a margin; at least 5."""
    guess_ns = sum(
        target.limits.processes * estimated_process_ns(target.condition, target.limits) for target in targets
    )
    return max(_LEAST_BUDGET_SECONDS, float(round(_BUDGET_MARGIN * guess_ns * 1e-9)))


def apply_only(plan: Plan, globs: Sequence[str]) -> Plan:
    """Keep the cells that match any of the globs (`clonometer.plan.cell.matches`).

    Raises
    ------
    UsageError
        If a glob matches no cell, with the nearest cell or workload and what the plan has.
    """
    whose = "" if plan.name == ADHOC else f" of the plan {plan.name}"
    chosen = set(chosen_cells(globs, [cell.text for cell in plan.cells], whose))
    return replace(plan, targets=_with_cells(plan.targets, lambda cell: cell.text in chosen))


def _with_cells(targets: Iterable[Target], is_kept: Callable[[Cell], bool]) -> tuple[Target, ...]:
    """The targets with the cells that are kept; those that have none are left out."""
    kept = (replace(target, cells=tuple(filter(is_kept, target.cells))) for target in targets)
    return tuple(target for target in kept if target.cells)


def apply_settings(plan: Plan, settings: Iterable[str], catalogue: Catalogue) -> Plan:
    """Scan axes in every target that has them: each such target is replaced by one for each value.

    Targets that then have the same condition become one, with the more sparing limits of the two; where
    memory makes launches dear, limits are eased as for a plan from arguments. ``temperature`` may stand among
    the axes: it keeps those temperatures.

    Raises
    ------
    UsageError
        If no target has an axis, or the axis no such value.
    """
    targets = plan.targets
    for axis, given in parse_settings(settings).items():
        targets = _keep_temperatures(targets, given) if axis == TEMPERATURE else _scan(targets, axis, given, catalogue)
    return replace(plan, targets=targets)


def _keep_temperatures(targets: Iterable[Target], given: Sequence[str]) -> tuple[Target, ...]:
    for temperature in given:
        if temperature not in TEMPERATURES:
            raise unknown(TEMPERATURE, temperature, TEMPERATURES)
    left = _with_cells(targets, lambda cell: cell.temperature in (None, *given))
    if not left:
        raise UsageError(f"no cell of the plan is measured {', '.join(given)}")
    return left


def _scan(targets: Sequence[Target], axis: str, given: Sequence[str], catalogue: Catalogue) -> tuple[Target, ...]:
    """Replace targets that have the axis by one for each value; those that become the same are united."""
    if not any(axis in target.condition for target in targets):
        raise unknown("axis of this plan", axis, {name for target in targets for name in target.condition})
    values = list(dict.fromkeys(read_value(catalogue.axes[axis], value) for value in given))
    scanned: dict[str, Target] = {}
    reason = None
    for target in targets:
        axes = axes_of(catalogue.workloads[target.workload], catalogue)
        for value in values if axis in target.condition else [None]:
            condition = dict(target.condition) if value is None else {**target.condition, axis: value}
            left, why = meaningful(target, [condition])
            reason = why or reason
            if left:
                text = make_cell(target.workload, condition, None, axes).text
                limits = target.limits if condition == target.condition else limits_for(condition, target.limits)
                moved = with_condition(target, condition, left, catalogue, limits=limits)
                scanned[text] = _united(scanned[text], moved, catalogue) if text in scanned else moved
    if not scanned:
        raise PlanError(f"there is nothing left to measure: {reason}")
    return tuple(scanned.values())


def _united(first: Target, second: Target, catalogue: Catalogue) -> Target:
    temperatures = {cell.temperature for cell in (*first.cells, *second.cells)}
    limits = sparing(first.limits, second.limits)
    return with_condition(first, first.condition, temperatures, catalogue, limits=limits)
