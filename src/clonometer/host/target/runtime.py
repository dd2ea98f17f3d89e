"""Which language's runtime a process runs, and in which version: read from its files, nothing is executed.

A runtime is recognised by what it cannot hide: the name of the library or program that holds it, and the version that
its build left in that file. Sources: CPython's Py_GetVersion (Python/getversion.c), node's process.version
(src/node_version.h), the file ``release`` of a JDK, Go's debug/buildinfo, the ``.comment`` that rustc writes,
ruby_description (version.c), perl's SONAME, PHP's X-Powered-By (main/main.c), bash's dist_version (version.c),
GNU C Library's banner (csu/version.c).
"""

from __future__ import annotations

import mmap
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.host.source import FactUnavailable, Source

#: Node's program has some 100 MB, a JVM's library 20.
_MOST_BYTES = 512 << 20
_GO = b"\xff Go buildinf:"
_GO_INLINE, _GO_STRING = 2, 32


@dataclass(frozen=True)
class Runtime:
    """A language's runtime in a process."""

    name: Annotated[str, "python, node, java, go, rust, ruby, perl, php, dotnet, bash, dash, make, musl or glibc."]
    version: Annotated[str | None, "As far as its files tell, such as 3.11.2 or 3.11; null where they do not."]
    file: Annotated[str, "The file that told it, as the process sees it."]


@dataclass(frozen=True)
class _Mark:
    """How a runtime is recognised: the name of a file, and in that file the version."""

    runtime: str
    file: re.Pattern[str]
    version: str | None = None
    "A pattern of bytes whose group is the version; `{}` stands for what the name of the file already says."


def _mark(runtime: str, file: str, version: str | None = None) -> _Mark:
    return _Mark(runtime, re.compile(rf"(?:.*?/)?(?:{file})(?: \(deleted\))?"), version)


# The first that fits counts: a JVM is looked for before the C library that it uses.
_MARKS = (
    _mark("java", r"libjvm\.so"),
    _mark("dotnet", r"(?:Microsoft\.NETCore\.App/(\d[\w.-]*)/)?libcoreclr\.so"),
    _mark("node", r"libnode\.so\.\d+|node|nodejs", r"node\.js/v(\d+\.\d+\.\d+)"),
    _mark("python", r"(?:libpython|python)(\d\.\d+)[\w.]*", r"\0({}\.\d+[\w+]*)\0"),
    _mark("ruby", r"(?:libruby-?|ruby)(\d\.\d+)?[\w.]*", r"ruby (\d+\.\d+\.\d+)"),
    _mark("perl", r"(?:libperl\.so\.|perl)(5\.\d+)?[\w.]*", r"\0v?(5\.\d+\.\d+)\0"),
    _mark("php", r"php(?:-cgi|-fpm|dbg)?(\d\.\d+)?", r"X-Powered-By: PHP/(\d+\.\d+\.\d+)"),
    _mark("bash", r"bash|rbash", r"Bash version (\d+\.\d+\.\d+)"),
    _mark("dash", r"dash"),
    _mark("make", r"g?make", r"\0(\d\.\d[\d.]*)\0"),
)
_C_LIBRARIES = (
    _mark("musl", r"ld-musl-[\w-]+\.so\.1|libc\.musl-[\w-]+\.so\.1", r"\0(1\.\d+\.\d+)\0"),
    _mark("glibc", r"libc(?:\.so\.6|-2\.\d+\.so)", r"GNU C Library [^\n]*?version (\d+\.\d+)"),
)


def read_runtime(source: Source, pid: int) -> Runtime:
    """Say which runtime a process runs.

    A shared library tells it before the program's name does, and a language's runtime before the C library, which is
    the answer for a program in C or C++.

    Raises
    ------
    Lack
        If the process's files may not be read, or none is known.
    """
    files = _mapped_files(source, pid)
    program = _program(source, pid, files)
    runtime = (
        _marked(source, pid, files, _MARKS)
        or (program is not None and _compiled(source, pid, program))
        or _marked(source, pid, files, _C_LIBRARIES)
    )
    if runtime:
        return runtime
    raise FactUnavailable(f"/proc/{pid}/maps names no runtime that is known")


