"""A language whose launches can be measured, and a toolchain of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from clonometer.launch_paths.types import RuntimeBook
from clonometer.launch_paths.versions import numbers


@dataclass(frozen=True)
class Language:
    """A folder of ``drivers/``: its sources, and its ``driver.toml``.

    Attributes
    ----------
    folder
        The sources.
    runtime
        The book of launch paths says how it is found, which version it is, and which package brings it.
    oldest
        The first version that the sources are for.
    run
        The command that starts the driver. ``{program}`` is the runtime, ``{bin}`` its folder, ``{folder}`` the
        sources, ``{out}`` what was built and ``{name}`` the first word of its workloads.
    build
        The command that builds it in ``{out}``; empty: nothing is built.
    environment
        Variables for that.
    places
        Globs of further programs, besides those along PATH.
    """

    folder: Path
    runtime: RuntimeBook
    oldest: str
    run: tuple[str, ...]
    build: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    places: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The first word of its workloads."""
        return self.runtime.name

    @property
    def missing(self) -> str:
        """What to say where it is not here."""
        packages = " and ".join(self.runtime.packages)
        return f"{self.runtime.title} is not here: Debian's {packages} has it"


@dataclass(frozen=True)
class Toolchain:
    """A version of a language on this machine. ``name`` is the first word of its workloads."""

    language: Language
    name: str
    program: str
    version: str

    @property
    def is_too_old(self) -> bool:
        """Whether the sources are for later versions."""
        return numbers(self.version) < numbers(self.language.oldest)
