"""One execution of a plan: drivers are started one after another, and all that they send is kept."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from clonometer._version import __version__
from clonometer.errors import (
    EXIT_FAILED_CELLS,
    EXIT_INTERRUPTED,
    ClonometerError,
    NoRoomError,
    OutputError,
    ProtocolError,
    RunFileError,
    SettingError,
    UnfinishedError,
    UsageError,
)
from clonometer.host.facts import collect
from clonometer.plan.document import document_of
from clonometer.plan.types import Catalogue, Plan, Target
from clonometer.protocol import RawWriter
from clonometer.records import to_json
from clonometer.run_document import CellEntry
from clonometer.runfile import RunFileWriter, RunSoFar, check_beforehand, check_run_output, previous_path, raw_path
from clonometer.runner.drivers import Drivers
from clonometer.runner.environment import about, drawn_bytes, padded, room_for
from clonometer.runner.interfaces import Between, LaunchHooks, Progress, RunLook, Scheduler, Start
from clonometer.runner.interrupts import Interruption, interruption
from clonometer.runner.layout import kernel_draws_nothing
from clonometer.runner.ledger import Ledger, why_unavailable
from clonometer.runner.measure import ProcessResult, measure, timeout_for
from clonometer.runner.putting_back import put_back_first

OUT_OF_TIME = "the time was over before it was measured"
#: Why cells have no samples while a run goes on.
NOT_YET = "not measured yet"


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended.

    Attributes
    ----------
    path
        The run file, or None where the run was interrupted before anything was measured, or nothing that was asked for
        by name can be measured here.
    status, reason
        As in the file's metadata: ``complete``, ``partial`` or ``failed``, and why not complete.
    exit_status
        0, 4 (some cells failed, or there was no room on disk) or 130 (interrupted).
    cells
        How each cell ended.
    processes, samples
        How many drivers were started, and how many samples they gave.
    previous, previous_raw
        What a former run file, and the raw file of an unfinished run, are called now; None where there was none.
    trouble
        What ended the measuring for all cells: a setting that was not switched or not put back, a full disk.
    measured_s, decided_after_s
        How long it was measured, and after which part of it the first question was seen to be decided; None: it was
        not, or nobody looked.
    """

    path: Path | None
    status: str
    reason: str | None
    exit_status: int
    cells: tuple[CellEntry, ...]
    processes: int
    samples: int
    previous: Path | None = None
    previous_raw: Path | None = None
    trouble: ClonometerError | None = None
    measured_s: float = 0.0
    decided_after_s: float | None = None


