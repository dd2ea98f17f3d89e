"""Which drivers there are, what each can do, and which of them answers a request."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

from clonometer.errors import DriverError, InputError, UnavailableError
from clonometer.families import axis
from clonometer.inputs import parse_json
from clonometer.plan.sides import SIDE
from clonometer.plan.types import Target
from clonometer.runner.environment import fixed_variables, padded, room_for
from clonometer.runner.process import ANSWER_FD, sound_answer

BIN_VARIABLE = "CLONOMETER_BIN"
GUARDIAN = "clonometer-guardian"
#: The axis by whose value a driver is chosen.
LINKAGE = "linkage"
#: The axis that names a folder in which the driver makes one.
OUTPUT_FOLDER = "output_folder"
#: The clock that every driver reads, and every machine has.
MONOTONIC = "monotonic"
_PROBE = "probe-"
_PREFIXES = (_PROBE, "driver-")
#: Begin the names of all that measuring needs: drivers, and the programs that those start.
MEASURING = (*_PREFIXES, "target_")
_ASK_TIMEOUT_S = 20.0
_PROGRAM_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Driver:
    """One executable that speaks the driver protocol, and its description of itself."""

    name: str
    argv: tuple[str, ...]
    description: Mapping[str, Any]
    #: What it was built with or is run by, which it need not know: added to its description.
    toolchain: Mapping[str, str] | None = None
    #: What it may answer at most, in bytes.
    most_answer_bytes: ClassVar[float] = math.inf

    @property
    def family(self) -> str:
        """The name that it gives itself, the same in every linkage."""
        return self._says("name") or self.name

    @property
    def linkage(self) -> str | None:
        """How it was linked, as it says itself."""
        return self._says("linkage")

    def _says(self, key: str) -> str | None:
        about = self.description.get("driver")
        text = about.get(key) if isinstance(about, dict) else None
        return text if isinstance(text, str) else None

    def has(self, workload: str) -> bool:
        """Whether it describes ``workload``, available here or not."""
        entries = self.description.get("workloads")
        return isinstance(entries, list) and any(
            isinstance(entry, dict) and entry.get("id") == workload for entry in entries
        )

    def reads(self, clock: str) -> bool:
        """Whether it can take timestamps with a clock: any, unless it names those that it reads."""
        about = self.description.get("driver")
        clocks = about.get("clocks") if isinstance(about, dict) else None
        return clock in clocks if isinstance(clocks, list) else True

    def calibrate(self) -> dict[str, Any]:
        """Let it calibrate the clock (docs/protocol.md).

        Raises
        ------
        DriverError
            If it gives no answer, or one that is no calibration.
        """
        clock = self._answer("--calibrate")
        if clock.get("clock") not in ("tsc", "monotonic"):
            raise DriverError(f"{self.name} --calibrate names an unknown clock {clock.get('clock')!r}")
        hertz = clock.get("clock_hz")
        if clock["clock"] == "tsc" and not (isinstance(hertz, int) and hertz > 0):
            raise DriverError(f"{self.name} --calibrate gives no frequency for the TSC but {hertz!r}")
        return clock

    def request(self, target: Target, clock: Mapping[str, Any]) -> list[str]:
        """Write the command that measures ``target`` (docs/protocol.md)."""
        limits = target.limits
        keys: dict[str, object] = {"workload": target.workload}
        keys |= {name: value for name, value in target.condition.items() if not axis(name).by_runner}
        temperatures = [cell.temperature for cell in target.cells if cell.temperature is not None]
        if temperatures:
            keys["temperatures"] = ",".join(sorted(temperatures))
        keys |= {
            "samples": limits.samples,
            "blocks": limits.blocks,
            "warmup": limits.warmup,
            "block_limit_ns": limits.block_limit_ns,
            "clock": clock["clock"] if self.reads(clock["clock"]) else MONOTONIC,
        }
        if keys["clock"] == "tsc":
            keys["clock_hz"] = clock["clock_hz"]
        keys |= target.options
        return self.command("--fd", ANSWER_FD, *(f"{key}={value}" for key, value in keys.items()))

    def command(self, *words: str) -> list[str]:
        """Write the command that hands it these words."""
        return [*self.argv, *words]

    def folders(self, target: Target) -> tuple[str, ...]:
        """Where it makes directories on this machine, as it was told: in $TMPDIR, and where output goes."""
        output = target.condition.get(OUTPUT_FOLDER) or target.options.get(OUTPUT_FOLDER)
        return (os.environ.get("TMPDIR") or "/tmp", *([str(output)] if output else []))

    @property
    def variables(self) -> dict[str, str]:
        """What its environment has besides the pad."""
        return fixed_variables()

    def start_in(self, environment: Mapping[str, str], command: Sequence[str]) -> tuple[list[str], Mapping[str, str]]:
        """Give the command, and the environment to start it in, with which the driver itself has this environment."""
        return list(command), environment

    def _answer(self, word: str) -> dict[str, Any]:
        variables = self.variables
        command, environment = self.start_in(padded(variables, room_for(variables)), self.command(word))
        return _ask(f"{self.name} {word}", command, environment)

    def described(self) -> Driver:
        """Let it describe itself.

        Raises
        ------
        DriverError
            If it gives no answer, one that is no JSON object, or its clock is not CLOCK_MONOTONIC as read here.
        """
        before = time.monotonic_ns()
        described = replace(self, description=self._answer("--describe"))
        after = time.monotonic_ns()
        about = described.description.get("driver")
        if not isinstance(about, dict):
            return described
        further: dict[str, object] = {} if self.toolchain is None else {"toolchain": self.toolchain}
        reading = about.get("clock_now_ns")
        if isinstance(reading, int):
            if not before <= reading <= after:
                away = (reading - before) / 1e9
                raise DriverError(f"{self.name}: its clock is {away:+.3f} s away from CLOCK_MONOTONIC: {reading} ns")
            further["clock_ahead_ns"] = [reading - after, reading - before]
        return replace(described, description={**described.description, "driver": {**about, **further}})


@dataclass(frozen=True)
class Drivers:
    """The drivers that can be used here, in the order of preference, and why others cannot.

    ``guardian`` is the program that sets frequencies, None where it was not built. ``of_sides`` has the driver that
    measures a side of a comparison (`clonometer.plan.sides`) in the place of these.
    """

    usable: tuple[Driver, ...]
    broken: Mapping[str, str]
    guardian: Path | None = None
    of_sides: Mapping[str, Driver] = field(default_factory=dict)

    @property
    def descriptions(self) -> list[Mapping[str, Any]]:
        """What the usable drivers said of themselves, each a catalogue (docs/protocol.md).

        One driver built in several linkages is one driver: the preferred one speaks for all.
        """
        first = {driver.family: driver.description for driver in reversed(self.usable)}
        return list(reversed(first.values()))

    @property
    def linkages(self) -> list[str]:
        """The linkages that were built."""
        return sorted({driver.linkage for driver in self.usable if driver.linkage is not None})

    def choose(self, workload: str, condition: Mapping[str, object]) -> Driver:
        """Choose the driver that measures a workload under a condition.

        Raises
        ------
        UnavailableError
            If none was built with the linkage that the condition asks for, or none knows the workload.
        """
        named = self.of_sides.get(str(condition.get(SIDE)))
        if named is not None:
            if not named.has(workload):
                raise UnavailableError(f"{named.name} cannot perform {workload}")
            return named
        able = [driver for driver in self.usable if driver.has(workload)]
        if not able:
            raise UnavailableError(f"no driver here can perform {workload}")
        wanted = condition.get(LINKAGE)
        for driver in able:
            if wanted is None or driver.linkage == wanted:
                return driver
        if reason := self.broken.get(f"{_PROBE}{wanted}"):
            raise UnavailableError(f"the driver with linkage {wanted} cannot be used: {reason}")
        built = sorted({driver.linkage for driver in able if driver.linkage is not None})
        raise UnavailableError(f"no driver was built with linkage {wanted}, only {', '.join(built) or 'unnamed'}")

    def calibrate(self) -> dict[str, Any]:
        """Calibrate the clock with the preferred driver.

        Raises
        ------
        DriverError
            If it cannot.
        """
        return self.usable[0].calibrate()


def find_drivers(commands: Sequence[Sequence[str]] | None = None, further: Sequence[Driver] = ()) -> Drivers:
    """Find the drivers and let each describe itself.

    ``commands`` start drivers, each a list of words, instead of a search (`bin_folder`). ``further`` are drivers that
    are elsewhere.

    Raises
    ------
    DriverError
        If there is no driver that can be used.
    """
    folder = bin_folder()
    if commands is None:
        commands = [[str(path)] for path in executables(folder, _PREFIXES)]
    return describe_drivers([*(Driver(Path(argv[-1]).name, tuple(argv), {}) for argv in commands), *further], folder)


def describe_drivers(candidates: Sequence[Driver], folder: Path | None) -> Drivers:
    """Let each driver describe itself, and sort them by preference.

    ``folder`` is where they and the guardian are; None where that is another machine.

    Raises
    ------
    DriverError
        If none can be used.
    """
    usable: list[Driver] = []
    broken: dict[str, str] = {}
    for driver in candidates:
        try:
            usable.append(driver.described())
        except DriverError as error:
            ours = folder is not None and driver.name.startswith(_PROBE)
            broken[driver.name] = f"{error.message}; 'make build' rebuilds it" if ours else error.message
    if not usable:
        reasons = "; ".join(broken.values()) or f"none in {folder}"
        raise DriverError(
            f"no driver can be used: {reasons}", f"'make build' builds them; {BIN_VARIABLE} names the folder"
        )
    # A probe first, since only it need calibrate the clock, and a static one: it is the default everywhere.
    usable.sort(key=lambda driver: (not driver.name.startswith(_PROBE), driver.linkage != "static", driver.name))
    guardian = None if folder is None else folder / GUARDIAN
    return Drivers(tuple(usable), broken, guardian if guardian and os.access(guardian, os.X_OK) else None)


def bin_folder() -> Path:
    """Where drivers and other programs of ours are: in the package's ``_bin``, or where ``CLONOMETER_BIN`` says."""
    named = os.environ.get(BIN_VARIABLE)
    if named:
        return Path(named)
    # The wheel is always installed as files: executables cannot be started from an archive.
    return Path(str(resources.files("clonometer") / "_bin"))


