"""A gallery of machines: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clonometer.dataset.published import PublishedSummary
from clonometer.dataset.types import LeftOutFile


@dataclass(frozen=True)
class GalleryMachine:
    """A machine: its published summary, and an identifier made of its content alone."""

    id: str
    published: PublishedSummary

    @property
    def facts(self) -> Mapping[str, Any]:
        """Its facts (docs/host.md)."""
        return self.published.facts


@dataclass(frozen=True)
class Gallery:
    """Machines in the order of their processors, files that are left out, and the rows that stand in the list of all.

    ``headlines``: cell, quantity and placement of each.
    """

    machines: Sequence[GalleryMachine]
    left_out: Sequence[LeftOutFile]
    headlines: Sequence[tuple[str, str, str | None]]
