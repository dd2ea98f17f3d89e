"""`make dist`: the source archive, and wheels made from it that pip takes on every machine they can run on.

One is for this machine's instruction set, and one for each other whose cross compiler is installed (aarch64).

The wheel carries executables. Those that are static ask for nothing; for the others the tag says the oldest C library
that has every symbol they ask for (PEP 600: manylinux_MAJOR_MINOR), read from them, and not what was hoped for.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
_ASKED = re.compile(r"Name: GLIBC_(\d+)\.(\d+)")
CROSS = "aarch64"
_ELF = b"\x7fELF"
# EM_X86_64 and EM_AARCH64 of elf.h.
_MACHINES = {62: "x86_64", 183: "aarch64"}


def asked(version_info: str) -> set[tuple[int, int]]:
    """The versions of glibc that ``readelf --version-info`` names."""
    return {(int(major), int(minor)) for major, minor in _ASKED.findall(version_info)}


def oldest_library(executables: Iterable[Path]) -> tuple[int, int]:
    """The oldest glibc that has all that these executables ask for; 2.17 where they ask for nothing newer."""
    needed = {(2, 17)}
    for path in executables:
        if path.read_bytes()[:4] == _ELF:
            command = ["readelf", "--version-info", "--wide", str(path)]
            needed |= asked(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return max(needed)


def build(source: Path, out: Path, *words: str) -> Path:
    """Run a build of ``source`` with what is installed; the newest file in ``out``."""
    environment = {
        **os.environ,
        "CMAKE_GENERATOR": "Ninja",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), *words, str(source)]
    ended = subprocess.run(
        command, check=False, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if ended.returncode != 0:
        raise SystemExit(f"{ended.stdout}\nthe build failed: {' '.join(map(str, command))}")
    return max(out.iterdir(), key=lambda path: path.stat().st_mtime_ns)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive of sources into a folder."""
    with tarfile.open(archive) as packed:
        # Debian 12's Python has no filters yet.
        packed.extraction_filter = getattr(tarfile, "data_filter", None)
        packed.extractall(folder)


def foreign() -> dict[str, list[str]]:
    """What tells CMake to build for other instruction sets, of those whose compilers are installed."""
    if platform.machine() == CROSS or shutil.which(f"{CROSS}-linux-gnu-gcc") is None:
        return {}
    cxx = shutil.which(f"{CROSS}-linux-gnu-g++") or ""
    defined = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": CROSS,
        "CMAKE_C_COMPILER": f"{CROSS}-linux-gnu-gcc",
        "CMAKE_CXX_COMPILER": cxx,
    }
    return {CROSS: [f"-Ccmake.define.{name}={value}" for name, value in defined.items()]}


def machine_of(path: Path) -> str | None:
    """The instruction set of an executable, as ``uname -m`` names it; None for what is no ELF file."""
    head = path.read_bytes()[:20]
    if head[:4] != _ELF:
        return None
    number = int.from_bytes(head[18:20], "little")
    return _MACHINES.get(number, str(number))


def check(programs: Iterable[Path], machine: str) -> None:
    """Refuse programs for another instruction set, and probes that do not start, in an emulator if there is one."""
    emulator: list[str] = []
    if machine != platform.machine():
        emulator = [f"qemu-{machine}", "-L", f"/usr/{machine}-linux-gnu"]
    for path in programs:
        if machine_of(path) not in (None, machine):
            raise SystemExit(f"{path.name} is for {machine_of(path)}, not for {machine}")
        if path.name.startswith("probe-") and (not emulator or shutil.which(emulator[0])):
            subprocess.run([*emulator, str(path), "--describe"], check=True, stdout=subprocess.DEVNULL)


def build_wheel(source: Path, out: Path, machine: str, folder: Path, *words: str) -> Path:
    """Build a wheel for an instruction set, with the tag that its executables ask for."""
    compiled = folder / f"compiled-{machine}"
    # First to see what its executables ask for, then, with nothing left to compile, with the tag that says so.
    build(source, folder / "first", "--wheel", f"-Cbuild-dir={compiled}", *words)
    programs = [path for path in compiled.rglob("*") if path.is_file() and os.access(path, os.X_OK)]
    check(programs, machine)
    major, minor = oldest_library(programs)
    tag = f"py3-none-manylinux_{major}_{minor}_{machine}"
    return build(source, out, "--wheel", f"-Cbuild-dir={compiled}", f"-Cwheel.tags={tag}", *words)


def main() -> int:
    """Build all into the folder named, or into dist/."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else PROJECT / "dist")
    out.mkdir(parents=True, exist_ok=True)
    archive = build(PROJECT, out, "--sdist")
    made = [archive]
    with tempfile.TemporaryDirectory(prefix="dist-") as name:
        folder = Path(name)
        unpack(archive, folder)
        source = folder / archive.name.removesuffix(".tar.gz")
        for machine, words in {platform.machine(): [], **foreign()}.items():
            made.append(build_wheel(source, out, machine, folder, *words))
    for path in made:
        sys.stdout.write(f"{path}: {path.stat().st_size / 1e6:.1f} MB\n")
    if len(made) == 2:
        compilers = f"gcc-{CROSS}-linux-gnu, g++-{CROSS}-linux-gnu"
        sys.stdout.write(f"no wheel for {CROSS}: its compilers are not installed ({compilers})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
