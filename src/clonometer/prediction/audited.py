"""What ``clonometer doctor`` answers: an audit of the machine, and what a fork would cost a process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from clonometer.prediction.answer import Predicted
from clonometer.records import Mark
from clonometer.results.audit.types import MachineAudit


@dataclass(frozen=True)
class ProcessAudit(MachineAudit):
    """What on this machine will move the numbers, and what its fork would cost a process that was named."""

    process: Annotated[Predicted | None, Mark.OMITTED, "With --pid: what its fork would cost."] = None
