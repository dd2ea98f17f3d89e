"""``demo``: a teaching program, run and explained."""

from __future__ import annotations

from clonometer.app.shown import shown_as
from clonometer.runner.drivers import run_program
from clonometer.studies.demonstrations import DemoRun, find_demo

__all__ = ["demo"]


@shown_as("demo", "demo_document")
def demo(name: str) -> DemoRun:
    """Run a few lines of C, and explain what they printed.

    Parameters
    ----------
    name
        Such as ``clone-vm``; ``clonometer demo`` lists them.

    Raises
    ------
    UsageError
        If there is no such demo.
    DriverError
        If it was not built, or was ended before its time.
    """
    chosen = find_demo(name)
    output = run_program(chosen.program)
    return DemoRun(chosen, output, chosen.read(output))
