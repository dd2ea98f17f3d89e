"""One process: what a driver was asked, what it answered, and whether that can be used."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clonometer.answers import Block, Done
from clonometer.errors import DriverError, ProtocolError, UnavailableError
from clonometer.families import known_delays
from clonometer.plan.limits import estimated_process_ns
from clonometer.plan.types import Target
from clonometer.protocol import AnswerReader
from clonometer.runner.drivers import Driver
from clonometer.runner.frequency import AS_IS, AXIS, NotRestoredError, fixed_frequency
from clonometer.runner.process import Ending, supervise

# An estimate is good to a factor of some, and the machine may be slower still: only a hang should be found.
_PATIENCE = 10.0
_LEAST_TIMEOUT_S = 30.0
# What a driver gets where a budget is to be kept, however little of that is left.
_LEAST_IN_HASTE_S = 0.5


@dataclass(frozen=True)
class ProcessResult:
    """What one start of a driver gave.

    ``status`` is ``ok``, ``skipped``, ``failed`` or ``interrupted``, all but the first with a ``reason``.
    ``blocks`` are whole and verified, whatever the status. ``hopeless``: the target must not be tried again.
    ``left`` names the directories that the driver made and nobody could remove.
    """

    status: str
    reason: str | None
    blocks: tuple[Block, ...] = ()
    done: Done | None = None
    exit_status: int | None = None
    stderr: str = ""
    seconds: float = 0.0
    hopeless: bool = False
    left: tuple[str, ...] = ()

    def sound_samples(self, target: Target) -> list[tuple[str, Mapping[str, Any]]]:
        """The cell of ``target`` and the columns of each block that may be used."""
        cells = {cell.temperature: cell.text for cell in target.cells}
        return [
            (cells[block.temperature], block.columns)
            for block in self.blocks
            if block.status == "ok" and block.temperature in cells
        ]


def timeout_for(target: Target, left_s: float | None = None) -> float:
    """Seconds after which a driver that measures ``target`` must be hanging.

    Where no more than ``left_s`` are left for measuring it is that: a guess of what the target takes is no reason to
    keep a user waiting who has said for how long.
    """
    if left_s is not None:
        return min(timeout_for(target), max(left_s, _LEAST_IN_HASTE_S))
    limits = target.limits
    spins_ns = sum(value for key, value in target.options.items() if key in known_delays() and isinstance(value, int))
    launches = limits.blocks * (limits.samples + limits.warmup)
    return _LEAST_TIMEOUT_S + _PATIENCE * 1e-9 * (estimated_process_ns(target.condition, limits) + launches * spins_ns)


def measure(
    driver: Driver,
    target: Target,
    clock: Mapping[str, Any],
    *,
    guardian: Path | None = None,
    timeout_s: float | None = None,
    interrupt_fd: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> ProcessResult:
    """Start ``driver`` once for ``target`` and judge its answer; never raises for what a driver does wrong.

    ``clock`` is the calibration (docs/protocol.md), ``guardian`` the program that sets frequencies, for targets that
    ask for one. After ``timeout_s`` the driver is stopped; by default after what the target should take, many times
    over. ``interrupt_fd`` becomes readable when the user wants to stop. ``environment`` is all that the driver gets, by
    default what every driver has.
    """
    frequency = str(target.condition.get(AXIS, AS_IS))
    measured = None
    try:
        with nullcontext() if frequency == AS_IS else fixed_frequency(guardian, frequency):
            measured = _measure(driver, target, clock, timeout_s, interrupt_fd, environment=environment)
    except UnavailableError as error:
        return ProcessResult("skipped", error.message)
    except NotRestoredError as error:
        if measured is None:
            return ProcessResult("failed", error.message, hopeless=True)
        # What was measured is kept; that the machine is not as it was must be said, and nobody may make it worse.
        return replace(measured, status="failed", reason=error.message, hopeless=True)
    return measured


def _measure(
    driver: Driver,
    target: Target,
    clock: Mapping[str, Any],
    timeout_s: float | None,
    interrupt_fd: int | None,
    *,
    environment: Mapping[str, str] | None,
) -> ProcessResult:
    reader = AnswerReader()
    blocks: list[Block] = []

    came = 0

    def receive(data: bytes) -> bool:
        nonlocal came
        came += len(data)
        if came > driver.most_answer_bytes:
            return False
        try:
            blocks.extend(reader.feed(data))
        except ProtocolError:
            return False
        return reader.error is None

    limit_s = timeout_for(target) if timeout_s is None else timeout_s
    command, variables = driver.request(target, clock), environment
    if environment is not None:
        command, variables = driver.start_in(environment, command)
    try:
        ending = supervise(
            command,
            receive,
            timeout_s=limit_s,
            interrupt_fd=interrupt_fd,
            environment=variables,
            folders=driver.folders(target),
        )
    except DriverError as error:
        return ProcessResult("failed", error.message)
    status, reason = _judge(target, reader, blocks, ending)
    return ProcessResult(
        status,
        reason,
        tuple(blocks),
        reader.done,
        ending.exit_status,
        ending.stderr,
        ending.seconds,
        left=ending.left,
    )


def _judge(target: Target, reader: AnswerReader, blocks: list[Block], ending: Ending) -> tuple[str, str | None]:
    if ending.stopped == "interrupt":
        return "interrupted", "the run was interrupted"
    if ending.stopped == "timeout":
        return "failed", _with_stderr(f"the driver {ending.describe()}", ending)
    try:
        done = reader.finish()
    except ProtocolError as error:
        how = "" if ending.exit_status in (0, None) else f"the driver {ending.describe()}: "
        return "failed", _with_stderr(how + error.message, ending)
    if done.status != "ok":
        reason = done.reason or "the driver gave no reason"
        return done.status, reason if done.status == "skipped" else _with_stderr(reason, ending)
    if ending.exit_status != 0:
        return "failed", _with_stderr(f"the driver {ending.describe()} after its answer", ending)
    fault = _unasked(target, blocks)
    return ("failed", fault) if fault else ("ok", None)


def _unasked(target: Target, blocks: list[Block]) -> str | None:
    """Say how the blocks differ from what was asked for, or which is no good; None where all is well."""
    asked = {cell.temperature for cell in target.cells}
    for block in blocks:
        if block.workload != target.workload or block.temperature not in asked:
            what = " ".join(filter(None, (block.temperature, block.workload)))
            return f"the driver measured {what}, which was not requested"
        if block.status != "ok":
            return f"block {block.index}: {block.reason or block.status}"
    missing = asked - {block.temperature for block in blocks}
    if missing:
        names = " and no ".join(sorted(temperature or "" for temperature in missing)).strip()
        return f"the driver sent no {names} block".replace("  ", " ")
    return None


def _with_stderr(reason: str, ending: Ending) -> str:
    return f"{reason}; its last words: {ending.last_words}" if ending.last_words else reason
