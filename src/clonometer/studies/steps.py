"""Command lines that decide, reverse or show what the ledger says; each is planned before it is handed out."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from math import prod

from clonometer.errors import ClonometerError
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.types import Catalogue
from clonometer.studies.cells import axes_of
from clonometer.studies.published import Item
from clonometer.studies.types import DECIDES, REVERSES, SEARCHES, SHOWS, Pairing, Reconciliation, Suggestion, Verdict
from clonometer.units import format_bytes
from clonometer.verdicts import Status

# Beyond so many cells nobody waits for what a line shows.
_MOST_CELLS = 32


def reversal_step(flip: Reconciliation, catalogue: Catalogue) -> Suggestion | None:
    """The command that shows a contradiction turning; where nothing turned it one that looks further."""
    bases = {pair.quantity: pair for pair in flip.bases}
    if flip.by_stage:
        return _shows(flip.bases[0].cells, catalogue, REVERSES)
    for pair in flip.reversed_by:
        base = bases.get(pair.quantity)
        step = None if base is None else _shows((*base.cells, *pair.cells), catalogue, REVERSES)
        if step is not None:
            return step
    return wider_step(flip.pairing, catalogue)


def wider_step(pairing: Pairing, catalogue: Catalogue) -> Suggestion | None:
    """The command that looks further for what reverses a contradiction."""
    workloads = dict.fromkeys(axes_of(side)[0] for side in (pairing.a, pairing.b))
    command = _command(workloads, pairing.wider, catalogue)
    return None if command is None else Suggestion(SEARCHES, command)


def item_step(
    item: Item,
    verdict: Verdict,
    flips: Iterable[Reconciliation],
    catalogue: Catalogue,
    longer: str,
) -> Suggestion | None:
    """The command that decides an item, reverses it, or shows its numbers.

    ``longer`` are the options with which `reproduce` decides more of a single item.
    """
    if verdict.status == Status.UNKNOWN:
        return Suggestion(DECIDES, " ".join(["clonometer reproduce", item.id, *longer.split()]))
    if verdict.status == Status.DEPENDS:
        step = _shows(verdict.evidence, catalogue, REVERSES)
        if step is not None:
            return step
    # Of an item that was asked alone no contradiction was measured, and none is looked for.
    for flip in flips:
        if flip.next is not None and item.id in {side.partition(":")[0] for side in flip.pairing.favours}:
            return flip.next
    return _shows(verdict.evidence, catalogue, SHOWS)


def _shows(cells: Iterable[str], catalogue: Catalogue, does: str) -> Suggestion | None:
    """The command that measures cells, and whatever lies between them; None where it would be too much."""
    asked = [axes_of(text) for text in cells if axes_of(text)[0] in catalogue.workloads]
    varied = dict.fromkeys(axis for _, axes in asked for axis in axes)
    values = {axis: _values(axis, asked, catalogue) for axis in varied}
    # Evidence of ablations would be planned as millions. Not each workload has each axis, so that fewer may be left.
    if prod(map(len, values.values())) > 4 * _MOST_CELLS:
        return None
    settings = [f"{axis}={','.join(texts)}" for axis, texts in values.items()]
    command = _command(dict.fromkeys(workload for workload, _ in asked), settings, catalogue)
    return None if command is None else Suggestion(does, command)


def _values(axis: str, asked: Iterable[tuple[str, Mapping[str, str]]], catalogue: Catalogue) -> list[str]:
    """The values of an axis in these cells, with its default where a cell has it."""
    values = []
    for workload, axes in asked:
        if axis in axes:
            values.append(axes[axis])
        elif axis in catalogue.workloads[workload].axes:
            default = catalogue.axes[axis].default
            is_bytes = catalogue.axes[axis].kind == "bytes" and isinstance(default, int)
            values.append(format_bytes(int(default)) if is_bytes else str(default))
    return list(dict.fromkeys(values))


def _command(workloads: Iterable[str], settings: Iterable[str], catalogue: Catalogue) -> str | None:
    """The command line of `run`; None where it cannot be planned, or has too many cells."""
    names, given = list(workloads), list(settings)
    try:
        planned = plan_from_arguments(names, given, catalogue)
    except ClonometerError:
        return None
    if not 0 < len(planned.cells) <= _MOST_CELLS:
        return None
    return shlex.join(["clonometer", "run", *names, *(word for each in given for word in ("--set", each))])
