"""Warnings as views show them: one entry a kind, however many rows it touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.types import Results


@dataclass(frozen=True)
class WarningGroup:
    """Warnings of one kind with one next step."""

    id: str
    next_step: str
    sentences: Sequence[str]
    cells: Sequence[str]


def for_all(sentence: str, alike: int) -> str:
    """Word a run's warning that stands for that many others of its kind."""
    return f"{sentence} (and {alike} more like it)" if alike else sentence


def warning_groups(results: Results) -> list[WarningGroup]:
    """Gather the warnings of a run and of its rows by kind, most sentences first."""
    of_rows = [(warning, cell.cell) for cell in results.cells for warning in cell.warnings]
    said_of_rows = {(warning.id, warning.sentence) for warning, _ in of_rows}
    kinds: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for warning in results.warnings:
        # A run repeats the first of its rows' warnings for all of them; the rows say it in full.
        if (warning.id, warning.sentence) not in said_of_rows:
            sentences, _ = kinds.setdefault((warning.id, warning.next_step), ({}, {}))
            sentences[for_all(warning.sentence, warning.alike)] = None
    for warning, cell in of_rows:
        sentences, touched = kinds.setdefault((warning.id, warning.next_step), ({}, {}))
        sentences[warning.sentence] = touched[cell] = None
    gathered = [WarningGroup(*kind, tuple(sentences), tuple(touched)) for kind, (sentences, touched) in kinds.items()]
    return sorted(gathered, key=lambda group: -len(group.sentences))
