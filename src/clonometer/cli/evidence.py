"""Evidence for the ledger that no run file holds: what demos observe, and launches that are taken to pieces."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.errors import ClonometerError

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue, Target
    from clonometer.runner.drivers import Drivers
    from clonometer.runner.tracing import ProbeTracer
    from clonometer.studies.explained import Wanted

#: Demos that show facts which claims are about.
OBSERVED = ("crash", "flags")
_PROCESSES = {True: 3, False: 8}
_WORK_PAIRS = {True: 3, False: 12}
_LIMITS = {"samples": 100, "blocks": 2, "warmup": 20}


def observe_demos() -> dict[str, dict[str, str]]:
    """Run the demos whose facts answer claims; one that cannot run here is said and left out."""
    from clonometer.runner.program import run_program
    from clonometer.studies.demonstrations import find_demo

    seen = {}
    for name in OBSERVED:
        demo = find_demo(name)
        try:
            seen[name] = demo.read(run_program(demo.program).output)
        except ClonometerError as error:
            click.echo(f"clonometer: demo {name}: {error.message}", err=True)
    return seen


def explain_launches(wanted: Wanted, catalogue: Catalogue, drivers: Drivers, *, quick: bool) -> Mapping[str, Any]:
    """Do what `clonometer explain FIRST --vs OTHER --json` does.

    Parameters
    ----------
    wanted
        What, and under which conditions: each mechanism takes those that it has an axis for.
    catalogue, drivers
        What there is to start.
    quick
        With fewer processes.

    Returns
    -------
    mapping
        The JSON object (docs/explain.md), or ``{"refused": why}`` where this machine does not let anything be seen.

    Raises
    ------
    KeyboardInterrupt
        If the user wants to stop.
    """
    from clonometer.runner.interrupts import interruption
    from clonometer.runner.tracing import ProbeTracer

    take_to_pieces = _explain_work if wanted.mechanisms == ("work.factor",) else _explain_mechanisms
    began = time.monotonic()
    try:
        with interruption() as wish_to_stop:

            def listen() -> ProbeTracer:
                return ProbeTracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)

            as_json = take_to_pieces(wanted, catalogue, listen, quick=quick)
            if wish_to_stop.wanted:
                raise KeyboardInterrupt
    except ClonometerError as error:
        click.echo(f"clonometer: {wanted.evidence}: {error.message}", err=True)
        return {"refused": error.message}
    click.echo(f"explained {' and '.join(wanted.mechanisms)} in {time.monotonic() - began:.0f} s", err=True)
    return as_json()


def _explain_mechanisms(
    wanted: Wanted, catalogue: Catalogue, listen: Callable[[], ProbeTracer], *, quick: bool
) -> Callable[[], Mapping[str, Any]]:
    """Explain two mechanisms; what was seen is put into words only if nobody wished to stop meanwhile."""
    from clonometer.explain.anatomy import Wish, admit, explain
    from clonometer.explain.budget import set_beside
    from clonometer.records import to_json

    found = []
    for target in [_target(name, wanted.settings, catalogue) for name in wanted.mechanisms]:
        admit(target, catalogue)
        found.append(explain(listen(), target, Wish(_PROCESSES[quick])))
    return lambda: to_json(set_beside(found[0], found[1]))


def _explain_work(
    wanted: Wanted, catalogue: Catalogue, listen: Callable[[], ProbeTracer], *, quick: bool
) -> Callable[[], Mapping[str, Any]]:
    """Explain threads against processes at work, as `_explain_mechanisms`."""
    from clonometer.explain.parts import part_of
    from clonometer.explain.work import WorkWish, explain_work, work_sides
    from clonometer.host.facts import collect

    sides = work_sides(wanted.settings, catalogue)
    if quick:
        fewer = [replace(one, limits=replace(one.limits, samples=min(one.limits.samples, 6))) for one in sides]
        sides = (fewer[0], fewer[1])
    allowed = collect().get("cpu.allowed")
    cpus = allowed if isinstance(allowed, int) else 1
    found = explain_work(listen(), sides, WorkWish(_WORK_PAIRS[quick]), cpus=cpus)
    return lambda: {
        "conclusion": found.conclusion,
        "tier": asdict(found.tier),
        "pairs": found.pairs,
        "gap": asdict(found.gap),
        "reasons": [asdict(one) for one in found.reasons],
        "delays": [
            [{"part": one.part, "label": part_of(one.part).label, "share": one.share} for one in side.delays]
            for side in (found.thread, found.process)
        ],
        "notes": list(found.notes),
    }


def _target(name: str, settings: tuple[str, ...], catalogue: Catalogue) -> Target:
    from clonometer.plan.adhoc import plan_from_arguments

    axes = catalogue.workloads[name].axes
    own = [one for one in settings if one.partition("=")[0] in axes]
    return plan_from_arguments([name], [*own, "temperature=warm"], catalogue, limits=_LIMITS).targets[0]
