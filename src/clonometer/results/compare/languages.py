"""What of a run's languages may explain its figures: versions, launch paths by the book, and tasks as counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clonometer.grouping import group_by
from clonometer.launch_paths.reading import load_book
from clonometer.results.compare.types import Difference
from clonometer.results.rows.runtimes import tasks_created
from clonometer.run_document import RunDocument

#: What may change without another version, besides it.
_OF_RUNTIME = ("version", "flags", "free_threaded")
_RUNTIME, _PATH, _TASKS = "runtime.", "launch_path.", "tasks_per_launch."


def language_facts(document: RunDocument) -> dict[str, str]:
    """Say of each language that was measured which version it was, and of each workload how it launches.

    Keys are ``runtime.LANGUAGE.version`` and the like, ``launch_path.WORKLOAD`` (the tasks that the book of launch
    paths has for this version) and ``tasks_per_launch.CELL`` (how many were seen to be created, where that is sure).
    """
    facts: dict[str, str] = {}
    versions: dict[str, str] = {}
    for driver in _mappings(document.catalogue.further.get("drivers", ())):
        name, runtime = str(driver.get("name")), driver.get("runtime")
        toolchain = driver.get("toolchain")
        if not isinstance(runtime, Mapping) or not isinstance(toolchain, Mapping):
            continue
        versions[name] = str(toolchain.get("version"))
        known = {"version": versions[name], **{key: runtime[key] for key in _OF_RUNTIME[1:] if key in runtime}}
        facts |= {f"{_RUNTIME}{name}.{key}": _text(value) for key, value in known.items()}
    measured = {cell.workload for cell in document.plan.cells}
    for workload in document.catalogue.workloads:
        name = workload.id.partition(".")[0]
        path = workload.further.get("launch_path")
        if workload.id in measured and name in versions and isinstance(path, str):
            facts[_PATH + workload.id] = _seen(name, path, versions[name])
    of_languages = group_by((block.cell, block) for block in document.blocks if block.cell.split(".")[0] in versions)
    for cell, blocks in of_languages.items():
        created = tasks_created(blocks)
        if created is not None and created.per_launch is not None:
            facts[_TASKS + cell] = str(created.per_launch)
    return facts


def language_differences(base: Mapping[str, str], other: Mapping[str, str]) -> Iterator[Difference]:
    """Yield what both runs know and what differs: of several workloads that changed alike the first."""
    seen: set[tuple[str, str, str]] = set()
    for key, value in base.items():
        its = other.get(key, value)
        language = key.split(".")[1]
        kind = key if key.startswith(_RUNTIME) else f"{key.split('.')[0]}.{language}"
        if value != its and (kind, value, its) not in seen:
            seen.add((kind, value, its))
            yield Difference(key, value, its)


def _mappings(values: object) -> Iterator[Mapping[str, Any]]:
    yield from (value for value in (values if isinstance(values, list | tuple) else ()) if isinstance(value, Mapping))


def _text(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _seen(name: str, path: str, version: str) -> str:
    """The tasks that a line of the book has for a version; the line's name where it has none."""
    runtime = load_book().find(name.partition("_")[0])
    line = None if runtime is None else runtime.line_of(path, version)
    return ", ".join(line.sees) if line is not None and line.sees else path
