"""What a self-test hands to views and callers: plain, frozen values."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MoveCheck:
    """One prediction and what came of it.

    ``expected_low_ns`` and ``expected_high_ns`` bound the move in ns, tolerance included; ``moved_ns`` is
    None where it was not observed. ``passed`` is None where nothing can be said, and ``reason`` says why.
    """

    workload: str
    placement: str
    spin: str
    injected_ns: int
    stage: str
    expected_low_ns: float
    expected_high_ns: float
    moved_ns: float | None
    passed: bool | None
    reason: str | None = None


@dataclass(frozen=True)
class WallCheck:
    """Whether the stages and the time between them add up to the wall time: the worst block of a workload.

    ``passed`` is None where single blocks are off and the workload as a whole is not known to be: a clock that runs
    wrong does so in all of them.
    """

    workload: str
    placement: str
    blocks: int
    worst_share: float
    passed: bool | None


@dataclass(frozen=True)
class SelfTest:
    """Whether the instrument tells the truth: ``passed`` where every check did, or nothing can be said of it.

    ``other_running_tasks`` is how many others were seen running at most; ``failures`` has what could not be measured,
    a sentence each.
    """

    passed: bool
    other_running_tasks: int
    moves: tuple[MoveCheck, ...]
    walls: tuple[WallCheck, ...]
    failures: tuple[str, ...] = ()