def run(
    plan: Plan,
    catalogue: Catalogue,
    drivers: Drivers,
    *,
    out: str | os.PathLike[str],
    seed: int,
    scheduler: Scheduler,
    progress: Progress | None = None,
    command: Sequence[str] = (),
    force: bool = False,
    keep: bool = False,
    driver_timeout_s: float | None = None,
    most_seconds: float | None = None,
    between: Between | None = None,
    watch: RunLook | None = None,
    hooks: LaunchHooks | None = None,
    named: bool = False,
    host: Mapping[str, object] | None = None,
    described: Mapping[str, Any] | None = None,
) -> RunOutcome:
    """Measure a plan and write the run file.

    A cell that cannot be measured, or whose driver misbehaves, does not stop the others. SIGINT, SIGTERM, SIGHUP
    and SIGQUIT end the measuring; what was measured is then written as a partial run. Start this from the main
    thread: drivers die with the thread that started them.

    Parameters
    ----------
    out
        The run file. ``NAME.raw`` stands beside it while the run lasts.
    seed
        Kept in the file; the scheduler's order should rest on it.
    command
        The command line that repeats the run.
    force
        Replace an existing run file, and what an unfinished run left.
    keep
        Give them the names ``NAME.previous.SUFFIX`` instead, the run file once the new one is whole.
    driver_timeout_s
        Seconds after which a driver is stopped; by default what its target should take, many times over.
    most_seconds
        Of measuring: a driver that still measures then is stopped.
    between
        Called after each process, while nothing is measured; its time counts against the scheduler's budget.
    watch
        The same, to look at what was measured so far.
    named
        The cells were asked for by name: where this machine has none of them, no file is written and that is a failure.
    host
        The facts of the machine that the drivers measure; by default of this one.
    described
        What else the metadata say of the run, by key.

    Raises
    ------
    OutputError
        If the run file cannot be written, or another run is writing it: before anything is measured where that can be
        known.
    UnfinishedError
        If it cannot be written after something has been measured: NAME.raw keeps that, and the hint says how to go on.
    UsageError
        If the file of such a run could not be read again.
    DriverError
        If the clock cannot be calibrated.
    """
    hooks = hooks or LaunchHooks()
    path = check_run_output(out, force=force, keep=keep)
    raw_file = raw_path(path)
    started = datetime.now(UTC)
    with interruption() as wish:
        put_back_first(progress or Progress())
        clock = drivers.calibrate()
        metadata = {
            "schema": 1,
            "status": "partial",
            "status_reason": "the run was killed",
            "started": started.isoformat(),
            "clonometer_version": __version__,
            "seed": seed,
            "command": list(command),
            "plan": to_json(document_of(plan)),
            "catalogue": catalogue.raw,
            "host": collect() if host is None else host,
            "clock": clock,
            "environment": about(drivers.usable[0].variables),
            **(described or {}),
        }
        try:
            check_beforehand(metadata)
        except RunFileError as error:
            raise UsageError(f"the file of such a run could not be read again: {error.message}") from error
        aside = previous_path(raw_file) if keep and not force else None
        with RawWriter(raw_file, metadata, force=force, aside=aside) as raw:
            session = _Session(
                plan,
                drivers,
                scheduler=scheduler,
                progress=progress or Progress(),
                wish=wish,
                raw=raw,
                writer=RunFileWriter(path, force=force, keep=keep and not force),
                driver_timeout_s=driver_timeout_s,
                most_seconds=most_seconds,
                between=between,
                watch=watch,
                hooks=hooks,
                named=named,
                seed=seed,
                metadata=metadata,
            )
            session.skip_unavailable(catalogue)
            try:
                session.measure_all(clock)
            except BaseException:
                # Only a mistake of ours comes here; the observer may hold the terminal.
                session.progress.run_ended("failed", "an internal error")
                raise
            return session.finish()


