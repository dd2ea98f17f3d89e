"""The exceptions of Clonometer.

::

    ClonometerError
    ├── UsageError              the caller asked for what does not exist        exit 2
    │   └── PlanError           a plan that cannot be meant
    ├── InputError              a file that is not what it should be            exit 2
    │   ├── MissingFileError    ... that is not there
    │   ├── RunFileError        truncated, foreign, newer or damaged run file
    │   └── CatalogueError      a driver described itself wrongly
    ├── OutputError             a result that cannot be written                 exit 2
    │   ├── NoRoomError         ... since the disk is full                      exit 4
    │   └── UnfinishedError     ... after something was measured, which is kept exit 4
    ├── ProtocolError           a driver's answer that breaks docs/protocol.md
    ├── DriverError             a driver that cannot be started or has died
    ├── SettingError            a command that switches a setting, or puts it back, has failed
    ├── CommandError            a command of the user's that is compared has failed
    ├── NotStartedError         a command of the user's that cannot be executed exit 126, 127
    ├── VanishedError           what was looked at has ended meanwhile          exit 3
    └── UnavailableError        what this machine cannot do, with its numbers
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable

#: How a command ends where no error says it: what it checks is surely not so, no verdict can be given, cells have
#: failed, a signal has ended it.
EXIT_REGRESSION = 1
EXIT_CANNOT_TELL = 3
EXIT_FAILED_CELLS = 4
EXIT_INTERRUPTED = 130
#: Of what runs another command and passes on its status, as timeout(1) and env(1): its time was over; our own failure.
EXIT_TIMED_OUT = 124
EXIT_WRAPPER_FAILED = 125


# How long a list of names in an error may be, in characters; and of what 'clonometer list' names all.
_LONGEST_LIST = 240
_LONGEST_NAME = 120
_LIKE, _LIKE_AN_OPTION = 0.55, 0.6
_LISTED = ("workload", "mechanism", "axis", "plan", "name")


class ClonometerError(Exception):
    """Base of all errors that Clonometer raises on purpose."""

    exit_status = 2

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(ClonometerError):
    """The caller asked for what does not exist or cannot be meant."""


class PlanError(UsageError):
    """A plan that cannot be read or expanded."""


class InputError(ClonometerError):
    """A file that is not what it should be."""


class MissingFileError(InputError):
    """A file that is not there."""


class RunFileError(InputError):
    """A run file that is truncated, foreign, newer or damaged."""


class CatalogueError(InputError):
    """A driver's description of itself that breaks docs/protocol.md."""


class OutputError(ClonometerError):
    """A result that cannot be written where it was asked for."""


class NoRoomError(OutputError):
    """A result for which the disk, the quota or the largest size of a file leaves no room."""

    exit_status = EXIT_FAILED_CELLS


class UnfinishedError(OutputError):
    """What was measured could not be written or shown as it was asked for."""

    exit_status = EXIT_FAILED_CELLS

    def __init__(self, why: str, kept: str, hint: str | None = None) -> None:
        super().__init__(f"{why}; {kept}", hint)
        self.why = why


class ProtocolError(ClonometerError):
    """A driver's answer that breaks docs/protocol.md."""

    exit_status = EXIT_FAILED_CELLS


class DriverError(ClonometerError):
    """A driver that cannot be started, hangs or has died."""

    exit_status = EXIT_FAILED_CELLS


class SettingError(ClonometerError):
    """A command that switches a setting for the processes of a side, or puts it back, has failed."""

    exit_status = EXIT_FAILED_CELLS


class CommandError(ClonometerError):
    """A command of the user's own, which is compared with another, has failed or lasted too long."""

    exit_status = EXIT_FAILED_CELLS


class NotStartedError(ClonometerError):
    """A command of the user's own that cannot be executed, or does not exist: status 126 or 127, as of env(1)."""

    def __init__(self, message: str, hint: str | None = None, *, exists: bool) -> None:
        super().__init__(message, hint)
        self.exit_status = 126 if exists else 127


class VanishedError(ClonometerError):
    """What was being looked at, such as a process, has ended meanwhile: nothing can be told of it."""

    exit_status = EXIT_CANNOT_TELL


class UnavailableError(ClonometerError):
    """What this machine cannot do; the message carries the numbers."""

    exit_status = EXIT_FAILED_CELLS


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """Build the error for a name that does not exist.

    Its message names the nearest match, its hint lists what exists or, of many, what is near.

    Examples
    --------
    >>> unknown("plan", "defalt", ["default", "quick"]).message
    "unknown plan 'defalt'; did you mean 'default'?"
    """
    # What a file names may be as long as the file.
    name = name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."
    names = sorted(known)
    near = _nearest(name, names)
    tail = f"; did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(names)
    if len(listed) <= _LONGEST_LIST:
        hint = f"available: {listed}" if names else None
    else:
        # Nobody reads 75 names to find the one that is meant.
        more = f"also near: {', '.join(near[1:])}; " if near[1:] else ""
        where = _where_listed(kind)
        hint = f"{more}{len(names)} exist: {where}"
    return UsageError(f"unknown {kind} {name!r}{tail}", hint)


def _where_listed(kind: str) -> str:
    """Where all names of a kind stand."""
    first, _, whose = kind.partition(" of ")
    if first == "axis" and whose:
        return f"'clonometer list {whose}' names them"
    if first == "command":
        return "'clonometer --help' names them"
    if first == "option":
        return "--help describes them"
    return "'clonometer list' names them" if first.split(maxsplit=1)[0] in _LISTED else "too many to list here"


def _nearest(name: str, names: list[str]) -> list[str]:
    """The names that are most like one, by the whole or by the last of the words that dots join."""
    if name.startswith("-"):
        # The dashes are alike in all options, and a single letter is like none of them.
        options = {full.lstrip("-"): full for full in names}
        near = difflib.get_close_matches(name.removeprefix("--"), list(options), n=4, cutoff=_LIKE_AN_OPTION)
        return [options[word] for word in near]
    whole = {full: full for full in names} | {full.rpartition(".")[2]: full for full in reversed(names)}
    near = difflib.get_close_matches(name, list(whole), n=4, cutoff=_LIKE)
    return list(dict.fromkeys(whole[word] for word in near))
