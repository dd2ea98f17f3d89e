"""What there is on a machine of each language whose launches can be measured: what ``clonometer drivers`` answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import OneOf, version

READY, NOT_BUILT, FAILED, MISSING = "ready", "not built", "failed", "missing"


@dataclass(frozen=True)
class LanguageDriver:
    """What there is of a language, or of one of its versions."""

    name: Annotated[str, "The first word of its workloads."]
    language: Annotated[str, "What the language or its runtime is called."]
    status: Annotated[
        str,
        OneOf((READY, NOT_BUILT, FAILED, MISSING)),
        "Whether it can measure, will be built when it is first needed, could not be built, or lacks a toolchain.",
    ]
    version: Annotated[str | None, "Of the runtime or compiler."] = None
    program: Annotated[str | None, "The runtime or compiler."] = None
    reason: Annotated[str | None, "Why it is not ready; of a failure what the toolchain said."] = None


@dataclass(frozen=True)
class LanguageDrivers:
    """What ``clonometer drivers`` answers."""

    drivers: tuple[LanguageDriver, ...]

    schema = version(1)

    @property
    def counts(self) -> Counter[str]:
        """How many there are of each status."""
        return Counter(each.status for each in self.drivers)
