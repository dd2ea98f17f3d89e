"""What a new program executes at its start, counted by single steps, and what its CPUID cost here."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from clonometer.errors import DriverError
from clonometer.families import is_launch
from clonometer.families.other import CPUID, STEPS
from clonometer.plan.cell import AxisValue, make_cell
from clonometer.plan.types import Catalogue, Limits, Target
from clonometer.tracing.launches import whole_number
from clonometer.tracing.source import Tracer
from clonometer.tracing.types import ProgramSteps, StepsPhase

#: The phases of docs/protocol.md's columns, and the parts of a launch that they are.
PHASES = {
    "loader": "child_loader",
    "start": "child_library_start",
    "main": "child_main",
    "exit": "child_library_exit",
}
_REPETITIONS = Limits(processes=1, samples=100, blocks=2, warmup=1)
_ONCE = Limits(processes=1, samples=1, blocks=1, warmup=0)


def count_steps(tracer: Tracer, target: Target, catalogue: Catalogue) -> ProgramSteps | None:
    """Count the instructions of the program that a target launches, and time CPUID.

    With a ``reason`` and no counts where this machine cannot count; None for launches that start no program.
    """
    workload = catalogue.workloads.get(target.workload)
    if workload is None or not is_launch(workload.family) or "program" not in target.condition:
        return None
    for name in (STEPS, CPUID):
        known = catalogue.workloads.get(name)
        if known is None or not known.available:
            return ProgramSteps(reason=(known.reason if known is not None else None) or f"no driver has {name}")
    try:
        counted = _columns(tracer, _target(STEPS, {"program": target.condition["program"]}, catalogue, _ONCE))
        timed = _columns(tracer, _target(CPUID, {}, catalogue, _REPETITIONS))
    except DriverError as error:
        return ProgramSteps(reason=error.message)
    if counted["errno"][0] != 0:
        return ProgramSteps(reason="ptrace cannot step the program: a seccomp filter or yama forbids it")
    costs = [float(cost) for cost in timed["cpuid_ns"]]
    return ProgramSteps(
        instructions=int(counted["instructions"][0]),
        cpuid=int(counted["cpuid"][0]),
        ended=bool(counted["ended"][0]),
        phases=tuple(
            StepsPhase(part, int(counted[f"{name}_instructions"][0]), int(counted[f"{name}_cpuid"][0]))
            for name, part in PHASES.items()
            if whole_number(counted, f"{name}_instructions", 0) is not None
        ),
        main_from_entry=whole_number(counted, "main_from_entry", 0),
        cpuid_ns=median(costs),
        cpuid_least_ns=min(costs),
    )


def _target(name: str, condition: Mapping[str, AxisValue], catalogue: Catalogue, limits: Limits) -> Target:
    axes = {axis: catalogue.axes[axis] for axis in catalogue.workloads[name].axes}
    cell = make_cell(name, condition, None, axes)
    return Target(name, cell.condition, (cell,), limits)


def _columns(tracer: Tracer, target: Target) -> dict[str, list[float]]:
    """All rows of a start of the probe with nobody listening."""
    blocks = tracer.trace(target, "none").blocks
    if not blocks:
        raise DriverError(f"{target.workload} gave no answer")
    names = blocks[0].columns
    return {name: [value for block in blocks for value in block.columns[name].tolist()] for name in names}
