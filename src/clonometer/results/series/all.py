"""All arrays of a run that some kind of figure draws, found by their room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonometer.discovery import find_plugins
from clonometer.results.rows.run_estimates import RunEstimates

_ROOM = __name__.rpartition(".")[0]


def all_series(estimates: RunEstimates, seed: int) -> Mapping[str, Sequence[Any]]:
    """Compute what the modules of this room offer as ``SERIES``: names, and functions of the estimates and the seed."""
    groups = find_plugins(_ROOM, "SERIES")
    return {name: make(estimates, seed) for group in groups for name, make in group.items()}


def distinguishable_scans(estimates: RunEstimates) -> frozenset[int]:
    """The ids of those scans of a run that are drawn in a way of their own, so that no general figure has them.

    The modules of this room offer functions that find them as ``DISTINGUISHABLE``.
    """
    groups = find_plugins(_ROOM, "DISTINGUISHABLE")
    return frozenset(id(scan) for group in groups for find in group for scan in find(estimates))
