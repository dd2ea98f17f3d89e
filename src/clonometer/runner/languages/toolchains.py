"""Which languages have a driver, and which toolchains of theirs are on this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path

from clonometer.inputs import parse_toml
from clonometer.launch_paths.reading import load_book
from clonometer.launch_paths.versions import numbers
from clonometer.runner.languages.types import Language, Toolchain
from clonometer.runner.launches import locate

_DRIVERS, _DESCRIPTION = "_drivers", "driver.toml"
#: So many programs of a language are asked for their version: each takes a moment.
_MOST_PROGRAMS = 12
#: So many versions are measured where no name asks for another one: each has cells of its own.
_MEASURED_VERSIONS = 2


def find_languages() -> tuple[Language, ...]:
    """The languages that have a driver, by name; none where the sources were not installed."""
    folder = Path(str(resources.files("clonometer") / _DRIVERS))
    files = sorted(folder.glob(f"*/{_DESCRIPTION}")) if folder.is_dir() else []
    return tuple(_read(file) for file in files)


def wanted_languages(names: Sequence[str], languages: Sequence[Language]) -> tuple[Language, ...]:
    """The languages that ids of workloads, or globs of them, may mean.

    Those of a second version have its numbers behind the name: ``python_3_12.thread``. A glob without a dot means none.
    """
    first = [name.partition(".")[0] for name in names if "." in name]
    return tuple(
        each
        for each in languages
        if any(fnmatchcase(each.name, word) or re.match(rf"{each.name}_[\d?*\[]", word) for word in first)
    )


def find_toolchains(language: Language) -> tuple[Toolchain, ...]:
    """The versions of a language that are here: the first along PATH, which has its name, then the newest of others."""
    located = locate(language.runtime)
    asked = {os.path.realpath(each.program) for each in located}
    for program in list(_elsewhere(language))[:_MOST_PROGRAMS]:
        if os.path.realpath(program) not in asked:
            asked.add(os.path.realpath(program))
            located += [each for each in locate(language.runtime, program) if each not in located]
    toolchains: dict[str, Toolchain] = {}
    for each in [*located[:1], *sorted(located[1:], key=lambda other: numbers(other.version), reverse=True)]:
        name = language.name if not toolchains else _versioned(language.name, each.version)
        toolchain = Toolchain(language, name, each.program, each.version)
        if each.version not in {known.version for known in toolchains.values()}:
            toolchains.setdefault(name, toolchain)
    usable = [each for each in toolchains.values() if not each.is_too_old]
    # The first one has the plain name, unless it is too old for the sources.
    return tuple([replace(usable[0], name=language.name), *usable[1:]] if usable else toolchains.values())


def measured_toolchains(language: Language, names: Sequence[str]) -> tuple[Toolchain, ...]:
    """The versions that a run measures: the first, the newest other one, and those that ids or globs ask for."""
    first = {name.partition(".")[0] for name in names}
    asked = [word for word in first if word.startswith(f"{language.name}_")]
    return tuple(
        each
        for place, each in enumerate(find_toolchains(language))
        if place < _MEASURED_VERSIONS or any(fnmatchcase(each.name, word) for word in asked)
    )


def _versioned(name: str, version: str) -> str:
    return "_".join([name, *map(str, numbers(version)[:2])])


def _elsewhere(language: Language) -> Iterator[str]:
    for pattern in language.places:
        path = Path(pattern).expanduser()
        programs = map(str, Path(path.anchor).glob(str(path.relative_to(path.anchor))))
        yield from sorted(
            programs, key=lambda place: [int(number) for number in re.findall(r"\d+", place)], reverse=True
        )


def _read(file: Path) -> Language:
    document = parse_toml(file.read_text(encoding="utf-8"))
    return Language(
        file.parent,
        load_book().runtime(file.parent.name),
        document["oldest"],
        tuple(document["run"]),
        tuple(document.get("build", ())),
        document.get("environment", {}),
        tuple(document.get("places", ())),
    )
