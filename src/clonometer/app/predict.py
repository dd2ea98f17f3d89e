"""``predict``: what a fork would cost a running process, a saved profile, or each of all processes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from clonometer.app.calibrating import measure_busyness, measure_scales
from clonometer.app.live import live, read
from clonometer.app.predicting import answer, calibrated_machine, rough_machine, with_paths
from clonometer.errors import ClonometerError, UsageError
from clonometer.host.source import Source
from clonometer.host.target.reader import How, Reading, expected_lock_ns
from clonometer.inputs import InputKind, naming, read_json
from clonometer.prediction.answer import Predicted
from clonometer.prediction.copying import WriteRate, rate_of
from clonometer.prediction.judge import Machine, Question, judge
from clonometer.prediction.profile import Profile, profile_from_json
from clonometer.prediction.ranking import Ranking, rank
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.units import brief_duration

__all__ = ["predict"]

_PROFILE = InputKind("a profile", 8 << 20, "'clonometer predict --save-profile' writes one")
#: Less than that delays a page fault by no more than other work on the machine does.
_NOTICED_NS = 2_000_000


def predict(
    pid: int,
    *,
    question: Question | None = None,
    rough: bool = False,
    scan: bool = True,
    progress: Progress = SILENT,
) -> Predicted:
    """Predict what a fork would cost a running process, which is only read.

    Parameters
    ----------
    pid
        Of the process.
    question
        How fast it writes, how long the child lives, how often it forks; by default all of these are unknown.
    rough
        Use the rough model even where this machine was calibrated (`calibrate`).
    scan
        Measure for 4 s how fast and how busy the machine is now.
    progress
        Watches.

    Raises
    ------
    UsageError
        If there is no such process, or it may not be read.
    InputError
        If the calibration is damaged, or of another machine.
    """
    announce_reading(pid, progress=progress)
    reading = read(pid)
    machine = None if rough else machine_now(scan=scan, progress=progress)
    return with_paths(answer(reading, machine or rough_machine(), question or Question()))


def announce_reading(pid: int, *, how: How | None = None, progress: Progress = SILENT) -> None:
    """Say before a process is read for how long that will hold its memory lock, where a caller may notice it.

    Raises
    ------
    UsageError
        If there is no such process, or none that forks.
    """
    held_ns = expected_lock_ns(live(), pid, how=how)
    if held_ns >= _NOTICED_NS:
        progress.say(
            f"Reading smaps of process {pid} will hold its mmap lock for up to {brief_duration(held_ns)}, as a fork "
            "does. '--how counters' would not."
        )


def machine_now(*, scan: bool, progress: Progress = SILENT) -> Machine | None:
    """Take this machine's calibration; ``scan`` adds how fast and how busy it is now. None where it has none.

    Raises
    ------
    InputError
        If the calibration is damaged, or of another machine.
    """
    machine = calibrated_machine()
    return _scaled(machine, progress) if machine is not None and scan else machine


def _scaled(machine: Machine, progress: Progress) -> Machine:
    """Measure for 4 s how fast and how busy the machine is now; where that fails, it is said and nothing changes."""
    try:
        return replace(machine, scales=measure_scales(machine.calibration), stretches=measure_busyness())
    except ClonometerError as error:
        progress.say(f"clonometer: the machine's present speed was not measured: {error.message}")
        return machine


def predict_saved(path: Path, machine: Machine, question: Question) -> Predicted:
    """Answer for a profile that ``predict --save-profile`` has written.

    Raises
    ------
    InputError
        If it cannot be read, or is no profile.
    """
    return judge(read_profile(path), machine, question)


def read_profile(path: Path) -> Profile:
    """Read a profile that ``predict --save-profile`` has written.

    Raises
    ------
    InputError
        If it cannot be read, or is no profile.
    """
    content = read_json(path, _PROFILE)
    with naming(path, _PROFILE):
        return profile_from_json(content)


def ranked(machine: Machine, question: Question, *, how: How | None = None, top: int = 10) -> Ranking:
    """Rank all processes but this one by what a fork would cost them."""
    machine_now = live()
    pids = [int(name) for name in machine_now.names("/proc") if name.isdigit()]
    pids = [pid for pid in pids if pid != os.getpid() and not _is_of_kernel(machine_now, pid)]
    ranking = rank(pids, lambda pid: answer(read(pid, how=how), machine, question), top=top, model=machine.name)
    # Of those alone that are shown: it reads files of their programs.
    return replace(ranking, processes=[with_paths(each) for each in ranking.processes])


def _is_of_kernel(source: Source, pid: int) -> bool:
    # Only a process has memory: what has none never forks. So it is with zombies.
    return source.text_or(f"/proc/{pid}/statm", "").startswith("0 ")


def measured_rate(reading: Reading, seconds: float, progress: Progress = SILENT) -> WriteRate:
    """Watch for so many seconds which pages a process writes to.

    Raises
    ------
    UsageError
        If its areas cannot be read.
    """
    from clonometer.host.target.writes import means_of_this_kernel, measure_writes, what_it_does

    pid = reading.status.pid
    if reading.areas is None:
        raise UsageError(f"writes of process {pid} cannot be measured: {reading.why}")
    means = means_of_this_kernel()
    progress.say(f"Measuring for {seconds:g} s which pages process {pid} writes to. {what_it_does(means)}")
    seen = measure_writes(live(), pid, reading.areas, seconds, means=means)
    return WriteRate(rate_of(seen.pages, seen.of_pages, seen.seconds), means, seen.seconds)
