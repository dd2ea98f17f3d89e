"""Every figure of a run, once: pictures stack its panels, the page embeds them, the command line lists them.

A figure more is an entry more in the ``FIGURES`` of a module of this package: its kind, its place, its words, and how
its panels come from the results.
"""

from __future__ import annotations

from functools import cache

from clonometer.discovery import offers
from clonometer.views.figures.types import Figure


@cache
def figures() -> tuple[Figure, ...]:
    """All figures, in the order of the page."""
    every = (figure for group in offers(__name__, "FIGURES") for figure in group)
    return tuple(sorted(every, key=lambda figure: figure.place))
