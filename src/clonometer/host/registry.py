"""The register of host facts: each key with its type, its unit and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from clonometer.host.source import FactUnavailable, Source

Value = str | int | float | bool | list[str] | dict[str, str] | dict[str, int] | None
_Reader = TypeVar("_Reader", bound=Callable[[Source], "Value"])
_KINDS: dict[str, type | tuple[type, ...]] = {
    "text": str,
    "int": int,
    "bool": bool,
    "float": (float, int),
    "list": list,
    "object": dict,
}


@dataclass(frozen=True)
class Fact:
    """One key of docs/host.md.

    ``kind`` is ``text``, ``int``, ``bool``, ``float``, ``list`` or ``object``; ``unit`` is None or one of
    ``bytes``, ``kHz``, ``cpu``, ``count``, ``share``; ``null`` says what null means where it is no lack.
    """

    key: str
    kind: str
    unit: str | None
    summary: str
    null: str | None
    read: Callable[[Source], Value]

    def checked(self, value: Value) -> Value:
        """Return the value if it is of the fact's kind, else raise FactUnavailable: a wrong fact is worse than none."""
        if value is None:
            if self.null is None:
                raise FactUnavailable("nothing was found")
            return None
        if not isinstance(value, _KINDS[self.kind]) or (isinstance(value, bool) and self.kind != "bool"):
            raise FactUnavailable(f"{value!r} is no {self.kind}")
        if self.unit is not None and isinstance(value, int | float) and value < 0:
            raise FactUnavailable(f"{value!r} is below 0")
        return value


FACTS: dict[str, Fact] = {}


def register(
    key: str, kind: str, summary: str, *, unit: str | None = None, null: str | None = None
) -> Callable[[_Reader], _Reader]:
    """Register the decorated function as the reader of a fact."""
    if key in FACTS or kind not in _KINDS:
        raise ValueError(f"{key} is registered twice or has an unknown kind {kind!r}")

    def add(read: _Reader) -> _Reader:
        FACTS[key] = Fact(key, kind, unit, summary, null, read)
        return read

    return add


def register_file(
    key: str,
    kind: str,
    path: str,
    summary: str,
    *,
    field: str | None = None,
    unit: str | None = None,
    parse: Callable[[str], Value] | None = None,
) -> None:
    """Register a fact that one file, or a field of it, tells: its text, its number, or what ``parse`` makes of it."""

    def read(source: Source) -> Value:
        if kind == "int" and parse is None:
            return source.integer(path)
        text = source.text(path) if field is None else source.field(path, field)
        return text if parse is None else parse(text)

    register(key, kind, summary, unit=unit)(read)
