"""What commands share that predict a fork: the machine's model, and the answer for a live process."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clonometer.app.live import live, read
from clonometer.errors import ClonometerError
from clonometer.host.facts import collect
from clonometer.host.source import FactUnavailable, chosen
from clonometer.host.target.headroom import read_headroom
from clonometer.host.target.reader import Reading
from clonometer.host.target.runtime import Runtime, read_runtime
from clonometer.launch_paths.own_work import load_own_works
from clonometer.launch_paths.reading import load_book
from clonometer.model.calibration import Calibration
from clonometer.model.store import check_machine, default_path, machine_of, read_calibration
from clonometer.prediction.answer import Predicted
from clonometer.prediction.judge import Machine, Question, judge
from clonometer.prediction.profile import profile_of
from clonometer.prediction.rough import rough_calibration
from clonometer.prediction.runtime_paths import runtime_paths
from clonometer.records import to_json

_GLANCE_EVERY_S = 1.0
_THP = "/sys/kernel/mm/transparent_hugepage/enabled"


def usable_calibration(path: Path | None = None) -> Calibration | None:
    """Read this user's calibration, or that of a file; None where there is none.

    Raises
    ------
    InputError
        If it is damaged, or not of this machine as it is now.
    """
    calibration = read_calibration(default_path() if path is None else path)
    if calibration is not None:
        check_machine(calibration, machine_of(collect()))
    return calibration


def calibrated_machine() -> Machine | None:
    """The model of this machine; None where it was not calibrated.

    Raises
    ------
    InputError
        If the calibration is damaged, or of another machine.
    """
    calibration = usable_calibration()
    return None if calibration is None else Machine(calibration, is_rough=False)


def calibrated_machine_or_none() -> Machine | None:
    """The same for commands that answer something else: None too where the calibration is damaged or of another one."""
    try:
        return calibrated_machine()
    except ClonometerError:
        return None


def rough_machine() -> Machine:
    """The rough model, for machines that were not calibrated."""
    return Machine(rough_calibration(), is_rough=True)


def answer(reading: Reading, machine: Machine, question: Question) -> Predicted:
    """Answer for a process that was read."""
    source = live()
    try:
        huge_pages_used = chosen(source.text(_THP)) != "never"
    except FactUnavailable:
        huge_pages_used = False
    profile = profile_of(reading, huge_pages_used=huge_pages_used)
    return judge(profile, machine, question, reading=reading, headroom=read_headroom(source, reading.status))


def with_paths(predicted: Predicted) -> Predicted:
    """Add how the runtime of a live process launches, for which the files of its program are read."""
    if predicted.pid is None or (identity := runtime_of(predicted.pid)) is None:
        return predicted
    return identified(predicted, identity)


@dataclass(frozen=True)
class Identity:
    """The runtime of a process, and whether its effective user is root."""

    runtime: Runtime
    is_root: bool


def runtime_of(pid: int) -> Identity | None:
    """Read the runtime of a process; None where that is not known."""
    source = live()
    try:
        user = source.field(f"/proc/{pid}/status", "Uid").split()
        return Identity(read_runtime(source, pid), user[1:2] == ["0"])
    except FactUnavailable:
        return None


def identified(predicted: Predicted, identity: Identity) -> Predicted:
    """Add how a runtime launches."""
    paths = runtime_paths(identity.runtime, load_book(), predicted, load_own_works(), is_root=identity.is_root)
    return replace(predicted, paths=paths)


class LivePredictions:
    """The processes that another command sees: what a fork of them would cost, where this machine was calibrated.

    While they are watched they are only glanced at, by counters and once a second: reading more would hold up what is
    watched.
    """

    def __init__(self) -> None:
        self._glances: dict[str, Reading] = {}
        self._next_s = 0.0
        self._machine = calibrated_machine_or_none()

    def glance(self, pid: int) -> None:
        """Look at a process that makes others; of each program the largest is kept."""
        if self._machine is None or time.monotonic() < self._next_s:
            return
        self._next_s = time.monotonic() + _GLANCE_EVERY_S
        # Most have ended by now.
        with suppress(ClonometerError):
            reading = read(pid, how="counters")
            name = reading.status.name
            if name not in self._glances or self._glances[name].status.rss_bytes < reading.status.rss_bytes:
                self._glances[name] = reading

    def documents(self, pid: int | None) -> list[dict[str, Any]]:
        """The answers: for the process that was watched, if it still runs, else for the largest that was seen."""
        if self._machine is None:
            return []
        if pid is not None:
            with suppress(ClonometerError):
                return [to_json(answer(read(pid), self._machine, Question()))]
        largest = max(self._glances.values(), key=lambda reading: reading.status.rss_bytes, default=None)
        return [] if largest is None else [to_json(answer(largest, self._machine, Question()))]
