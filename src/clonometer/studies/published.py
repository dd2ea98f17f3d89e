"""What the four studies published, as data: read from ``published.toml``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Annotated, Any

from clonometer.errors import UsageError, unknown
from clonometer.inputs import parse_toml
from clonometer.records import Key, OneOf, Pattern

KINDS = ("figure", "claim", "question")
#: How many of what a run has (ns, bytes, %) make one of each published unit.
UNITS = {"us": 1e3, "s": 1e9, "KiB": 1024.0, "%": 1.0, "ratio": 1.0, "day": 86400e9, "R2": 1.0}
_SHOWN_UNITS = {"us": "µs", "ratio": "×", "R2": "", "day": "d"}
#: What a change of unit leaves of a number's digits: none that it did not have. The smallest is 1.6e-14 days.
_MOST_DECIMALS = 20


@dataclass(frozen=True)
class Study:
    """One published study; ``year`` is None where it is not stated."""

    id: str
    author: str
    title: str
    machine: str
    method: str
    #: The id of the claim that it is known for.
    headline: str
    year: int | None = None

    @property
    def source(self) -> str:
        """Year and machine, in words."""
        machine = f"{'machine ' if self.machine.startswith('not stated') else ''}{self.machine}"
        return f"{self.year or 'undated'}, {machine}"


@dataclass(frozen=True)
class PublishedValue:
    """One published number of a figure, and the cell that stands beside it."""

    #: What it is the number of, in a few words.
    what: str
    unit: Annotated[str, OneOf(UNITS)]
    #: A number, or a range; the one that was not published is None, and all of them where there are words alone.
    value: Annotated[float | None, Key("published")] = None
    low: Annotated[float | None, Key("published_low")] = None
    high: Annotated[float | None, Key("published_high")] = None
    #: Whether the study says about.
    approximate: bool = False
    wording: Annotated[str | None, "The study's words, where it gives no number."] = None
    #: Whether it is ours alone, measured beside the study's so that the difference shows what that rests on.
    control: bool = False
    #: What is measured beside it; None where it is computed from several cells.
    cell: str | None = None
    quantity: str | None = None
    #: Ours is for one launch and is multiplied by this.
    times: int = 1
    #: Which of the two loops it is of whose launching call, taken to pieces, is told beside ours; None: of neither.
    side: int | None = None

    @property
    def middle(self) -> float | None:
        """The number, or the middle of the range on a logarithmic scale, to set ours in relation to; None: words."""
        if self.value is not None:
            return self.value
        if self.low is not None and self.high is not None:
            return float((self.low * self.high) ** 0.5)
        return self.low if self.low is not None else self.high

    @property
    def shown_unit(self) -> tuple[str, float]:
        """The unit that it and ours are written in, and how many of it make one of the published unit."""
        middle = self.middle
        if self.unit == "us" and middle is not None and middle >= 10_000:
            return "ms", 1e-3
        if self.unit == "us" and middle is not None and middle < 1:
            return "ns", 1e3
        return _SHOWN_UNITS.get(self.unit, self.unit), 1.0

    @property
    def shown(self) -> str:
        """The number with its unit, or the study's words."""
        if self.wording is not None:
            return self.wording
        unit, factor = self.shown_unit
        value, low, high = (
            None if number is None else _plain(round(number * factor, _MOST_DECIMALS))
            for number in (self.value, self.low, self.high)
        )
        about = "about " if self.approximate else ""
        text = value or (f"{low}–{high}" if high is not None else f"over {low}")
        return f"{about}{text} {unit}".rstrip()


def _plain(number: float) -> str:
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:g}"


@dataclass(frozen=True)
class Item:
    """A figure, a claim or an open question of a study; only figures have ``values``.

    ``short`` is the text of a claim or question in a few words, ``size`` the number that a claim gives: how many times;
    None where it gives none.
    """

    id: Annotated[str, Pattern("^[SBUL][0-9]+$")]
    study: str
    kind: Annotated[str, OneOf(KINDS)]
    text: str
    values: tuple[PublishedValue, ...] = ()
    size: float | None = None
    short: str = ""


