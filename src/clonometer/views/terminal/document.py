"""Documents on a terminal, as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import Any

from clonometer.views.document import (
    BulletList,
    Commands,
    CommentedTables,
    Document,
    DocumentBlock,
    Explorer,
    FactTables,
    FigureBlock,
    Fold,
    Heading,
    Hint,
    JudgedStatement,
    NamedText,
    NamedTexts,
    Note,
    Paragraph,
    SearchableTable,
    Statements,
    Subheading,
    SwitchedFigure,
    TableBlock,
    Tone,
    TreeBlock,
)
from clonometer.views.terminal.table import draw_stack, draw_table, draw_with
from clonometer.views.terminal.text import painted, rendered, wrap, wrap_each

#: From this width on what follows from an entry stands beside its text, which has so many columns.
_BESIDE, _TEXT_WIDTH = 110, 34
_INDENT = "  "


@rendered(least_width=1)
def render_document(
    build: Callable[..., Document], *answer: Any, width: int, colour: bool, **wishes: Any
) -> Iterator[str]:
    """Write the document that ``build`` makes of an answer and wishes such as ``wide``."""
    document = build(*answer, **wishes)
    yield from document_lines(document, max(width, document.least_width), colour)


def document_lines(document: Document, width: int, colour: bool) -> Iterator[str]:
    """The lines of a document, an empty one between groups."""
    drawn = (group_lines(group, width, colour) for group in document.groups)
    for number, lines in enumerate(filter(None, drawn)):
        yield from ["", *lines] if number else lines


def group_lines(blocks: Iterable[DocumentBlock], width: int, colour: bool) -> list[str]:
    """The lines of blocks that stand together."""
    return [line for block in blocks for line in _lines(block, width, colour)]


def _lines(block: DocumentBlock, width: int, colour: bool) -> list[str]:
    lines: list[str] = []
    match block:
        case TableBlock():
            lines = _table_lines(block, width, colour)
        case CommentedTables():
            lines = list(_commented(block, width, colour))
        case Fold(summary, blocks):
            lines = [*wrap(f"{summary}:", width), *group_lines(blocks, width, colour)] if block.wished else []
        case FigureBlock() | SwitchedFigure() | Explorer() | SearchableTable() | TreeBlock():
            pass
        case Statements():
            lines = list(_statements(block, width))
        case FactTables():
            lines = list(_facts(block, width))
        case JudgedStatement():
            lines = list(_judged_statement(block, width, colour))
        case _:
            lines = _words(block, width, colour)
    return lines


def _words(block: DocumentBlock, width: int, colour: bool) -> list[str]:
    lines: list[str] = []
    match block:
        case Heading(text) | Paragraph(text):
            lines = _painted(wrap(text, width), block.tone, colour)
        case Subheading(text):
            lines = _painted(wrap(text, width), "bold", colour)
        case BulletList(texts):
            lines = _painted(wrap_each(texts, width, bullet="- "), block.tone, colour)
        case Note(text):
            lines = _painted(wrap(text, width, bullet="! "), block.tone, colour)
        case Hint(text):
            lines = wrap(text, width)
        case Commands(texts):
            lines = [f"  $ {text}" for text in texts]
        case NamedTexts(entries, indent):
            lines = [line for entry in entries for line in _entry(entry, indent, width)]
    return lines


def _table_lines(block: TableBlock, width: int, colour: bool) -> list[str]:
    forms = block.forms or [block.table]
    if not forms[0].columns:
        return []
    if block.kept:
        return draw_with(block.kept, forms, width, colour)
    return draw_table(forms[0], width, colour, names_dropped=block.names_dropped)


def _painted(lines: list[str], tone: Tone, colour: bool) -> list[str]:
    return painted(lines, "bold" if tone == "lead" else tone, colour) if tone else lines


def _entry(entry: NamedText, indent: int, width: int) -> Iterator[str]:
    name, blank = entry.name.ljust(indent), " " * indent
    if entry.effect is not None and width >= _BESIDE:
        left = wrap(entry.text, _TEXT_WIDTH) or [""]
        right = wrap(entry.effect, width - indent - _TEXT_WIDTH - 2)
        for number, (first, second) in enumerate(zip_longest(left, right, fillvalue="")):
            yield f"{blank if number else name}{first.ljust(_TEXT_WIDTH + 2)}{second}"
    else:
        yield from wrap(entry.text, width, bullet=name)
        yield from wrap_each(entry.further, width, bullet=blank)
        yield from wrap("" if entry.is_brief else entry.effect or "", width, bullet=blank)
    if entry.command is not None:
        # Not wrapped: it is there to be copied.
        yield f"{blank}$ {entry.command}"


def _statements(block: Statements, width: int) -> Iterator[str]:
    for entry in block.entries:
        yield from wrap(entry.text, width, bullet="! " if block.is_warning else "- ")
        yield from wrap_each(entry.alike, width, bullet=_INDENT)
        yield from wrap(f"Next: {entry.next_step}" if entry.next_step else "", width, bullet=_INDENT)


def _facts(block: FactTables, width: int) -> Iterator[str]:
    for group in block.groups:
        yield from wrap(group.title, width)
        for name, text, reason in group.facts:
            why = f" ({reason})" if reason else ""
            yield from wrap(f"{name}: {text}{why}", width, bullet=_INDENT if group.title else "")


def _judged_statement(block: JudgedStatement, width: int, colour: bool) -> Iterator[str]:
    yield from wrap(block.statement, width, bullet=f"{block.name} " if block.name else "")
    outcome = ": ".join(filter(None, [block.outcome, block.number]))
    yield from _painted(wrap(outcome[:1].upper() + outcome[1:], width, bullet=_INDENT), block.tone, colour)
    yield from wrap_each([block.why, block.evidence], width, bullet=_INDENT)
    if block.command:
        yield from wrap(f"{block.next}:", width, bullet=_INDENT)
        # A shell takes its lines as one when they are copied.
        *lines, last = wrap(block.command, width - 2, bullet=2 * _INDENT)
        yield from (*(f"{line} \\" for line in lines), last)


def _commented(block: CommentedTables, width: int, colour: bool) -> Iterator[str]:
    drawn = draw_stack(block.tables, width, colour).tables
    for number, ([heading, *rows], comments, below) in enumerate(zip(drawn, block.comments, block.below, strict=True)):
        yield from ["", heading] if number else [heading]
        for row, texts in zip(rows, comments, strict=True):
            yield from (row, *wrap_each(texts, width, bullet="    "))
        yield from wrap(below, width, bullet="  ")
