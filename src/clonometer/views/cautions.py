"""Warnings as views show them: one entry a kind, however many rows it touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.types import Results


@dataclass(frozen=True)
class Caution:
    """Warnings of one kind with one next step."""

    id: str
    next_step: str
    sentences: Sequence[str]
    cells: Sequence[str]


def for_all(sentence: str, alike: int) -> str:
    """Word a run's warning that stands for that many others of its kind."""
    return f"{sentence} (and {alike} more like it)" if alike else sentence


def cautions(results: Results) -> list[Caution]:
    """Gather the warnings of a run and of its rows by kind, most sentences first."""
    sentences_of: dict[tuple[str, str], dict[str, None]] = {}
    touched: dict[tuple[str, str], dict[str, None]] = {}
    of_rows = {(warning.id, warning.sentence) for cell in results.cells for warning in cell.warnings}
    for warning in results.warnings:
        # A run repeats the first of its rows' warnings for all of them; the rows say it in full.
        if (warning.id, warning.sentence) not in of_rows:
            sentence = for_all(warning.sentence, warning.alike)
            sentences_of.setdefault((warning.id, warning.next_step), {})[sentence] = None
    for cell in results.cells:
        for warning in cell.warnings:
            sentences_of.setdefault((warning.id, warning.next_step), {})[warning.sentence] = None
            touched.setdefault((warning.id, warning.next_step), {})[cell.cell] = None
    kinds = [
        Caution(name, step, tuple(sentences), tuple(touched.get((name, step), ())))
        for (name, step), sentences in sentences_of.items()
    ]
    return sorted(kinds, key=lambda caution: -len(caution.sentences))
