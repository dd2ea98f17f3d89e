"""What the four studies published, as data: read from ``published.toml`` and checked."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Any

from clonometer.errors import InputError, UsageError, unknown
from clonometer.records import Key, Known, Pattern

SCHEMA = 1
KINDS = ("figure", "claim", "question")
UNITS = ("us", "s", "KiB", "%", "ratio", "day", "R2")
_STUDY_KEYS = {"author": str, "title": str, "year": int, "machine": str, "method": str}
_VALUE_KEYS: dict[str, tuple[type, ...]] = {
    "what": (str,),
    "unit": (str,),
    "value": (int, float),
    "low": (int, float),
    "high": (int, float),
    "approximate": (bool,),
    "at_least": (bool,),
    "wording": (str,),
    "cell": (str,),
    "quantity": (str,),
    "scales": (str,),
    "times": (int,),
    "explained": (str,),
    "side": (int,),
}


@dataclass(frozen=True)
class Study:
    """One published study; ``year`` is None where it is not stated."""

    id: str
    author: str
    title: str
    year: int | None
    machine: str
    method: str

    @property
    def source(self) -> str:
        """Year and machine, in words."""
        return f"{self.year or 'year not stated'}, {self.machine}"


@dataclass(frozen=True)
class PublishedValue:
    """One published number of a figure, and the cell that stands beside it.

    Attributes
    ----------
    what
        What it is the number of, in a few words.
    unit
        One of `UNITS`.
    value, low, high
        A number, or a range; the one that was not published is None, and all of them where there are words alone.
    approximate, at_least
        Whether the study says about, or over.
    wording
        The study's words, where it gives no number.
    cell, quantity
        What is measured beside it; None where it is computed from several cells.
    scales
        An axis of the cell that may be made smaller where the machine has too little, the result being extrapolated.
    times
        Ours is for one launch and is multiplied by this.
    explained, side
        The explanation, and which of its two mechanisms, whose launching call is told beside ours.
    """

    what: str
    unit: Annotated[str, Known(UNITS)]
    value: Annotated[float | None, Key("published")] = None
    low: Annotated[float | None, Key("published_low")] = None
    high: Annotated[float | None, Key("published_high")] = None
    approximate: bool = False
    at_least: bool = False
    wording: Annotated[str | None, Key("said"), "The study's words, where it gives no number."] = None
    cell: str | None = None
    quantity: str | None = None
    scales: str | None = None
    times: int = 1
    explained: str | None = None
    side: int = 0

    @property
    def middle(self) -> float | None:
        """The number, or the middle of the range on a logarithmic scale, to set ours in relation to; None: words."""
        if self.value is not None:
            return self.value
        if self.low is not None and self.high is not None:
            return float((self.low * self.high) ** 0.5)
        return self.low if self.low is not None else self.high


@dataclass(frozen=True)
class Item:
    """A figure, a claim or an open question of a study; only figures have ``values``.

    ``short`` is the text of a claim or question in a few words, ``size`` the number that a claim gives: how many times;
    None where it gives none.
    """

    id: Annotated[str, Pattern("^[SBUL][0-9]+$")]
    study: str
    kind: Annotated[str, Known(KINDS)]
    text: str
    values: tuple[PublishedValue, ...] = ()
    size: float | None = None
    short: str = ""


@dataclass(frozen=True)
class Published:
    """All of it, in the order of the file."""

    studies: Mapping[str, Study]
    items: tuple[Item, ...]

    def of(self, studies: Iterable[str]) -> tuple[Item, ...]:
        """The items of some studies; of all where none is named."""
        wanted = set(studies) or set(self.studies)
        return tuple(item for item in self.items if item.study in wanted)

    def item(self, id_: str) -> Item:
        """One item by its id; KeyError where there is none."""
        return next(item for item in self.items if item.id == id_)

    def choose(self, names: Iterable[str]) -> tuple[str, ...]:
        """Check names of studies; all of them where none is named.

        Raises
        ------
        UsageError
            For an unknown one, with the nearest match.
        """
        chosen = tuple(dict.fromkeys(names))
        for name in chosen:
            if name not in self.studies:
                error = unknown("study", name, self.studies)
                raise UsageError(error.message, f"what exists: {', '.join(self.studies)}")
        return chosen or tuple(self.studies)


_PREFIXES = {"S": "sysel-2020", "B": "bendersky-2018", "U": "burian-2015", "L": "loop-10000"}


@cache
def load_published() -> Published:
    """Read what comes with Clonometer.

    Examples
    --------
    >>> len(load_published().items)
    56
    """
    text = (resources.files("clonometer.studies") / "published.toml").read_text(encoding="utf-8")
    return parse_published(text)


def parse_published(text: str) -> Published:
    """Read and check the TOML of published figures.

    Raises
    ------
    InputError
        For anything that is missing, unknown or of the wrong type, naming the place.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"published figures: is not valid TOML: {error}") from None
    if document.get("schema") != SCHEMA:
        raise InputError(f"published figures: schema is {document.get('schema')!r}, not {SCHEMA}")
    _only(document, ("schema", "study", "item"), "published figures")
    studies = {id_: _study(id_, table) for id_, table in document["study"].items()}
    items = tuple(_item(table, studies) for table in document["item"])
    ids = [item.id for item in items]
    twice = sorted({id_ for id_ in ids if ids.count(id_) > 1})
    if twice:
        raise InputError(f"published figures: {twice[0]} comes twice")
    return Published(studies, items)


