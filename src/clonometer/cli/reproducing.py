"""The folder of a reproduction: run files that are kept, so that an interrupted one goes on where it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.errors import ClonometerError, OutputError, RunFileError, UsageError

if TYPE_CHECKING:
    from clonometer.plan.types import Catalogue, Plan
    from clonometer.runner.drivers import Drivers
    from clonometer.studies.measured import Measured

#: Demos that show facts which claims are about.
OBSERVED = ("crash", "flags")
#: What makes two machines two.
_MACHINE = ("cpu.model", "cpu.allowed", "kernel.release", "memory.total_bytes")


class Kept:
    """Run files in one folder, one or several a plan: ``NAME.parquet``, ``NAME.2.parquet`` and so on.

    Parameters
    ----------
    folder
        Made where it does not exist.
    force
        Forget what it has.
    """

    def __init__(self, folder: Path, *, force: bool) -> None:
        self._folder = folder
        self._force = force
        self._host: Mapping[str, Any] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder {folder}: {error.strerror}") from None

    def measure(self, plan: Plan, catalogue: Catalogue, drivers: Drivers, seed: int) -> tuple[Measured, bool]:
        """Measure what a plan still lacks.

        Returns
        -------
        Measured, bool
            All that is known of the plan, and whether its measuring was interrupted.

        Raises
        ------
        UsageError
            If the folder has runs of another machine.
        """
        from clonometer.cli.measuring import measure_plan
        from clonometer.runner.run import EXIT_INTERRUPTED
        from clonometer.studies.parts import CappedRounds, remaining

        files = self._files(plan.name)
        done, complete = self._done(files)
        left = remaining(plan, done)
        interrupted = False
        if not complete and left.targets:
            out = self._next(plan.name, len(files))
            outcome = measure_plan(
                left,
                catalogue,
                drivers,
                out=out,
                seed=seed + len(files),
                scheduler=CappedRounds(seed + len(files), left.budget_seconds),
                command=("clonometer", "reproduce"),
            )
            interrupted = outcome.exit_status == EXIT_INTERRUPTED
            if outcome.path is not None:
                files.append(outcome.path)
        return self._read(files), interrupted

    def _files(self, name: str) -> list[Path]:
        found = [path for number in range(1, 100) if (path := self._path(name, number)).is_file()]
        raw = [self._path(name, number).with_suffix(".raw") for number in range(1, 100)]
        if self._force:
            for path in (*found, *(one for one in raw if one.exists())):
                path.unlink()
            return []
        for path in raw:
            if path.exists():
                self._recover(path)
        return [path for number in range(1, 100) if (path := self._path(name, number)).is_file()]

    def _recover(self, raw: Path) -> None:
        from clonometer.runner.recover import recover

        try:
            recover(raw, raw.with_suffix(".parquet"))
        except (RunFileError, OutputError) as error:
            click.echo(f"clonometer: {raw} is left out: {error.message}", err=True)
        raw.unlink(missing_ok=True)

    def _path(self, name: str, number: int) -> Path:
        return self._folder / (f"{name}.parquet" if number == 1 else f"{name}.{number}.parquet")

    def _next(self, name: str, count: int) -> Path:
        return self._path(name, count + 1)

    def _done(self, files: Sequence[Path]) -> tuple[dict[str, int], bool]:
        from clonometer.runfile import open_run

        done: dict[str, int] = {}
        complete = False
        for path in files:
            with open_run(path) as run:
                self._check_machine(path, run.metadata["host"])
                complete |= run.metadata["status"] != "partial"
                for process in run.metadata["processes"]:
                    if process["status"] == "ok":
                        for cell in process["cells"]:
                            done[cell] = done.get(cell, 0) + 1
        return done, complete

    def _check_machine(self, path: Path, host: Mapping[str, Any]) -> None:
        if self._host is None:
            from clonometer.host.facts import collect

            self._host = collect()
        for name in _MACHINE:
            if host.get(name) != self._host.get(name):
                raise UsageError(
                    f"{path} is from another machine: its {name} is {host.get(name)!r}, here {self._host.get(name)!r}",
                    "--out names another folder, --force measures again",
                )

    @staticmethod
    def _read(files: Sequence[Path]) -> Measured:
        from clonometer.runfile import open_run
        from clonometer.studies.measured import Measured, gather, merge

        parts = []
        for path in files:
            with open_run(path) as run:
                parts.append(gather(run))
        return merge(parts) if parts else Measured([])


def observe_demos() -> dict[str, dict[str, str]]:
    """Run the demos whose facts answer claims; one that cannot run here is said and left out."""
    from clonometer.runner.program import run_program
    from clonometer.studies.demonstrations import find_demo

    seen = {}
    for name in OBSERVED:
        demo = find_demo(name)
        try:
            seen[name] = demo.read(run_program(demo.program).output)
        except ClonometerError as error:
            click.echo(f"clonometer: demo {name}: {error.message}", err=True)
    return seen
