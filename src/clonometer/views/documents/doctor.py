"""The audit: what will distort the numbers here, and the instrument."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.views.document import Document, DocumentBlock, Heading, NamedText, NamedTexts, Paragraph, Tone
from clonometer.views.documents.predict import answer_blocks

#: How an item is judged -> the heading of all that are, and its style; None: what is not known.
_HEADS: dict[str | None, tuple[str, Tone]] = {
    "warn": ("Will distort your numbers", "warn"),
    "note": ("Keep in mind when comparing machines", "bold"),
    "fine": ("Fine", "good"),
    None: ("Not known", "bold"),
}
#: Where the texts begin on a terminal.
_INDENT = 25


def doctor_document(answer: Mapping[str, Any]) -> Document:
    """Make a document of what ``doctor --json`` prints."""
    items: Sequence[Mapping[str, Any]] = answer["items"]
    groups: list[Sequence[DocumentBlock]] = [answer_blocks(answer["process"]) if "process" in answer else []]
    groups.append([Paragraph(str(answer["host"]))])
    counts = []
    for judged, (head, tone) in _HEADS.items():
        alike = [item for item in items if (item["judged"] if item["known"] else None) == judged]
        if alike:
            groups.append([Heading(f"{head} ({len(alike)})", tone), NamedTexts(list(map(_named, alike)), _INDENT)])
            counts.append(f"{head}: {len(alike)}")
    groups.append([NamedTexts(list(_instrument(answer)), 10)])
    last = "Nothing was changed; the commands are for you to run."
    groups.append([Paragraph(last), Paragraph("'clonometer doctor --self-test' checks the instrument itself.")])
    return Document("doctor", "What will distort the numbers on this machine", f"{'; '.join(counts)}.", groups)


def _named(item: Mapping[str, Any]) -> NamedText:
    return NamedText(
        f"  {item['title']}", item["value"], item["effect"], item["command"], is_brief=item["judged"] == "fine"
    )


def _driver(entry: Mapping[str, Any]) -> str:
    """Name a driver: the probe, which comes in several, by its linkage."""
    name = str(entry["name"])
    return str(entry["linkage"]) if name.startswith("probe-") and entry["linkage"] else name


def _instrument(answer: Mapping[str, Any]) -> Iterator[NamedText]:
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
        ("Noise", f"not measured reliably: {noise}" if noise else ""),
    ]
    yield from (NamedText(label, text) for label, text in lines)
