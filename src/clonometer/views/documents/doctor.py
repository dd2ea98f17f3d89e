"""The audit: what will distort the numbers here, and the instrument."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clonometer.results.audit.types import AuditItem, DriverState, MachineAudit
from clonometer.views.document import Document, DocumentBlock, Heading, NamedText, NamedTexts, Paragraph, Tone
from clonometer.views.documents.predict import JsonObject, answer_blocks

#: How an item is judged -> the heading of all that are, and its style; None: what is not known.
_HEADS: dict[str | None, tuple[str, Tone]] = {
    "warn": ("Will distort your numbers", "warn"),
    "note": ("Keep in mind when comparing machines", "bold"),
    "fine": ("Fine", "good"),
    None: ("Not known", "bold"),
}
#: Where the texts begin on a terminal.
_INDENT = 25


def doctor_document(audit: MachineAudit, process: JsonObject | None = None) -> Document:
    """Make a document of an audit, and of what ``predict --json`` prints of a process."""
    groups: list[Sequence[DocumentBlock]] = [[] if process is None else answer_blocks(process)]
    groups.append([Paragraph(audit.host)])
    counts = []
    for judged, (head, tone) in _HEADS.items():
        alike = [item for item in audit.items if (item.judged if item.known else None) == judged]
        if alike:
            groups.append([Heading(f"{head} ({len(alike)})", tone), NamedTexts(list(map(_named, alike)), _INDENT)])
            counts.append(f"{head}: {len(alike)}")
    groups.append([NamedTexts(list(_instrument(audit)), 10)])
    last = "Nothing was changed; the commands are for you to run."
    groups.append([Paragraph(last), Paragraph("'clonometer doctor --self-test' checks the instrument itself.")])
    return Document("doctor", "What will distort the numbers on this machine", f"{'; '.join(counts)}.", groups)


def _named(item: AuditItem) -> NamedText:
    return NamedText(f"  {item.title}", item.value, item.effect, item.command, is_brief=item.judged == "fine")


def _driver(driver: DriverState) -> str:
    """Name a driver: the probe, which comes in several, by its linkage."""
    return driver.linkage if driver.name.startswith("probe-") and driver.linkage else driver.name


def _instrument(audit: MachineAudit) -> Iterator[NamedText]:
    clock = audit.clock
    rate = f" at {clock['clock_hz'] / 1e6:,.3f} MHz" if clock.get("clock_hz") else ""
    cost = f"one reading costs {clock.get('cost_ns', 0.0):.1f} ns"
    lines = [
        ("Clock", f"{clock['clock']}{rate}, {cost}"),
        ("", clock.get("reason") or ""),
        ("Drivers", ", ".join(_driver(driver) for driver in audit.drivers if not driver.reason)),
        *(("Broken", f"{driver.name}: {driver.reason}") for driver in audit.drivers if driver.reason),
        *(("Lacks", f"{lack.what}: {lack.reason}") for lack in audit.lacks),
        ("Noise", f"not measured reliably: {audit.noise_reason}" if audit.noise_reason else ""),
    ]
    yield from (NamedText(label, text) for label, text in lines)
