"""Programs whose launches copy their memory, each with its twin that does as the book of launch paths advises.

Each is run with two words: how often it launches, and how many megabytes it has. It prints what all launches took, ns.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
_BUILD_S = 300


@dataclass(frozen=True)
class Planted:
    """A program, and what a census must say of it.

    Attributes
    ----------
    runtime, name
        Its folder, and its file there without the suffix.
    line
        The name of the line of the book.
    at
        Text of the source line that launches; None where no runtime here tells lines.
    is_named
        Whether what was seen must leave one line of the book only.
    executes
        The base name of the program that it launches.
    """

    runtime: str
    name: str
    line: str
    at: str | None
    is_named: bool = True
    executes: str = "true"
    book: str = ""

    @property
    def id(self) -> str:
        """Its name in tests."""
        return f"{self.runtime}-{self.name}"

    @property
    def lines_of(self) -> str:
        """The runtime in the book."""
        return self.book or self.runtime


PLANTED = (
    Planted("python", "session", "preexec_fn-setsid", "subprocess.run("),
    Planted("python", "limits", "preexec_fn-limits", "subprocess.Popen("),
    Planted("python", "group", "preexec_fn-setpgrp", "subprocess.Popen("),
    Planted("python", "user", "user", "subprocess.check_call("),
    Planted("python", "spawnv", "os.spawn", "os.spawnl("),
    Planted("python", "forkexec", "os.fork-exec", "os.fork("),
    Planted("python", "terminal", "pty.fork", "pty.fork("),
    Planted("node", "detached", "detached", "spawn("),
    Planted("node", "folder", "cwd", "spawn("),
    Planted("node", "sync", "spawnSync", "spawnSync("),
    Planted("ruby", "system", "system-root", 'system("/bin/true"'),
    Planted("ruby", "backticks", "backticks-root", "`/bin/true"),
    Planted("ruby", "spawn", "system-root", "Process.spawn("),
    Planted("perl", "system", "system", 'system("/bin/true"'),
    Planted("perl", "backticks", "backticks", "`/bin/true"),
    Planted("perl", "forkexec", "fork-exec", "fork()"),
    Planted("php", "text", "proc_open-text", "proc_open(", executes="sh"),
    Planted("bash", "command", "command", '/bin/true "$1"'),
    Planted("bash", "substitution", "substitution-program", "$(/bin/echo", executes="echo"),
    Planted("dash", "background", "background", None, is_named=False),
    Planted("go", "sandbox", "newuser", "tool.Run()"),
    Planted("go", "unshared", "unshare-newuser", "tool.Run()"),
    Planted("rust", "uid", "uid", "tool.status()"),
    Planted("rust", "gid", "gid", "tool.status()"),
    Planted("rust", "closure", "pre_exec", "tool.status()"),
    Planted("rust", "search", "path", ".status()"),
    Planted("java", "Mechanism", "fork", None),
    Planted("glib", "sync", "spawn_sync", "g_spawn_sync("),
    Planted("glib", "folder", "spawn_sync-folder", "g_spawn_sync("),
    Planted("glib", "line", "command_line_sync", "g_spawn_command_line_sync("),
    Planted("glib", "object", "subprocess", "g_subprocess_newv("),
    Planted("glibc", "forkexec", "fork-exec", "fork()"),
    Planted("glibc", "terminal", "forkpty", "forkpty("),
    Planted("musl", "forkexec", "fork-exec", None),
    Planted("musl", "terminal", "forkpty", None),
)

_SUFFIXES = {
    "python": ".py",
    "node": ".js",
    "ruby": ".rb",
    "perl": ".pl",
    "php": ".php",
    "bash": ".sh",
    "dash": ".sh",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "glib": ".c",
    "glibc": ".c",
    "musl": ".c",
}
_NEEDED = {
    "python": "python3",
    "rust": "rustc",
    "java": "javac",
    "glib": "pkg-config",
    "glibc": "gcc",
    "musl": "musl-gcc",
}


class NotHereError(Exception):
    """A runtime or compiler is missing; the text names it."""


@dataclass(frozen=True)
class Program:
    """The command of a planted program, without its two words; its source."""

    words: tuple[str, ...]
    source: Path

    def command(self, launches: int, megabytes: int) -> list[str]:
        """The command with its words."""
        return [*self.words, str(launches), str(megabytes)]

    def took_ns(self, launches: int, megabytes: int) -> int:
        """Run it: what all launches took."""
        ended = subprocess.run(
            self.command(launches, megabytes), stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True
        )
        return int(ended.stdout.split()[-1])


def build(planted: Planted, folder: Path, *, mended: bool = False) -> Program:
    """Build a program, or its twin, in a folder.

    Raises
    ------
    NotHereError
        If what builds or runs it is not installed.
    """
    source = _source(planted, mended=mended)
    runtime = planted.runtime
    tool = _program(_NEEDED.get(runtime, runtime))
    if runtime in ("node", "ruby", "perl", "php", "python"):
        return Program((tool, str(source)), source)
    if runtime in ("bash", "dash"):
        # What is advised for bash's own commands is another shell.
        other = mended and source.read_text(encoding="utf-8").count("it is for dash")
        return Program((_program("dash") if other else tool, str(source)), source)
    if runtime == "java":
        _run([tool, "-d", str(folder), str(source)], folder)
        option = ["-Djdk.lang.Process.launchMechanism=FORK"] if not mended else []
        java = str(Path(_program("java")).resolve())
        return Program((java, "-Xms700m", *option, "-cp", str(folder), planted.name), source)
    out = folder / f"{planted.name}{'-mended' if mended else ''}"
    _run(_compiler(runtime, tool, source, out), folder)
    return Program((str(out),), source)


def _source(planted: Planted, *, mended: bool) -> Path:
    file = FOLDER / planted.runtime / f"{planted.name}{_SUFFIXES[planted.runtime]}"
    twin = file.with_suffix(f".mended{file.suffix}")
    return twin if mended and twin.exists() else file


def _compiler(runtime: str, tool: str, source: Path, out: Path) -> Sequence[str]:
    if runtime == "go":
        return [tool, "build", "-o", str(out), str(source)]
    if runtime == "rust":
        options = ["--crate-name", "planted", "--edition", "2021", "-A", "warnings", "-g", "-O"]
        return [tool, *options, "-o", str(out), str(source)]
    words = ["-g", "-O1", "-o", str(out), str(source)]
    if runtime == "musl":
        return [tool, *words]
    return [_program("gcc"), *words, *(_glib() if runtime == "glib" else ["-lutil"])]


@cache
def _glib() -> tuple[str, ...]:
    asked = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "gio-2.0"], capture_output=True, text=True, check=False, timeout=60
    )
    if asked.returncode != 0:
        raise NotHereError("libglib2.0-dev is not installed")
    return tuple(asked.stdout.split())


def _run(words: Sequence[str], folder: Path) -> None:
    environment: Mapping[str, str] = {**os.environ, "GOFLAGS": "", "GO111MODULE": "off"}
    built = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=_BUILD_S)
    assert built.returncode == 0, built.stderr[-1000:]


@cache
def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise NotHereError(f"{name} is not installed")
    # What stands in for a version of Python (pyenv's shims) is a script, whose launches are its own.
    return _real_python(path) if name == "python3" else path


def _real_python(path: str) -> str:
    words = [path, "-c", "import sys; print(sys.executable)"]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
