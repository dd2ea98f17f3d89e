"""A setting of the machine that commands switch and put back: run by a shell, checked, and read back.

What a command writes is read before it, after it and after the command that puts it back. A setting whose value is the
same before and after was never switched: both sides would be measured alike, and be called the same. What must be put
back is noted on disk before it is switched (`clonometer.runner.saved_settings`).
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import shlex
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from clonometer.errors import DriverError, OutputError, SettingError, UsageError
from clonometer.plan.sides import Side
from clonometer.plan.written import written_files
from clonometer.runner.process import Ending, supervise
from clonometer.runner.saved_settings import SavedSetting
from clonometer.words import setting_name

#: A setting is one write to the kernel; what takes longer hangs.
COMMAND_TIMEOUT_S = 30.0
_LAST_LINES = 5
_MOST_FILES = 64
_MOST_BYTES = 4096
_LONGEST_VALUE = 60
_NO_FILE = "no file"
# "always [madvise] never": the one in brackets is in force.
_CHOSEN = re.compile(r"(?:^|\s)\[([^\]\s]+)\](?=\s|$)")
# Writing starts something, and what is read back is no state that could be put back.
_ACTIONS = ("/proc/sys/vm/drop_caches", "/proc/sys/vm/compact_memory", "/proc/sysrq-trigger")
_UNREADABLE = "it cannot be read"


@dataclass(frozen=True)
class SettingReading:
    """What the files of one written name hold: by path the size and the first bytes, None where there is no file."""

    files: Mapping[str, tuple[int, bytes] | None]

    def text(self) -> str:
        """The values in short; several files that differ are separated by commas."""
        values = dict.fromkeys(_short(content) for content in self.files.values())
        return ", ".join(values) or _NO_FILE

    def digest(self) -> str:
        """What two readings have in common only if they are the same."""
        return hashlib.sha256(repr(sorted(self.files.items())).encode()).hexdigest()


def read_setting(name: str, folder: str = "") -> SettingReading | None:
    """Read what a file, or all files of a pattern, hold; None where one cannot be read, or is no ordinary file.

    A relative name is one in ``folder``, by default where we are.
    """
    # Path.glob refuses absolute patterns.
    is_pattern = glob.has_magic(name)
    paths = sorted(islice(glob.iglob(name, root_dir=folder or None), _MOST_FILES)) if is_pattern else [name]  # noqa: PTH207
    try:
        return SettingReading({path: _content(str(Path(folder, path))) for path in paths})
    except (OSError, ValueError):
        return None


def _content(path: str) -> tuple[int, bytes] | None:
    try:
        # Opening another kind of file may do something, or wait for somebody.
        if not stat.S_ISREG(Path(path).stat().st_mode):
            raise ValueError(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except FileNotFoundError:
        return None
    try:
        return os.fstat(descriptor).st_size, os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)


def _short(content: tuple[int, bytes] | None) -> str:
    if content is None:
        return _NO_FILE
    text = " ".join(content[1].decode("utf-8", "replace").split())
    chosen = _CHOSEN.findall(text)
    text = chosen[0] if len(chosen) == 1 else text
    text = "".join(letter if letter.isprintable() else "?" for letter in text) or "nothing"
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


@dataclass
class SettingRecord:
    """What became of one name that a side's ``do`` writes, as the run file keeps it (docs/runfile.md)."""

    side: str
    name: str
    before: str | None = None
    during: str | None = None
    after: str | None = None
    times: int = 0
    not_verified: str | None = None


