"""The page about forks, for a terminal: the answer, and what each mechanism takes by memory."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.units import approximate_bytes, brief_duration
from clonometer.views.document import Document, DocumentBlock, Hint, Note, Paragraph, TableBlock
from clonometer.views.fork_words import JsonRecord, start_sentence
from clonometer.views.labels import cpu_name
from clonometer.views.table import MISSING, Column, Table

_COLUMNS = {
    "first": "fork()",
    "huge": "in huge pages",
    "fork_exec": "fork and exec",
    "posix_spawn": "posix_spawn",
    "thread": "thread",
}
_ROUGH = "These times are rough: they are of another machine. 'clonometer calibrate' takes two minutes."


def fork_page_document(page: JsonRecord) -> Document:
    """Make a document of what the page shows."""
    answer = start_sentence(page["start"])
    notes = [_ROUGH] if page["model"] == "rough" else []
    if page["most_bytes"]:
        notes.append(f"Above {approximate_bytes(page['most_bytes'])} the times are extrapolated.")
    groups: list[list[DocumentBlock]] = [
        [Paragraph(answer, "bold")],
        [TableBlock(Table(_columns(page)))],
        [Note(note) for note in notes],
        [Paragraph(_others(page)), Hint("clonometer page --out fork.html")],
    ]
    return Document("page", "What does a fork cost?", answer, groups, about=machine_phrases(page))


def _others(page: JsonRecord) -> str:
    launches = sum(len(runtime["launches"]) for runtime in page["runtimes"])
    return f"The page also has {launches} ways to launch, of {len(page['runtimes'])} runtimes ('clonometer paths')."


def _columns(page: JsonRecord) -> list[Column]:
    sizes = page["start"]["sizes"]
    columns = [Column("memory", [approximate_bytes(size["memory_bytes"]) for size in sizes], "right")]
    for name, head in _COLUMNS.items():
        times = [size["costs_ns"].get(name) for size in sizes]
        columns.append(Column(head, [MISSING if ns is None else brief_duration(ns) for ns in times], "right"))
    return columns


def machine_phrases(page: JsonRecord) -> Sequence[str]:
    """The machine in short; nothing where the model is of no machine."""
    facts = page["calibration"]["machine"]
    if not facts:
        return ["a rough model, of no particular machine"]
    cpus = facts.get("cpu.online", "?")
    hypervisor = facts.get("virt.hypervisor", "unknown")
    return [
        cpu_name(facts.get("cpu.model") or "unknown CPU"),
        f"{cpus} CPU{'' if cpus == '1' else 's'}",
        f"Linux {facts.get('kernel.release', 'unknown').split('-')[0]}",
        "no hypervisor" if hypervisor in ("none", "unknown") else hypervisor,
    ]
