"""Answers as values: a title, a lead and blocks, which a terminal, a page and Markdown draw in their own way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from clonometer.views.figures.types import Panel
from clonometer.views.table import Table

#: How a text is meant, by which it is coloured.
Tone = Literal["", "bold", "good", "warn", "bad"]


@dataclass(frozen=True)
class Heading:
    """What the blocks after it are about; ``link`` is what a page's links call it, where it is long."""

    text: str
    tone: Tone = "bold"
    link: str = ""


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
    """Commands to be copied, which are never wrapped."""

    texts: Sequence[str]


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


@dataclass(frozen=True)
class NamedTexts:
    """Names and what is said of them; a terminal begins the texts in the column ``indent``."""

    entries: Sequence[NamedText]
    indent: int


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


@dataclass(frozen=True)
class Fold:
    """Blocks beside the answer: a page opens them on a click, a terminal has them if they are ``wished``."""

    summary: str
    blocks: Sequence[DocumentBlock]
    wished: bool = False


#: Whatever a document is made of.
DocumentBlock = (
    Heading
    | Paragraph
    | BulletList
    | Note
    | Commands
    | Hint
    | NamedTexts
    | JudgedStatement
    | TableBlock
    | CommentedTables
    | FigureBlock
    | Fold
)


@dataclass(frozen=True)
class Document:
    """An answer for people.

    A terminal shows the blocks, with an empty line between groups of them. A page and Markdown begin with title and
    lead, and leave out paragraphs that say these again.
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

    def repeats(self, block: DocumentBlock) -> bool:
        """Whether a block says the title or the lead again, which a page and Markdown begin with."""
        return isinstance(block, Paragraph) and block.text in (self.title, self.lead)
