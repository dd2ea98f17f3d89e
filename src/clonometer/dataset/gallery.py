"""Published summaries of many machines, read from a folder."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from clonometer.dataset.publish import scrubbed_facts
from clonometer.dataset.published import PUBLISHED_SUFFIX, Gallery, GalleryMachine, PublishedRow, PublishedSummary
from clonometer.dataset.types import LeftOutFile
from clonometer.errors import InputError
from clonometer.families import END
from clonometer.inputs import InputKind, parse_json, read_input
from clonometer.records import from_json

_SUMMARY = InputKind("a published summary", 8 << 20)
#: So many rows, those that most machines have, stand in the list of all machines.
_HEADLINES = 4


def read_gallery(folder: Path) -> Gallery:
    """Read all published summaries of a folder.

    Raises
    ------
    InputError
        If it is no folder, or has no sound summary.
    """
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.name.endswith(PUBLISHED_SUFFIX))
    except OSError as error:
        raise InputError(f"cannot read {folder}: {error.strerror}") from error
    machines: dict[str, GalleryMachine] = {}
    left_out = []
    for name in names:
        try:
            machine = _machine(folder / name)
        except InputError as error:
            left_out.append(LeftOutFile(name, error.message))
            continue
        if machine.id in machines:
            left_out.append(LeftOutFile(name, "another file says the same"))
        machines[machine.id] = machine
    if not machines:
        first = f": {left_out[0].path}: {left_out[0].reason}" if left_out else ""
        raise InputError(
            f"{folder} has no published summary{first}", f"clonometer publish RUN --anonymous makes *{PUBLISHED_SUFFIX}"
        )
    listed = sorted(machines.values(), key=lambda machine: (str(machine.facts.get("cpu.model")), machine.id))
    return Gallery(listed, left_out, _headlines(listed))


def read_published(path: Path) -> PublishedSummary:
    """Read a published summary.

    Raises
    ------
    InputError
        If it cannot be read, is none, or has a fact that a summary may not have so.
    """
    published = from_json(PublishedSummary, parse_json(read_input(path, _SUMMARY)))
    if not published.rows:
        raise InputError("it has no row")
    kept = scrubbed_facts(published.facts)
    odd = sorted(key for key in published.facts if kept.get(key) != published.facts[key])
    if odd:
        raise InputError(f"it has the fact {odd[0][:40]!r} in a form that no summary uses")
    return published


def _machine(path: Path) -> GalleryMachine:
    published = read_published(path)
    text = json.dumps([dict(published.facts), published.month, [vars(row) for row in published.rows]], sort_keys=True)
    return GalleryMachine(hashlib.sha256(text.encode()).hexdigest()[:12], published)


def _headlines(machines: Sequence[GalleryMachine]) -> list[tuple[str, str, str | None]]:
    """The rows that most machines have: whole warm launches first."""
    counts: Counter[tuple[str, str, str | None]] = Counter()
    whole: set[tuple[str, str, str | None]] = set()
    for machine in machines:
        for row in machine.published.rows:
            counts[key_of(row)] += 1
            if row.stage == END and row.temperature == "warm":
                whole.add(key_of(row))
    ranked = sorted(counts, key=lambda key: (key not in whole, -counts[key], len(key[0]), str(key)))
    return ranked[:_HEADLINES]


def key_of(row: PublishedRow) -> tuple[str, str, str | None]:
    """What tells the rows of a machine apart."""
    return row.cell, row.quantity, row.placement
