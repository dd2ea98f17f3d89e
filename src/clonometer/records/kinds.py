"""Kinds of values in JSON: how each is written, and read where anybody may have written it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import repeat
from typing import Any

from clonometer.records.marks import OneOf

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


class UnfitError(Exception):
    """A value that is not what it must be; its place is put together on the way out, so that reading is fast."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words
        self._place = ""

    def inside(self, step: str) -> UnfitError:
        """Say that it happened behind a key (``.share``) or at an entry (``[2]``, ``['x']``) of what is being read."""
        self._place = step + self._place
        return self

    @property
    def sentence(self) -> str:
        """What stands where, for example ``budget[2].share is -1, less than 0``."""
        return f"{self._place.removeprefix('.') or 'the document'} {self.words}"


def mistaken(value: Any, wanted: str) -> UnfitError:
    """Make the error that says what kind of value should stand here."""
    return UnfitError(f"is {_WORDS.get(type(value), 'a number')}, not {wanted}")


def as_object(value: Any) -> dict[str, Any]:
    """An object's content."""
    if not isinstance(value, dict):
        raise mistaken(value, "an object")
    return value


def as_list(value: Any) -> list[Any]:
    """A list's entries."""
    if not isinstance(value, list):
        raise mistaken(value, "a list")
    return value


class Codec(ABC):
    """One kind of value: how it is written and read."""

    def write(self, value: Any) -> Any:
        """Turn it into plain JSON."""
        return value

    @abstractmethod
    def read(self, value: Any) -> Any:
        """Check and take what stands in a document; raises `UnfitError`."""


@dataclass(frozen=True)
class Anything(Codec):
    """Whatever JSON has."""

    def write(self, value: Any) -> Any:
        return plain_json(value)

    def read(self, value: Any) -> Any:
        return value


@dataclass(frozen=True)
class Text(Codec):
    """A text."""

    known: OneOf | None = None
    pattern: str = ""
    least: float = 0

    def read(self, value: Any) -> Any:
        if not isinstance(value, str):
            raise mistaken(value, "a text")
        if self.known is not None and value not in self.known.texts:
            raise UnfitError(f"is {value!r}, which this version does not know")
        return value


@dataclass(frozen=True)
class Enumerated(Codec):
    """One of the words of an enumeration, or of some of them."""

    words: tuple[StrEnum, ...]

    def read(self, value: Any) -> Any:
        for word in self.words:
            if word.value == value:
                return word
        raise UnfitError(f"is {value!r}, which this version does not know")


@dataclass(frozen=True)
class Truth(Codec):
    """True or false."""

    def read(self, value: Any) -> Any:
        if not isinstance(value, bool):
            raise mistaken(value, "true or false")
        return value


