"""A case: a program, how it launches, and the mend; one TOML file each in publications/cases/data."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

PROJECT = Path(__file__).resolve().parents[2]
DATA = Path(__file__).with_name("data")
_PROSE = ("title", "why", "mend", "lose")
_VENV = PROJECT / ".venv" / "bin"


@dataclass(frozen=True)
class Case:
    """What is compared, and what is said of it.

    ``before`` and ``after`` are commands, run in a folder that has ``files`` and in which ``prepare`` has run.
    ``needs`` are programs with the packages that have them, ``pip`` packages of Python that are installed for it.
    ``ordinary_user``: not as root, for whom a runtime launches otherwise. ``creator``: the program whose tasks are
    counted, where others only drive it.
    ``measures`` is `wall` (how long the command takes), or `printed` (the seconds that its last line says), which
    ``quantity`` names. ``why``, ``mend`` and ``lose`` are sentences; ``asked`` is where people asked.
    """

    name: str
    title: str
    program: str
    version: Sequence[str]
    before: Sequence[str]
    after: Sequence[str]
    why: str
    mend: str
    lose: str
    needs: Mapping[str, str]
    asked: str = ""
    prepare: Sequence[str] = ()
    pip: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    ordinary_user: bool = False
    creator: str = ""
    measures: Literal["wall", "printed"] = "wall"
    quantity: str = "the whole command"
    files: Mapping[str, str] = field(default_factory=dict)

    def missing(self) -> list[str]:
        """The packages that this machine lacks."""
        return [package for program, package in self.needs.items() if shutil.which(program) is None]

    def lay_out(self, folder: Path) -> dict[str, str]:
        """Write its files and prepare it; variables that its commands need.

        Raises
        ------
        subprocess.CalledProcessError
            If what prepares it fails.
        """
        folder.chmod(0o755)
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        packages = folder / "packages"
        if self.pip:
            words = [str(_VENV / "pip"), "--disable-pip-version-check", "install", "-q", "--target", str(packages)]
            subprocess.run([*words, *self.pip], check=True)
        variables = {**self.environment, "PYTHONPATH": str(packages)} if self.pip else dict(self.environment)
        if self.prepare:
            subprocess.run(self.prepare, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return variables


def read_cases() -> list[Case]:
    """All cases, by name."""
    return [_read(path) for path in sorted(DATA.glob("*.toml"))]


def _read(path: Path) -> Case:
    words: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    words |= {key: " ".join(words[key].split()) for key in _PROSE}
    return Case(name=path.stem, **words)