def _marked(source: Source, pid: int, files: list[str], marks: Sequence[_Mark]) -> Runtime | None:
    """The first mark that a file bears; of several files of one runtime, that which tells most of the version."""
    for mark in marks:
        candidates = [
            Runtime(mark.runtime, _version(source, pid, mark, file, match), file)
            for file in files
            if (match := mark.file.fullmatch(file))
        ]
        if candidates:
            return max(candidates, key=lambda runtime: len(runtime.version or ""))
    return None


def _mapped_files(source: Source, pid: int) -> list[str]:
    """Files that the process executes code of, in the order of their addresses; the program is one of them."""
    files: dict[str, None] = {}
    for line in source.text(f"/proc/{pid}/maps").splitlines():
        words = line.split(maxsplit=5)
        if len(words) == 6 and "x" in words[1] and words[5].startswith("/"):
            files.setdefault(words[5])
    return list(files)


def _program(source: Source, pid: int, files: list[str]) -> str | None:
    try:
        return source.link(f"/proc/{pid}/exe")
    except FactUnavailable:
        return files[0] if files else None


def _version(source: Source, pid: int, mark: _Mark, file: str, match: re.Match[str]) -> str | None:
    named = match.group(1) if match.re.groups else None
    if mark.runtime == "java":
        return _java_version(source, pid, file)
    if mark.version is None:
        return named
    pattern = re.compile(mark.version.replace("{}", re.escape(named or "")).encode("latin-1"))
    for content in _contents(source, pid, file):
        if written := pattern.search(content):
            return written.group(1).decode("ascii", "replace")
    return named


def _java_version(source: Source, pid: int, file: str) -> str | None:
    # JAVA_HOME/lib/server/libjvm.so, and jre/lib/ARCHITECTURE/server before 9.
    folder = os.path.dirname(file)  # noqa: PTH120 (a path of another root)
    for _ in range(5):
        folder = os.path.dirname(folder)  # noqa: PTH120
        release = source.text_or(f"/proc/{pid}/root{folder}/release", "")
        if written := re.search(r'^JAVA_VERSION="([\w.+-]{1,40})"', release, re.MULTILINE):
            return written.group(1)
    return None


def _compiled(source: Source, pid: int, program: str) -> Runtime | None:
    """A program of Go or Rust, whose runtime is part of it."""
    for content in _contents(source, pid, program):
        at = content.find(_GO)
        if at >= 0:
            return Runtime("go", _go_version(content[at : at + 128]), program)
        if written := re.search(rb"rustc version (\d+\.\d+\.\d+)", content):
            return Runtime("rust", written.group(1).decode(), program)
    return None


def _go_version(header: bytes) -> str | None:
    """Of the header of ``.go.buildinfo``; before Go 1.18 it holds addresses only, and the version is unknown."""
    if len(header) <= _GO_STRING or not header[15] & _GO_INLINE:
        return None
    length = header[_GO_STRING]
    text = header[_GO_STRING + 1 : _GO_STRING + 1 + length].decode("ascii", "replace")
    return written.group(1) if (written := re.match(r"go(\d[\w.]*)", text)) else None


def _contents(source: Source, pid: int, file: str) -> Iterator[mmap.mmap]:
    """The file's bytes, once, as the process sees it; nothing where it cannot be read."""
    places = [f"/proc/{pid}/root{file}"]
    if file.endswith(" (deleted)"):
        places = [f"/proc/{pid}/exe"]
    for place in places:
        try:
            # A fifo or a device of that name would block, or act.
            descriptor = os.open(source.path(place), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            status = os.fstat(descriptor)
            if stat.S_ISREG(status.st_mode) and 0 < status.st_size <= _MOST_BYTES:
                with mmap.mmap(descriptor, status.st_size, prot=mmap.PROT_READ) as content:
                    yield content
        finally:
            os.close(descriptor)
