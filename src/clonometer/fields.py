"""JSON that somebody else wrote: the fields of an object are checked where they are taken."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeGuard

_MOST_SHOWN = 60
MISSING = "missing"


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value of JSON is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def shown(value: object) -> str:
    """Show a value that is not what it should be, at most 60 characters of it."""
    try:
        text = MISSING if value is None else repr(value)
    except ValueError:
        # Python prints no more than 4,300.
        text = "a number of too many digits"
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."


def _is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    # What JSON gives is seen at once; to ask of any mapping takes several times as long, of thousands of objects.
    return isinstance(value, (dict, Mapping))


class Fields(ABC):
    """An object's fields."""

    def __init__(self, content: object, where: str) -> None:
        self.where = where
        if not _is_object(content):
            raise self.complaint(where, "an object", shown(content))
        self.content = content

    @abstractmethod
    def complaint(self, place: str, wanted: str, actual: str) -> Exception:
        """Make the error that says what should stand at a place, and what does."""

    def at(self, content: object, where: str) -> Self:
        """Take an object that stands inside this one."""
        return type(self)(content, where)

    def inner(self, key: str) -> Self:
        """An object."""
        return self.at(self.content.get(key), self.path(key))

    def mapping(self, key: str) -> Mapping[str, Any]:
        """An object, of which nothing else is asked."""
        value = self.content.get(key)
        if not _is_object(value):
            raise self.wrong(key, "an object")
        return value

    def inners(self, key: str) -> list[Self]:
        """A list of objects."""
        return [self.at(item, place) for place, item in self.entries(key)]

    def children(self, key: str) -> dict[str, Self]:
        """An object of objects."""
        return {name: self.at(item, f"{self.path(key)}.{name}") for name, item in self.mapping(key).items()}

    def wrong(self, key: str, wanted: str) -> Exception:
        """Make the error that says what a field should be."""
        return self.complaint(self.path(key), wanted, shown(self.content.get(key)))

    def path(self, key: str) -> str:
        """Name a field with where it stands."""
        return f"{self.where}.{key}" if self.where else key

    def text(self, key: str) -> str:
        """A text."""
        value = self.content.get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "a text")
        return value

    def text_or_none(self, key: str) -> str | None:
        """A text, or nothing."""
        return None if self.content.get(key) is None else self.text(key)

    def one_of(self, key: str, allowed: Sequence[str]) -> str:
        """A text that must be one of those."""
        value = self.text(key)
        if value not in allowed:
            raise self.wrong(key, f"one of {', '.join(allowed)}")
        return value

    def boolean(self, key: str) -> bool:
        """True or false."""
        value = self.content.get(key)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def whole(self, key: str) -> int:
        """A whole number."""
        value = self.content.get(key)
        if not is_whole(value):
            raise self.wrong(key, "a whole number")
        return value

    def count(self, key: str) -> int:
        """A whole number from 0."""
        value = self.whole(key)
        if value < 0:
            raise self.wrong(key, "a whole number from 0")
        return value

    def count_or_none(self, key: str) -> int | None:
        """A whole number from 0, or nothing."""
        return None if self.content.get(key) is None else self.count(key)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self.content.get(key)
        if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "a list of texts")
        return tuple(value)

    def entries(self, key: str) -> list[tuple[str, Any]]:
        """The entries of a list, each with its place."""
        value = self.content.get(key)
        if not isinstance(value, list | tuple):
            raise self.wrong(key, "a list")
        return [(f"{self.path(key)}[{number}]", item) for number, item in enumerate(value)]