def built_program(name: str) -> Path:
    """Where a program of ours is; a DriverError where it was not built."""
    path = bin_folder() / name
    if not path.is_file():
        raise DriverError(f"{name} was not built: {path} is missing", "'make build' builds it")
    return path


def run_program(name: str) -> str:
    """Start a program that was built with the drivers, wait for its end, and give what it printed.

    Raises
    ------
    DriverError
        If it is not there, ends with another status than 0, or is stopped.
    """
    return sound_answer(name, [str(built_program(name))], timeout_s=_PROGRAM_TIMEOUT_S).decode("utf-8", "replace")


def executables(folder: Path, prefixes: tuple[str, ...] = ("",)) -> list[Path]:
    """The programs in a folder whose names begin with one of these, sorted; none where there is no such folder."""
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return [path for path in paths if path.name.startswith(prefixes) and path.is_file() and os.access(path, os.X_OK)]


def _ask(name: str, argv: Sequence[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """Start a driver that answers with one JSON object on standard output."""
    content = sound_answer(name, argv, timeout_s=_ASK_TIMEOUT_S, environment=environment)
    try:
        answer = parse_json(content)
    except InputError as error:
        raise DriverError(f"{name} does not answer with JSON: {error.message}") from error
    if not isinstance(answer, dict):
        raise DriverError(f"{name} does not answer with a JSON object")
    return answer
