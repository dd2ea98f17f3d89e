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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.host.source import FactUnavailable, Source
from clonometer.host.strangers import open_found, open_named

#: Node's program has some 100 MB, a JVM's library 20.
_MOST_BYTES = 512 << 20
_GLIBC, _MUSL, _MOST_SHEBANG = b"\0libc.so.6\0", b"/ld-musl-", 256
_GO = b"\xff Go buildinf:"
_GO_INLINE, _GO_STRING = 2, 32


@dataclass(frozen=True)
class Runtime:
    """A language's runtime in a process."""

    name: Annotated[str, "python, node, java, go, rust, ruby, perl, php, dotnet, bash, dash, make, musl or glibc."]
    version: Annotated[str | None, "As far as its files tell, such as 3.11.2 or 3.11; null where they do not."]
    file: Annotated[str, "The file that told it, as the process sees it."]


@dataclass(frozen=True)
class _Files:
    """Files as a process sees them: below a root, with the link to its program where that was deleted."""

    source: Source
    root: str
    program: str | None = None

    def contents(self, file: str) -> Iterator[mmap.mmap]:
        """The file's bytes, once; nothing where it cannot be read."""
        try:
            descriptor = self._open(file)
        except (OSError, ValueError):
            return
        try:
            size = os.fstat(descriptor).st_size
            if 0 < size <= _MOST_BYTES:
                with mmap.mmap(descriptor, size, prot=mmap.PROT_READ) as content:
                    yield content
        finally:
            os.close(descriptor)

    def _open(self, file: str) -> int:
        if not file.endswith(" (deleted)"):
            return open_named(file, str(self.source.path(self.root)))
        if self.program is None:
            raise FileNotFoundError(file)
        place = os.open(self.source.path(self.program), os.O_PATH | os.O_CLOEXEC)
        try:
            return open_found(place)
        finally:
            os.close(place)


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
    _mark("java", r"libjvm\.so|java"),
    _mark("dotnet", r"(?:Microsoft\.NETCore\.App/(\d[\w.-]*)/)?libcoreclr\.so|dotnet"),
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
    FactUnavailable
        If the process's files may not be read, or none is known.
    """
    mapped = _mapped_files(source, pid)
    files = _Files(source, f"/proc/{pid}/root", f"/proc/{pid}/exe")
    runtime = _marked(files, mapped, _MARKS) or _compiled(files, _program(source, pid, mapped))
    runtime = runtime or _marked(files, mapped, _C_LIBRARIES)
    if runtime is None:
        raise FactUnavailable(f"/proc/{pid}/maps names no known runtime")
    return runtime


def read_program(source: Source, program: str) -> Runtime:
    """Say which runtime a program runs, from its file: what is known of a process that has ended.

    Of a script it is that of its interpreter. The C library is taken to be the one of the running system.

    Raises
    ------
    FactUnavailable
        If it cannot be read, or no runtime is known by it.
    """
    files = _Files(source, "")
    file = _resolved(source, program)
    for content in files.contents(file):
        if content[:2] == b"#!":
            words = bytes(content[2:_MOST_SHEBANG]).partition(b"\n")[0].decode("utf-8", "replace").split()
            # env finds the interpreter along PATH, which is not this process's business.
            if words and not words[0].endswith("/env"):
                file = _resolved(source, words[0])
    runtime = _marked(files, [file], _MARKS) or _compiled(files, file)
    for content in files.contents(file) if runtime is None else ():
        if content.find(_MUSL) >= 0:
            runtime = Runtime("musl", None, file)
        elif content.find(_GLIBC) >= 0:
            runtime = Runtime("glibc", (source.libc().removeprefix("glibc ") or None) if source.live else None, file)
    if runtime is None:
        raise FactUnavailable(f"{program} is of no runtime that is known")
    return runtime


def _resolved(source: Source, program: str) -> str:
    """The file that links lead to, below the source's root."""
    try:
        file = source.path(program).resolve(strict=True)
        return f"/{file.relative_to(source.root.resolve())}"
    except (OSError, ValueError):
        raise FactUnavailable(f"{program} cannot be read") from None


def _marked(files: _Files, names: list[str], marks: Sequence[_Mark]) -> Runtime | None:
    """The first mark that a file bears; of several files of one runtime, that which tells most of the version."""
    for mark in marks:
        candidates = [
            Runtime(mark.runtime, _version(files, mark, file, match), file)
            for file in names
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


def _version(files: _Files, mark: _Mark, file: str, match: re.Match[str]) -> str | None:
    named = match.group(1) if match.re.groups else None
    if mark.runtime == "java":
        return _java_version(files, file)
    if mark.version is None:
        return named
    pattern = re.compile(mark.version.replace("{}", re.escape(named or "")).encode("latin-1"))
    for content in files.contents(file):
        if written := pattern.search(content):
            return written.group(1).decode("ascii", "replace")
    return named


def _java_version(files: _Files, file: str) -> str | None:
    # JAVA_HOME/lib/server/libjvm.so, and jre/lib/ARCHITECTURE/server before 9.
    folder = os.path.dirname(file)  # noqa: PTH120 (a path of another root)
    for _ in range(5):
        folder = os.path.dirname(folder)  # noqa: PTH120
        for release in files.contents(f"{folder}/release"):
            if written := re.search(rb'^JAVA_VERSION="([\w.+-]{1,40})"', release, re.MULTILINE):
                return written.group(1).decode("ascii", "replace")
    return None


def _compiled(files: _Files, program: str | None) -> Runtime | None:
    """A program of Go or Rust, whose runtime is part of it."""
    for content in files.contents(program) if program is not None else ():
        at = content.find(_GO)
        if at >= 0:
            return Runtime("go", _go_version(content[at : at + 128]), program or "")
        if written := re.search(rb"rustc version (\d+\.\d+\.\d+)", content):
            return Runtime("rust", written.group(1).decode(), program or "")
    return None


def _go_version(header: bytes) -> str | None:
    """Of the header of ``.go.buildinfo``; before Go 1.18 it holds addresses only, and the version is unknown."""
    if len(header) <= _GO_STRING or not header[15] & _GO_INLINE:
        return None
    length = header[_GO_STRING]
    text = header[_GO_STRING + 1 : _GO_STRING + 1 + length].decode("ascii", "replace")
    return written.group(1) if (written := re.match(r"go(\d[\w.]*)", text)) else None
