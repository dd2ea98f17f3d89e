"""The audit as text, at any width from 60 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_HEADS = {
    "warn": "Will move your numbers",
    "note": "Know it when you compare machines",
    "fine": "Fine",
}
_COLOURS = {"warn": "33", "note": "1", "fine": "32"}
_TITLE_WIDTH = 23
_WIDE = 110


def render_doctor(answer: Mapping[str, Any], width: int, *, colour: bool) -> Iterator[str]:
    """Write the answer of ``doctor`` as lines of at most ``width`` columns; only commands may be longer."""
    width = max(width, 60)
    yield from textwrap.wrap(str(answer["host"]), width)
    items: Sequence[Mapping[str, Any]] = answer["items"]
    for judged, head in _HEADS.items():
        found = [item for item in items if item["judged"] == judged and item["known"]]
        if found:
            yield ""
            yield _coloured(f"{head} ({len(found)})", _COLOURS[judged], colour)
            for item in found:
                yield from _item(item, width)
    unknown = [item for item in items if not item["known"]]
    if unknown:
        yield ""
        yield _coloured(f"Not known ({len(unknown)})", "1", colour)
        for item in unknown:
            yield from _item(item, width)
    yield ""
    yield from _instrument(answer, width)


def _item(item: Mapping[str, Any], width: int) -> Iterator[str]:
    indent = " " * (_TITLE_WIDTH + 2)
    title = f"  {item['title']}".ljust(_TITLE_WIDTH + 2)
    fine = item["judged"] == "fine"
    if width >= _WIDE:
        yield from _columns(title, item["value"], item["effect"], width)
    else:
        yield from _wrapped(title, item["value"], indent, width)
        if not fine:
            yield from _wrapped(indent, item["effect"], indent, width)
    if item["command"] is not None:
        # Not wrapped: it is there to be copied.
        yield f"{indent}$ {item['command']}"


def _columns(title: str, value: str, effect: str, width: int) -> Iterator[str]:
    """Value and effect side by side."""
    value_width = 34
    left = textwrap.wrap(value, value_width, break_on_hyphens=False) or [""]
    right = textwrap.wrap(effect, width - len(title) - value_width - 2, break_on_hyphens=False)
    for number in range(max(len(left), len(right))):
        first = left[number] if number < len(left) else ""
        second = right[number] if number < len(right) else ""
        lead = title if number == 0 else " " * len(title)
        yield f"{lead}{first.ljust(value_width + 2)}{second}".rstrip()


def _wrapped(lead: str, text: str, indent: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent=lead, subsequent_indent=indent, break_on_hyphens=False)


def _instrument(answer: Mapping[str, Any], width: int) -> Iterator[str]:
    clock = answer["clock"]
    rate = f" at {clock['clock_hz'] / 1e6:,.3f} MHz" if clock.get("clock_hz") else ""
    cost = f"one reading costs {clock.get('cost_ns', 0.0):.1f} ns"
    indent = " " * 10
    yield from _wrapped("Clock     ", f"{clock['clock']}{rate}, {cost}", indent, width)
    if clock.get("reason"):
        yield from _wrapped(indent, clock["reason"], indent, width)
    usable = ", ".join(entry["linkage"] or entry["name"] for entry in answer["drivers"] if not entry["reason"])
    yield from _wrapped("Drivers   ", usable, indent, width)
    for entry in answer["drivers"]:
        if entry["reason"]:
            yield from _wrapped("Broken    ", f"{entry['name']}: {entry['reason']}", indent, width)
    for lack in answer["lacks"]:
        yield from _wrapped("Lacks     ", f"{lack['what']}: {lack['reason']}", indent, width)
    if answer["noise_reason"]:
        yield from _wrapped("Noise     ", f"not measured well: {answer['noise_reason']}", indent, width)
    yield ""
    yield from _wrapped("", "Nothing was changed; the commands are for you to run.", "", width)
    yield from _wrapped("", "'clonometer doctor --self-test' checks the instrument itself.", "", width)


def _coloured(text: str, code: str, colour: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if colour else text
