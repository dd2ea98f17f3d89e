"""What a figure is: panels in rows, with the words that stand around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from clonometer.results.types import Finding, Results
from clonometer.views.scans import Scanned
from clonometer.views.table import Table
from clonometer.views.types import Datum, Spec


@dataclass(frozen=True)
class Panel:
    """One chart of a figure; ``id`` is its name on the page."""

    id: str
    title: str
    #: What it shows, in words, for those who cannot see it.
    alt: str
    #: Makes the specification, in the size that it has in a picture and without its heading.
    draw: Callable[[], Spec]
    #: Its heading in a picture, where the row has a title; None: as ``title``.
    short: str | None = None
    #: Whether its height can be chosen; others are as high as they have lines.
    tall: bool = True
    #: How to read it, below it on a page.
    caption: str = ""


@dataclass(frozen=True)
class Row:
    """Panels beside each other, in a picture ``columns`` of them at most; what to say above them there."""

    panels: Sequence[Panel]
    title: str = ""
    columns: int = 3


@dataclass(frozen=True)
class Section:
    """Where a figure stands on the page: its heading, its name among the links, and a paragraph."""

    heading: str
    link: str
    intro: str


@dataclass(frozen=True)
class Figure:
    """A kind of figure."""

    #: Its place on the page.
    place: int
    #: Its name for ``clonometer plot --kind``.
    kind: str
    #: What it shows, in a few words.
    about: str
    #: What a run must have for it: "this run has no ...".
    needs: str
    #: What it answers; a picture's title where no finding answers it.
    question: str
    #: Beginnings of the ids of findings that answer it, the best first.
    answers: Callable[[Results], Sequence[str]]
    #: Its panels, row by row; empty where the run has nothing for it.
    rows: Callable[[Results], Sequence[Row]]
    #: Where it stands on the page; None: the page has it in another way, or not.
    section: Section | None = None
    #: What stands below its charts on the page.
    tables: Callable[[Results], Sequence[Table]] = lambda _: ()
    #: Tables that say more than rows do where the run has nothing else; the argument beside the results is what it
    #: has, by workload.
    sums_up: Callable[[Results, Set[str]], Sequence[Table]] = lambda _, __: ()
    #: Which scans it draws and how, so that the figure of any other scan leaves them out; None: it draws none.
    scans: Scanned | None = None
    #: How to read it, where it has no section that says so.
    reading: str = ""
    #: Without a section of its own: the section of the page that has it, and says how to read it. ``answer`` draws
    #: its panels beside the families; ``distributions`` lets the reader choose what to draw.
    stands_in: Literal["", "answer", "distributions"] = ""

    def answering(self, results: Results) -> list[Finding]:
        """The findings that answer its question, the best first; what states a difference before what could not."""
        starts = self.answers(results)
        matching = [
            (not finding.states_difference, index, finding)
            for finding in results.findings
            for index, start in enumerate(starts)
            if f"{finding.id}.".startswith(f"{start}.")
        ]
        return [finding for _, _, finding in sorted(matching, key=lambda each: each[:2])]


def answered_by(*starts: str) -> Callable[[Results], Sequence[str]]:
    """Findings whose ids begin so answer a figure's question, whatever the run."""
    return lambda _: starts


def alt(about: str, points: Sequence[Datum]) -> str:
    """Say a chart in words: what it shows, then each point."""
    return f"{about}. {'; '.join(str(point['tip']) for point in points)}."