@dataclass(frozen=True)
class Published:
    """All of it, study by study, in the order of the ids."""

    studies: Mapping[str, Study]
    items: tuple[Item, ...]

    def of(self, studies: Iterable[str]) -> tuple[Item, ...]:
        """The items of some studies; of all where none is named."""
        wanted = set(studies) or set(self.studies)
        return tuple(item for item in self.items if item.study in wanted)

    def item(self, id_: str) -> Item:
        """One item by its id; KeyError where there is none."""
        return next(item for item in self.items if item.id == id_)

    def items_named(self, names: Iterable[str]) -> tuple[Item, ...]:
        """The items of these ids, in any case of letters, or the claim of these words; none where studies are named.

        Raises
        ------
        UsageError
            For a name that is neither an id nor a study, with the near ones; and for ids together with studies.
        """
        items = {item.id: item for item in self.items}
        asked = list(names)
        named = list(dict.fromkeys(name if name in self.studies else name.upper() for name in asked))
        chosen = tuple(items[name] for name in named if name in items)
        unknowns = [name for name in named if name not in items and name not in self.studies]
        if len(unknowns) == len(named) and len(" ".join(named).split()) > 1:
            return (self.claim_worded(" ".join(asked)),)
        for name in unknowns:
            same = [id_ for id_ in items if id_[0] == name[0]]
            if _LIKE_AN_ID.fullmatch(name) is not None and same:
                raise UsageError(f"unknown claim {name!r}", f"available: {same[0]} to {same[-1]}")
            error = unknown("study or claim", name.lower(), self.studies)
            raise UsageError(error.message, f"studies: {', '.join(self.studies)}; claims: S12, B7 and so on")
        if chosen and len(chosen) < len(named):
            raise UsageError("studies and single claims cannot be combined", "name either")
        return chosen

    def claim_worded(self, phrase: str) -> Item:
        """The claim or question that has these words, as people remember it: `threads are 13x faster`.

        Raises
        ------
        UsageError
            Where none has them all, or several do, with those that are near.

        Examples
        --------
        >>> load_published().claim_worded("Threads are 13x faster").id
        'L6'
        """
        words = _stems(phrase)
        headlines = {study.headline for study in self.studies.values()}

        def nearness(item: Item) -> tuple[int, float, bool]:
            short = _stems(item.short)
            return (
                len(words & (short | _stems(item.text))),
                len(words & short) / len(words | short),
                item.id in headlines,
            )

        ranked = sorted((item for item in self.items if item.kind != "figure"), key=nearness, reverse=True)
        best, second = ranked[:2]
        if words and nearness(best)[0] == len(words) and nearness(best) > nearness(second):
            return best
        near = "; ".join(f"{item.id}, {item.short}" for item in ranked[:3] if nearness(item)[0])
        problem = "several claims have" if nearness(best)[0] == len(words) else "no claim has"
        raise UsageError(f"{problem} the words {phrase!r}", f"near: {near or 'none; clonometer list names claims'}")

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
                raise UsageError(error.message, f"available: {', '.join(self.studies)}")
        return chosen or tuple(self.studies)


#: Words that every claim may have.
_FILLING = frozenset(
    {"a", "an", "and", "are", "be", "by", "do", "does", "for", "here", "how", "in", "is", "it", "not", "of", "on", "or"}
    | {"than", "that", "the", "they", "to", "with"}
)


def _stems(text: str) -> frozenset[str]:
    """The words of a claim without what does not tell it from others: their plural, `13x` as 13 times."""
    words = re.findall(r"[a-z_]+|[0-9]+", re.sub(r"(?<=[0-9])\s*[x\u00d7]", " times", text.lower()))
    return frozenset(word.removesuffix("s") for word in words if word not in _FILLING)


_LIKE_AN_ID = re.compile("[A-Z][0-9]+")
#: Which study the letter of an id means.
_STUDIES = {"S": "sysel-2020", "B": "bendersky-2018", "U": "burian-2015", "L": "loop-10000"}


@cache
def load_published() -> Published:
    """Read what comes with Clonometer; what a reader could get wrong in it is for its tests to find.

    Examples
    --------
    >>> len(load_published().items)
    61
    """
    document = parse_toml((resources.files("clonometer.studies") / "published.toml").read_text(encoding="utf-8"))
    items = [_figure(id_, **table) for id_, table in document["figure"].items()]
    for kind in ("claim", "question"):
        for id_, (short, text) in document[kind].items():
            items.append(Item(id_, _STUDIES[id_[0]], kind, text, short=short, size=document["size"].get(id_)))
    items.sort(key=lambda item: (list(_STUDIES).index(item.id[0]), int(item.id[1:])))
    return Published({id_: Study(id_, **table) for id_, table in document["study"].items()}, tuple(items))


def _figure(id_: str, text: str, values: Sequence[Mapping[str, Any]], **common: Any) -> Item:
    """A figure of the file: what all of its values have stands once, before them."""
    return Item(id_, _STUDIES[id_[0]], "figure", text, tuple(PublishedValue(**common, **table) for table in values))