@dataclass(eq=False)
class _Session:
    """The state of one run."""

    plan: Plan
    drivers: Drivers
    scheduler: Scheduler
    progress: Progress
    wish: Interruption
    raw: RawWriter
    writer: RunFileWriter
    driver_timeout_s: float | None
    most_seconds: float | None
    between: Between | None
    watch: RunLook | None
    hooks: LaunchHooks
    named: bool
    seed: int
    metadata: Mapping[str, Any]

    def __post_init__(self) -> None:
        self._ledger = Ledger(self.plan)
        self._processes: list[dict[str, Any]] = []
        self._began_ns = time.monotonic_ns()
        self._trouble: OutputError | SettingError | None = None
        self.scheduler.begin(self.plan)

    def skip_unavailable(self, catalogue: Catalogue) -> None:
        """Strike out what this machine is known not to have."""
        for index, target in enumerate(self.plan.targets):
            reason = why_unavailable(target, catalogue, self.drivers)
            if reason is not None:
                self._ledger.skip(index, reason)
                self.scheduler.drop(index)

    def measure_all(self, clock: Mapping[str, Any]) -> None:
        """Start drivers until the scheduler has had enough, the user wants to stop, or something fails for all."""
        try:
            self._measure_in_turn(clock)
        finally:
            try:
                self.hooks.end()
            except SettingError as error:
                self._trouble = error if self._trouble is None else _both(self._trouble, error)

    def _measure_in_turn(self, clock: Mapping[str, Any]) -> None:
        self.progress.run_started(self.plan)
        began_s = time.monotonic()
        while not self.wish.wanted and self._trouble is None:
            elapsed_s = time.monotonic() - began_s
            index = self.scheduler.next_target(elapsed_s)
            if index is None:
                break
            target = self.plan.targets[index]
            number = len(self._processes)
            try:
                start = self.hooks.before(index, self.wish.descriptor)
                if self.wish.wanted:
                    break
                self.progress.process_started(target, number, elapsed_s, self.scheduler.remaining_s(elapsed_s))
                measured = self._measure_one(target, number, clock, elapsed_s, start)
            except (OutputError, SettingError) as error:
                self._trouble = error
                break
            self.scheduler.process_ended(index, measured.seconds, measured.sound_samples(target))
            if not self._ledger.note(index, measured):
                self.scheduler.drop(index)
            self.progress.process_ended(target, number, measured.status, measured.reason)
            if measured.left:
                self.progress.left_behind(measured.left)
            if self.between is not None and not self.wish.wanted:
                self.between(self._since_start_ns(), self.wish.descriptor)
            if self.watch is not None and not self.wish.wanted:
                self.watch(time.monotonic() - began_s, self._so_far)

    def _so_far(self) -> RunSoFar:
        """What was measured so far, as if the run ended now."""
        ends = self._ledger.ends(self.scheduler.stopped_by, NOT_YET)
        now = datetime.now(UTC).isoformat()
        ending = {"ended": now, "status_reason": NOT_YET, "cells": [to_json(end) for end in ends]}
        return self.writer.so_far({**self.metadata, **ending, "processes": self._processes})

    def _measure_one(
        self, target: Target, number: int, clock: Mapping[str, Any], elapsed_s: float, start: Start
    ) -> ProcessResult:
        """Start one driver; NAME.raw has its entry before it starts and after it has ended: a kill loses neither."""
        driver = self.drivers.choose(target.workload, target.condition)
        entry: dict[str, Any] = {
            "process": number,
            "driver": driver.name,
            "cells": [cell.text for cell in target.cells],
            "started_ns": self._since_start_ns(),
            "ended_ns": None,
            "status": "started",
            "reason": None,
            "exit_status": None,
            "stderr": "",
        }
        if start.pair is not None:
            entry["pair"] = start.pair
        variables = {**driver.variables, **start.environment}
        # Both of a pair have one draw: what they differ in is what the sides say.
        drawn = drawn_bytes(self.seed, number if start.pair is None else start.pair, start.room or room_for(variables))
        entry["env_bytes"] = drawn
        entry["argv_bytes"] = sum(len(os.fsencode(word)) + 1 for word in driver.request(target, clock))
        self._processes.append(entry)
        with nullcontext() if start.kernel_draws else kernel_draws_nothing() as personality:
            if personality is not None:
                entry["personality"] = personality
            self.raw.begin_process(entry)
            measured = measure(
                driver,
                target,
                clock,
                guardian=self.drivers.guardian,
                timeout_s=self._timeout_s(target, elapsed_s),
                interrupt_fd=self.wish.descriptor,
                environment=padded(variables, drawn),
            )
        entry["ended_ns"] = self._since_start_ns()
        refusal = self._keep(target, number, measured)
        if refusal is not None and measured.status == "ok":
            measured = replace(measured, status="failed", reason=refusal)
        entry.update(
            status="failed" if measured.status == "interrupted" else measured.status,
            reason=measured.reason,
            exit_status=measured.exit_status,
            stderr=measured.stderr,
        )
        self.raw.end_process(entry)
        return measured

    def _timeout_s(self, target: Target, elapsed_s: float) -> float | None:
        if self.driver_timeout_s is not None or self.most_seconds is None:
            return self.driver_timeout_s
        return timeout_for(target, self.most_seconds - elapsed_s)

    def _keep(self, target: Target, number: int, measured: ProcessResult) -> str | None:
        """Store the blocks that were asked for; say why one cannot be stored."""
        cells = {cell.temperature: cell.text for cell in target.cells}
        for block in measured.blocks:
            if block.workload != target.workload or block.temperature not in cells:
                return "a block was not requested"
            reload = self.raw.add_block(block)
            try:
                self.writer.add_block(cells[block.temperature], number, block, reload)
            except ProtocolError as error:
                return error.message
        if measured.done is not None:
            self.raw.add_done(measured.done)
        return None

    def finish(self) -> RunOutcome:
        """Write the run file from all that was kept."""
        # Asked once: who wants to stop from here on gets a file that is whole, and is heard behind it.
        interrupted = self.wish.wanted
        missing = "the run was interrupted" if interrupted else OUT_OF_TIME
        if self._trouble is not None:
            missing = self._trouble.message
        ends = tuple(self._ledger.ends(self.scheduler.stopped_by, missing))
        status, reason, exit_status = self._verdict(ends, interrupted=interrupted)
        outcome = RunOutcome(
            self.writer.path,
            status,
            reason,
            exit_status,
            ends,
            len(self._processes),
            self.writer.n_samples,
            measured_s=self._since_start_ns() / 1e9,
        )
        self.progress.run_ended(status, reason)
        outcome = replace(outcome, previous_raw=self.raw.kept, trouble=self._trouble)
        lacking = isinstance(self._trouble, SettingError) or (
            self.named and all(end.status == "skipped" for end in ends)
        )
        if self.writer.n_blocks == 0 and (interrupted or lacking):
            self.raw.remove()
            return replace(outcome, path=None, exit_status=exit_status or EXIT_FAILED_CELLS)
        self._write(outcome)
        return replace(outcome, previous=self.writer.kept)

    def _write(self, outcome: RunOutcome) -> None:
        """Close NAME.raw and write the run file; NAME.raw goes only after that, and stays where writing fails."""
        ending = {
            "status": outcome.status,
            "status_reason": outcome.reason,
            "ended": datetime.now(UTC).isoformat(),
            "cells": [to_json(end) for end in outcome.cells],
            **self.hooks.described(),
        }
        if not isinstance(self._trouble, OutputError):
            try:
                self.raw.end(ending)
            except OutputError as error:
                self._trouble = error
        try:
            self.writer.write({**self.metadata, **ending, "processes": self._processes})
        except (ClonometerError, OSError, MemoryError) as error:
            if not outcome.samples:
                self.raw.remove()
                raise
            raise self._unfinished(error, outcome.samples) from error
        self.raw.remove()

    def _unfinished(self, error: Exception, samples: int) -> UnfinishedError:
        """Say that the samples are kept though the run file could not be written."""
        why = error.message if isinstance(error, ClonometerError) else str(error) or "no memory"
        first = "free some space, then: " if isinstance(error, NoRoomError) else ""
        return UnfinishedError(
            why,
            f"{samples:,} samples are saved in {self.raw.path}",
            f"{first}clonometer recover {shlex.quote(str(self.raw.path))}",
        )

    def _verdict(self, ends: Sequence[CellEntry], *, interrupted: bool) -> tuple[str, str | None, int]:
        """Status, reason and exit status: trouble with NAME.raw first, then an interruption, then failed cells."""
        count = {status: sum(end.status == status for end in ends) for status in ("ok", "failed", "missing")}
        if self._trouble is not None:
            return "partial", self._trouble.message, EXIT_FAILED_CELLS
        if interrupted:
            done = len(self._processes)
            return "partial", f"interrupted after {done} processes", EXIT_INTERRUPTED
        if count["failed"]:
            reason = f"{count['failed']} of {len(ends)} cells failed"
            return ("partial" if count["ok"] else "failed"), reason, EXIT_FAILED_CELLS
        if count["missing"]:
            of = f"{count['missing']} of {len(ends)} cells"
            late = any(end.reason == OUT_OF_TIME for end in ends)
            reason = (
                f"the time was over before {of} could be measured" if late else f"{of} have nothing to be compared with"
            )
            return "partial", reason, EXIT_FAILED_CELLS
        return "complete", None, 0

    def _since_start_ns(self) -> int:
        return time.monotonic_ns() - self._began_ns


def _both(first: OutputError | SettingError, second: SettingError) -> OutputError | SettingError:
    """What went wrong first, and that the setting was then not put back."""
    return type(first)(f"{first.message}; {second.message}", second.hint)
