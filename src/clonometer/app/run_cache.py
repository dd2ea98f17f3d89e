"""The folder of a reproduction: run files that are kept, so that an interrupted one goes on where it ended.

And what no run file holds: what demos observe, and launches that are taken to pieces.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clonometer.errors import EXIT_INTERRUPTED, ClonometerError, InputError, OutputError, RunFileError, UsageError
from clonometer.files import refuse_if_reserved, take_away, write_text
from clonometer.host.facts import collect
from clonometer.inputs import InputKind, read_json
from clonometer.plan.types import Catalogue, Plan
from clonometer.records import to_json
from clonometer.runfile import open_run
from clonometer.runner.drivers import Drivers, run_program
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.runner.interrupts import interruption
from clonometer.runner.recover import recover
from clonometer.runner.run import run
from clonometer.runner.tracing import ProbeTracer
from clonometer.studies.demonstrations import find_demo
from clonometer.studies.explained import Answer, ExplanationRequest, Refused, read_answer, trace_launches
from clonometer.studies.measured import Measurements, gather, merge
from clonometer.studies.parts import CappedRounds, prolonged, remaining

#: What makes two machines two.
_MACHINE = ("cpu.model", "cpu.allowed", "kernel.release", "memory.total_bytes")
#: Demos that show facts which claims are about.
OBSERVED = ("crash", "flags")
# An explanation has some 100 kB.
_ANSWER = InputKind("an answer that was kept", 8 << 20)


class RunCache:
    """Run files in one folder, one or several a plan: ``NAME.parquet``, ``NAME.2.parquet`` and so on.

    The folder is made where it does not exist; ``force`` forgets what it has.
    """

    def __init__(self, folder: Path, *, force: bool, progress: Progress = SILENT) -> None:
        self._folder = folder
        self._force = force
        self._progress = progress
        self._host: Mapping[str, Any] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder {folder}: {error.strerror}") from None

    def measure(
        self, plan: Plan, catalogue: Catalogue, drivers: Drivers, seed: int, more_s: float | None = None
    ) -> Measurements:
        """Measure what a plan still lacks, or further processes for ``more_s`` seconds, and give all that is known.

        Raises
        ------
        KeyboardInterrupt
            If the user wants to stop; what was measured is kept.
        UsageError
            If the folder has runs of another machine.
        """
        files = self._files(plan.name)
        done, complete = self._done(files)
        left = remaining(plan, done) if more_s is None else prolonged(plan, more_s)
        if left.targets and (more_s is not None or not complete):
            out = self._path(plan.name, len(files) + 1)
            outcome = run(
                left,
                catalogue,
                drivers,
                out=out,
                seed=seed + len(files),
                scheduler=CappedRounds(seed + len(files), left.budget_seconds),
                progress=self._progress,
                command=("clonometer", "reproduce"),
            )
            if outcome.path is None or outcome.exit_status == EXIT_INTERRUPTED:
                raise KeyboardInterrupt
            files.append(outcome.path)
        return self._read(files)

    def _files(self, name: str) -> list[Path]:
        """The plan's run files; what a killed run left raw is finished first, or all is taken away with --force."""
        files = [self._path(name, number) for number in range(1, 100)]
        raw = [path.with_suffix(".raw") for path in files]
        if self._force:
            # Those of a run that still measures first, which refuses: then nothing has gone.
            for path in (*raw, *filter(Path.is_file, files)):
                take_away(path)
            return []
        for path in raw:
            if path.exists():
                self._recover(path)
        return [path for path in files if path.is_file()]

    def _recover(self, raw: Path) -> None:
        refuse_if_reserved(raw)
        try:
            recover(raw, raw.with_suffix(".parquet"))
        except (RunFileError, OutputError) as error:
            self._progress.say(f"clonometer: {raw} is left out: {error.message}")
        take_away(raw)

    def _path(self, name: str, number: int) -> Path:
        return self._folder / (f"{name}.parquet" if number == 1 else f"{name}.{number}.parquet")

    def _done(self, files: Sequence[Path]) -> tuple[dict[str, int], bool]:
        """How many sound processes of each cell there are, and whether a run of the plan was measured to its end."""
        done: dict[str, int] = {}
        complete = False
        for path in files:
            with open_run(path) as measured:
                self._check_machine(path, measured.document.host)
                complete |= measured.document.status != "partial"
                for process in measured.document.processes:
                    if process.status == "ok":
                        for cell in process.cells:
                            done[cell] = done.get(cell, 0) + 1
        return done, complete

    def explain(
        self, name: str, wanted: ExplanationRequest, catalogue: Catalogue, drivers: Drivers, *, quick: bool
    ) -> Answer:
        """Take launches to pieces, or take over what is kept of that; KeyboardInterrupt if the user wants to stop."""
        path = self._folder / f"explain-{name}{'-quick' if quick else ''}.json"
        kept = None if self._force else _read_answer(name, path)
        if kept is not None:
            machine, answer = kept
            self._check_machine(path, machine)
            return answer
        answer = explain_launches(wanted, catalogue, drivers, quick=quick, progress=self._progress)
        facts = {fact: self._host_facts().get(fact) for fact in _MACHINE}
        write_text(path, json.dumps({"machine": facts, "answer": to_json(answer)}))
        return answer

    def _host_facts(self) -> Mapping[str, Any]:
        if self._host is None:
            self._host = collect()
        return self._host

    def _check_machine(self, path: Path, host: Mapping[str, Any]) -> None:
        this_host = self._host_facts()
        for name in _MACHINE:
            if host.get(name) != this_host.get(name):
                raise UsageError(
                    f"{path} was measured on another machine: its {name} is {host.get(name)!r}, here "
                    f"{this_host.get(name)!r}",
                    "--out names another folder, --force measures again",
                )

    @staticmethod
    def _read(files: Sequence[Path]) -> Measurements:
        parts = []
        for path in files:
            with open_run(path) as measured:
                parts.append(gather(measured))
        return merge(parts) if parts else Measurements([])


