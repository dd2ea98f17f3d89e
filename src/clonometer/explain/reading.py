"""Reading JSON that somebody hands in: every value is checked where it is taken, and an error names its place."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from clonometer.errors import InputError
from clonometer.explain.types import Figure, Tier

# More ns than a lifetime has; beyond it nothing that was measured lies.
_MOST = 1e18
_Made = TypeVar("_Made")
_WORDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}


class Place:
    """A value inside a JSON document, and where it stands in it.

    Parameters
    ----------
    value
        As `json.loads` gives it.
    name
        Where it stands, for errors, for example ``budget[2].share``; empty for the whole document.
    """

    def __init__(self, value: Any, name: str = "") -> None:
        self.value = value
        self.name = name

    def __getitem__(self, key: str) -> Place:
        """What an object has under a key that it must have."""
        inside = self._object()
        name = f"{self.name}.{key}" if self.name else key
        if key not in inside:
            raise InputError(f"{name} is missing")
        return Place(inside[key], name)

    def get(self, key: str) -> Place | None:
        """What an object has under a key that it may have; None where it has not, or null."""
        return None if self._object().get(key) is None else self[key]

    def items(self) -> Iterator[tuple[str, Place]]:
        """Keys and values of an object."""
        return ((key, Place(value, f"{self.name}[{key!r}]")) for key, value in self._object().items())

    def each(self) -> list[Place]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            raise self._wrong("a list")
        return [Place(value, f"{self.name}[{number}]") for number, value in enumerate(self.value)]

    def text(self) -> str:
        """A text."""
        if not isinstance(self.value, str):
            raise self._wrong("a text")
        return self.value

    def texts(self) -> tuple[str, ...]:
        """A list of texts."""
        return tuple(one.text() for one in self.each())

    def one_of(self, known: Mapping[str, object] | tuple[str, ...]) -> str:
        """A text that must be one of those."""
        said = self.text()
        if said not in known:
            raise InputError(f"{self.name} is {said!r}, which this version does not know")
        return said

    def truth(self) -> bool:
        """True or false."""
        if not isinstance(self.value, bool):
            raise self._wrong("true or false")
        return self.value

    def number(self, least: float = -math.inf) -> float:
        """A finite number, at least that."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            raise self._wrong("a number")
        if not -_MOST <= self.value <= _MOST:
            raise InputError(f"{self.name} is not a finite number or is out of range")
        if self.value < least:
            raise InputError(f"{self.name} is {self.value:g}, less than {least:g}")
        return self.value

    def whole(self, least: int = 0) -> int:
        """A whole number, at least that."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self._wrong("a whole number")
        if not -_MOST <= self.value <= _MOST:
            raise InputError(f"{self.name} is out of range")
        if self.value < least:
            raise InputError(f"{self.name} is {self.value}, less than {least}")
        return self.value

    def figure(self, name: str, unit: str = "", *, least: float = -math.inf) -> Figure:
        """A number and its interval, which stand in an object as ``name``, ``name_low`` and ``name_high``."""
        return Figure(*(self[f"{name}{end}{unit}"].number(least) for end in ("", "_low", "_high")))

    def own_figure(self) -> Figure:
        """A number and its interval, which are an object of ``value``, ``low`` and ``high``."""
        return Figure(*(self[end].number() for end in ("value", "low", "high")))

    def maybe(self, key: str, make: Callable[[Place], _Made]) -> _Made | None:
        """Make something of what is under a key, or None where nothing is."""
        found = self.get(key)
        return None if found is None else make(found)

    def _object(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            raise self._wrong("an object")
        return self.value

    def _wrong(self, wanted: str) -> InputError:
        found = _WORDS.get(type(self.value), "a number")
        return InputError(f"{self.name or 'the document'} is {found}, not {wanted}")


def read_tier(place: Place, known: tuple[str, ...]) -> Tier:
    """How much could be seen."""
    return Tier(
        place["name"].one_of(known),
        place["how"].text(),
        {name: why.text() for name, why in place["refused"].items()},
        place["cannot_see"].texts(),
    )
