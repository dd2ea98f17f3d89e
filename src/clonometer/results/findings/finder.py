"""What a finder is: a maker of findings with its place in the reading order, found by name in this room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from clonometer.discovery import offers
from clonometer.results.findings.comparing import Comparer
from clonometer.results.types import Finding

#: After the families whose findings come first, before what is said of any axis.
OF_A_FAMILY = 165


@dataclass(frozen=True)
class Finder:
    """Makes findings; ``place`` orders them, and who runs later sees what was claimed before.

    A finding of a family needs no place of its own.
    """

    find: Callable[[Comparer], list[Finding]]
    place: int = OF_A_FAMILY


@cache
def finders() -> tuple[Finder, ...]:
    """All finders in the order in which they are read: the ``FINDERS`` of every module of this room."""
    makers = (finder for group in offers(__name__.rpartition(".")[0], "FINDERS") for finder in group)
    return tuple(sorted(makers, key=lambda finder: finder.place))