def _study(id_: str, table: Mapping[str, Any]) -> Study:
    _only(table, _STUDY_KEYS, f"study {id_}")
    for key, kind in _STUDY_KEYS.items():
        if not isinstance(table.get(key), kind):
            raise InputError(f"study {id_}: {key} is {table.get(key)!r}")
    fields = {key: table[key] for key in _STUDY_KEYS}
    return Study(id_, **{**fields, "year": table["year"] or None})


def _item(table: Mapping[str, Any], studies: Mapping[str, Study]) -> Item:
    id_ = table.get("id")
    if not isinstance(id_, str) or not id_ or _PREFIXES.get(id_[0]) not in studies:
        raise InputError(f"published figures: an item's id is {id_!r}")
    _only(table, ("id", "kind", "text", "short", "size", "value"), id_)
    kind, text, short = (table.get(key) for key in ("kind", "text", "short"))
    if kind not in KINDS or not isinstance(text, str):
        raise InputError(f"{id_}: kind is {kind!r}, text {text!r}")
    values = tuple(_value(entry, id_) for entry in table.get("value", []))
    if (kind == "figure") != bool(values):
        raise InputError(f"{id_}: a {kind} {'without' if not values else 'with'} values")
    if not isinstance(short, str if kind != "figure" else type(None)):
        raise InputError(f"{id_}: short is {short!r}")
    size = table.get("size")
    if size is not None and (kind != "claim" or not isinstance(size, float) or size <= 0):
        raise InputError(f"{id_}: size is {size!r}")
    return Item(id_, _PREFIXES[id_[0]], kind, text, values, size, short or "")


def _value(table: Mapping[str, Any], id_: str) -> PublishedValue:
    _only(table, _VALUE_KEYS, id_)
    for key, value in table.items():
        if not isinstance(value, _VALUE_KEYS[key]) or (isinstance(value, bool) and bool not in _VALUE_KEYS[key]):
            raise InputError(f"{id_}: {key} is {value!r}")
    if table.get("unit") not in UNITS or "what" not in table:
        raise InputError(f"{id_}: a value without what, or of the unit {table.get('unit')!r}")
    if ("value" in table) + ("low" in table) + ("wording" in table) != 1:
        raise InputError(f"{id_}: a value has a value, a range, or words where none was published")
    if ("cell" in table) != ("quantity" in table):
        raise InputError(f"{id_}: a cell goes with a quantity")
    return PublishedValue(**table)


def _only(table: Mapping[str, Any], known: Iterable[str], place: str) -> None:
    for key in table:
        if key not in known:
            near = unknown("key", key, list(known))
            raise InputError(f"{place}: {near.message}", near.hint)
