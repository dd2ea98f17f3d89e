"""What a figure is: panels in rows, with the words that stand around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from clonometer.results.types import Results
from clonometer.views.scans import Scanned
from clonometer.views.specs import Datum, Spec
from clonometer.views.table import Table


@dataclass(frozen=True)
class Panel:
    """One chart of a figure.

    Attributes
    ----------
    id
        Its name on the page.
    title
        Its heading.
    alt
        What it shows, in words, for those who cannot see it.
    draw
        Makes the specification; takes ``title``, ``width`` and, where ``tall``, ``height``.
    short
        Its heading in a picture, where the row has a title; None: as ``title``.
    tall
        Whether its height can be chosen; others are as high as they have lines.
    """

    id: str
    title: str
    alt: str
    draw: Callable[..., Spec]
    short: str | None = None
    tall: bool = True


@dataclass(frozen=True)
class Row:
    """Panels beside each other, with what to say above them in a picture."""

    panels: Sequence[Panel]
    title: str = ""


@dataclass(frozen=True)
class Section:
    """Where a figure stands on the page: its heading, its name among the links, and a paragraph."""

    heading: str
    link: str
    intro: str


@dataclass(frozen=True)
class Figure:
    """A kind of figure.

    Attributes
    ----------
    place
        Its place on the page.
    kind
        Its name for ``clonometer plot --kind``.
    about
        What it shows, in a few words.
    needs
        What a run must have for it: "this run has no ...".
    rows
        Its panels, row by row; empty where the run has nothing for it.
    section
        Where it stands on the page; None: the page has it in another way, or not.
    tables
        What stands below its charts on the page.
    sums_up
        Tables that say more than rows do where the run has nothing else; the argument beside the results is what it
        has, by workload.
    scans
        Which scans it draws and how, so that the figure of any other scan leaves them out; None: it draws none.
    own_colours
        Whether the lines of two panels are called differently, so that they share no colours.
    """

    place: int
    kind: str
    about: str
    needs: str
    rows: Callable[[Results], Sequence[Row]]
    section: Section | None = None
    tables: Callable[[Results], Sequence[Table]] = lambda _: ()
    sums_up: Callable[[Results, Set[str]], Sequence[Table]] = lambda _, __: ()
    scans: Scanned | None = None
    own_colours: bool = False


# Stages of a launch fit in one row.
_PANELS_A_ROW = 4


def alt(about: str, points: Sequence[Datum]) -> str:
    """Say a chart in words: what it shows, then each point."""
    return f"{about}. {'; '.join(str(point['tip']) for point in points)}."


def labels_of(points: Sequence[Datum]) -> list[str]:
    """The labels of points, in their order."""
    return list(dict.fromkeys(str(point["label"]) for point in points))


def in_rows(panels: Sequence[Panel], most: int = _PANELS_A_ROW) -> list[Row]:
    """Set panels in rows of ``most``."""
    return [Row(panels[start : start + most]) for start in range(0, len(panels), most)]
