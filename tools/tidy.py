"""clang-tidy over the C and C++ sources: each file once, on all processors, the longest first.

A compilation database names a source once for every linkage of the probe, and clang-tidy would analyse it as often.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path("build/tidy")
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


def checked(path: Path) -> subprocess.CompletedProcess[str]:
    """What clang-tidy says of one file."""
    command = [str(Path(sys.executable).with_name("clang-tidy")), "--quiet", "-p", str(BUILD), str(path)]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def main() -> int:
    """Print what clang-tidy found; 1 if it found anything."""
    files = sources()
    chosen = once(configure())
    (BUILD / "compile_commands.json").write_text(json.dumps(list(chosen.values())))
    unbuilt = [path for path in files if path.resolve() not in chosen]
    sys.stdout.writelines(f"{path}: no target compiles it\n" for path in unbuilt)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        ended = list(pool.map(checked, [path for path in files if path not in unbuilt]))
    for process in ended:
        if process.returncode != 0:
            sys.stdout.write(process.stdout + process.stderr)
    return 1 if unbuilt or any(process.returncode for process in ended) else 0


if __name__ == "__main__":
    sys.exit(main())
