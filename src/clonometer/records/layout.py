"""The layout of a record in JSON, compiled once from its class: which keys, in which order, of which kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache, cached_property
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints, is_typeddict

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
    Open,
    Text,
    Truth,
    UnfitError,
    as_object,
)
from clonometer.records.marks import After, As, Check, ComputedField, Ge, Gt, Key, Le, Mark, OneOf, Only, Pattern

_Record = TypeVar("_Record")
_ENDS = ("", "_low", "_high")


@dataclass(frozen=True)
class RecordField:
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

    @cached_property
    def may_lack(self) -> bool:
        """Whether there may be nothing, or null."""
        return not self.is_required or isinstance(self.codec, Nullable)

    @property
    def is_spread(self) -> bool:
        """Whether it stands under more than its own key."""
        return bool(self.marks & {Mark.ENDS, Mark.MERGED, Mark.REST})

    @property
    def is_plain(self) -> bool:
        """Whether what stands under its key is all that its kind of value asks for."""
        return not self.is_spread and not self.checks

    def write(self, value: Any, into: dict[str, Any]) -> None:
        if Mark.ENDS in self.marks:
            into.update(zip(_ends(self.key), self.codec.write(value).values(), strict=True))
        elif self.marks & {Mark.MERGED, Mark.REST}:
            into.update(self.codec.write(value))
        elif value is not None or Mark.OMITTED not in self.marks:
            into[self.key] = self.codec.write(value)

    def read(self, content: dict[str, Any], keys: frozenset[str]) -> Any:
        value = content.get(self.key)
        if self.is_spread:
            value = self._read_spread(content, keys)
        elif value is None and self.may_lack:
            return self.default
        elif value is None and self.key not in content:
            raise UnfitError("is missing").inside(f".{self.key}")
        else:
            try:
                value = self.codec.read(value)
            except UnfitError as unfit:
                raise unfit.inside(f".{self.key}") from None
        for check in self.checks:
            if not check.passes(value):
                raise UnfitError(check.words).inside(f".{self.key}")
        return value

    def _read_spread(self, content: dict[str, Any], keys: frozenset[str]) -> Any:
        """Read what has more than its own key, or keys that stand among those of its owner."""
        if Mark.ENDS in self.marks and isinstance(self.codec, RecordKind):
            [value, *_] = self.codec.slots
            ends = (replace(value, key=key) for key in _ends(self.key))
            return self.codec.record(*(end.read(content, keys) for end in ends))
        if Mark.MERGED in self.marks:
            return self.codec.read(content)
        return self.codec.read({key: content[key] for key in content if key not in keys})

    def all_keys(self) -> Sequence[str]:
        if Mark.MERGED in self.marks and isinstance(self.codec, RecordKind):
            return [key for slot in self.codec.slots for key in slot.all_keys()]
        if Mark.REST in self.marks:
            return ()
        return _ends(self.key) if Mark.ENDS in self.marks else (self.key,)


def _renamed(by_key: Mapping[str, RecordField], key: As) -> RecordField:
    slot = by_key[key.of]
    return replace(slot, key=key.key, doc=key.doc or slot.doc)


def _ends(key: str) -> tuple[str, ...]:
    stem, unit = (key.removesuffix("_ns"), "_ns") if key.endswith("_ns") else (key, "")
    return tuple(f"{stem}{end}{unit}" for end in _ENDS)


class RecordKind(Codec):
    """A record: its fields in their order, the written properties where they say."""

    def __init__(self, record: type, limits: tuple[Ge, ...] = (), only: Only | None = None) -> None:
        self.record, self.only = record, only
        slots = _slots(record, limits)
        if only is not None:
            by_key = {slot.key: slot for slot in slots}
            slots = tuple(_renamed(by_key, key) if isinstance(key, As) else by_key[key] for key in only.keys)
        self.slots = slots
        self._keys = frozenset(key for slot in self.slots for key in slot.all_keys())
        read = [slot for slot in slots if slot.is_read]
        self._plain = [(slot, slot.name, slot.key, slot.codec.read) for slot in read if slot.is_plain]
        self._others = [slot for slot in read if not slot.is_plain]
        self._is_bare = {field.name for field in fields(record)} == {slot.name for slot in read} and not hasattr(
            record, "__post_init__"
        )

    def write(self, value: Any) -> Any:
        content: dict[str, Any] = {}
        for slot in self.slots:
            slot.write(getattr(value, slot.name), content)
        return content

    def read(self, value: Any) -> Any:
        content = as_object(value)
        taken: dict[str, Any] = {}
        # A long document has hundreds of thousands of values with a key of their own: these are taken at once.
        for slot, name, key, read in self._plain:
            inner = content.get(key)
            if inner is None:
                taken[name] = slot.default if slot.may_lack else slot.read(content, self._keys)
                continue
            try:
                taken[name] = read(inner)
            except UnfitError as unfit:
                raise unfit.inside(f".{key}") from None
        for slot in self._others:
            taken[slot.name] = slot.read(content, self._keys)
        if self._is_bare:
            # What the record's own __init__ comes to, which sets each field of a frozen one by a call.
            made: Any = object.__new__(self.record)
            vars(made).update(taken)
        else:
            made = self.record(**taken)
        fault = getattr(made, "fault", None)
        if fault is not None and (words := fault()) is not None:
            raise UnfitError(words)
        return made


_compiled: dict[tuple[type, Only | None], RecordKind] = {}


def kind_of(record: type, only: Only | None = None) -> RecordKind:
    """The layout of a record, or of some of its keys."""
    if (record, only) not in _compiled:
        _compiled[record, only] = RecordKind(record, (), only)
    return _compiled[record, only]


@cache
def _slots(record: type, limits: tuple[Ge, ...]) -> tuple[RecordField, ...]:
    hints = get_type_hints(record, include_extras=True)
    slots, elsewhere = [], []
    for name, member in ((name, member) for base in reversed(record.__mro__) for name, member in vars(base).items()):
        if isinstance(member, ComputedField):
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


def _slot(name: str, hint: Any, default: Any, *, is_read: bool = True) -> RecordField:
    extras: tuple[Any, ...] = ()
    while get_origin(hint) is Annotated:
        hint, *more = get_args(hint)
        extras = (*more, *extras)
    docs = [extra for extra in extras if isinstance(extra, str)]
    keys = [extra.name for extra in extras if isinstance(extra, Key)]
    return RecordField(
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
    if hint is Any or isinstance(hint, TypeVar):
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
    if is_dataclass(origin):
        return _simple(origin, extras)
    if issubclass(origin, Mapping):
        return Mapped(codec_of(arguments[1]))
    if not issubclass(origin, Sequence):
        raise TypeError(f"{origin} has no form in JSON")
    if issubclass(origin, tuple) and arguments[-1] is not ...:
        return Fixed(tuple(codec_of(each) for each in arguments))
    return List(codec_of(arguments[0]), _limit(extras, Ge, 0))


def _simple(hint: Any, extras: Sequence[Any]) -> Codec:
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        codecs = {name: codec_of(known) for name, known in hints.items()}
        return Open({name: each.codec if isinstance(each, Nullable) else each for name, each in codecs.items()})
    if is_dataclass(hint) and isinstance(hint, type):
        limits = tuple(extra for extra in extras if isinstance(extra, Ge))
        only = next((extra for extra in extras if isinstance(extra, Only)), None)
        return RecordKind(hint, limits, only) if limits or only else kind_of(hint)
    if hint in (int, float):
        return Number(hint is int, *(_limit(extras, mark, None) for mark in (Ge, Gt, Le)))
    known = next((extra for extra in extras if isinstance(extra, OneOf)), None)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return Enumerated(tuple(hint) if known is None else tuple(hint(word) for word in known.texts))
    if hint is str:
        pattern = next((extra.text for extra in extras if isinstance(extra, Pattern)), "")
        return Text(known, pattern, _limit(extras, Ge, 0))
    if hint is bool:
        return Truth()
    raise TypeError(f"{hint} has no form in JSON")


def _limit(extras: Sequence[Any], mark: type[Any], otherwise: Any) -> Any:
    return next((extra.value for extra in extras if isinstance(extra, mark)), otherwise)


def to_json(record: object, only: Only | None = None) -> dict[str, Any]:
    """Write a record as plain values of JSON: its keys in the order of its fields, or only some of them."""
    content: dict[str, Any] = kind_of(type(record), only).write(record)
    return content


def from_json(record: type[_Record], content: object) -> _Record:
    """Read a record from what `json.loads` gave.

    Raises
    ------
    InputError
        If something is missing or is not what it must be; the message names its place.
    """
    try:
        made: _Record = kind_of(record).read(content)
    except UnfitError as unfit:
        raise InputError(unfit.sentence) from None
    except RecursionError:
        raise InputError("the document is nested too deeply") from None
    return made
