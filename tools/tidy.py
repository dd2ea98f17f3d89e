"""clang-tidy over the C and C++ sources: each file once, on all processors, the longest first.

A compilation database names a source once for every linkage of the probe, and clang-tidy would analyse it as often.
What it found nothing in is not analysed again until the file, what it includes or a check changes: `build/tidy/clean`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path("build/tidy")
CLEAN = BUILD / "clean"
SOURCES = ("core/*.c", ":!core/targets", ":!core/test", ":!core/fuzz", "drivers/*.cpp")


def once(commands: list[dict[str, str]]) -> dict[Path, dict[str, str]]:
    """One compile command a file: the first one named, which is that of the default linkage."""
    chosen: dict[Path, dict[str, str]] = {}
    for command in commands:
        chosen.setdefault(Path(command["directory"], command["file"]).resolve(), command)
    return chosen


def configure() -> list[dict[str, str]]:
    """What the compiler would be called with, by CMake."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    subprocess.run(
        ["cmake", "-G", "Ninja", "-S", ".", "-B", BUILD / "cmake", "-DCLONOMETER_CORE_TESTS=ON"],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PATH": path},
    )
    commands: list[dict[str, str]] = json.loads((BUILD / "cmake" / "compile_commands.json").read_text())
    return commands


def sources() -> list[Path]:
    """What is checked, the longest first: the last one to end is then a short one."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *SOURCES]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    paths = [Path(name) for name in listed.splitlines() if Path(name).is_file()]
    return sorted(paths, key=lambda path: path.stat().st_size, reverse=True)


def clang_tidy() -> str:
    """Where it is installed."""
    return str(Path(sys.executable).with_name("clang-tidy"))


def checks() -> bytes:
    """What decides beside a file: the checks and the program."""
    version = subprocess.run([clang_tidy(), "--version"], check=True, capture_output=True).stdout
    return (Path(__file__).resolve().parents[1] / ".clang-tidy").read_bytes() + version


def digest(command: dict[str, str], decided_by: bytes) -> str | None:
    """What a file is after the preprocessor, with its comments, which may switch checks off; None if it fails."""
    words = shlex.split(command["command"])
    kept = [word for before, word in zip(["", *words], words, strict=False) if "-o" not in (before, word)]
    preprocessed = subprocess.run([*kept, "-E", "-C"], check=False, capture_output=True, cwd=command["directory"])
    if preprocessed.returncode != 0:
        return None
    return hashlib.sha256(decided_by + preprocessed.stdout).hexdigest()


def checked(path: Path, seen: str | None) -> str:
    """What clang-tidy says of a file: nothing where it found nothing, now or when the file was the same."""
    if seen is not None and (CLEAN / seen).exists():
        return ""
    command = [clang_tidy(), "--quiet", "-p", str(BUILD), str(path)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    if ended.returncode == 0 and seen is not None:
        (CLEAN / seen).touch()
    return "" if ended.returncode == 0 else ended.stdout + ended.stderr or f"{path}: clang-tidy failed"


def main() -> int:
    """Print what clang-tidy found; 1 if it found anything."""
    files = sources()
    chosen = once(configure())
    (BUILD / "compile_commands.json").write_text(json.dumps(list(chosen.values())))
    unbuilt = [path for path in files if path.resolve() not in chosen]
    sys.stdout.writelines(f"{path}: no target compiles it\n" for path in unbuilt)
    CLEAN.mkdir(exist_ok=True)
    decided_by = checks()

    def complaints_of(path: Path) -> str:
        return checked(path, digest(chosen[path.resolve()], decided_by))

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        complaints = list(pool.map(complaints_of, [path for path in files if path not in unbuilt]))
    sys.stdout.writelines(complaints)
    return 1 if unbuilt or any(complaints) else 0


if __name__ == "__main__":
    sys.exit(main())
