"""The layout of a record in JSON, compiled once from its class: which keys, in which order, of which kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from clonometer.errors import InputError
from clonometer.records.kinds import (
    Anything,
    Codec,
    Constant,
    Either,
    Enumerated,
    Fixed,
    List,
    Mapped,
    Nullable,
    Number,
    Place,
    Text,
    Truth,
)
from clonometer.records.marks import Above, After, Check, Key, Known, Least, Mark, Most, Only, Pattern, Written

_Record = TypeVar("_Record")
_ENDS = ("", "_low", "_high")


@dataclass(frozen=True)
class Slot:
    """One field or written property: its attribute, its key, its kind, its words, and what it is where missing."""

    name: str
    key: str
    codec: Codec
    doc: str
    marks: frozenset[Mark]
    checks: tuple[Check, ...]
    default: Any = None
    is_read: bool = True
    after: str | None = None

    @property
    def is_required(self) -> bool:
        return not self.marks & {Mark.OPTIONAL, Mark.OMITTED, Mark.REST}

    def write(self, value: Any, into: dict[str, Any]) -> None:
        if Mark.ENDS in self.marks:
            into.update(zip(_ends(self.key), self.codec.write(value).values(), strict=True))
        elif self.marks & {Mark.MERGED, Mark.REST}:
            into.update(self.codec.write(value))
        elif value is not None or Mark.OMITTED not in self.marks:
            into[self.key] = self.codec.write(value)

    def read(self, place: Place, keys: frozenset[str]) -> Any:
        value = self._take(place, keys)
        for check in self.checks:
            if value is not None and not check.passes(value):
                raise place[self.key].error(check.words)
        return value

    def _take(self, place: Place, keys: frozenset[str]) -> Any:
        content = place.object()
        if Mark.ENDS in self.marks and isinstance(self.codec, RecordKind):
            number = self.codec.slots[0].codec
            return self.codec.record(*(number.read(place[key]) for key in _ends(self.key)))
        if Mark.MERGED in self.marks:
            return self.codec.read(place)
        if Mark.REST in self.marks:
            return self.codec.read(Place({key: content[key] for key in content if key not in keys}, place.name))
        if content.get(self.key) is None and (not self.is_required or isinstance(self.codec, Nullable)):
            return self.default
        return self.codec.read(place[self.key])

    def all_keys(self) -> Sequence[str]:
        if Mark.MERGED in self.marks and isinstance(self.codec, RecordKind):
            return [key for slot in self.codec.slots for key in slot.all_keys()]
        if Mark.REST in self.marks:
            return ()
        return _ends(self.key) if Mark.ENDS in self.marks else (self.key,)


def _ends(key: str) -> tuple[str, ...]:
    stem, unit = (key.removesuffix("_ns"), "_ns") if key.endswith("_ns") else (key, "")
    return tuple(f"{stem}{end}{unit}" for end in _ENDS)


class RecordKind(Codec):
    """A record: its fields in their order, the written properties where they say."""

    def __init__(self, record: type, limits: tuple[Least, ...] = (), only: Only | None = None) -> None:
        self.record, self.only = record, only
        slots = _slots(record, limits)
        if only is not None:
            by_key = {slot.key: slot for slot in slots}
            slots = tuple(by_key[key] for key in only.keys)
        self.slots = slots
        self._keys = frozenset(key for slot in self.slots for key in slot.all_keys())

    def write(self, value: Any) -> Any:
        content: dict[str, Any] = {}
        for slot in self.slots:
            slot.write(getattr(value, slot.name), content)
        return content

    def read(self, place: Place) -> Any:
        made = self.record(**{slot.name: slot.read(place, self._keys) for slot in self.slots if slot.is_read})
        fault = getattr(made, "fault", None)
        if fault is not None and (words := fault()) is not None:
            raise place.error(words)
        return made


_compiled: dict[type, RecordKind] = {}


def kind_of(record: type) -> RecordKind:
    """The layout of a record."""
    if record not in _compiled:
        _compiled[record] = RecordKind(record)
    return _compiled[record]


@cache
def _slots(record: type, limits: tuple[Least, ...]) -> tuple[Slot, ...]:
    hints = get_type_hints(record, include_extras=True)
    slots, elsewhere = [], []
    for name, member in ((name, member) for base in reversed(record.__mro__) for name, member in vars(base).items()):
        if isinstance(member, Written):
            slot = _slot(name, Annotated[member.hint, member.doc] if member.doc else member.hint, None, is_read=False)
            elsewhere.append((member.after, slot))
    for field in fields(record):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        slot = _slot(field.name, Annotated[hints[field.name], *limits] if limits else hints[field.name], default)
        if slot.after is not None:
            elsewhere.append((slot.after, slot))
        elif Mark.UNWRITTEN not in slot.marks:
            slots.append(slot)
    while elsewhere:
        names = [None, *(slot.name for slot in slots)]
        after, slot = next(pair for pair in elsewhere if pair[0] in names)
        elsewhere.remove((after, slot))
        slots.insert(names.index(after), slot)
    return tuple(slots)


def _slot(name: str, hint: Any, default: Any, *, is_read: bool = True) -> Slot:
    extras: tuple[Any, ...] = ()
    while get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        extras = (*more, *extras)
    docs = [extra for extra in extras if isinstance(extra, str)]
    keys = [extra.name for extra in extras if isinstance(extra, Key)]
    return Slot(
        name,
        keys[-1] if keys else name,
        codec_of(hint, extras),
        docs[-1] if docs else "",
        frozenset(extra for extra in extras if isinstance(extra, Mark)),
        tuple(extra for extra in extras if isinstance(extra, Check)),
        None if default is MISSING else default,
        is_read,
        next((extra.name for extra in extras if isinstance(extra, After)), None),
    )


def codec_of(hint: Any, extras: Sequence[Any] = ()) -> Codec:
    """Find how values of a type are written and read.

    Raises
    ------
    TypeError
        For a type that no JSON stands for.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return Anything()
    if origin is Annotated:
        return codec_of(arguments[0], (*arguments[1:], *extras))
    if origin in (Union, UnionType):
        kinds = [kind for kind in arguments if kind is not NoneType]
        codecs = [codec_of(kind, extras) for kind in kinds]
        codec = codecs[0] if len(codecs) == 1 else Either(tuple(zip(kinds, codecs, strict=True)))
        return Nullable(codec) if NoneType in arguments else codec
    if origin is Literal:
        return Constant(arguments)
    if origin is not None:
        return _container(origin, arguments, extras)
    return _simple(hint, extras)


