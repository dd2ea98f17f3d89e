"""Every figure of a run, once, as the ``FIGURES`` of a module: for pictures, the page and the help of the command."""

from __future__ import annotations

from functools import cache

from clonometer.discovery import find_plugins
from clonometer.views.figures.types import Figure


@cache
def figures() -> tuple[Figure, ...]:
    """All figures, in the order of the page."""
    every = (figure for group in find_plugins(__name__, "FIGURES") for figure in group)
    return tuple(sorted(every, key=lambda figure: figure.place))
