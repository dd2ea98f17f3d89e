"""Answers as values: a title, a lead and blocks, which a terminal, a page and Markdown draw in their own way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from clonometer.views.creation_tree import CreationTree
from clonometer.views.figures.types import Panel
from clonometer.views.table import Table
from clonometer.views.types import Spec

#: How a text is meant, by which it is coloured; ``lead``: it is the answer, in large letters; ``dim``: an explanation.
Tone = Literal["", "bold", "good", "warn", "bad", "lead", "dim"]


@dataclass(frozen=True)
class Heading:
    """What the blocks after it are about; ``link`` is what a page's links call it, where it is long.

    ``anchor`` is what other parts of a page refer to it by.
    """

    text: str
    tone: Tone = "bold"
    link: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Subheading:
    """What the blocks after it are about, below a heading."""

    text: str
    anchor: str = ""


@dataclass(frozen=True)
class Link:
    """A word that leads to the anchor of a heading, which only a page has."""

    text: str
    anchor: str


@dataclass(frozen=True)
class Paragraph:
    """Sentences; without text, nothing."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class BulletList:
    """Sentences that stand for themselves, one below the other."""

    texts: Sequence[str]
    tone: Tone = ""


@dataclass(frozen=True)
class Note:
    """A caution; without text, nothing."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True)
class Commands:
    """Commands to be copied, which are never wrapped.

    ``copy_button``: a page has a button for each, and so a script: not for pages that repeat what strangers say.
    """

    texts: Sequence[str]
    copy_button: bool = False


@dataclass(frozen=True)
class Hint:
    """What only a terminal says: how to see more of the answer. A page has it all."""

    text: str


@dataclass(frozen=True)
class NamedText:
    """A name and what is said of it: a text, what follows from it, and the command that changes it."""

    name: str
    text: str
    #: Empty: nothing is known to follow; None: nothing could.
    effect: str | None = None
    command: str | None = None
    #: Whether a terminal says what follows only where that has room beside the text.
    is_brief: bool = False
    #: More texts of the same name.
    further: Sequence[str] = ()
    link: Link | None = None


@dataclass(frozen=True)
class NamedTexts:
    """Names and what is said of them; a terminal begins the texts in the column ``indent``."""

    entries: Sequence[NamedText]
    indent: int


@dataclass(frozen=True)
class Statement:
    """A sentence, and what belongs to it: others of its kind, what to do next, the cells it rests on or warns of."""

    text: str
    alike: Sequence[str] = ()
    next_step: str = ""
    cells: Sequence[str] = ()
    link: Link | None = None


@dataclass(frozen=True)
class Statements:
    """Statements below each other, of which a page folds cells and sentences that are alike."""

    entries: Sequence[Statement]
    is_warning: bool = False


@dataclass(frozen=True)
class FactGroup:
    """FactTables of one kind: names, texts, and why a fact is not known (empty where it is)."""

    title: str
    facts: Sequence[tuple[str, str, str]]


@dataclass(frozen=True)
class FactTables:
    """Groups of facts; a page sets groups with titles beside each other, and so the facts of a group without one."""

    groups: Sequence[FactGroup]


@dataclass(frozen=True)
class JudgedStatement:
    """A statement and its verdict: a word, a number, why, and a command for more; a page folds evidence and cells."""

    name: str
    statement: str
    outcome: str
    tone: Tone = ""
    #: The number that decided, and what it is of.
    number: str = ""
    why: str = ""
    #: What the command is for.
    next: str = ""
    command: str = ""
    evidence: str = ""
    #: What that rests on, which a terminal does not name.
    cells: Sequence[str] = ()


@dataclass(frozen=True)
class TableBlock:
    """A table; a terminal draws the first of ``forms`` in which the column ``kept`` has room, if there are such."""

    table: Table
    forms: Sequence[Table] = ()
    kept: str = ""
    #: Whether a terminal names the columns for which it had no room.
    names_dropped: bool = False


@dataclass(frozen=True)
class SearchableTable:
    """A long table in a section of its own: a page searches, filters and sorts it, and Markdown folds it.

    A terminal leaves it out.
    """

    heading: str
    table: Table
    #: What the ids of its elements begin with.
    id: str
    #: The columns that a page filters by: what a filter is called, and the heading of its column.
    filters: Sequence[tuple[str, str]]
    #: What is said beside the number of rows, such as their unit.
    note: str = ""
    #: An example of what to search for.
    example: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class CommentedTables:
    """Tables of the same columns below each other; ``comments`` are sentences for each row of each."""

    tables: Sequence[Table]
    comments: Sequence[Sequence[Sequence[str]]]
    #: What is said below each table.
    below: Sequence[str]
    #: What the comments are, where they are a column.
    comment_head: str = "what it measures"


@dataclass(frozen=True)
class FigureBlock:
    """Charts, which a terminal cannot draw and Markdown does not have; with a heading in a section of their own."""

    heading: str
    intro: str
    panels: Sequence[Panel]
    #: What colours mean, for all of its charts, which then have no legend of their own.
    legend: Sequence[tuple[str, str]] = ()
    #: Whether its charts stand below each other, as those on one time axis do.
    stacked: bool = False
    #: What a page's links call its section, and what refers to it; empty: the heading, and nothing.
    link: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class LineChoice:
    """One choice of what a chart shows: the options with their texts, and the first that is chosen."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    chosen: str


