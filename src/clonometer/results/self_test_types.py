"""What a self-test hands to views and callers: plain, frozen values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.records import Count, Mark, version

SELF_TEST_SCHEMA = 1


@dataclass(frozen=True)
class MoveCheck:
    """One prediction and what came of it."""

    workload: str
    placement: str
    spin: Annotated[str, "Which delay was added."]
    injected_ns: Annotated[Count, "How long it is."]
    stage: str
    expected_low_ns: Annotated[float, "The least and the greatest move, tolerance included."]
    expected_high_ns: float
    moved_ns: Annotated[float | None, "Null where it was not observed."]
    passed: Annotated[bool | None, "Null where nothing can be said."]
    reason: Annotated[str | None, "Why nothing can be said."] = None


@dataclass(frozen=True)
class WallCheck:
    """Whether the stages and the time between them add up to the wall time: the worst block of a workload."""

    workload: str
    placement: str
    blocks: Count
    worst_share: float
    passed: Annotated[
        bool | None,
        "Null where single blocks are off and the workload as a whole is not known to be: a clock that runs wrong does "
        "so in all of them.",
    ]


@dataclass(frozen=True)
class SelfTest:
    """Whether the instrument measures correctly."""

    schema = version(SELF_TEST_SCHEMA)

    passed: Annotated[bool, "Whether every check passed, or nothing can be said of it."]
    other_running_tasks: Annotated[Count, "How many others were seen running at most."]
    moves: Sequence[MoveCheck]
    walls: Sequence[WallCheck]
    #: What could not be measured, a sentence each.
    failures: Annotated[Sequence[str], Mark.UNWRITTEN] = ()
