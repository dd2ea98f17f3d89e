"""The timeline of a launch as a still picture, for readers whose browser runs no scripts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from clonometer.units import brief_duration
from clonometer.views.fork_words import PARTS, JsonRecord

_WIDTH, _HEIGHT = 1000, 178
#: Where each lane's bar begins, and how high it is.
_LANES = {"parent": 30, "child": 98}
_BAR = 40
_AXIS = _LANES["child"] + _BAR + 14
_LETTER = 8.2
#: On axes: one, two or five of a power of ten.
_TICKS = 6


def timeline_svg(launch: JsonRecord, title: str) -> str:
    """Draw the parts to scale, with an axis of time; ``title`` is what it shows, for those who cannot see it."""
    parts = launch["parts"]
    whole_ns = max((part["starts_ns"] + part["lasts_ns"] for part in parts), default=1.0)
    scale = _WIDTH / whole_ns
    lanes = "".join(f'<text class="lane" x="0" y="{y - 9}">{lane}</text>' for lane, y in _LANES.items())
    bars = "".join(_bar(part, scale) for part in parts)
    axis = "".join(_tick(tick, tick * scale) for tick in ticks(whole_ns * 0.96))
    call = _call(launch["call_ns"]["median_ns"], scale)
    label = escape(title, quote=True)
    size = f"0 0 {_WIDTH} {_HEIGHT}"
    return f'<svg class="timeline" viewBox="{size}" role="img" aria-label="{label}">{lanes}{call}{bars}{axis}</svg>'


def _call(call_ns: float, scale: float) -> str:
    """From when to when the caller waits."""
    end, y = call_ns * scale, _LANES["parent"]
    anchor, x = ("end", end) if end > _WIDTH / 2 else ("start", max(end + 6, 56.0))
    return (
        f'<path class="call" d="M0.5 {y - 2}v-4H{max(1.0, end - 0.5):.1f}v4"/>'
        f'<text class="call" x="{x:.1f}" y="{y - 9}" text-anchor="{anchor}">'
        f"the caller waits {brief_duration(call_ns)}</text>"
    )


def _tick(ns: float, x: float) -> str:
    kind = "tick" if ns else "tick first"
    return (
        f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="{_AXIS - 8}" y2="{_AXIS - 3}"/>'
        f'<text class="{kind}" x="{x:.1f}" y="{_AXIS + 10}">{brief_duration(ns)}</text>'
    )


def _bar(part: JsonRecord, scale: float) -> str:
    words, y = PARTS[part["part"]], _LANES[part["lane"]]
    x, width = part["starts_ns"] * scale, max(1.0, part["lasts_ns"] * scale)
    text = f"{words.name}: {brief_duration(part['lasts_ns'])}"
    bar = (
        f'<rect class="bar {words.hue}" x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_BAR}">'
        f"<title>{escape(text)}</title></rect>"
    )
    if width < _LETTER * len(words.name) + 14:
        return bar
    return f'{bar}<text class="on {words.hue}" x="{x + 8:.1f}" y="{y + 25}">{escape(words.name)}</text>'


def ticks(whole_ns: float) -> Sequence[float]:
    """Round times from 0 on, at most seven.

    Examples
    --------
    >>> ticks(12.0)
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    """
    least = whole_ns / _TICKS
    power = 10.0 ** (len(f"{int(least)}") - 1) if least >= 1 else 1.0
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= least)
    return [step * index for index in range(int(whole_ns / step) + 1)]
