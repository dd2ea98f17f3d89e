"""What studies hand to views and callers: plain, frozen values that need no arithmetic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from clonometer.records import After, As, Key, Mark, OneOf, Only, computed_field, version
from clonometer.results.change import Change
from clonometer.studies.published import Item, PublishedValue, Study
from clonometer.verdicts import Status, Word

SCHEMA = 4
#: So begins what stands in the place of a number that too few processes have.
FEW = "only "
_OF_PARTS = (Status.HOLDS, Status.FAILS, Status.UNKNOWN)
_OF_CLAIMS = (Status.HOLDS, Status.FAILS, Status.DEPENDS)
_DIRECTIONS = (*_OF_PARTS, Status.DEPENDS, Status.NOT_MEASURABLE)
_ENDS = "Ends of its 95% interval."
_PUBLISHED = Only("published", ("what", "unit", "published", "published_low", "published_high", "wording"))
_ASKED = Only("asked", ("id", "title", "sides"))
_OF_ITEM = Only("item", ("id", "study", "kind", "text"))
_OF_FIGURE = Only("verdict", ("status", "effect", "effect_is", "interval", "evidence", "reason"))
_OF_CLAIM = Only(
    "judged",
    (
        "status",
        "direction",
        "sureness",
        "likely",
        "size",
        "effect",
        "effect_is",
        "interval",
        "at_least",
        "counted",
        "evidence",
        "reason",
    ),
)
_RATIO = Only(
    "pair_ratio", (As("value", "ratio", "The first side over the second."), As("interval", "interval", _ENDS))
)
_OF_STUDY = Only("study", ("id", "author", "title", "year", "machine"))


class OfInterval:
    """What a number is that has a 95% interval; a record of it has these fields, and writes the interval as one key."""

    value: float
    low: float
    high: float

    @property
    def ends(self) -> tuple[float, float, float]:
        """The value, and the ends of its interval."""
        return self.value, self.low, self.high

    @computed_field(_ENDS, after="value")
    def interval(self) -> tuple[float, float]:
        """Ends of its 95% interval."""
        return self.low, self.high


@dataclass(frozen=True)
class Size(OfInterval):
    """How large what a claim gives a size of is here."""

    published: Annotated[float, "The study's number."]
    value: Annotated[float, "The figure measured here, over it."]
    low: Annotated[float, Mark.UNWRITTEN]
    high: Annotated[float, Mark.UNWRITTEN]
    agrees: Annotated[Status, OneOf(_OF_PARTS), "Whether the figure measured here equals the study's within a quarter."]
    given_by: Annotated[str | None, "The condition under which this machine gives the study's number."] = None
    answer: Annotated[str, Mark.UNWRITTEN] = ""


#: What a command line is for: to decide what is unclear, to show what reverses it, to look further for that, or to see
#: the numbers that an answer rests on.
DECIDES, REVERSES, SEARCHES, SHOWS = "decides", "reverses", "searches", "shows"


@dataclass(frozen=True)
class Suggestion:
    """A command line that works when it is typed, and what it does."""

    does: Annotated[str, OneOf((DECIDES, REVERSES, SEARCHES, SHOWS)), "What it is for."]
    command: str


@dataclass(frozen=True)
class Verdict:
    """What is said of one claim, question or figure on this machine."""

    status: Status
    reason: Annotated[str, "A sentence with the numbers."]
    effect: Annotated[float | None, "The number that decided; its unit or kind is effect_is."] = None
    interval: Annotated[tuple[float, float] | None, "Its 95% interval."] = None
    effect_is: Annotated[str, "What that number is, in words."] = ""
    evidence: Annotated[tuple[str, ...], "The cells, or demos, that it rests on."] = ()
    size: Annotated[Size | None, "Of a claim that gives a number; None of the others."] = None
    word: Annotated[Word | None, Key("sureness"), "How sure it is; null of what is counted, or not measured."] = None
    likely: Annotated[Status | None, OneOf(_OF_CLAIMS), "Of one that is likely: what it would be if it were sure."] = (
        None
    )
    at_least: Annotated[float | None, "Of a sure one, how far the number is from 1 at least, on its side of it."] = None
    counted: Annotated[str, "Of what is counted: in how many cases it held, in words. It has no interval."] = ""
    p: Annotated[tuple[float, float] | None, Mark.UNWRITTEN] = None

    @computed_field("What holds of the claim where its size is left out.", after="status")
    def direction(self) -> Annotated[Status, OneOf(_DIRECTIONS)]:
        """What holds of the claim where its size is left out."""
        return Status.HOLDS if self.status == Status.HOLDS_IN_DIRECTION else self.status


@dataclass(frozen=True)
class FigureRow:
    """A published number and ours, both in ``unit``.

    ``low`` and ``high`` are None where one process alone was measured; ``note`` says what a reader must know; where
    nothing was measured ``value`` is None and ``note`` the reason.
    """

    id: Annotated[str, Mark.UNWRITTEN]
    published: Annotated[PublishedValue, Mark.MERGED, _PUBLISHED]
    value: float | None
    low: float | None
    high: float | None
    note: str
    cells: tuple[str, ...]

    @computed_field(
        "The figure measured here over the published number, or over the middle of its range on a logarithmic scale.",
        after="high",
    )
    def ratio(self) -> float | None:
        """The figure measured here over the published number, or over the middle of its range on a logarithmic scale.

        None where either is missing: of what was published in words alone nothing can be said in numbers. Nor is there
        a ratio of what may be zero, or to a figure that was taken under strace, which is mostly strace's.
        """
        if self.value is None or not self.published.middle or self.published.side is not None:
            return None
        if self.low is not None and self.high is not None and self.low <= 0 <= self.high:
            return None
        return self.value / self.published.middle


@dataclass(frozen=True)
class CurveLine:
    """One line: points with the ends of their intervals, a fit, published points; in the units of the axes."""

    label: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    fit: Sequence[tuple[float, float]] = ()
    published: Sequence[tuple[float, float]] = ()


@dataclass(frozen=True)
class Curve:
    """One figure of a study, remade.

    ``x_zero`` and ``y_zero`` say whether an axis begins at zero, ``joined`` whether lines join the points.
    """

    name: str
    study: str
    title: str
    caption: str
    x_title: str
    y_title: str
    lines: Sequence[CurveLine]
    x_zero: bool = True
    y_zero: bool = True
    joined: bool = True


@dataclass(frozen=True)
class Effect(OfInterval):
    """What a factor, or two together, multiply the ratio by (`clonometer.stats.factorial`), with its interval.

    ``design`` says under which conditions, in words.
    """

    factors: Annotated[tuple[str, ...], After("design")]
    value: Annotated[float, Key("times"), After("factors")]
    low: Annotated[float, Mark.UNWRITTEN]
    high: Annotated[float, Mark.UNWRITTEN]
    design: Annotated[str, "Which factorial, by what it varies and holds."] = ""


@dataclass(frozen=True)
class Design:
    """A full factorial of two levels each.

    ``factors`` are the two levels of each axis, texts as in cells, empty for the default; ``held`` is the same at all
    of its points. Only the first side has the axes of ``first_only``; the other side is then the one without them.
    """

    words: str
    factors: Mapping[str, tuple[str, str]]
    held: Mapping[str, str] = field(default_factory=dict)
    first_only: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pairing:
    """Which two workloads contradict each other, and where to look.

    The response is ``a`` over ``b``, each a workload, or a workload with an axis; ``favours`` says which published
    items say what: 1 where ``a`` is to take longer, -1 where ``b``. ``base`` is the condition that others are held
    against. ``wider`` are settings of `run` for those who look further for what reverses it.
    """

    id: str
    title: str
    favours: Annotated[Mapping[str, int], Mark.UNWRITTEN]
    a: str
    b: str
    a_words: str
    b_words: str
    quantities: tuple[str, ...]
    designs: tuple[Design, ...]
    base: Mapping[str, str]
    wider: Annotated[tuple[str, ...], Mark.UNWRITTEN] = ()

    @computed_field("Which published items say what.", after="title")
    def sides(self) -> tuple[str, ...]:
        """Which published items say what."""
        return tuple(self.favours)

    def changed_in(self, pair: Pair) -> dict[str, str]:
        """The axes that a pair names and that are not as in the base."""
        return {axis: value for axis, value in pair.condition.items() if self.base.get(axis) != value}


@dataclass(frozen=True)
class Pair:
    """Both sides under one condition: ``condition`` has the axes off their default, as texts.

    The change is of their cells, the second side being the base.
    """

    condition: Mapping[str, str]
    quantity: str
    change: Annotated[Change[str], Mark.MERGED, _RATIO]

    @computed_field("Of the first side, and of the second.", after="change")
    def cells(self) -> tuple[str, str]:
        """Of the first side, and of the second."""
        return self.change.sides


@dataclass(frozen=True)
class Reconciliation:
    """The answer to one contradiction."""

    pairing: Annotated[Pairing, Mark.MERGED, _ASKED]
    sentence: Annotated[str, "The answer in one sentence."]
    bases: Annotated[tuple[Pair, ...], "For each quantity the pair that others are held against, as far as measured."]
    right: Annotated[tuple[str, ...], "The sides whose claims hold here, each under the conditions of its study."]
    reversed_by: Annotated[
        tuple[Pair, ...], "The pairs whose sign is against the base's, those that differ least from it first."
    ]
    pairs: Annotated[tuple[Pair, ...], Key("tried"), "All that was tried."]
    effects: Annotated[
        Mapping[str, tuple[Effect, ...]],
        After("untried"),
        "For each quantity those of the factorials; a design that was not complete has none.",
    ]
    untried: Annotated[
        tuple[str, ...], "Suspected conditions that cannot be set on this machine, with the reason."
    ] = ()
    next: Annotated[Suggestion | None, Mark.OPTIONAL, "The command that shows it reversed, or looks further."] = None
    by_stage: Annotated[bool, Mark.UNWRITTEN] = False

    @computed_field("The cells of the pairs that the sentence rests on.", after="sentence")
    def evidence(self) -> tuple[str, ...]:
        """The cells of the pairs that the sentence rests on."""
        chosen = self.reversed_by or self.pairs
        return tuple(dict.fromkeys(text for pair in chosen[:6] for text in pair.cells))


@dataclass(frozen=True)
class FigureEntry:
    """A figure of a study: what is said of it, and its numbers beside ours."""

    item: Annotated[Item, Mark.MERGED, _OF_ITEM]
    verdict: Annotated[Verdict, Mark.MERGED, _OF_FIGURE]
    values: Sequence[FigureRow]
    next: Annotated[Suggestion | None, Mark.OPTIONAL, "A command for more."] = None


@dataclass(frozen=True)
class ClaimEntry:
    """A claim or question of a study, and what is said of it."""

    item: Annotated[Item, Mark.MERGED, _OF_ITEM]
    verdict: Annotated[Verdict, Mark.MERGED, _OF_CLAIM]
    least_effect: Annotated[str | None, "What counts as an effect; None where nothing tests it."]
    next: Annotated[
        Suggestion | None, Mark.OPTIONAL, "The command that decides or reverses it, or shows its numbers."
    ] = None


@dataclass(frozen=True)
class Reproduction:
    """The studies on one machine: an entry for each figure, claim and question, then what reverses contradictions.

    ``notes`` tell of conditions that were made smaller and of parts that were not measured; ``flips`` are what
    reverses the contradictions; ``started`` is when the last of its runs began; ``alone`` says that single items were
    asked for, and not whole studies.
    """

    schema = version(SCHEMA)

    quick: bool
    notes: Sequence[str]
    studies: Sequence[Annotated[Study, _OF_STUDY]]
    entries: Annotated[Sequence[FigureEntry | ClaimEntry], Key("items")]
    flips: Annotated[Sequence[Reconciliation], Key("reconciliation")]
    curves: Annotated[Sequence[Curve], Mark.UNWRITTEN]
    host: Annotated[Mapping[str, Any], Mark.UNWRITTEN]
    started: Annotated[str, Mark.UNWRITTEN]
    alone: Annotated[bool, Mark.UNWRITTEN] = False
    busy: Annotated[str, Mark.OPTIONAL, "The load when measuring began, where it kept every CPU busy; else empty."] = ""

    @property
    def items(self) -> tuple[Item, ...]:
        """The figures, claims and questions."""
        return tuple(entry.item for entry in self.entries)

    def figures(self, study: str) -> list[FigureEntry]:
        """The figures of a study."""
        return [entry for entry in self.entries if isinstance(entry, FigureEntry) and entry.item.study == study]

    def rows(self, study: str) -> list[FigureRow]:
        """The numbers of a study's figures."""
        return [row for figure in self.figures(study) for row in figure.values]

    def claims(self, study: str) -> list[ClaimEntry]:
        """The claims and questions of a study."""
        return [entry for entry in self.entries if isinstance(entry, ClaimEntry) and entry.item.study == study]
