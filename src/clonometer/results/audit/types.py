"""The audit of a machine: what ``clonometer doctor --json`` prints (docs/schemas/doctor.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from clonometer.records import Count, Ge, OneOf, Pattern, version

DOCTOR_SCHEMA = 1
FINE = "fine"
NOTE = "note"
WARN = "warn"


@dataclass(frozen=True)
class AuditItem:
    """One thing that can move the cost of a launch."""

    id: Annotated[str, Pattern(r"^[a-z]+\.[a-z_]+$"), "Stable; its first word is the area."]
    title: Annotated[str, "What it is called in a table."]
    value: Annotated[str, "What was found, in words; where the facts do not say, why."]
    judged: Annotated[
        str,
        OneOf((WARN, NOTE, FINE)),
        "warn: will move figures or make them scatter; note: know it when you compare machines.",
    ]
    effect: Annotated[str, "What it does to launches."]
    command: Annotated[str | None, "What changes it or says more. It was not run."] = None
    known: Annotated[bool, "False where the machine does not say."] = True


@dataclass(frozen=True)
class MachineNoise:
    """From two seconds of the bare loop and of pinned forks."""

    scatter: Annotated[
        float | None, Ge(0), "Of pinned forks: interquartile range over median; null where fewer than 20 succeeded."
    ]
    largest_gap_ns: Annotated[float | None, Ge(0), "Longest time between two passes of the bare loop."]
    watched_ns: Annotated[float, Ge(0), "How long the bare loop was watched."]
    involuntary: Annotated[Count, "Involuntary context switches while measuring."]
    wall_ns: Annotated[float, Ge(0), "Wall time in which they were counted."]
    samples: Annotated[Count, "Forks that succeeded."]


@dataclass(frozen=True)
class CpuidCost:
    """What one CPUID takes, and how many the start of a static program with a C library executes.

    What was not measured is null.
    """

    cost_ns: Annotated[float | None, Ge(0), "Median of repetitions."] = None
    least_ns: Annotated[float | None, Ge(0), "The fastest repetition."] = None
    at_start: Count | None = None
    reason: Annotated[str | None, "Why not all was measured."] = None


@dataclass(frozen=True)
class DriverState:
    """A driver, and whether it can be used."""

    name: str
    linkage: str | None
    reason: Annotated[str | None, "Why it cannot be used; null: it can."]


@dataclass(frozen=True)
class UnavailableWorkload:
    """What no driver can measure here, and why."""

    what: str
    reason: str


@dataclass(frozen=True)
class MachineAudit:
    """What on this machine will move the numbers."""

    schema = version(DOCTOR_SCHEMA)

    host: Annotated[str, "The machine in one line."]
    items: Annotated[Sequence[AuditItem], Ge(1)]
    noise: MachineNoise | None
    noise_reason: Annotated[str | None, "Why the noise was not measured, or not all of it."]
    cpuid: CpuidCost
    clock: Annotated[Mapping[str, Any], "The calibration, see docs/protocol.md."]
    drivers: Sequence[DriverState]
    lacks: Annotated[Sequence[UnavailableWorkload], "What cannot be measured here, and why."]
