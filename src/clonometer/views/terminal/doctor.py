"""The audit on a terminal: what will move the numbers here, and the instrument. Returned as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from clonometer.views.terminal.predict import answer_lines
from clonometer.views.terminal.text import paint, rendered, wrap

#: How an item is judged -> the heading of all that are, and its style; None: what is not known.
_HEADS = {
    "warn": ("Will move your numbers", "warn"),
    "note": ("Keep in mind when comparing machines", "bold"),
    "fine": ("Fine", "good"),
    None: ("Not known", "bold"),
}
_TITLE_WIDTH = 23
_VALUE_WIDTH = 34
_WIDE = 110


@rendered(least_width=40)
def render_doctor(answer: Mapping[str, Any], *, width: int, colour: bool) -> Iterator[str]:
    """Write what ``doctor --json`` prints; only commands may be longer than a line."""
    if "process" in answer:
        yield from answer_lines(answer["process"], width, colour)
        yield ""
    yield from wrap(str(answer["host"]), width)
    items: Sequence[Mapping[str, Any]] = answer["items"]
    for judged, (head, style) in _HEADS.items():
        alike = [item for item in items if (item["judged"] if item["known"] else None) == judged]
        if alike:
            yield ""
            yield paint(f"{head} ({len(alike)})", style, colour)
            for item in alike:
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
        yield from wrap(item["value"], width, bullet=title)
        if not fine:
            yield from wrap(item["effect"], width, bullet=indent)
    if item["command"] is not None:
        # Not wrapped: it is there to be copied.
        yield f"{indent}$ {item['command']}"


def _columns(title: str, value: str, effect: str, width: int) -> Iterator[str]:
    """Value and effect side by side."""
    left = wrap(value, _VALUE_WIDTH) or [""]
    right = wrap(effect, width - len(title) - _VALUE_WIDTH - 2)
    for number, (first, second) in enumerate(zip_longest(left, right, fillvalue="")):
        lead = title if number == 0 else " " * len(title)
        yield f"{lead}{first.ljust(_VALUE_WIDTH + 2)}{second}".rstrip()


def _driver(entry: Mapping[str, Any]) -> str:
    """Name a driver: the probe, which comes in several, by its linkage."""
    name = str(entry["name"])
    return str(entry["linkage"]) if name.startswith("probe-") and entry["linkage"] else name


def _instrument(answer: Mapping[str, Any], width: int) -> Iterator[str]:
    clock = answer["clock"]
    rate = f" at {clock['clock_hz'] / 1e6:,.3f} MHz" if clock.get("clock_hz") else ""
    cost = f"one reading costs {clock.get('cost_ns', 0.0):.1f} ns"
    noise = answer["noise_reason"]
    drivers = answer["drivers"]
    lines = [
        ("Clock", f"{clock['clock']}{rate}, {cost}"),
        ("", clock.get("reason") or ""),
        ("Drivers", ", ".join(_driver(entry) for entry in drivers if not entry["reason"])),
        *(("Broken", f"{entry['name']}: {entry['reason']}") for entry in drivers if entry["reason"]),
        *(("Lacks", f"{lack['what']}: {lack['reason']}") for lack in answer["lacks"]),
        ("Noise", f"not measured well: {noise}" if noise else ""),
    ]
    for label, text in lines:
        yield from wrap(text, width, bullet=f"{label:<10}")
    yield ""
    yield from wrap("Nothing was changed; the commands are for you to run.", width)
    yield from wrap("'clonometer doctor --self-test' checks the instrument itself.", width)
