"""Documents as Markdown, for an issue or a mail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from clonometer.views.document import (
    BulletList,
    Commands,
    CommentedTables,
    Document,
    DocumentBlock,
    FactGroup,
    FactTables,
    Fold,
    Heading,
    JudgedStatement,
    NamedText,
    NamedTexts,
    Note,
    Paragraph,
    SearchableTable,
    Statement,
    Statements,
    Subheading,
    TableBlock,
)
from clonometer.views.exports.markdown import pipe_table
from clonometer.views.table import Column, Table
from clonometer.views.terminal.text import clean, printable

#: What would be markup, a link or a page's element.
_MARKUP = str.maketrans({letter: f"\\{letter}" for letter in "\\`*_[]<>#&~"})


def render_markdown(document: Document) -> str:
    """Write a document as Markdown."""
    parts = [f"# {_text(document.title)}", f"**{_text(document.opening)}**" if document.opening else ""]
    parts += [
        part for group in document.groups for block in group if not document.repeats(block) for part in _parts(block)
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _text(text: str) -> str:
    return clean(text).translate(_MARKUP)


def _list(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _parts(block: DocumentBlock) -> Iterator[str]:
    match block:
        case TableBlock(table):
            yield from _markdown_table(table) if table.columns else ()
        case CommentedTables():
            for table, below in zip(commented(block), block.below, strict=True):
                yield from (*_markdown_table(table), _text(below))
        case SearchableTable(heading, table):
            yield from _folded(heading, _markdown_table(table))
        case Fold(summary, blocks):
            yield from _folded(summary, (part for inner in blocks for part in _parts(inner)))
        case FactTables(groups):
            yield from (part for group in groups for part in _facts(group))
        case JudgedStatement():
            yield from _judged_statement(block)
        case _:
            yield _words(block)


def _words(block: DocumentBlock) -> str:
    """A block that is one paragraph or list; empty where Markdown does not have it."""
    words = ""
    match block:
        case Heading(text):
            words = f"## {_text(text)}"
        case Subheading(text):
            words = f"### {_text(text)}"
        case Paragraph(text, tone):
            words = f"**{_text(text)}**" if text and tone not in ("", "dim") else _text(text)
        case BulletList(texts):
            words = _list(map(_text, texts))
        case Note(text):
            words = f"> {_text(text)}" if text else ""
        case Commands(texts):
            # Indented, it is code, whatever letters it has.
            words = "\n".join(f"    {printable(text)}" for text in texts)
        case NamedTexts(entries):
            words = _list(_named(each) for each in entries if each.text)
        case Statements(entries):
            words = "\n".join(map(_statement, entries))
    return words


def _named(entry: NamedText) -> str:
    name = f"**{_text(entry.name.strip())}:**" if entry.name.strip() else ""
    texts = (entry.text, *entry.further, entry.effect or "", entry.command or "")
    return " ".join(filter(None, [name, *map(_text, texts)]))


def _folded(summary: str, parts: Iterable[str]) -> Iterator[str]:
    # Forges fold these, and leave them out of what stands in them.
    yield f"<details><summary>{_text(summary)}</summary>"
    yield from parts
    yield "</details>"


def _statement(entry: Statement) -> str:
    next_step = f"Next step: {_text(entry.next_step)}" if entry.next_step else ""
    cells = f"Cells: {', '.join(map(_text, entry.cells))}" if entry.cells else ""
    lines = [f"- {_text(entry.text)}", *(f"- {_text(text)}" for text in entry.alike), next_step, cells]
    return "\n  ".join(filter(None, lines))


def _facts(group: FactGroup) -> Iterator[str]:
    yield f"**{_text(group.title)}**" if group.title else ""
    whole = [(name, f"{text} ({reason})" if reason else text) for name, text, reason in group.facts]
    yield _list(f"{_text(name)}: {_text(text)}" for name, text in whole)


def _judged_statement(block: JudgedStatement) -> Iterator[str]:
    yield " ".join(filter(None, [f"**{_text(block.name)}**" if block.name else "", _text(block.statement)]))
    number = f": {_text(block.number)}" if block.number else ""
    yield f"**{_text(block.outcome)}**{number}. {_text(block.why)}"
    yield from (f"{_text(block.next)}:", f"    {clean(block.command)}") if block.command else ()
    if block.evidence:
        yield from _parts(Fold("Evidence", [Paragraph(block.evidence), Paragraph(", ".join(block.cells))]))


def _markdown_table(table: Table) -> Iterator[str]:
    columns = [
        replace(each, head=_text(each.head), texts=[_text(text.replace("\n", ", ")) for text in each.texts])
        for each in table.shown
    ]
    yield _text(table.title)
    yield "".join(pipe_table(Table(columns))).rstrip("\n")
    yield _text(table.note)


def commented(block: CommentedTables) -> Iterator[Table]:
    """The tables, with their rows' comments as a last column, where there is room for sentences."""
    for table, comments in zip(block.tables, block.comments, strict=True):
        texts = [(" " if all(text.endswith(".") for text in each) else "; ").join(each) for each in comments]
        yield replace(table, columns=[*table.columns, Column(block.comment_head, texts, prose=True)])
