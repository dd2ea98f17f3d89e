"""What a plan is once it has been read, checked against the catalogue and expanded: pure data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clonometer.plan.cell import AxisValue, CatalogueAxis, Cell

TARGET_WIDTH = 0.02


@dataclass(frozen=True)
class Workload:
    """One entry of the catalogue (docs/protocol.md)."""

    id: str
    family: str
    summary: str
    axes: tuple[str, ...]
    temperatures: tuple[str, ...]
    quantities: tuple[str, ...]
    available: bool
    reason: str | None


@dataclass(frozen=True)
class Quantity:
    """One column that a driver can measure; ``stage`` is None outside launches."""

    name: str
    unit: str
    stage: str | None
    summary: str


@dataclass(frozen=True)
class Catalogue:
    """All that the drivers can do: the only catalogue there is. ``raw`` is the merged JSON of the drivers."""

    axes: Mapping[str, CatalogueAxis]
    workloads: Mapping[str, Workload]
    quantities: Mapping[str, Quantity]
    lacks: tuple[Mapping[str, str], ...]
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class Limits:
    """How much of a target is measured.

    ``processes`` is the least number of driver starts to aim for, ``most_processes`` the most; 0: as the budget allows.
    ``turn`` is when: what is asked first has 1; 0 comes after all others.
    """

    processes: int = 12
    most_processes: int = 0
    samples: int = 200
    blocks: int = 3
    warmup: int = 20
    block_limit_ns: int = 100_000_000
    turn: int = 0


@dataclass(frozen=True)
class Target:
    """What one start of a driver measures: the cells that differ only in temperature.

    ``options`` are further driver keys that are no axes (``stages``, ``child_spin_ns``, ...).
    """

    workload: str
    condition: Mapping[str, AxisValue]
    cells: tuple[Cell, ...]
    limits: Limits
    options: Mapping[str, AxisValue] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """An expanded plan: targets in the order of the file, no cell twice.

    ``target_width`` is half of the width of an interval, as a share of its median, at which a cell is measured enough.
    """

    name: str
    title: str
    budget_seconds: float
    targets: tuple[Target, ...]
    target_width: float = TARGET_WIDTH

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, in order."""
        return tuple(cell for target in self.targets for cell in target.cells)

    @property
    def question(self) -> tuple[int, int] | None:
        """The two targets that the first question is about: those of the first turn, or the only two; else None."""
        turns = {target.limits.turn for target in self.targets}
        asked = [
            place for place, target in enumerate(self.targets) if target.limits.turn == min(turns - {0}, default=0)
        ]
        return (asked[0], asked[1]) if len(asked) == 2 else None
