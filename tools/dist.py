"""`make dist`: the source archive, and a wheel made from it that pip takes on every machine it can run on.

The wheel carries executables. Those that are static ask for nothing; for the others the tag says the oldest C library
that has every symbol they ask for (PEP 600: manylinux_MAJOR_MINOR), read from them, and not what was hoped for.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
_ASKED = re.compile(r"Name: GLIBC_(\d+)\.(\d+)")
_ELF = b"\x7fELF"


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


def main() -> int:
    """Build both into the folder named, or into dist/."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else PROJECT / "dist")
    out.mkdir(parents=True, exist_ok=True)
    archive = build(PROJECT, out, "--sdist")
    with tempfile.TemporaryDirectory(prefix="dist-") as name:
        folder = Path(name)
        unpack(archive, folder)
        source = folder / archive.name.removesuffix(".tar.gz")
        compiled = folder / "compiled"
        # First to see what its executables ask for, then, with nothing left to compile, with the tag that says so.
        build(source, folder / "first", "--wheel", f"-Cbuild-dir={compiled}")
        programs = [path for path in compiled.rglob("*") if path.is_file() and os.access(path, os.X_OK)]
        major, minor = oldest_library(programs)
        tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
        wheel = build(source, out, "--wheel", f"-Cbuild-dir={compiled}", f"-Cwheel.tags={tag}")
    for path in (archive, wheel):
        sys.stdout.write(f"{path}: {path.stat().st_size / 1e6:.1f} MB\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
