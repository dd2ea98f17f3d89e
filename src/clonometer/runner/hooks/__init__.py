"""Hooks of runtimes, by which a program that a census starts tells which of its lines makes a task.

They are set by variables of the environment that the runtimes read, keep what these have, and are inherited by all that
the program starts. A hook writes a line to a file of bounded size just before the task is made; which task that is, is
told by the thread and the time (`clonometer.tracing.census.language`).
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from clonometer.runner.drivers import bin_folder

_FOLDER = Path(__file__).parent
#: Where hooks write to: a program that has it is watched.
VARIABLE = "CLONOMETER_CALLS"
#: Every user may add to the file, whom the program may become, and nobody else may read it or list its folder.
_FOLDER_MODE, _FILE_MODE = 0o711, 0o622
#: The library that Bash, make and Perl load (core/hooks), and the variable that tells them where it is.
_LIBRARY, _LIBRARY_VARIABLE = "clonometer-calls.so", "CLONOMETER_LIBRARY"
_PERL, _BASH, _MAKE = (
    _FOLDER / "perl" / "ClonometerCalls.pm",
    _FOLDER / "bash" / "calls.sh",
    _FOLDER / "make" / "calls.mk",
)
#: What runtimes load as they start: the file, the variable that has their options, and the option.
_LOADED = (
    (_FOLDER / "node" / "calls.cjs", "NODE_OPTIONS", "--require={file}"),
    (_FOLDER / "ruby" / "calls.rb", "RUBYOPT", "-r{file}"),
    (_PERL, "PERL5OPT", "-I{file.parent} -M{file.stem}"),
)


def _is_always_readable(path: Path) -> bool:
    """Whether every user may read a file: a runtime that does not find what it must load does not start."""
    if re.search(r"[\s\"'\\\\]", str(path)):
        return False
    others = [parent.stat().st_mode & stat.S_IXOTH for parent in path.parents]
    return all(others) and bool(path.stat().st_mode & stat.S_IROTH)


def _with_php_folder(given: str | None, folder: Path) -> str:
    """The folders of PHP's settings with ours: an empty name is the usual folder, an empty list is none."""
    return str(folder) if given == "" else f"{given or ''}:{folder}"


class Hooks:
    """The hooks of one census: what its command has in its environment, and what they have written so far."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file = None if path is None else path.open("rb", buffering=0)
        self._rest = b""

    @property
    def are_set(self) -> bool:
        """Whether there are any."""
        return self._path is not None

    @property
    def library(self) -> str | None:
        """The library that Bash, make, Perl and a JVM can load; None where it was not built, or not for every user."""
        library = bin_folder() / _LIBRARY
        return str(library) if library.is_file() and _is_always_readable(library) else None

    def environment(self, given: Mapping[str, str]) -> dict[str, str]:
        """The environment with the hooks in it."""
        if self._path is None:
            return dict(given)
        folders = [str(_FOLDER / "python"), *filter(None, [given.get("PYTHONPATH")])]
        hooked = {**given, VARIABLE: str(self._path), "PYTHONPATH": os.pathsep.join(folders)}
        if self.library is not None and all(map(_is_always_readable, (_BASH, _MAKE))):
            hooked[_LIBRARY_VARIABLE] = self.library
            # Only one file can be named there, and the user's counts.
            hooked.setdefault("BASH_ENV", str(_BASH))
            hooked["MAKEFILES"] = f"{_MAKE} {given.get('MAKEFILES', '')}".strip()
            hooked["PHP_INI_SCAN_DIR"] = _with_php_folder(given.get("PHP_INI_SCAN_DIR"), self._php_folder(self.library))
        for file, variable, option in _LOADED:
            if _is_always_readable(file):
                # What comes last is loaded last: what the program loads itself is not disturbed.
                hooked[variable] = f"{given.get(variable, '')} {option.format(file=file)}".strip()
        return hooked

    def _php_folder(self, library: str) -> Path:
        """The folder with what PHP adds to its configuration; it goes with the census."""
        assert self._path is not None
        folder = self._path.with_name("php")
        folder.mkdir(exist_ok=True)
        folder.chmod(0o755)
        settings = folder / "clonometer.ini"
        settings.write_text(f"zend_extension={library}\n")
        settings.chmod(0o644)
        return folder

    def read(self) -> Iterator[str]:
        """Give the lines that were written since the last time."""
        if self._file is None:
            return
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        for line in lines:
            yield line.decode("utf-8", "replace")

    def close(self) -> None:
        """Read no more."""
        if self._file is not None:
            self._file.close()


@contextmanager
def hooks_set(*, wanted: bool) -> Iterator[Hooks]:
    """Have a file that hooks write to, until the census is over; those that come later find none, and do nothing."""
    if not wanted:
        yield Hooks(None)
        return
    folder = Path(tempfile.mkdtemp(prefix="clonometer-calls-"))
    try:
        folder.chmod(_FOLDER_MODE)
        path = folder / "calls"
        path.touch()
        path.chmod(_FILE_MODE)
        hooks = Hooks(path)
        try:
            yield hooks
        finally:
            hooks.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
