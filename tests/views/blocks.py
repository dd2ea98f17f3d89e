"""The blocks of a document, those within folds too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from clonometer.views.document import Document, DocumentBlock, FigureBlock, Fold
from clonometer.views.figures.types import Panel


def blocks_of(document: Document) -> list[DocumentBlock]:
    return [block for group in document.groups for block in _unfolded(group)]


def _unfolded(blocks: Iterable[DocumentBlock]) -> Iterator[DocumentBlock]:
    for block in blocks:
        yield from _unfolded(block.blocks) if isinstance(block, Fold) else [block]


def drawn_panels(document: Document) -> list[Panel]:
    """The panels of all its charts."""
    return [panel for block in blocks_of(document) if isinstance(block, FigureBlock) for panel in block.panels]