@dataclass
class Switch:
    """The setting of one side: switched by ``do``, put back by ``undo``."""

    side: Side
    records: dict[str, SettingRecord] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._saved: SavedSetting | None = None
        self._before: dict[str, SettingReading | None] = {}
        self._during: dict[str, SettingReading | None] = {}
        self._names = written_files(self.side.do)
        for name in self._names:
            self.records[name] = SettingRecord(self.side.name, name)
        if not self._names:
            reason = "the command names no file that can be read back"
            self.records[""] = SettingRecord(self.side.name, "", not_verified=reason)

    def do(self, interrupt_fd: int | None) -> None:
        """Switch it.

        Raises
        ------
        SettingError
            If the command fails, what it writes has the same value as before, or what must be put back cannot be noted.
        """
        self._before, self._during = self._read(), {}
        option = _option(self.side, "do")
        try:
            self._saved = save(option, self.side.undo, self._before)
        except OutputError as error:
            raise SettingError(f"{option} was not run: {error.message}") from error
        if not _call(self.side, "do", interrupt_fd):
            return
        self._during = self._read()
        self._saved.add(switched(self._during))
        for record in self.records.values():
            record.times += 1
        for name in self._names:
            before, during = self._before[name], self._during[name]
            record = self.records[name]
            if name in _ACTIONS:
                record.not_verified = "writing to it starts an action instead of changing a setting"
            elif before is None or during is None:
                record.not_verified = _UNREADABLE
            else:
                record.before, record.during = before.text(), during.text()
                self._check_switched(name, before, during)

    def _check_switched(self, name: str, before: SettingReading, during: SettingReading) -> None:
        if before.files != during.files:
            return
        if not any(content is not None for content in before.files.values()):
            self.records[name].not_verified = "the file exists neither before nor after"
            return
        raise SettingError(
            f"{_option(self.side, 'do')} changed nothing: {setting_name(name)} is {before.text()} before and after it",
            f"both sides would be the same; let do change {name}, or write nothing to it",
        )

    def undo(self) -> None:
        """Put it back. Who wants to stop waits for this; what was never begun needs none.

        Raises
        ------
        SettingError
            If the command fails, or a value is not what it was: it says how to do it by hand.
        """
        saved, self._saved = self._saved, None
        if saved is None:
            return
        try:
            self._undo()
        except BaseException:
            saved.leave()
            raise
        saved.remove()

    def _undo(self) -> None:
        _call(self.side, "undo", None)
        left = []
        for name, after in self._read().items():
            before, during, record = self._before[name], self._during.get(name), self.records[name]
            if before is None or after is None or record.not_verified is not None:
                continue
            record.after = after.text()
            # A file that was not there before has no value to go back to: it must only not stay as it was switched.
            new = all(content is None for content in before.files.values())
            if (during is not None and after.files == during.files) if new else (after.files != before.files):
                left.append(f"{setting_name(name)} was {before.text()} and is {after.text()} now ({name})")
        if left:
            raise SettingError(
                f"NOT RESTORED: after {_option(self.side, 'undo')} {'; '.join(left)}",
                "the setting is still changed, and the other side would be measured with it: restore it by hand",
            )

    def _read(self) -> dict[str, SettingReading | None]:
        return {name: read_setting(name) for name in self._names}


def save(what: str, undo: str, before: Mapping[str, SettingReading | None]) -> SavedSetting:
    """Note on disk that a setting is about to be changed, and what puts it back, from the folder that we are in.

    ``before`` has the readings of what is changed (`read_setting`), by path or pattern.

    Raises
    ------
    OutputError
        If that cannot be noted: nothing may be changed then.
    """
    # Of an action there is nothing to read back, and of a file that was not there no value to go back to.
    readings = {
        name: [reading.digest(), reading.text()]
        for name, reading in before.items()
        if reading is not None and any(reading.files.values()) and name not in _ACTIONS
    }
    return SavedSetting({"what": what, "undo": undo, "folder": str(Path.cwd()), "before": readings})


def switched(during: Mapping[str, SettingReading | None]) -> Mapping[str, Any]:
    """What is added to the note once it has been changed."""
    return {"during": {name: reading.digest() for name, reading in during.items() if reading is not None}}


def undo_again(folder: str, command: str) -> None:
    """Run a command that puts a setting back, which a process noted that ran in ``folder``."""
    _supervise(("sh", "-c", f"cd {shlex.quote(folder)} || exit 1\n{command}"), None)


def check_syntax(side: Side) -> None:
    """Let the shell read the commands of a side without running them.

    Raises
    ------
    UsageError
        If it cannot.
    """
    for key, text in (("do", side.do), ("undo", side.undo)):
        if text:
            ending = _supervise(("sh", "-n", "-c", text), None)
            if ending.exit_status != 0:
                raise UsageError(f"{_option(side, key)}: {_last_words(ending) or ending.describe()}")


def _option(side: Side, key: str) -> str:
    return f"--{side.name} {key}='{side.do if key == 'do' else side.undo}'"


def _call(side: Side, key: str, interrupt_fd: int | None) -> bool:
    """Run a command by the shell; whether it ended by itself, and not since the user wants to stop."""
    text = side.do if key == "do" else side.undo
    by_hand = f"; the setting may still be in force. To restore it: {text}" if key == "undo" else ""
    try:
        ending = _supervise(("sh", "-c", text), interrupt_fd)
    except DriverError as error:
        raise SettingError(f"{_option(side, key)}: {error.message}{by_hand}") from error
    if ending.stopped == "interrupt":
        return False
    if ending.stopped == "timeout":
        raise SettingError(f"{_option(side, key)} took longer than {COMMAND_TIMEOUT_S:.0f} s and was stopped{by_hand}")
    if ending.exit_status != 0:
        words = _last_words(ending)
        raise SettingError(f"{_option(side, key)} {ending.describe()}{f': {words}' if words else ''}{by_hand}")
    return True


def _supervise(argv: tuple[str, ...], interrupt_fd: int | None) -> Ending:
    # The user's command has the user's environment, whatever drivers have.
    return supervise(
        argv, lambda _: True, timeout_s=COMMAND_TIMEOUT_S, interrupt_fd=interrupt_fd, environment=dict(os.environ)
    )


def _last_words(ending: Ending) -> str:
    return " / ".join(line.strip() for line in ending.stderr.strip().splitlines()[-_LAST_LINES:])


def as_metadata(record: SettingRecord) -> dict[str, Any]:
    """What the run file says of it."""
    return dict(vars(record))
