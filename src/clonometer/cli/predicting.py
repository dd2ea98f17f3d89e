"""What commands share that predict a fork: the machine's model, and the answer for a live process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from clonometer.errors import ClonometerError

if TYPE_CHECKING:
    from clonometer.host.source import Source
    from clonometer.host.target.reader import How, Reading
    from clonometer.predict.answer import Predicted
    from clonometer.predict.judge import Machine, Question

ROOT = Path("/")
_THP = "/sys/kernel/mm/transparent_hugepage/enabled"


def live() -> Source:
    """The machine as it is now: a source reads each file once."""
    from clonometer.host.source import Source

    return Source(ROOT)


def calibrated_machine() -> Machine | None:
    """The model of this machine; None where it was not calibrated.

    Raises
    ------
    InputError
        If the calibration is damaged, or of another machine.
    """
    from clonometer.host.facts import collect
    from clonometer.model.store import check_machine, default_path, machine_of, read_calibration
    from clonometer.predict.judge import Machine

    calibration = read_calibration(default_path())
    if calibration is None:
        return None
    check_machine(calibration, machine_of(collect()))
    return Machine(calibration, is_rough=False)


def rough_machine() -> Machine:
    """The rough model, for machines that were not calibrated."""
    from clonometer.predict.judge import Machine
    from clonometer.predict.rough import rough_calibration

    return Machine(rough_calibration(), is_rough=True)


def read(pid: int, *, how: How | None = None) -> Reading:
    """Read a live process."""
    from clonometer.host.target.reader import read_target

    return read_target(live(), pid, how=how)


def answer(reading: Reading, machine: Machine, question: Question) -> Predicted:
    """Answer for a process that was read."""
    from clonometer.host.source import Lack, chosen
    from clonometer.host.target.room import read_room
    from clonometer.predict.judge import judge
    from clonometer.predict.profile import profile_of

    source = live()
    try:
        huge_pages_used = chosen(source.text(_THP)) != "never"
    except Lack:
        huge_pages_used = False
    profile = profile_of(reading, huge_pages_used=huge_pages_used)
    return judge(profile, machine, question, reading=reading, room=read_room(source, reading.standing))


def beside(pid: int) -> dict[str, Any] | None:
    """What a fork of a process would cost, for commands that show something else; None where that is not known.

    It is not known where this machine was not calibrated, or where the process cannot be read.
    """
    from clonometer.predict.answer import predicted_to_json
    from clonometer.predict.judge import Question

    try:
        machine = calibrated_machine()
        return None if machine is None else predicted_to_json(answer(read(pid), machine, Question()))
    except ClonometerError:
        return None
