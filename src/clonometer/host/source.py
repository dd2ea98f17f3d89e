"""Reading /proc and /sys under a root, so that every machine can be a made tree of files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

#: /proc/cpuinfo has some 1.5 KiB a CPU, /proc/PID/maps 100 bytes a mapping. A part would be taken for all.
_MOST_BYTES = 16 << 20
_PIECE_BYTES = 1 << 20


class FactUnavailable(Exception):  # noqa: N818 (no error: most machines lack something)
    """A fact that cannot be read; its text is the reason."""


class Source:
    """Files under a root, each read at most once.

    ``live`` is True for the running machine: only then may a fact be asked of the running process instead.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.live = root == Path("/")
        self._texts: dict[str, str | FactUnavailable] = {}

    def path(self, path: str) -> Path:
        """Place of an absolute path under the root."""
        return self.root / path.lstrip("/")

    def text(self, path: str) -> str:
        """Content of a file without white space at its ends; at most 16 MiB.

        Raises
        ------
        FactUnavailable
            If it cannot be read.
        """
        if path not in self._texts:
            self._texts[path] = self._read(path)
        content = self._texts[path]
        if isinstance(content, FactUnavailable):
            raise FactUnavailable(str(content))
        return content

    def _read(self, path: str) -> str | FactUnavailable:
        try:
            return self.bytes(path).decode("utf-8", "replace").strip("\x00 \t\r\n")
        except FactUnavailable as lack:
            return lack

    def bytes(self, path: str) -> bytes:
        """Content of a file as bytes; FactUnavailable if it cannot be read, or has more than 16 MiB."""
        try:
            # A pipe in a made tree would wait for somebody who writes.
            descriptor = os.open(self.path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
            with os.fdopen(descriptor, "rb", buffering=0) as file:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    raise FactUnavailable(f"{path} is not a regular file")
                content = bytearray()
                # The kernel takes memory for as much of a setting as is asked for.
                while len(content) <= _MOST_BYTES and (piece := file.read(_PIECE_BYTES)):
                    content += piece
        except OSError as error:
            raise FactUnavailable(f"{path}: {error.strerror or error}") from None
        if len(content) > _MOST_BYTES:
            raise FactUnavailable(f"{path} has more than {_MOST_BYTES >> 20} MiB")
        return bytes(content)

    def text_or(self, path: str, default: str) -> str:
        """Content of a file, or the default where it cannot be read."""
        try:
            return self.text(path)
        except FactUnavailable:
            return default

    def integer(self, path: str) -> int:
        """A file that holds one whole number; FactUnavailable if it does not."""
        content = self.text(path)
        try:
            return int(content)
        except ValueError:
            raise FactUnavailable(f"{path}: {content[:40]!r} is not a whole number") from None

    def first(self, paths: Iterable[str]) -> str:
        """Content of the first of the files that can be read; FactUnavailable names the first of them."""
        reason = None
        for path in paths:
            try:
                return self.text(path)
            except FactUnavailable as lack:
                reason = reason or str(lack)
        raise FactUnavailable(reason or "nowhere to look")

    def names(self, path: str, prefix: str = "") -> list[str]:
        """Sorted names in a folder that begin with a prefix; FactUnavailable if it cannot be read."""
        try:
            return sorted(name for name in os.listdir(self.path(path)) if name.startswith(prefix))  # noqa: PTH208
        except OSError as error:
            raise FactUnavailable(f"{path}: {error.strerror or error}") from None

    def exists(self, path: str) -> bool:
        """Whether something is there."""
        try:
            return self.path(path).exists()
        except OSError:
            return False

    def link(self, path: str) -> str:
        """Target of a symbolic link, which need not exist; FactUnavailable if it cannot be read."""
        try:
            return os.readlink(self.path(path))  # noqa: PTH115 (the target is no path: pid:[4026531836])
        except OSError as error:
            raise FactUnavailable(f"{path}: {error.strerror or error}") from None

    def libc(self) -> str:
        """Name and version of the C library as it says itself, empty where it does not.

        FactUnavailable if nothing runs there.
        """
        if not self.live:
            raise FactUnavailable("asked of the running system only")
        try:
            return os.confstr("CS_GNU_LIBC_VERSION") or ""
        except (ValueError, OSError):
            return ""

    def fields(self, path: str) -> dict[str, str]:
        """Lines ``Name:  value`` of a file as a dict; the first of a name counts."""
        values: dict[str, str] = {}
        for line in self.text(path).splitlines():
            name, colon, value = line.partition(":")
            if colon:
                values.setdefault(name.strip(), value.strip())
        return values

    def field(self, path: str, name: str) -> str:
        """One value of `fields`; FactUnavailable if there is none."""
        fields = self.fields(path)
        if name not in fields:
            raise FactUnavailable(f"{path} has no {name}")
        return fields[name]


def sizes_of(fields: Mapping[str, str]) -> dict[str, int]:
    """Give those of `Source.fields` that count memory, in bytes.

    Examples
    --------
    >>> sizes_of({"VmRSS": "12 kB", "Threads": "4"})
    {'VmRSS': 12288}
    """
    words = {name: value.partition(" ") for name, value in fields.items()}
    return {name: int(number) * 1024 for name, (number, _, unit) in words.items() if unit == "kB" and number.isdigit()}


def parse_cpu_list(text: str) -> list[int]:
    """Read the kernel's list of CPUs.

    Raises
    ------
    FactUnavailable
        If the text is no such list.

    Examples
    --------
    >>> parse_cpu_list("0-2,8")
    [0, 1, 2, 8]
    """
    cpus: list[int] = []
    try:
        for part in filter(None, text.strip().split(",")):
            low, dash, high = part.partition("-")
            cpus += range(int(low), int(high if dash else low) + 1)
    except ValueError:
        raise FactUnavailable(f"{text[:40]!r} is not a list of CPUs") from None
    return cpus


def chosen(text: str) -> str:
    """Read the bracketed choice of a line such as ``always [madvise] never``.

    Raises
    ------
    FactUnavailable
        If nothing is in brackets.

    Examples
    --------
    >>> chosen("always [madvise] never")
    'madvise'
    """
    before, bracket, rest = text.partition("[")
    name, closed, _ = rest.partition("]")
    if not bracket or not closed:
        raise FactUnavailable(f"nothing is chosen in {(before + bracket + rest)[:40]!r}")
    return name