def _read_answer(name: str, path: Path) -> tuple[Mapping[str, Any], Answer] | None:
    """Read an answer that is kept, and the facts of its machine; what cannot be read is made anew."""
    try:
        kept = read_json(path, _ANSWER)
        answer = read_answer(name, kept["answer"])
    except (LookupError, TypeError, InputError):
        return None
    return (kept["machine"], answer) if isinstance(kept.get("machine"), dict) else None


def observe_demos(progress: Progress = SILENT) -> dict[str, dict[str, str]]:
    """Run the demos whose facts answer claims; one that cannot run here is said and left out."""
    seen = {}
    for name in OBSERVED:
        demo = find_demo(name)
        try:
            seen[name] = demo.read(run_program(demo.program))
        except ClonometerError as error:
            progress.say(f"clonometer: demo {name}: {error.message}")
    return seen


def explain_launches(
    wanted: ExplanationRequest, catalogue: Catalogue, drivers: Drivers, *, quick: bool, progress: Progress = SILENT
) -> Answer:
    """Explain what the ledger uses, and say how long that took, or why nothing can be seen here.

    Raises
    ------
    KeyboardInterrupt
        If the user wants to stop.
    """
    began = time.monotonic()
    allowed = collect().get("cpu.allowed")
    cpus = allowed if isinstance(allowed, int) else 1
    try:
        with interruption() as wish_to_stop:

            def listen() -> ProbeTracer:
                return ProbeTracer(drivers, drivers.calibrate(), interrupt_fd=wish_to_stop.descriptor)

            answer = trace_launches(wanted, catalogue, listen, cpus=cpus, quick=quick)
            if wish_to_stop.wanted:
                raise KeyboardInterrupt
    except ClonometerError as error:
        progress.say(f"clonometer: {wanted.evidence}: {error.message}")
        return Refused(error.message)
    progress.say(f"explained {' and '.join(wanted.mechanisms)} in {time.monotonic() - began:.0f} s")
    return answer
