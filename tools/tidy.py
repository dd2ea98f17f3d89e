"""clang-tidy over the C and C++ sources: each file once, on all processors, the longest first.

A compilation database names a source once for every linkage of the probe, and clang-tidy would analyse it as often.
What it found nothing in is not analysed again until the file, what it includes of ours or a check changes. What this
clone found is in `build/tidy/clean`; `tools/tidy_clean.txt` is kept in git, so that a fresh clone and CI analyse what
has changed since, and a sixteenth of the rest, another one for each commit. With `--whole` (`make tidy`, nightly)
everything is analysed, as after an update of the compiler's headers; if that finds nothing, it writes the list anew.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path("build/tidy")
CLEAN = BUILD / "clean"
KEPT = Path(__file__).with_name("tidy_clean.txt")
ROUNDS = 16  # so many commits, and each file was analysed again
INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
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


def read(path: Path, seen: dict[Path, bytes]) -> None:
    """Read a file and what it includes of ours, as the compiler finds it; what is generated is nobody's text."""
    if path in seen:
        return
    seen[path] = path.read_bytes()
    for name in INCLUDE.findall(seen[path]):
        for candidate in (path.parent / name.decode(), Path("core", name.decode())):
            if candidate.is_file():
                read(Path(os.path.normpath(candidate)), seen)
                break


def digest(path: Path, decided_by: bytes) -> str:
    """What a file and all that it includes of ours are, the same on every machine; comments may switch checks off."""
    seen: dict[Path, bytes] = {}
    read(path, seen)
    return hashlib.sha256(b"\0".join((decided_by, *(seen[each] for each in sorted(seen))))).hexdigest()[:16]


def in_turn(paths: list[Path]) -> set[Path]:
    """The files that are analysed in any case at this commit; none where there is none."""
    asked = subprocess.run(["git", "rev-parse", "HEAD"], check=False, capture_output=True, text=True)
    if asked.returncode != 0:
        return set()
    turn = int(asked.stdout, 16) % ROUNDS
    return {path for path in paths if hashlib.sha256(str(path).encode()).digest()[0] % ROUNDS == turn}


def checked(path: Path, seen: str) -> str:
    """What clang-tidy says of a file."""
    command = [clang_tidy(), "--quiet", "-p", str(BUILD), str(path)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    if ended.returncode == 0:
        (CLEAN / seen).touch()
    return "" if ended.returncode == 0 else ended.stdout + ended.stderr or f"{path}: clang-tidy failed"


def main() -> int:
    """Print what clang-tidy found; 1 if it found anything."""
    whole = "--whole" in sys.argv
    files = sources()
    chosen = once(configure())
    (BUILD / "compile_commands.json").write_text(json.dumps(list(chosen.values())))
    unbuilt = [path for path in files if path.resolve() not in chosen]
    sys.stdout.writelines(f"{path}: no target compiles it\n" for path in unbuilt)
    CLEAN.mkdir(exist_ok=True)
    decided_by = checks()
    digests = {path: digest(path, decided_by) for path in files if path not in unbuilt}
    kept = set(KEPT.read_text().split()) if KEPT.exists() else set()
    again = in_turn(files)
    asked = [
        path
        for path, seen in digests.items()
        if whole or (not (CLEAN / seen).exists() and (seen not in kept or path in again))
    ]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        complaints = list(pool.map(lambda path: checked(path, digests[path]), asked))
    sys.stdout.writelines(complaints)
    failed = bool(unbuilt) or any(complaints)
    if whole and not failed:
        KEPT.write_text("".join(f"{seen} {path}\n" for path, seen in sorted(digests.items())))
    sys.stdout.write(f"analysed: {len(asked)} of {len(files)} files\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
