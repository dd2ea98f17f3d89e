"""Warnings as views show them: one entry a kind, however many rows it touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.types import Results


@dataclass(frozen=True)
class Caution:
    """Warnings of one kind with one next step.

    Attributes
    ----------
    id
        The warnings' id.
    next_step
        What to do about them.
    sentences
        What is said, each once, the run's own first.
    cells
        The cells that are touched, each once.
    """

    id: str
    next_step: str
    sentences: Sequence[str]
    cells: Sequence[str]


def for_all(sentence: str, alike: int) -> str:
    """Word a run's warning that stands for that many others of its kind."""
    return f"{sentence} (and {alike} more like it)" if alike else sentence


def cautions(results: Results) -> list[Caution]:
    """Gather the warnings of a run and of its rows by kind, most sentences first."""
    said: dict[tuple[str, str], dict[str, None]] = {}
    touched: dict[tuple[str, str], dict[str, None]] = {}
    told = {(one.id, one.sentence) for cell in results.cells for one in cell.warnings}
    for one in results.warnings:
        # A run repeats the first of its rows' warnings for all of them; the rows say it in full.
        if (one.id, one.sentence) not in told:
            said.setdefault((one.id, one.next_step), {})[for_all(one.sentence, one.alike)] = None
    for cell in results.cells:
        for one in cell.warnings:
            said.setdefault((one.id, one.next_step), {})[one.sentence] = None
            touched.setdefault((one.id, one.next_step), {})[cell.cell] = None
    kinds = [
        Caution(name, step, tuple(sentences), tuple(touched.get((name, step), ())))
        for (name, step), sentences in said.items()
    ]
    return sorted(kinds, key=lambda one: -len(one.sentences))
