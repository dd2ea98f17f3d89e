"""What pictures of explanations have in common: bars of segments, axes, colours by kind of time, tooltips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clonometer.tracing.parts import UNEXPLAINED, part_of
from clonometer.tracing.types import Segment
from clonometer.units import format_duration, format_share
from clonometer.views.axes import TIME_LABEL
from clonometer.views.colours import GREY, HUES
from clonometer.views.specs import choice, nominal
from clonometer.views.thinning import thinned
from clonometer.views.types import Spec

WIDTH = 720
#: One colour for each kind of time, of launches and of workers.
KIND_COLOURS = {
    "user code": HUES["cyan"],
    "loader, library's start": HUES["blue"],
    "launching call": HUES["rose"],
    "launching": HUES["rose"],
    "other system calls": HUES["orange"],
    "system calls": HUES["orange"],
    "blocked": HUES["olive"],
    "futex": HUES["blue"],
    "page faults": HUES["red"],
    "to and from sleep": HUES["olive"],
    "waits to run": HUES["teal"],
    "waiting to run": HUES["teal"],
    "exec": HUES["sand"],
    "exit, reaping": HUES["purple"],
    "exit": HUES["purple"],
    "ended": HUES["sand"],
    UNEXPLAINED: GREY,
}
TIME_AXIS = {"labelExpr": TIME_LABEL, "title": None, "grid": True, "tickCount": 8}


def panel(title: str, height: int | Spec, *, data: Spec | None = None, **drawn: Any) -> Spec:
    """A panel with its heading; ``drawn`` is ``layer``, or ``mark`` and ``encoding``."""
    values = {} if data is None else {"data": data}
    return {"title": {"text": title, "anchor": "start"}, "width": WIDTH, "height": height, **values, **drawn}


def coloured(kinds: Sequence[str]) -> Spec:
    """A colour for each kind of time, with its legend."""
    hues = [KIND_COLOURS[kind] for kind in kinds]
    # Edges of bars would be thick frames around the legend's symbols.
    return choice("kind", kinds, hues, orient="bottom", columns=5, symbolStrokeWidth=0)


def rows_axis(field: str, order: Sequence[str], **axis: Any) -> Spec:
    """An axis of names, from above in their order."""
    return nominal(field, sort=list(order), title=None, axis={"domain": False, "ticks": False, **axis})


def whole_axis(whole_ns: int) -> Spec:
    """An axis of time from 0 to the end of a timeline."""
    return {"type": "quantitative", "scale": {"domain": [0, whole_ns], "nice": False}, "axis": TIME_AXIS}


def segment_bars(segments: Sequence[Segment], whole_ns: int, lane: str | None = None) -> list[dict[str, Any]]:
    """Bars of a timeline in one lane, or in that of whoever is at work; those too short to be seen are joined."""
    pieces = [(segment.start_ns, segment.end_ns, segment.part) for segment in segments]
    bars = []
    for drawn in thinned(pieces, whole_ns):
        part = part_of(drawn.part)
        joined = f"{drawn.pieces:,} pieces too short to draw one by one"
        bars.append(
            {
                "lane": lane or part.who or "nobody",
                "start_ns": drawn.start_ns,
                "end_ns": drawn.end_ns,
                "kind": part.kind,
                "part": part.title if drawn.pieces == 1 else f"mostly {part.title}",
                "lasts": format_duration(drawn.end_ns - drawn.start_ns),
                "share": format_share((drawn.end_ns - drawn.start_ns) / whole_ns),
                "meaning": part.meaning if drawn.pieces == 1 else joined,
            }
        )
    return bars


def tooltip(*fields: str) -> list[Spec]:
    """What is shown of a mark that one points at."""
    return [nominal(field, title=field) for field in fields]
