"""Printing a run's answer the same way for every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clonometer.cli.console import print_record

if TYPE_CHECKING:
    from clonometer.results.types import Results

#: Lines of a terminal that nobody has made larger.
SCREEN_LINES = 24


def print_answer(results: Results, *, as_json: bool, wide: bool, lines: int = SCREEN_LINES) -> None:
    """Print the answer on standard output: for people, in so many lines but for ``wide``, or as one JSON object."""
    from clonometer.views.terminal import render_answer

    print_record(results, render_answer, as_json=as_json, wide=wide, lines=lines)
