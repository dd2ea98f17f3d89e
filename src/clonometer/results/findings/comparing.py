"""Comparisons between two rows: one ratio, one verdict, always made the same way."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from clonometer.results.rows.evidence import Book, Evidence
from clonometer.stats.bootstrap import ratio_of_medians
from clonometer.stats.interval import Interval
from clonometer.units import format_ratio

MINIMUM_EFFECT = 0.02
# With 3 processes a side, one lies wholly above the other in 2 of 20 orders by chance alone; with 4, 2 of 70.
MINIMUM_PROCESSES = 4


@dataclass(frozen=True)
class Comparison:
    """How many times as long ``a`` takes as ``b``.

    ``ratio`` is a's median over b's with its interval; ``inverse`` is b's over a's. ``verdict`` is
    ``longer``, ``shorter`` or ``same``: the last where the interval contains 1, where the effect is below 2%,
    or where a side has fewer than 4 processes.
    """

    a: Evidence
    b: Evidence
    ratio: Interval
    inverse: Interval
    verdict: str

    @property
    def text(self) -> str:
        """The ratio with its interval, as words."""
        # The blocks of one process tell nothing of another: there is a ratio then, and no interval.
        if self.ratio.n == 1:
            return format_ratio(self.ratio.value)
        return format_ratio(self.ratio.value, self.ratio.low, self.ratio.high)

    @property
    def aside(self) -> str:
        """The ratio with its interval, as words that stand in brackets themselves."""
        words = self.text.replace(" (", ", ").removesuffix(")")
        if self.ratio.n >= MINIMUM_PROCESSES:
            return words
        return f"{words}, from only {self.ratio.n} {'process' if self.ratio.n == 1 else 'processes'}"

    @property
    def sees_nothing(self) -> bool:
        """Whether the interval contains 1 or the effect is below 2%, however many processes there are."""
        return self.ratio.contains(1.0) or abs(self.ratio.value - 1) < MINIMUM_EFFECT

    @property
    def inverse_text(self) -> str:
        """The inverse ratio with its interval, as words."""
        return format_ratio(self.inverse.value, self.inverse.low, self.inverse.high)

    @property
    def numbers(self) -> dict[str, Any]:
        """The ratio, its ends, the verdict and the cells, for a finding's ``numbers``."""
        return {
            "ratio": self.ratio.value,
            "ratio_low": self.ratio.low if self.ratio.n > 1 else None,
            "ratio_high": self.ratio.high if self.ratio.n > 1 else None,
            "confidence": self.ratio.confidence,
            "method": self.ratio.method,
            "n_processes": self.ratio.n,
            "verdict": self.verdict,
            "stage": self.a.estimate.stage,
            "temperature": self.a.estimate.temperature,
            "cells": [self.a.estimate.cell, self.b.estimate.cell],
        }


class Comparer:
    """Makes the comparisons of a run's findings and remembers what could not be told apart.

    Parameters
    ----------
    book
        The evidence.
    seed
        The run's seed: the same run gives the same findings, whatever is compared before.
    """

    def __init__(self, book: Book, seed: int) -> None:
        self.book = book
        self.seed = seed
        self._made: dict[tuple[int, int], Comparison] = {}

    def compare(self, a: Evidence, b: Evidence, *, remember: bool = True) -> Comparison | None:
        """Compare two rows; None where a median is zero, since there is no ratio to nothing.

        ``remember``: whether `indistinct` reports it too. A finding that says by itself what it could not tell apart
        does not ask for that.
        """
        key = (id(a), id(b))
        if key not in self._made:
            comparison = self._compare(a, b)
            if comparison is None:
                return None
            if not remember:
                return comparison
            self._made[key] = comparison
        return self._made[key]

    def seed_for(self, *names: str | None) -> int:
        """Derive a seed of its own for each thing that is resampled."""
        text = "|".join(name or "" for name in names)
        return zlib.crc32(text.encode()) ^ (self.seed & 0xFFFFFFFF)

    def indistinct(self) -> list[Comparison]:
        """Comparisons made so far whose two sides could not be told apart, each pair once."""
        found: dict[frozenset[int], Comparison] = {}
        for comparison in self._made.values():
            if comparison.verdict == "same":
                found.setdefault(frozenset((id(comparison.a), id(comparison.b))), comparison)
        return list(found.values())

    def _compare(self, a: Evidence, b: Evidence) -> Comparison | None:
        if min(side.processes.values.min() for side in (a, b)) <= 0 or _zero_blocks(a) or _zero_blocks(b):
            return None
        names = [name for side in (a.estimate, b.estimate) for name in (side.cell, side.stage, side.placement)]
        ratio = ratio_of_medians(a.processes, b.processes, seed=self.seed_for(*names))
        inverse = replace(ratio, value=1 / ratio.value, low=1 / ratio.high, high=1 / ratio.low)
        comparison = Comparison(a, b, ratio, inverse, "longer" if ratio.value > 1 else "shorter")
        if ratio.n < MINIMUM_PROCESSES or comparison.sees_nothing:
            return replace(comparison, verdict="same")
        return comparison


def _zero_blocks(row: Evidence) -> bool:
    return any(bool((block <= 0).any()) for block in row.processes.blocks or ())


def lead(comparisons: Sequence[Comparison]) -> Comparison:
    """The comparison that stands for the others: of the last stage, which contains the rest."""
    return comparisons[-1]
