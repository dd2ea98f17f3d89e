"""Signals that ask a command to end: it ends where it stands, all that is open is closed, and the status is 130.

While something is measured they are wishes instead (`clonometer.runner.interrupts`).
"""

from __future__ import annotations

import os
import signal
import sys

from clonometer.errors import EXIT_INTERRUPTED
from clonometer.runner.interrupts import ENDING_SIGNALS, replace_handlers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType

# Longer than it takes to close what is open.
_REMIND_AFTER_S = 2.0
_REMIND_SOON_S = 0.01
_MOST_REMINDERS = 5


class _Asked:
    """How often this command was asked to end."""

    times = 0


def listen() -> None:
    """End by `KeyboardInterrupt` from now on, whichever signal asks to end; those that are ignored stay so."""
    _Asked.times = 0
    replace_handlers(_end)
    sys.unraisablehook = _notice_a_loss


def was_asked_to_end() -> bool:
    """Whether a signal came, even if what it met was a library that answered it with an error of its own."""
    return _Asked.times > 0


def listen_no_more() -> None:
    """Ignore the signals: the command has ended, only Python has not yet."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in ENDING_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: FrameType | None) -> None:
    _Asked.times += 1
    # Once is enough: another would meet what closes files and removes folders.
    if _Asked.times == 1:
        signal.signal(signal.SIGALRM, _remind)
        signal.setitimer(signal.ITIMER_REAL, _REMIND_AFTER_S, _REMIND_AFTER_S)
        raise KeyboardInterrupt


def _remind(number: int, frame: FrameType | None) -> None:
    """Ask again: a library may have taken the first for an error of its own, and gone on."""
    _Asked.times += 1
    if _Asked.times > _MOST_REMINDERS:
        os._exit(EXIT_INTERRUPTED)
    raise KeyboardInterrupt


def _notice_a_loss(lost: sys.UnraisableHookArgs) -> None:
    """Ask again soon where the exception met a destructor: Python drops it there."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        signal.setitimer(signal.ITIMER_REAL, _REMIND_SOON_S, _REMIND_AFTER_S)
    else:
        sys.__unraisablehook__(lost)
