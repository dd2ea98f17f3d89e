"""``clonometer list`` at the terminal: a screen of names, all with their summaries, or what one name means."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.units import format_bytes
from clonometer.views.terminal.text import wrap

_LABEL = 14
_FIRST_PLANS = ("default", "quick")
# An axis in the text of a cell.
_SET = re.compile(r"[\[,](\w+)=")


def render_screen(listing: dict[str, Any], width: int) -> Iterator[str]:
    """Write names alone: of workloads a line for each first word, of axes and plans as many as fit."""
    yield "Workloads, by the first word of their names:"
    groups: dict[str, list[str]] = {}
    for entry in listing["workloads"]:
        first, _, rest = entry["id"].partition(".")
        groups.setdefault(first, []).append(rest)
    for first, names in groups.items():
        yield f"  {first}.".ljust(_LABEL) + _as_fit(names, width - _LABEL)
    if listing["languages"]:
        languages = ", ".join(entry["name"] for entry in listing["languages"])
        yield f"Languages (clonometer list python): {languages}"
    yield f"Axes (--set NAME=VALUE): {len(listing['axes'])}, the most used first"
    yield f"  {_as_fit(_by_use(listing), width - 2)}"
    plans = [entry["name"] for entry in listing["plans"]]
    yield f"Plans (--plan NAME): {len(plans)}"
    yield f"  {_as_fit(sorted(plans, key=lambda name: (name not in _FIRST_PLANS, '-' in name)), width - 2)}"
    yield "Explain a name, with an example:        clonometer list NAME"
    missing = [entry for entry in listing["workloads"] if not entry["available"]]
    values = [value for entry in listing["axes"] for value in entry["unavailable"]]
    yield f"All names, and what this machine lacks ({len(missing) + len(values)}): clonometer list --wide"


def _by_use(listing: dict[str, Any]) -> list[str]:
    """The axes, beginning with those that most plans set."""
    used = Counter(
        axis for plan in listing["plans"] for axis in {axis for cell in plan["cells"] for axis in _SET.findall(cell)}
    )
    return sorted((entry["name"] for entry in listing["axes"]), key=lambda name: -used[name])


def _as_fit(names: Sequence[str], width: int) -> str:
    """As many of some names as fit a line, and how many more there are."""
    for kept in range(len(names), 0, -1):
        more = len(names) - kept
        text = ", ".join(names[:kept]) + (f" and {more} more" if more else "")
        if len(text) <= width:
            return text
    return f"{len(names)} names"


def render_about(meant: Sequence[Mapping[str, Any]], width: int) -> Iterator[str]:
    """Explain each thing that bears a name: what it is, what else there is to say, a command that works."""
    for index, about in enumerate(meant):
        if index:
            yield ""
        yield f"{about['name']} ({about['kind']})"
        yield from _item("", about["summary"], 2, width)
        labels = [label for label, _ in about["facts"]]
        indent = 4 + max(map(len, [*labels, "not here"]))
        for label, text in about["facts"]:
            yield from _item(label, text, indent, width)
        for reason in about["missing"]:
            yield from _item("not here", reason, indent, width)
        # A command is not broken: it is there to be copied.
        yield "  example".ljust(indent) + about["example"]


def render_all(listing: dict[str, Any], width: int) -> Iterator[str]:
    """Write everything that can be measured as lines of at most ``width`` columns."""
    yield "Workloads"
    indent = 2 + max((len(entry["id"]) for entry in listing["workloads"]), default=0) + 2
    for entry in listing["workloads"]:
        yield from _item(entry["id"], entry["summary"], indent, width)
        yield from _missing(entry["reason"] if not entry["available"] else None, indent, width)
    yield ""
    if listing["languages"]:
        yield "Languages (clonometer list NAME: workloads; clonometer drivers: what is here)"
        for entry in listing["languages"]:
            yield from _item(entry["name"], entry["title"], indent, width)
        yield ""
    yield "Axes (--set NAME=VALUE,...)"
    indent = 2 + max((len(entry["name"]) for entry in listing["axes"]), default=0) + 2
    for entry in listing["axes"]:
        yield from _item(entry["name"], entry["summary"], indent, width)
        yield from _item("", _values(entry), indent, width)
        for value, reason in entry["unavailable"].items():
            yield from _missing(f"{value}: {reason}", indent, width)
    yield ""
    yield "Plans (--plan NAME)"
    indent = 2 + max((len(entry["name"]) for entry in listing["plans"]), default=0) + 2
    for entry in listing["plans"]:
        budget = f" (about {entry['budget_seconds']:.0f} s)" if entry["budget_seconds"] else ""
        yield from _item(entry["name"], f"{entry['title']}: {len(entry['cells'])} cells{budget}", indent, width)
        yield from _missing(entry["reason"], indent, width)
        for reason, cells in Counter(missing["reason"] for missing in entry["unavailable"]).items():
            yield from _missing(f"{cells} of these cells: {reason}", indent, width)
    broken = [entry for entry in listing["drivers"] if entry["reason"]]
    if broken or listing["lacks"]:
        yield ""
        yield "Not on this machine"
        for lack in listing["lacks"]:
            yield from _item("", f"{lack['what']}: {lack['reason']}", 2, width)
        for entry in broken:
            yield from _item("", f"{entry['name']}: {entry['reason']}", 2, width)


def _values(axis: dict[str, Any]) -> str:
    default = format_bytes(axis["default"]) if axis["type"] == "bytes" else axis["default"]
    if axis["values"]:
        return f"{' | '.join(axis['values'])}; default {default}"
    what = {"bytes": "a size such as 64MiB", "count": "a whole number", "text": "a text"}[axis["type"]]
    least = f", at least {axis['minimum']}" if axis["minimum"] else ""
    return f"{what}{least}; default {default}"


def _missing(reason: str | None, indent: int, width: int) -> Iterator[str]:
    if reason:
        yield from _item("", f"not here: {reason}", indent, width)


def _item(name: str, text: str, indent: int, width: int) -> list[str]:
    return wrap(text, max(width, indent + 20), bullet=f"  {name}".ljust(indent)) or [f"  {name}"]
