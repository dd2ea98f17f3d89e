"""What others wrote, and whatever stands under a name that somebody gave: opened, read and parsed within bounds.

A name may be that of a device, of a pipe that nobody writes to, or of a file without end; a text of 64 KiB may ask a
parser for gigabytes, and a number for more digits than Python prints. Everything that reads a file or an answer as
TOML or JSON does it here (`tools/reading_rules.py`), so that none of them can wait for ever, fill the memory or end in
a traceback.
"""

from __future__ import annotations

import difflib
import errno
import math
import os
import re
import select
import shlex
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from clonometer.errors import InputError, MissingFileError
from clonometer.fields import shown

#: So long may nothing come from a pipe that was handed to us: what writes to it may measure first.
MOST_SILENT_S = 600.0
#: So deep may values stand in each other: what we write goes down ten levels.
MOST_DEPTH = 64
#: What drivers and the columns of run files hold.
MOST_NUMBER = (1 << 63) - 1
# Opening a device or a pipe may wait for the other end, or make a terminal ours.
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PIECE_BYTES = 1 << 16
_NUL = "its name has a NUL in it"
# How many files an error names.
_MOST_NAMED = 5
_HANDED = re.compile(r"/dev/(?:fd/|(stdin)$)|/proc/(?:self|thread-self)/fd/")
_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
# tomllib takes time and memory by the square of the parts of a dotted key: 64 KiB of "a.a.a" would need 4 GB.
_DOTTED = re.compile(rf"(?:\.[ \t]*(?:[\w-]+|\"[^\"\n]*\"|'[^'\n]*')[ \t]*){{{MOST_DEPTH}}}")
# What a number needs to be larger than MOST_NUMBER, or infinite; sought first, since to look at each number is slow.
_LARGE = re.compile(r"\d{19}|[eE]\+?\d{3}")
# Half of a surrogate pair, if the other half does not stand beside it.
_HALF = re.compile(r"\\u[dD][89a-fA-F]")


_Parsed = TypeVar("_Parsed")


@dataclass(frozen=True)
class InputKind:
    """A kind of file: what a file of it is (``"a profile"``), its largest size, and where to get one."""

    name: str
    most_bytes: int
    hint: str | None = None


