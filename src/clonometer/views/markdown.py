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
    Fold,
    Heading,
    JudgedStatement,
    NamedTexts,
    Note,
    Paragraph,
    TableBlock,
)
from clonometer.views.exports.markdown import pipe_table
from clonometer.views.table import Column, Table
from clonometer.views.terminal.text import clean

#: What would be markup, a link or a page's element.
_MARKUP = str.maketrans({letter: f"\\{letter}" for letter in "\\`*_[]<>#&~"})


def render_markdown(document: Document) -> str:
    """Write a document as Markdown."""
    parts = [f"# {_text(document.title)}", f"**{_text(document.lead)}**" if document.lead else ""]
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
        case Heading(text):
            yield f"## {_text(text)}"
        case Paragraph(text, tone):
            yield f"**{_text(text)}**" if tone and text else _text(text)
        case BulletList(texts):
            yield _list(map(_text, texts))
        case Note(text):
            yield f"> {_text(text)}" if text else ""
        case Commands(texts):
            # Indented, it is code, whatever letters it has.
            yield "\n".join(f"    {clean(text)}" for text in texts)
        case NamedTexts(entries):
            yield _list(
                " ".join(
                    filter(
                        None,
                        [
                            f"**{_text(each.name.strip())}:**" if each.name.strip() else "",
                            *map(_text, (each.text, each.effect or "", each.command or "")),
                        ],
                    )
                )
                for each in entries
                if each.text
            )
        case TableBlock(table):
            yield from _table(table) if table.columns else ()
        case CommentedTables():
            for table, below in zip(commented(block), block.below, strict=True):
                yield from (*_table(table), _text(below))
        case JudgedStatement():
            yield from _judged(block)
        case Fold(summary, blocks):
            # Forges fold these, and leave them out of what stands in them.
            yield f"<details><summary>{_text(summary)}</summary>"
            for inner in blocks:
                yield from _parts(inner)
            yield "</details>"


def _judged(block: JudgedStatement) -> Iterator[str]:
    yield " ".join(filter(None, [f"**{_text(block.name)}**" if block.name else "", _text(block.statement)]))
    number = f": {_text(block.number)}" if block.number else ""
    yield f"**{_text(block.outcome)}**{number}. {_text(block.why)}"
    yield from (f"{_text(block.next)}:", f"    {clean(block.command)}") if block.command else ()
    if block.evidence:
        yield from _parts(Fold("Evidence", [Paragraph(block.evidence), Paragraph(", ".join(block.cells))]))


def _table(table: Table) -> Iterator[str]:
    columns = [
        replace(each, head=_text(each.head), texts=[_text(text.replace("\n", ", ")) for text in each.texts])
        for each in table.columns
    ]
    yield _text(table.title)
    yield "".join(pipe_table(Table(columns))).rstrip("\n")
    yield _text(table.note)


def commented(block: CommentedTables) -> Iterator[Table]:
    """The tables, with their rows' comments as a last column, where there is room for sentences."""
    for table, comments in zip(block.tables, block.comments, strict=True):
        texts = [(" " if all(text.endswith(".") for text in each) else "; ").join(each) for each in comments]
        yield replace(table, columns=[*table.columns, Column(block.comment_head, texts, prose=True)])
