"""The audit of a machine: what ``clonometer doctor --json`` prints (docs/schemas/doctor.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from clonometer.prediction.answer import Predicted
from clonometer.records import Ge, Mark, version
from clonometer.results.audit.cpuid import CpuidCost
from clonometer.results.audit.items import AuditItem
from clonometer.results.audit.noise import MachineNoise

DOCTOR_SCHEMA = 1


@dataclass(frozen=True)
class DriverState:
    """A driver, and whether it can be used."""

    name: str
    linkage: str | None
    reason: Annotated[str | None, "Why it cannot be used; null: it can."]


@dataclass(frozen=True)
class UnavailableWorkload:
    """What no driver can measure here."""

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
    process: Annotated[Predicted | None, Mark.OMITTED, "With --pid: what its fork would cost."] = None
