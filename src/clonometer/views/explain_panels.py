"""What pictures of explanations have in common: bars of segments, axes, colours by kind of time, tooltips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
SIGNED_LABEL = f"(datum.value < 0 ? '-' : '') + ({TIME_LABEL.replace('datum.value', 'abs(datum.value)')})"
TIME_AXIS = {"labelExpr": TIME_LABEL, "title": None, "grid": True, "tickCount": 8}


def panel(height: int, *, data: Spec | None = None, **drawn: Any) -> Spec:
    """A chart in the size that it has in a picture; ``drawn`` is ``layer``, or ``mark`` and ``encoding``."""
    return {"width": WIDTH, "height": height, **({} if data is None else {"data": data}), **drawn}


def coloured(kinds: Sequence[str]) -> Spec:
    """A colour for each kind of time, with its legend."""
    hues = [KIND_COLOURS[kind] for kind in kinds]
    # Edges of bars would be thick frames around the legend's symbols.
    return choice("kind", kinds, hues, orient="bottom", columns=5, symbolStrokeWidth=0)


def rows_axis(field: str, order: Sequence[str], **axis: Any) -> Spec:
    """An axis of names, from above in their order."""
    return nominal(field, sort=list(order), title=None, axis={"domain": False, "ticks": False, **axis})


def time_axis(low_ns: float, high_ns: float) -> Spec:
    """An axis of time, the same for all charts that stand below each other, so that lengths compare."""
    signed = {"labelExpr": SIGNED_LABEL} if low_ns < 0 else {}
    scale = {"domain": [low_ns, high_ns], "nice": False}
    return {"type": "quantitative", "scale": scale, "axis": {**TIME_AXIS, **signed}}


def kinds_in(parts: Iterable[str], order: Iterable[str] = tuple(KIND_COLOURS)) -> list[str]:
    """The kinds of time of some parts, in the order of the legend."""
    present = {part_of(part).kind for part in parts}
    return [kind for kind in order if kind in present]


def legend(kinds: Iterable[str]) -> list[tuple[str, str]]:
    """What the colours of charts mean: each kind of time with its colour."""
    return [(kind, KIND_COLOURS[kind]) for kind in kinds]


def segment_bars(segments: Sequence[Segment], whole_ns: int, lane: str | None = None) -> list[dict[str, Any]]:
    """Bars of a timeline in one lane, or in that of whoever is at work; those too short to be seen are joined."""
    pieces = [(segment.start_ns, segment.end_ns, segment.part) for segment in segments]
    bars = []
    for drawn in thinned(pieces, whole_ns):
        part = part_of(drawn.part)
        joined = f"{drawn.pieces:,} pieces too short to draw separately"
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