@dataclass(frozen=True)
class SwitchedFigure:
    """A chart of lines in a section of its own, of which a page's reader chooses some; drawn nowhere else."""

    heading: str
    intro: str
    #: The name of its element.
    id: str
    alt: str
    switches: Sequence[LineChoice]
    #: Each has a label, a colour, under ``shown`` for each switch the options with which it is shown, under the names
    #: of the chart's x and y as many numbers, and what else its points have.
    lines: Sequence[Mapping[str, Any]]
    #: The chart without its points, its horizontal axis and its colours.
    spec: Spec
    #: The horizontal axis by what is chosen of the switches ``axis_by``, texts joined by a blank.
    axes: Mapping[str, Spec]
    axis_by: Sequence[str]
    #: What is said below it.
    note: str = ""
    link: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Slider:
    """A number that a page's reader moves between ``low`` and ``high``, on a logarithmic scale."""

    name: str
    label: str
    #: Its unit, as names of fields end in it: ns, bytes or hz.
    unit: str
    low: float
    high: float
    stated: float


@dataclass(frozen=True)
class Explorer:
    """An answer that a page gives again for other numbers, in a section of its own; drawn nowhere else."""

    heading: str
    intro: str
    sliders: Sequence[Slider]
    #: What the page's script ``advise.js`` answers with.
    model: Mapping[str, Any]
    anchor: str = ""


@dataclass(frozen=True)
class Fold:
    """Blocks beside the answer: a page opens them on a click, a terminal has them if they are ``wished``."""

    summary: str
    blocks: Sequence[DocumentBlock]
    wished: bool = False


@dataclass(frozen=True)
class TreeBlock:
    """Tasks over time, on a page alone; ``heading`` names its section."""

    heading: str
    tree: CreationTree


#: Whatever a document is made of.
DocumentBlock = (
    Heading
    | Subheading
    | Paragraph
    | BulletList
    | Note
    | Commands
    | Hint
    | NamedTexts
    | Statements
    | FactTables
    | JudgedStatement
    | TableBlock
    | SearchableTable
    | CommentedTables
    | FigureBlock
    | SwitchedFigure
    | Explorer
    | Fold
    | TreeBlock
)


@dataclass(frozen=True)
class Document:
    """An answer for people.

    A terminal shows the blocks, with an empty line between groups of them. A page and Markdown begin with title and
    lead, and leave out paragraphs that say these again. Where a paragraph in the tone ``lead`` says it, the lead stands
    there.
    """

    #: What gave the answer, such as "noise".
    kind: str
    title: str
    #: The answer in a few words.
    lead: str
    #: Groups of blocks; those without any are left out.
    groups: Sequence[Sequence[DocumentBlock]]
    #: Columns that a terminal has at least.
    least_width: int = 40
    #: What it is about, in phrases below the title of a page.
    about: Sequence[str] = ()

    def repeats(self, block: DocumentBlock) -> bool:
        """Whether a block says the title or the lead again, which a page and Markdown begin with."""
        return isinstance(block, Paragraph) and block.tone != "lead" and block.text in (self.title, self.lead)

    @property
    def opening(self) -> str:
        """The lead, if no block says it in its own place."""
        placed = (block for group in self.groups for block in group if isinstance(block, Paragraph))
        return "" if any(block.tone == "lead" and block.text == self.lead for block in placed) else self.lead
