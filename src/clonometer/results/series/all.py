"""All arrays of a run that some kind of figure draws, found by their room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonometer.discovery import offers
from clonometer.results.rows.evidence import Book


def all_series(book: Book, seed: int) -> Mapping[str, Sequence[Any]]:
    """Compute what the modules of this room offer as ``SERIES``: names, and functions of the book and the seed."""
    groups = offers(__name__.rpartition(".")[0], "SERIES")
    return {name: make(book, seed) for group in groups for name, make in group.items()}
