"""Evidence for the ledger that no run file holds: what demos observe, and launches that are taken to pieces."""

from __future__ import annotations

import time

import rich_click as click

from clonometer.errors import ClonometerError
from clonometer.host.facts import collect
from clonometer.plan.types import Catalogue
from clonometer.runner.drivers import Drivers, run_program
from clonometer.runner.interrupts import interruption
from clonometer.runner.tracing import ProbeTracer
from clonometer.studies.demonstrations import find_demo
from clonometer.studies.explained import Answer, Refused, Wanted, look_closely

#: Demos that show facts which claims are about.
OBSERVED = ("crash", "flags")


def observe_demos() -> dict[str, dict[str, str]]:
    """Run the demos whose facts answer claims; one that cannot run here is said and left out."""
    seen = {}
    for name in OBSERVED:
        demo = find_demo(name)
        try:
            seen[name] = demo.read(run_program(demo.program))
        except ClonometerError as error:
            click.echo(f"clonometer: demo {name}: {error.message}", err=True)
    return seen


def explain_launches(wanted: Wanted, catalogue: Catalogue, drivers: Drivers, *, quick: bool) -> Answer:
    """Explain what the ledger uses, and say how long that took, or why nothing can be seen here.

    Raises
    ------
    KeyboardInterrupt
        If the user wants to stop.
    """
    began = time.monotonic()
    allowed = collect().get("cpu.allowed")
    cpus = allowed if isinstance(allowed, int) else 1
    try:
        with interruption() as wish_to_stop:

            def listen() -> ProbeTracer:
                return ProbeTracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)

            answer = look_closely(wanted, catalogue, listen, cpus=cpus, quick=quick)
            if wish_to_stop.wanted:
                raise KeyboardInterrupt
    except ClonometerError as error:
        click.echo(f"clonometer: {wanted.evidence}: {error.message}", err=True)
        return Refused(error.message)
    click.echo(f"explained {' and '.join(wanted.mechanisms)} in {time.monotonic() - began:.0f} s", err=True)
    return answer
