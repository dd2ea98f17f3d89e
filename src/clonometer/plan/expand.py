"""Expansion: entries of a plan become targets, each the cells that one start of a driver measures."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from clonometer.errors import PlanError, UsageError, unknown
from clonometer.plan.catalogue import TEMPERATURES
from clonometer.plan.cell import AxisValue, CatalogueAxis, glob_pattern, make_cell
from clonometer.plan.limits import limits_conflict, limits_for
from clonometer.plan.names import full_name, is_glob
from clonometer.plan.qualifiers import NO_LAUNCHES, QUALIFIES, qualifies_nothing
from clonometer.plan.types import Catalogue, Limits, Target, Workload
from clonometer.plan.values import read_value


@dataclass(frozen=True)
class Entry:
    """One ``[[cells]]`` table of a plan file, or what a command line asks for, not yet checked.

    Attributes
    ----------
    place
        Where it stands, for messages.
    workloads
        Ids, or globs with ``*`` and ``?``.
    settings
        Axis -> the values to cross, as they were written.
    temperatures
        What was asked for, or None: all that the workload has.
    limits
        Fields of `Limits` that the entry sets.
    some
        Whether it is enough that one of several workloads has an axis: the others are measured without it.
    family
        The family of the workloads that globs mean, or None: any.
    """

    place: str
    workloads: Sequence[str]
    settings: Mapping[str, Sequence[object]]
    temperatures: Sequence[str] | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    some: bool = False
    family: str | None = None


@dataclass
class _Draft:
    workload: str
    condition: dict[str, AxisValue]
    temperatures: set[str | None]
    limits: dict[str, int]
    place: str


def expand(
    entries: Iterable[Entry], catalogue: Catalogue, base: Limits | None = None, *, ease: bool = False
) -> tuple[Target, ...]:
    """Cross workloads with values and gather what one driver start can measure.

    Conditions that are named twice are merged: their temperatures are united, and so are their limits.

    Targets are in the order in which conditions were first named; cold before warm.

    Parameters
    ----------
    catalogue
        What exists. Workloads and values that exist but not on this machine stay: the runner reports them as
        skipped.
    base
        Limits where an entry sets none.
    ease
        Lower the base limits where memory makes launches dear (`clonometer.plan.limits.limits_for`).

    Raises
    ------
    PlanError
        For unknown workloads, axes, values and temperatures, for limits of one condition that differ, and for
        an entry of which nothing is left.
    """
    drafts: dict[str, _Draft] = {}
    for entry in entries:
        try:
            _expand_entry(entry, catalogue, drafts)
        except UsageError as error:
            place = f"{entry.place}: " if entry.place else ""
            raise PlanError(f"{place}{error.message}", error.hint) from None
    return tuple(_target(draft, catalogue, base or Limits(), ease) for draft in drafts.values())


def find_workloads(name: str, catalogue: Catalogue) -> list[Workload]:
    """Workloads by id, by the last word of one (`clonometer.plan.names.full_name`) or by glob, in their order.

    A glob that begins with a wild card (``*.command``) means workloads of any driver, and may name none; so may one of
    a driver that is missing here (`Catalogue.lacks`).

    Raises
    ------
    UsageError
        If there is none, with the nearest match or what is missing, or several bear a name.
    """
    missing = _missing(name, catalogue)
    if not is_glob(name):
        if missing is not None and name not in catalogue.workloads:
            raise UsageError(f"{name} cannot be measured here: {missing}", "clonometer drivers shows all")
        return [catalogue.workloads[full_name(name, catalogue.workloads)]]
    pattern = glob_pattern(name)
    workloads = [workload for workload in catalogue.workloads.values() if pattern.fullmatch(workload.id)]
    if not workloads and missing is None and not _is_of_any_driver(name):
        raise unknown("workload", name, catalogue.workloads)
    return workloads


def _workloads_of(entry: Entry, name: str, catalogue: Catalogue) -> list[Workload]:
    """What a name of an entry means: of a glob only what is of the entry's family."""
    named = find_workloads(name, catalogue)
    if entry.family is None or not is_glob(name):
        return named
    return [workload for workload in named if workload.family == entry.family]


def _is_of_any_driver(name: str) -> bool:
    first, dot, _ = name.partition(".")
    return bool(dot) and is_glob(first)


def _missing(name: str, catalogue: Catalogue) -> str | None:
    """Why a driver is missing whose workloads a name may mean; None where there is no such driver."""
    first, dot, _ = name.partition(".")
    pattern = glob_pattern(first)
    # Of other things that are lacking the id of a workload or another word of several parts is said.
    drivers = [lack for lack in catalogue.lacks if "." not in lack["what"]]
    return next((lack["reason"] for lack in drivers if dot and pattern.fullmatch(lack["what"])), None)


def axes_of(workload: Workload, catalogue: Catalogue) -> dict[str, CatalogueAxis]:
    """Axes of a workload by name."""
    return {name: catalogue.axes[name] for name in workload.axes}


def with_condition(
    target: Target,
    condition: Mapping[str, AxisValue],
    temperatures: Collection[str | None],
    catalogue: Catalogue,
    *,
    limits: Limits,
) -> Target:
    """Give a target another condition, a cell for each of the temperatures (cold before warm), and other limits."""
    axes = axes_of(catalogue.workloads[target.workload], catalogue)
    ordered = [each for each in (None, *TEMPERATURES) if each in temperatures]
    cells = tuple(make_cell(target.workload, condition, temperature, axes) for temperature in ordered)
    return replace(target, condition=cells[0].condition, cells=cells, limits=limits)


