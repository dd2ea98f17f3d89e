"""Values of a folder one by one: plain, frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.dataset.types import Label


@dataclass(frozen=True)
class PointRun:
    """A run: when it started (seconds since 1970), its host and facts, as texts."""

    started_s: float
    host: str
    facts: Mapping[str, str]


@dataclass(frozen=True)
class Point:
    """A median of a run, with the ends of its interval; in ns of a time."""

    run: int
    label: Label
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Points:
    """Runs in order of time, and the values of each label in that order, label after label."""

    runs: tuple[PointRun, ...]
    points: tuple[Point, ...]