def _container(origin: Any, arguments: Sequence[Any], extras: Sequence[Any]) -> Codec:
    if issubclass(origin, Mapping):
        return Mapped(codec_of(arguments[1]))
    if not issubclass(origin, Sequence):
        raise TypeError(f"{origin} has no form in JSON")
    if issubclass(origin, tuple) and arguments[-1] is not ...:
        return Fixed(tuple(codec_of(each) for each in arguments))
    return List(codec_of(arguments[0]), _limit(extras, Least, 0))


def _simple(hint: Any, extras: Sequence[Any]) -> Codec:
    if is_dataclass(hint) and isinstance(hint, type):
        limits = tuple(extra for extra in extras if isinstance(extra, Least))
        only = next((extra for extra in extras if isinstance(extra, Only)), None)
        return RecordKind(hint, limits, only) if limits or only else kind_of(hint)
    if hint in (int, float):
        return Number(hint is int, *(_limit(extras, mark, None) for mark in (Least, Above, Most)))
    known = next((extra for extra in extras if isinstance(extra, Known)), None)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return Enumerated(tuple(hint) if known is None else tuple(hint(word) for word in known.texts))
    if hint is str:
        pattern = next((extra.text for extra in extras if isinstance(extra, Pattern)), "")
        return Text(known, pattern, _limit(extras, Least, 0))
    if hint is bool:
        return Truth()
    raise TypeError(f"{hint} has no form in JSON")


def _limit(extras: Sequence[Any], mark: type[Any], otherwise: Any) -> Any:
    return next((extra.value for extra in extras if isinstance(extra, mark)), otherwise)


def to_json(record: object) -> dict[str, Any]:
    """Write a record as plain values of JSON: its keys in the order of its fields."""
    content: dict[str, Any] = kind_of(type(record)).write(record)
    return content


def from_json(record: type[_Record], content: object) -> _Record:
    """Read a record from what `json.loads` gave.

    Raises
    ------
    InputError
        If something is missing or is not what it must be; the message names its place.
    """
    try:
        made: _Record = kind_of(record).read(Place(content))
    except RecursionError:
        raise InputError("the document is nested too deeply") from None
    return made