def meaningless(condition: Mapping[str, AxisValue], temperature: str | None) -> str | None:
    """Say why nobody can measure this combination, or None.

    Some values of an axis have no launches of a temperature. And where the parent has no memory, VMAs, files or
    threads of its own, they are of no kind; nor is it said how long nobody idles.
    """
    for name, (nowhere, without, why) in NO_LAUNCHES.items():
        if temperature == nowhere and name in condition and without(condition[name]):
            return why
    axis = qualifies_nothing(condition)
    if axis is not None:
        return f"{axis}={condition[axis]} has no effect {QUALIFIES[axis].nowhere}"
    return None


def meaningful(target: Target, conditions: Iterable[Mapping[str, AxisValue]]) -> tuple[list[str | None], str | None]:
    """The temperatures of a target in which all these conditions can be measured, and why another cannot."""
    whys = [(cell.temperature, meaningless(each, cell.temperature)) for each in conditions for cell in target.cells]
    refused = {temperature: why for temperature, why in whys if why is not None}
    left = [cell.temperature for cell in target.cells if cell.temperature not in refused]
    return left, next(iter(refused.values()), None)


def _expand_entry(entry: Entry, catalogue: Catalogue, drafts: dict[str, _Draft]) -> None:
    """Cross an entry's workloads, values and temperatures into drafts, and leave out what nobody can measure."""
    used: set[str] = set()
    reason = None
    left = 0
    for name in entry.workloads:
        strict = not is_glob(name)
        for workload in _workloads_of(entry, name, catalogue):
            axes = axes_of(workload, catalogue)
            alone = strict and not (entry.some and len(entry.workloads) > 1)
            settings = _settings_of(entry, workload, axes, strict=alone)
            used |= set(settings)
            temperatures = _temperatures_of(entry, workload, strict=strict)
            for values, temperature in itertools.product(itertools.product(*settings.values()), temperatures):
                asked = dict(zip(settings, values, strict=True))
                condition = {axis.name: asked.get(axis.name, axis.default) for axis in axes.values()}
                why = meaningless(condition, temperature)
                reason = why or reason
                if why is None:
                    draft = _Draft(workload.id, condition, {temperature}, dict(entry.limits), entry.place)
                    _merge(drafts, make_cell(workload.id, condition, None, axes).text, draft)
                    left += 1
    if not left and not any(_workloads_of(entry, name, catalogue) for name in entry.workloads):
        return
    _refuse_unused(entry, used, catalogue)
    if not left:
        raise PlanError(f"there is nothing left to measure: {reason or 'no such temperature'}")


def _refuse_unused(entry: Entry, used: set[str], catalogue: Catalogue) -> None:
    """An axis that no workload of the entry has is a mistake, though each alone may lack it."""
    for axis in entry.settings:
        if axis not in used:
            owned = {key for each in catalogue.workloads.values() for key in each.axes}
            if axis not in owned:
                raise unknown("axis", axis, owned)
            named = [workload for name in entry.workloads for workload in _workloads_of(entry, name, catalogue)]
            had = sorted({key for workload in named for key in workload.axes})
            raise PlanError(
                f"no workload of {', '.join(entry.workloads)} has the axis {axis!r}",
                f"the axes they have: {', '.join(had) or 'none'}",
            )


def _settings_of(
    entry: Entry, workload: Workload, axes: Mapping[str, CatalogueAxis], *, strict: bool
) -> dict[str, list[AxisValue]]:
    """The entry's values of the axes that a workload has; only one named by its id must have them all."""
    read: dict[str, list[AxisValue]] = {}
    for name, given in entry.settings.items():
        if name not in axes:
            if strict:
                near = unknown(f"axis of {workload.id}", name, axes)
                raise PlanError(near.message, near.hint or f"{workload.id} has no axes")
            continue
        read[name] = list(dict.fromkeys(read_value(axes[name], value) for value in given))
    return read


def _temperatures_of(entry: Entry, workload: Workload, *, strict: bool) -> list[str | None]:
    asked = entry.temperatures
    for temperature in asked or ():
        if temperature not in TEMPERATURES:
            raise unknown("temperature", temperature, TEMPERATURES)
        if strict and workload.temperatures and temperature not in workload.temperatures:
            raise PlanError(
                f"{workload.id} is not measured {temperature}",
                f"it is measured {', '.join(workload.temperatures)}",
            )
    if not workload.temperatures:
        return [None]
    return [each for each in TEMPERATURES if each in workload.temperatures and (asked is None or each in asked)]


def _merge(drafts: dict[str, _Draft], text: str, draft: _Draft) -> None:
    before = drafts.setdefault(text, draft)
    conflict = limits_conflict(before.limits, draft.limits)
    if conflict:
        new, old = draft.limits[conflict], before.limits[conflict]
        raise PlanError(
            f"{text} has {conflict} = {new} here and {old} in {before.place}",
            "one start of a driver measures a condition both cold and warm, so it has one set of limits",
        )
    before.temperatures |= draft.temperatures
    before.limits |= draft.limits


def _target(draft: _Draft, catalogue: Catalogue, base: Limits, ease: bool) -> Target:
    if ease:
        base = limits_for(draft.condition, base)
    limits = replace(base, **draft.limits)
    target = Target(draft.workload, draft.condition, (), limits)
    return with_condition(target, draft.condition, draft.temperatures, catalogue, limits=limits)