@dataclass(frozen=True)
class Number(Codec):
    """A finite number between limits; an int stays one."""

    whole: bool
    least: float | None = None
    above: float | None = None
    most: float | None = None
    #: Its types and ends: what almost every number is within, so that it is asked at once.
    usual: tuple[tuple[type, ...], float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        kinds = (int,) if self.whole else (int, float)
        ends = (-_MOST if self.least is None else self.least, _MOST if self.most is None else self.most)
        object.__setattr__(self, "usual", (kinds, *ends))

    def write(self, value: Any) -> Any:
        return value if isinstance(value, int) else plain_json(value)

    def read(self, value: Any) -> Any:
        kinds, low, high = self.usual
        if type(value) in kinds and low <= value <= high and (self.above is None or value > self.above):
            return value
        raise self._unfit(value)

    def _unfit(self, value: Any) -> UnfitError:
        if type(value) not in self.usual[0]:
            return mistaken(value, "a whole number" if self.whole else "a number")
        if not -_MOST <= value <= max(_MOST, self.usual[2]):
            return UnfitError("is not a finite number or is out of range")
        if self.least is not None and value < self.least:
            return UnfitError(f"is {value:g}, less than {self.least:g}")
        if self.above is not None and value <= self.above:
            return UnfitError(f"is {value:g}, not more than {self.above:g}")
        return UnfitError(f"is {value:g}, more than {self.most:g}")


@dataclass(frozen=True)
class Constant(Codec):
    """One of a few values."""

    values: tuple[Any, ...]

    def read(self, value: Any) -> Any:
        if not any(type(value) is type(known) and value == known for known in self.values):
            raise UnfitError(f"is {value!r}, which this version does not know")
        return value


@dataclass(frozen=True)
class Either(Codec):
    """One of several kinds, none of which is written in the way of another."""

    kinds: tuple[tuple[type, Codec], ...]

    def write(self, value: Any) -> Any:
        return next((codec for kind, codec in self.kinds if isinstance(value, kind)), self.kinds[-1][1]).write(value)

    def read(self, value: Any) -> Any:
        return next((codec for kind, codec in self.kinds if isinstance(value, kind)), self.kinds[-1][1]).read(value)


@dataclass(frozen=True)
class Nullable(Codec):
    """What may be null."""

    codec: Codec

    def write(self, value: Any) -> Any:
        return None if value is None else self.codec.write(value)

    def read(self, value: Any) -> Any:
        return None if value is None else self.codec.read(value)


def _read_each(entries: Iterable[Any], codecs: Iterable[Codec]) -> tuple[Any, ...]:
    read = []
    for entry, codec in zip(entries, codecs, strict=False):
        try:
            read.append(codec.read(entry))
        except UnfitError as unfit:
            raise unfit.inside(f"[{len(read)}]") from None
    return tuple(read)


@dataclass(frozen=True)
class List(Codec):
    """A list of values of one kind, read as a tuple."""

    codec: Codec
    least: float = 0

    def write(self, value: Any) -> Any:
        return [self.codec.write(item) for item in value]

    def read(self, value: Any) -> Any:
        entries = as_list(value)
        if len(entries) < self.least:
            raise UnfitError(f"has {len(entries)} entries, less than {self.least:g}")
        return _read_each(entries, repeat(self.codec))


@dataclass(frozen=True)
class Fixed(Codec):
    """A list of so many entries."""

    codecs: tuple[Codec, ...]

    def write(self, value: Any) -> Any:
        return [codec.write(item) for codec, item in zip(self.codecs, value, strict=True)]

    def read(self, value: Any) -> Any:
        entries = as_list(value)
        if len(entries) != len(self.codecs):
            raise UnfitError(f"has {len(entries)} entries, not {len(self.codecs)}")
        return _read_each(entries, self.codecs)


@dataclass(frozen=True)
class Mapped(Codec):
    """An object with values of one kind."""

    codec: Codec

    def write(self, value: Any) -> Any:
        return {str(key): self.codec.write(item) for key, item in value.items()}

    def read(self, value: Any) -> Any:
        content = {}
        for key, item in as_object(value).items():
            try:
                content[key] = self.codec.read(item)
            except UnfitError as unfit:
                raise unfit.inside(f"[{key!r}]") from None
        return content


@dataclass(frozen=True)
class Open(Codec):
    """An object that others add to (a TypedDict): known keys that are not null are checked, all stay as they are."""

    known: Mapping[str, Codec]

    def write(self, value: Any) -> Any:
        return plain_json(value)

    @cached_property
    def _usual(self) -> list[tuple[str, Codec, tuple[type, ...], float, float]]:
        """Each key with its kind, and what a number there usually is."""
        nothing: tuple[tuple[type, ...], float, float] = ((), 0.0, 0.0)
        return [
            (key, codec, *(codec.usual if isinstance(codec, Number) and codec.above is None else nothing))
            for key, codec in self.known.items()
        ]

    def read(self, value: Any) -> Any:
        content = as_object(value)
        for key, codec, kinds, low, high in self._usual:
            known = content.get(key)
            if known is not None and not (type(known) in kinds and low <= known <= high):
                try:
                    codec.read(known)
                except UnfitError as unfit:
                    raise unfit.inside(f".{key}") from None
        return content