@contextmanager
def naming(path: Path, kind: InputKind) -> Iterator[None]:
    """Say of whatever is wrong in a block that the file is not of its kind, and where to get one that is."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path} is not {kind.name}: {error.message}", kind.hint or error.hint) from error


def open_input(path: Path) -> BinaryIO:
    """Open a regular file to read it; nothing else is opened, whatever takes its name meanwhile.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        If it is anything else, or cannot be opened.
    """
    try:
        # Before it is opened: opening a device may do something.
        _refuse_what_is_no_file(path, path.stat())
        descriptor = os.open(path, _OPEN)
        try:
            _refuse_what_is_no_file(path, os.fstat(descriptor))
            # Of those of the kernel, one may wait until there is something to say: it has no places to read at.
            os.pread(descriptor, 1, 0)
        except BaseException:
            os.close(descriptor)
            raise
        return os.fdopen(descriptor, "rb")
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError)
        raise (MissingFileError if missing else InputError)(*cannot_read(path, error)) from error


def read_input(path: Path, kind: InputKind) -> bytes:
    """Read a file; or a pipe that was handed to us on purpose, as ``/dev/stdin`` or by a shell's ``<(...)``.

    Raises
    ------
    MissingFileError
        If there is no such file.
    InputError
        If it is too large or cannot be read, or nothing comes from the pipe for `MOST_SILENT_S`.
    """
    handed = _handed_pipe(path)
    if handed is not None:
        content = _read_pipe(handed, path, kind.most_bytes + 1)
    else:
        with open_input(path) as file:
            try:
                content = file.read(kind.most_bytes + 1)
            except OSError as error:
                raise InputError(*cannot_read(path, error)) from error
    if len(content) > kind.most_bytes:
        raise InputError(f"{path} is too large for {kind.name}: more than {_size(kind.most_bytes)}", kind.hint)
    return content


def read_text(path: Path, kind: InputKind) -> str:
    """Read a file, or a pipe that was handed to us, as `read_input` does: as text in UTF-8.

    Raises
    ------
    MissingFileError, InputError
        As of `read_input`, and if it is no such text.
    """
    return _read_as(_decoded, path, kind)


def read_json(path: Path, kind: InputKind) -> Any:
    """Read a file, or a pipe that was handed to us, as JSON.

    Raises
    ------
    MissingFileError, InputError
        As of `read_input` and `parse_json`.
    """
    return _read_as(parse_json, path, kind)


def read_toml(path: Path, kind: InputKind) -> dict[str, Any]:
    """Read a file, or a pipe that was handed to us, as TOML.

    Raises
    ------
    MissingFileError, InputError
        As of `read_input` and `parse_toml`.
    """
    return _read_as(parse_toml, path, kind)


def _read_as(parse: Callable[[bytes], _Parsed], path: Path, kind: InputKind) -> _Parsed:
    content = read_input(path, kind)
    with naming(path, kind):
        return parse(content)


def parse_json(content: bytes | str, *, allow_halves: bool = False) -> Any:
    """Parse JSON: no deeper than `MOST_DEPTH`, without infinite numbers and those beyond 64 bits.

    Texts can be written in UTF-8 again; ``allow_halves`` leaves that to the caller.

    Raises
    ------
    InputError
        If it is anything else. It names the place, not the file.

    Examples
    --------
    >>> parse_json('{"laps": [1, 1e400]}')
    Traceback (most recent call last):
    clonometer.errors.InputError: laps[1] is not a finite number
    """
    import json

    text = _decoded(content) if isinstance(content, bytes) else content
    try:
        value = json.loads(text, parse_constant=_refuse_constant)  # noqa: TID251 -- this is parse_json
        if not allow_halves and _HALF.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"it is not JSON: {_why(error)}") from None
    _check_depth(value)
    if _LARGE.search(text):
        _check_numbers(value)
    return value


def parse_toml(content: bytes | str) -> dict[str, Any]:
    """Parse TOML, within the bounds of `parse_json`.

    Raises
    ------
    InputError
        If it is anything else. It names the place, not the file.
    """
    import tomllib  # noqa: TID251 -- this is parse_toml

    text = _decoded(content) if isinstance(content, bytes) else content
    try:
        if _DOTTED.search(text):
            raise RecursionError
        document = tomllib.loads(text)
    except RecursionError:
        raise InputError("it is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"it is not TOML: {_why(error)}") from None
    _check_depth(document)
    _check_numbers(document)
    return document


def check_schema(content: object, known: int) -> None:
    """Refuse what says that it is of another schema than the one that is read.

    Raises
    ------
    InputError
        With both.
    """
    schema = content.get("schema", known) if isinstance(content, dict) else known
    if type(schema) is not int or schema != known:
        raise InputError(f"its schema is {shown(schema)}, and this Clonometer reads {known}")


def cannot_read(path: Path, error: OSError | ValueError) -> tuple[str, str | None]:
    """Say what could not be read and why, and as the next step which file of the same kind is there."""
    why = getattr(error, "strerror", None) or (str(error) if isinstance(error, OSError) else _NUL)
    if isinstance(error, IsADirectoryError):
        return f"cannot read {path}: {why}", f"a folder of runs: clonometer fleet show {shlex.quote(str(path))}"
    return f"cannot read {path}: {why}", _what_is_there(path) if isinstance(error, FileNotFoundError) else None


def _refuse_what_is_no_file(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    for is_kind, name in _KINDS:
        if is_kind(status.st_mode):
            raise InputError(f"{path} is {name}, not a file", "name a file, into which you have copied what it says")


def _handed_pipe(path: Path) -> int | None:
    """Our own descriptor of a pipe that a path names; None of any other path."""
    matched = _HANDED.match(str(path))
    number = "0" if matched and matched[1] else str(path)[matched.end() :] if matched else ""
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        return None
    try:
        mode = os.fstat(int(number)).st_mode
    except OSError:
        return None
    return int(number) if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) else None


def _read_pipe(descriptor: int, path: Path, most_bytes: int) -> bytes:
    """Read until the last writer has closed, at most so many bytes."""
    content = bytearray()
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    while len(content) < most_bytes:
        if not poll.poll(MOST_SILENT_S * 1000):
            raise InputError(f"{path} is silent: nothing has come from it for {MOST_SILENT_S:g} s")
        try:
            piece = os.read(descriptor, min(_PIECE_BYTES, most_bytes - len(content)))
        except BlockingIOError:
            # Somebody else reads from it too.
            time.sleep(0.01)
            continue
        except OSError as error:
            raise InputError(*cannot_read(path, error)) from error
        if not piece:
            break
        content += piece
    return bytes(content)


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"it is not UTF-8: {error.reason} at byte {error.start:,}") from None


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not a valid JSON number")


def _why(error: ValueError) -> str:
    """What a parser says, without what it says of Python."""
    if isinstance(error, UnicodeEncodeError):
        return "a text has half of a surrogate pair"
    return "a number has too many digits" if "integer string conversion" in str(error) else str(error)


def _check_depth(document: object) -> None:
    level, depth = [document], 0
    while level := [
        inner
        for outer in level
        for inner in (outer.values() if type(outer) is dict else outer if type(outer) is list else ())
        if type(inner) is dict or type(inner) is list
    ]:
        depth += 1
        if depth >= MOST_DEPTH:
            raise InputError("it is nested too deeply")


def _check_numbers(document: object) -> None:
    rest = [("", document)]
    while rest:
        place, value = rest.pop()
        match value:
            case dict():
                rest += [(f"{place}.{key:.40}", inner) for key, inner in value.items()]
            case list():
                rest += [(f"{place}[{index}]", inner) for index, inner in enumerate(value)]
            case int() if not -MOST_NUMBER - 1 <= value <= MOST_NUMBER:
                raise InputError(f"{place.removeprefix('.') or 'it'} is a whole number beyond 64 bits")
            case float() if not math.isfinite(value):
                raise InputError(f"{place.removeprefix('.') or 'it'} is not a finite number")


def _size(size_bytes: int) -> str:
    return f"{size_bytes >> 20} MiB" if size_bytes >> 20 else f"{size_bytes >> 10} KiB"


def _what_is_there(missing: Path) -> str | None:
    """Name the files beside a missing one that end as it does, the nearest first."""
    try:
        names = sorted(path.name for path in missing.parent.glob(f"*{missing.suffix}") if path.is_file())
    except (OSError, ValueError):
        return None
    near = difflib.get_close_matches(missing.name, names, n=1)
    if near:
        return f"did you mean {missing.parent / near[0]}?"
    if names:
        return f"in {missing.parent} there is: {', '.join(names[:_MOST_NAMED])}"
    return f"{missing.parent} has no file *{missing.suffix}" if missing.suffix and missing.parent.is_dir() else None
