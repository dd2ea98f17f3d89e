"""Running the snippets of the book of launch paths, each under a census of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess  # noqa: TID251 (builds and identifies what is watched, as runner does)
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from clonometer.launch_paths.types import LaunchPath, RuntimeBook
from clonometer.runner.census import take_census

_IDENTIFY_S, _BUILD_S, _RUN_S = 30.0, 180.0, 60.0
#: What a user who is not root is made of: the numbers that Linux gives to nobody.
_NOT_ROOT = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
#: In a folder of its own, with nothing to read, and no task more than the snippet's.
_QUIETLY = 'cd "$1" && shift && exec "$@" </dev/null >/dev/null 2>errors'
_MOST_SHOWN = 200


@dataclass(frozen=True)
class Located:
    """A runtime on this machine."""

    program: str
    version: str


@dataclass(frozen=True)
class Ran:
    """What a census saw of a snippet: lines of its tasks in the order in which they began; why it failed, or None.

    ``sites`` has the line of each stack, by its number.
    """

    tasks: tuple[Mapping[str, Any], ...] = ()
    sites: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    failure: str | None = None
    how: str = ""
    lost: int = 0


def locate(runtime: RuntimeBook, program: str | None = None) -> list[Located]:
    """Find a runtime along PATH, each version once; or what a program is, where one is given."""
    located: dict[str, Located] = {}
    for word in runtime.programs if program is None else (program,):
        path = shutil.which(word)
        identified = None if path is None else _identified(runtime, path)
        if identified is not None:
            located.setdefault(identified.version, identified)
    return list(located.values())


def _identified(runtime: RuntimeBook, program: str) -> Located | None:
    try:
        done = _finished(filled(runtime.identify, {"program": program}), _IDENTIFY_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = re.search(runtime.version_pattern, done.stdout + done.stderr, re.MULTILINE)
    if match is None:
        return None
    groups = match.groupdict()
    return Located(groups.get("program") or program, groups["version"])


def lacking(path: LaunchPath) -> str | None:
    """What a line needs and this machine lacks; None: nothing."""
    for need in path.needs:
        if not _HAS[need]():
            return need
    return None


def _is_root() -> bool:
    return os.geteuid() == 0


def _allows_user_namespaces() -> bool:
    words = ("unshare", "--user", "true")
    try:
        return shutil.which(words[0]) is not None and _finished(words, _IDENTIFY_S).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


_HAS: Mapping[str, Callable[[], bool]] = {
    "root": _is_root,
    "not root": lambda: not _is_root() or shutil.which(_NOT_ROOT[0]) is not None,
    "user namespaces": _allows_user_namespaces,
    "cgroup 2": lambda: Path("/sys/fs/cgroup/cgroup.procs").exists(),
    "musl": lambda: not any(Path("/").glob("lib*/ld-linux*")),
}


def run_snippet(
    runtime: RuntimeBook, path: LaunchPath, located: Located, *, environment: Mapping[str, str] | None = None
) -> Ran:
    """Build a line's snippet and run it under a census, with some variables more in its environment.

    Raises
    ------
    DriverError, UnavailableError
        If no census can be taken.
    """
    with TemporaryDirectory(prefix="clonometer-paths-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        file = folder / f"Snippet{runtime.suffix}"
        file.write_text(runtime.program_text(path), encoding="utf-8")
        values = {"program": located.program, "snippet": str(file), "out": str(folder / "out")}
        if runtime.build:
            failure = _build(filled(runtime.build, values), folder)
            if failure is not None:
                return Ran(failure=failure)
        run = [word for each in runtime.run for word in (path.options if each == "{options}" else [each])]
        words = filled(run, values)
        command = _prefix(path, environment or {}) + words
        ran = _watched(command, folder)
        # Beside much else events may have no room, once.
        return ran if not ran.lost else _watched(command, folder)


def _prefix(path: LaunchPath, environment: Mapping[str, str]) -> list[str]:
    setting = [f"{name}={value}" for name, value in environment.items()]
    lowered = "not root" in path.needs and _is_root()
    return [*(_NOT_ROOT if lowered else ()), *(["env", *setting] if setting else [])]


def _watched(words: Sequence[str], folder: Path) -> Ran:
    tasks: list[Mapping[str, Any]] = []
    ended: dict[str, Any] = {}
    begun: dict[str, Any] = {}
    sites: dict[int, Mapping[str, Any]] = {}

    def receive(line: dict[str, Any]) -> None:
        if line["line"] == "task":
            tasks.append(line)
        if line["line"] == "site":
            sites[line["site"]] = line
        {"begin": begun, "end": ended}.get(line["line"], {}).update(line)

    errors = folder / "errors"
    errors.touch()
    command = ["sh", "-c", _QUIETLY, "sh", str(folder), *words]
    # Until all have ended: of a daemon the first process ends before the last has been made.
    take_census(receive, command=command, seconds=_RUN_S, until_all_end=True)
    if ended["interrupted"]:
        raise KeyboardInterrupt
    tasks.sort(key=lambda line: (line["start_ns"], line["tid"]))
    return Ran(tuple(tasks), sites, _failure(ended, errors), str(begun["how"]), int(ended["lost"]))


def _failure(ended: Mapping[str, Any], errors: Path) -> str | None:
    if ended["timed_out"]:
        return f"did not end within {_RUN_S:g} s"
    if ended["lost"]:
        return f"{ended['lost']} events were lost: tasks may be missing"
    if ended["exit_status"] != 0:
        complaint = _complaint(errors.read_text(encoding="utf-8", errors="replace"))
        return f"ended with status {ended['exit_status']}: {complaint}"
    return None


def _build(words: Sequence[str], folder: Path) -> str | None:
    """Build; say why that failed, if it did."""
    try:
        done = _finished(words, _BUILD_S, folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"could not be built: {error}"
    return None if done.returncode == 0 else f"could not be built: {_complaint(done.stderr or done.stdout)}"


def _complaint(text: str) -> str:
    """What a program said of its failure: the first line that has an error, else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return [*errors[:1], *lines[-1:], "it printed nothing"][0][:_MOST_SHOWN]


def _finished(words: Sequence[str], timeout_s: float, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=timeout_s,
        cwd=folder,
        check=False,
        encoding="utf-8",
        errors="replace",
    )


def filled(words: Sequence[str], values: Mapping[str, str]) -> list[str]:
    """Words of a command with values in their places: ``{program}``."""
    whole = []
    for word in words:
        for name, value in values.items():
            word = word.replace(f"{{{name}}}", value)  # noqa: PLW2901 (one place after the other)
        whole.append(word)
    return whole
