"""What `Annotated` adds to a field's type: how it is named, restricted and laid out in JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import Enum, auto
from typing import Annotated, Any, Generic, Literal, TypeVar, get_type_hints, overload

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Ge:
    """The least number, or the least number of entries, that is allowed."""

    value: float


@dataclass(frozen=True)
class Gt:
    """The number that an allowed one is greater than."""

    value: float


@dataclass(frozen=True)
class Le:
    """The greatest number that is allowed."""

    value: float


@dataclass(frozen=True)
class OneOf:
    """The texts that are allowed; the schema lists them unless a later version may add some (``closed=False``)."""

    texts: Collection[str]
    closed: bool = True


@dataclass(frozen=True)
class Check:
    """A test that a value must pass, and what is said of one that does not, after its place."""

    passes: Callable[[Any], bool]
    words: str


@dataclass(frozen=True)
class Pattern:
    """A regular expression that texts match; for the schema alone."""

    text: str


@dataclass(frozen=True)
class As:
    """A key by another name, and with other words, where an `Only` lists it."""

    of: str
    key: str
    doc: str = ""


@dataclass(frozen=True)
class Only:
    """Of a record these keys alone, by this name in the schema; such a record can be written but not read."""

    name: str
    keys: tuple[str | As, ...]


@dataclass(frozen=True)
class After:
    """The field or property behind which it stands in JSON, where that is not the one before it."""

    name: str


@dataclass(frozen=True)
class Key:
    """The name in JSON, where it is not the field's."""

    name: str


class Mark(Enum):
    """How a field is laid out: more than one value under its name, or less."""

    #: A record of ``value``, ``low``, ``high``, written as ``x``, ``x_low``, ``x_high``, before the unit in ``x_ns``.
    ENDS = auto()
    #: A record whose keys stand among those of its owner.
    MERGED = auto()
    #: A mapping whose keys stand among those of its owner: all that no other field has.
    REST = auto()
    #: May be missing, as what an earlier version did not write: then it has its default, or is None.
    OPTIONAL = auto()
    #: As `OPTIONAL`, and not written where it is None.
    OMITTED = auto()
    #: Not of JSON at all.
    UNWRITTEN = auto()


Count = Annotated[int, Ge(0)]
Positive = Annotated[int, Ge(1)]


class ComputedField(Generic[_Value]):
    """A property that is written but not read."""

    def __init__(
        self, make: Callable[[Any], _Value], doc: str = "", after: str | None = None, hint: Any = None
    ) -> None:
        self.make, self.doc, self.after = make, doc, after
        self._hint = hint

    @property
    def hint(self) -> Any:
        """The type of what it gives."""
        return get_type_hints(self.make, include_extras=True)["return"] if self._hint is None else self._hint

    @overload
    def __get__(self, record: None, owner: type) -> ComputedField[_Value]: ...

    @overload
    def __get__(self, record: object, owner: type) -> _Value: ...

    def __get__(self, record: object | None, owner: type) -> ComputedField[_Value] | _Value:
        """Work it out."""
        return self if record is None else self.make(record)


def computed_field(
    doc: str = "", *, after: str | None = None
) -> Callable[[Callable[[Any], _Value]], ComputedField[_Value]]:
    """Declare a property of a record as a key of its JSON.

    ``doc`` is its description in the schema; it stands behind the field or property ``after``, or first.
    """
    return lambda make: ComputedField(make, doc, after)


def version(number: int) -> ComputedField[int]:
    """Declare the key that says which version of its form a document has; it stands first."""
    return ComputedField(lambda record: number, hint=Literal.__getitem__(number))
