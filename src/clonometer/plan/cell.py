"""Cells: one workload under one requested condition, and their canonical text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from clonometer.units import format_bytes
from clonometer.words import cell_text

AxisValue = int | str


@dataclass(frozen=True)
class CatalogueAxis:
    """One axis of the catalogue (docs/protocol.md).

    ``kind`` is ``bytes``, ``count``, ``choice`` or ``text``; ``values`` is empty unless it is a choice.
    ``form`` is the regular expression of all that a text may be; None: any.
    """

    name: str
    kind: str
    default: AxisValue
    summary: str = ""
    values: tuple[str, ...] = ()
    minimum: int | None = None
    unavailable: Mapping[str, str] = field(default_factory=dict)
    form: str | None = None


@dataclass(frozen=True)
class Cell:
    """A workload, its full condition (every axis of the workload, defaults included) and its temperature.

    ``text`` is canonical: axes that differ from their default, and the temperature where there is one, in
    alphabetical order; sizes in binary units. Two different cells of one catalogue never have the same text,
    and a text used as a glob matches no other condition: where a value has one of ``% , = [ ] * ?`` or white
    space, that character is written as ``%`` and its UTF-8 bytes in hexadecimal, as in a URL.

    Examples
    --------
    >>> axes = {"parent_bytes": CatalogueAxis("parent_bytes", "bytes", 0)}
    >>> make_cell("launch.fork", {"parent_bytes": 67108864}, "warm", axes).text
    'launch.fork[parent_bytes=64MiB,temperature=warm]'
    """

    text: str
    workload: str
    condition: Mapping[str, AxisValue]
    temperature: str | None

    def __hash__(self) -> int:
        return hash(self.text)


def make_cell(
    workload: str,
    condition: Mapping[str, AxisValue],
    temperature: str | None,
    axes: Mapping[str, CatalogueAxis],
) -> Cell:
    """Build a cell: fill in defaults for every axis in ``axes`` and write its canonical text."""
    full = {name: condition.get(name, axis.default) for name, axis in sorted(axes.items())}
    shown = {name: _value_text(value, axes[name]) for name, value in full.items() if value != axes[name].default}
    if temperature is not None:
        shown["temperature"] = temperature
    text = cell_text(workload, (f"{name}={value}" for name, value in sorted(shown.items())))
    return Cell(text, workload, full, temperature)


_SPECIAL = re.compile(r"[%,=\[\]*?\s\x00-\x1f\x7f]")


def _value_text(value: AxisValue, axis: CatalogueAxis) -> str:
    if isinstance(value, int):
        return format_bytes(value) if axis.kind == "bytes" else str(value)
    return _SPECIAL.sub(lambda special: "".join(f"%{byte:02X}" for byte in special.group().encode()), value)


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Compile a cell glob: ``*`` and ``?`` are wild, brackets are themselves, since cell text has brackets.

    Examples
    --------
    >>> bool(glob_pattern("launch.fork[*warm]").fullmatch("launch.fork[temperature=warm]"))
    True
    """
    wild = {"*": ".*", "?": "."}
    return re.compile("".join(wild.get(letter, re.escape(letter)) for letter in glob))


def matches(text: str, globs: Iterable[str]) -> bool:
    """Whether a cell's text matches any of the globs, whole or by its workload alone."""
    return any(
        glob_pattern(glob).fullmatch(text) or glob_pattern(glob).fullmatch(text.split("[", 1)[0]) for glob in globs
    )
