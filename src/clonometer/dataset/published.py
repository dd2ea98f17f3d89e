"""Published summaries, and the gallery of machines that is made of them: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from clonometer.dataset.types import LeftOutFile
from clonometer.records import Count, Ge, OneOf, Pattern

#: How a published file is named.
PUBLISHED_SUFFIX = ".clonometer.json"


@dataclass(frozen=True)
class PublishedRow:
    """The median of a row of a run."""

    cell: Annotated[str, "Canonical text: workload, and axes with values of the catalogue."]
    workload: Annotated[str, Pattern(r"^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$")]
    quantity: str
    unit: Annotated[str, "ns where it is a time."]
    stage: str | None
    temperature: Annotated[str | None, OneOf(("cold", "warm"))]
    placement: Annotated[str | None, OneOf(("same_cpu", "other_cpu"))]
    median: float
    low: Annotated[float | None, "Lower end of its 95% interval; null with one process."]
    high: float | None
    n_samples: Count
    n_processes: Annotated[int, Ge(1)]


@dataclass(frozen=True)
class PublishedSummary:
    """What a machine measured, and nothing of who measured it.

    ``facts`` are those of docs/sharing.md alone.
    """

    kind: Literal["clonometer summary"]
    schema: Literal[1]
    clonometer_version: Annotated[str, Pattern(r"^[0-9a-z.+]{1,20}$")]
    month: Annotated[str, Pattern(r"^[0-9]{4}-[0-9]{2}$"), "When it was measured."]
    facts: Annotated[Mapping[str, Any], "Keys as in docs/host.md."]
    rows: Sequence[PublishedRow]


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
