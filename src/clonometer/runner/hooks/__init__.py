"""Hooks of runtimes, by which a program that a census starts tells which of its lines makes a task.

They are set by variables of the environment that the runtimes read, keep what these have, and are inherited by all that
the program starts. A hook sends a line to a socket just before the task is made (`clonometer.runner.hooks.channel`);
which task that is, is told by the thread and the time (`clonometer.tracing.census.language`).
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clonometer.runner.drivers import bin_folder
from clonometer.runner.hooks.channel import CensusStream, Channel

_FOLDER = Path(__file__).parent
#: Whom hooks tell: a program that has it is watched.
VARIABLE = "CLONOMETER_CALLS"
#: The library that runtimes load (core/hooks), and the variable that tells hooks where it is.
_LIBRARY, _LIBRARY_VARIABLE = "clonometer_calls.so", "CLONOMETER_LIBRARY"
_PYTHON = _FOLDER / "python" / "sitecustomize.py"
_PERL, _BASH, _MAKE, _PHP = (
    _FOLDER / "perl" / "ClonometerCalls.pm",
    _FOLDER / "bash" / "calls.sh",
    _FOLDER / "make" / "calls.mk",
    _FOLDER / "php" / "clonometer.ini",
)
_NODE_OPTIONS = "NODE_OPTIONS"
#: What runtimes load as they start: the file, the variable that has their options, and the option.
_LOADED = (
    (_FOLDER / "node" / "calls.cjs", _NODE_OPTIONS, "--require={file}"),
    (_FOLDER / "ruby" / "calls.rb", "RUBYOPT", "-r{file}"),
    (_PERL, "PERL5OPT", "-I{file.parent} -M{file.stem}"),
)
#: Options by which Node.js may read only what it is told to: it would not start with our file.
_NODE_PERMISSION = re.compile(r"--(experimental-)?permission\b")


def library_of_hooks() -> Path | None:
    """The library that runtimes can load; None where it was not built, or not for every user."""
    library = bin_folder() / _LIBRARY
    return library if library.is_file() and _is_always_readable(library) else None


def _is_always_readable(path: Path) -> bool:
    """Whether every user may read a file: a runtime that does not find what it must load does not start.

    Its name must be one word in the runtimes' variables, some of which are lists with colons.
    """
    if re.search(r"[\s\"'\\:;#$]", str(path)):
        return False
    others = [parent.stat().st_mode & stat.S_IXOTH for parent in path.parents]
    return all(others) and bool(path.stat().st_mode & stat.S_IROTH)


def _with_php_folder(given: str | None, folder: Path) -> str:
    """The folders of PHP's settings with ours: an empty name is the usual folder, an empty list is none."""
    return str(folder) if given == "" else f"{given or ''}:{folder}"


class Hooks:
    """The hooks of one census: what its command has in its environment, and what they have sent so far."""

    def __init__(self, channel: Channel | None, library: Path | None, command: Sequence[str] = ()) -> None:
        self._channel, self._library = channel, library
        self._may_load_node = not any(map(_NODE_PERMISSION.search, command))

    @property
    def are_set(self) -> bool:
        """Whether there are any."""
        return self._channel is not None

    @property
    def library(self) -> str | None:
        """The library that a JVM can load; None where there are no hooks."""
        return str(self._library) if self._library is not None else None

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """The environment with the hooks in it."""
        if self._channel is None or self._library is None:
            return dict(given)
        hooked = {**given, VARIABLE: self._channel.address, _LIBRARY_VARIABLE: str(self._library)}
        if _is_always_readable(_PYTHON):
            folders = [str(_PYTHON.parent), *filter(None, [given.get("PYTHONPATH")])]
            hooked["PYTHONPATH"] = os.pathsep.join(folders)
        if _is_always_readable(_BASH):
            # Only one file can be named there, and the user's counts.
            hooked.setdefault("BASH_ENV", str(_BASH))
        if _is_always_readable(_MAKE):
            hooked["MAKEFILES"] = f"{_MAKE} {given.get('MAKEFILES', '')}".strip()
        if _is_always_readable(_PHP):
            hooked["PHP_INI_SCAN_DIR"] = _with_php_folder(given.get("PHP_INI_SCAN_DIR"), _PHP.parent)
        for file, variable, option in _LOADED:
            if variable == _NODE_OPTIONS and not self._may_load_node:
                continue
            if _is_always_readable(file):
                # What comes last is loaded last: what the program loads itself is not disturbed.
                hooked[variable] = f"{given.get(variable, '')} {option.format(file=file)}".strip()
        return hooked

    def beside(self, answer: CensusStream) -> Any:
        """Read an answer while hooks are listened to: what they sent before some of it was received then."""
        return answer if self._channel is None else self._channel.beside(answer)

    def read(self) -> Iterator[dict[str, Any]]:
        """Give a line of the census for each call that hooks told of since the last time, and how many had no room."""
        if self._channel is None:
            return
        for text, pid, user in self._channel.read():
            yield {"line": "call", "text": text, "process": pid, "user": user}
        if left_out := self._channel.left_out:
            self._channel.left_out = 0
            yield {"line": "calls_left_out", "lines": left_out}


@contextmanager
def hooks_set(*, wanted: bool, command: Sequence[str] = ()) -> Iterator[Hooks]:
    """Listen to hooks of a command until the census is over; those that speak later find nobody, and do nothing."""
    library = library_of_hooks() if wanted else None
    try:
        channel = Channel() if library is not None else None
    except OSError:
        channel = None  # The census counts without.
    try:
        yield Hooks(channel, library, (*command, os.environ.get(_NODE_OPTIONS, "")))
    finally:
        if channel is not None:
            channel.close()
