"""Kinds of values in JSON: how each is written, and read where anybody may have written it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clonometer.errors import InputError
from clonometer.records.marks import Known

# More ns than a lifetime has: no number that was measured is greater.
_MOST = 1e18
_WORDS = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}


def plain_json(value: Any) -> Any:
    """Copy ``value`` as what the json module writes without NaN and infinities, which become None."""
    if isinstance(value, Mapping):
        return {str(key): plain_json(item) for key, item in value.items()}
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, Collection):
        return [plain_json(item) for item in value]
    number = float(value)
    return number if math.isfinite(number) else None


class Place:
    """A value inside a JSON document, and where it stands, for example ``budget[2].share``; empty for all of it."""

    def __init__(self, value: Any, name: str = "") -> None:
        self.value = value
        self.name = name

    def __getitem__(self, key: str) -> Place:
        """What an object has under a key that it must have."""
        content = self.object()
        name = f"{self.name}.{key}" if self.name else key
        if key not in content:
            raise InputError(f"{name} is missing")
        return Place(content[key], name)

    def items(self) -> Iterator[tuple[str, Place]]:
        """Keys and values of an object."""
        return ((key, Place(value, f"{self.name}[{key!r}]")) for key, value in self.object().items())

    def entries(self) -> list[Place]:
        """The entries of a list."""
        if not isinstance(self.value, list):
            raise self.mistaken("a list")
        return [Place(value, f"{self.name}[{number}]") for number, value in enumerate(self.value)]

    def object(self) -> dict[str, Any]:
        """An object's content."""
        if not isinstance(self.value, dict):
            raise self.mistaken("an object")
        return self.value

    def mistaken(self, wanted: str) -> InputError:
        """Make the error that says what kind of value should stand here."""
        return self.error(f"is {_WORDS.get(type(self.value), 'a number')}, not {wanted}")

    def error(self, words: str) -> InputError:
        """Make an error about this place."""
        return InputError(f"{self.name or 'the document'} {words}")


class Codec(ABC):
    """One kind of value: how it is written and read."""

    def write(self, value: Any) -> Any:
        """Turn it into plain JSON."""
        return value

    @abstractmethod
    def read(self, place: Place) -> Any:
        """Check and take what stands in a document."""


@dataclass(frozen=True)
class Anything(Codec):
    """Whatever JSON has."""

    def write(self, value: Any) -> Any:
        return plain_json(value)

    def read(self, place: Place) -> Any:
        return place.value


@dataclass(frozen=True)
class Text(Codec):
    """A text."""

    known: Known | None = None
    pattern: str = ""
    least: float = 0

    def read(self, place: Place) -> Any:
        if not isinstance(place.value, str):
            raise place.mistaken("a text")
        if self.known is not None and place.value not in self.known.texts:
            raise place.error(f"is {place.value!r}, which this version does not know")
        return place.value


@dataclass(frozen=True)
class Enumerated(Codec):
    """One of the words of an enumeration, or of some of them."""

    words: tuple[StrEnum, ...]

    def read(self, place: Place) -> Any:
        for word in self.words:
            if word.value == place.value:
                return word
        raise place.error(f"is {place.value!r}, which this version does not know")


@dataclass(frozen=True)
class Truth(Codec):
    """True or false."""

    def read(self, place: Place) -> Any:
        if not isinstance(place.value, bool):
            raise place.mistaken("true or false")
        return place.value


@dataclass(frozen=True)
class Number(Codec):
    """A finite number between limits; an int stays one."""

    whole: bool
    least: float | None = None
    above: float | None = None
    most: float | None = None

    def write(self, value: Any) -> Any:
        return value if isinstance(value, int) else plain_json(value)

    def read(self, place: Place) -> Any:
        value = place.value
        if isinstance(value, bool) or not isinstance(value, int if self.whole else int | float):
            raise place.mistaken("a whole number" if self.whole else "a number")
        if not -_MOST <= value <= _MOST:
            raise place.error("is not a finite number or is out of range")
        if self.least is not None and value < self.least:
            raise place.error(f"is {value:g}, less than {self.least:g}")
        if self.above is not None and value <= self.above:
            raise place.error(f"is {value:g}, not more than {self.above:g}")
        if self.most is not None and value > self.most:
            raise place.error(f"is {value:g}, more than {self.most:g}")
        return value


@dataclass(frozen=True)
class Constant(Codec):
    """One of a few values."""

    values: tuple[Any, ...]

    def read(self, place: Place) -> Any:
        if not any(type(place.value) is type(value) and place.value == value for value in self.values):
            raise place.error(f"is {place.value!r}, which this version does not know")
        return place.value


@dataclass(frozen=True)
class Either(Codec):
    """One of several kinds, none of which is written in the way of another."""

    kinds: tuple[tuple[type, Codec], ...]

    def write(self, value: Any) -> Any:
        return next((codec for kind, codec in self.kinds if isinstance(value, kind)), self.kinds[-1][1]).write(value)

    def read(self, place: Place) -> Any:
        value = place.value
        return next((codec for kind, codec in self.kinds if isinstance(value, kind)), self.kinds[-1][1]).read(place)


@dataclass(frozen=True)
class Nullable(Codec):
    """What may be null."""

    codec: Codec

    def write(self, value: Any) -> Any:
        return None if value is None else self.codec.write(value)

    def read(self, place: Place) -> Any:
        return None if place.value is None else self.codec.read(place)


@dataclass(frozen=True)
class List(Codec):
    """A list of values of one kind, read as a tuple."""

    codec: Codec
    least: float = 0

    def write(self, value: Any) -> Any:
        return [self.codec.write(item) for item in value]

    def read(self, place: Place) -> Any:
        entries = place.entries()
        if len(entries) < self.least:
            raise place.error(f"has {len(entries)} entries, less than {self.least:g}")
        return tuple(self.codec.read(entry) for entry in entries)


@dataclass(frozen=True)
class Fixed(Codec):
    """A list of so many entries."""

    codecs: tuple[Codec, ...]

    def write(self, value: Any) -> Any:
        return [codec.write(item) for codec, item in zip(self.codecs, value, strict=True)]

    def read(self, place: Place) -> Any:
        entries = place.entries()
        if len(entries) != len(self.codecs):
            raise place.error(f"has {len(entries)} entries, not {len(self.codecs)}")
        return tuple(codec.read(entry) for codec, entry in zip(self.codecs, entries, strict=True))


@dataclass(frozen=True)
class Mapped(Codec):
    """An object with values of one kind."""

    codec: Codec

    def write(self, value: Any) -> Any:
        return {str(key): self.codec.write(item) for key, item in value.items()}

    def read(self, place: Place) -> Any:
        return {key: self.codec.read(item) for key, item in place.items()}
