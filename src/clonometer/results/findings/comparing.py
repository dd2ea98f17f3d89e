"""Comparisons between two rows: one ratio, one verdict, always made the same way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clonometer.results.rows.evidence import Book, Evidence
from clonometer.results.rows.ratio import no_ratio_of, ratio_of, seed_for
from clonometer.results.types import FEWEST_PROCESSES, LEAST_EFFECT
from clonometer.stats.interval import Interval
from clonometer.units import format_ratio


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
        if self.ratio.n >= FEWEST_PROCESSES:
            return words
        return f"{words}, from only {self.ratio.n} {'process' if self.ratio.n == 1 else 'processes'}"

    @property
    def sees_nothing(self) -> bool:
        """Whether the interval contains 1 or the effect is below 2%, however many processes there are."""
        return self.ratio.contains(1.0) or abs(self.ratio.value - 1) < LEAST_EFFECT

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
        self._made: dict[tuple[int, int], Comparison | None] = {}
        self._remembered: dict[tuple[int, int], Comparison] = {}
        self._claims: set[tuple[object, ...]] = set()

    def claim(self, rows: Iterable[Evidence], *axes: str) -> None:
        """Say that a finding has told what axes do to rows: what is said of any axis is then left out for them."""
        for row in rows:
            for axis in axes:
                self._claims.add(_question(row.estimate.workload, axis, self.book.changes(row.estimate)))

    def is_claimed(self, workload: str, axis: str, others: Mapping[str, int | str]) -> bool:
        """Whether a finding has told (`claim`) what an axis does to a workload, ``others`` being off their default."""
        return _question(workload, axis, others) in self._claims

    def compare(self, a: Evidence, b: Evidence, *, remember: bool = True) -> Comparison | None:
        """Compare two rows; None where a median is zero, since there is no ratio to nothing.

        ``remember``: whether `indistinct` reports it too. A finding that says by itself what it could not tell apart
        does not ask for that.
        """
        key = (id(a), id(b))
        if key not in self._made:
            self._made[key] = self._compare(a, b)
        comparison = self._made[key]
        if comparison is not None and remember:
            self._remembered.setdefault(key, comparison)
        return comparison

    def seed_for(self, *names: str | None) -> int:
        """Derive a seed of its own for each thing that is resampled."""
        return seed_for(*names, seed=self.seed)

    def indistinct(self) -> list[Comparison]:
        """Comparisons made so far whose two sides could not be told apart, each pair once."""
        pairs: dict[frozenset[int], Comparison] = {}
        for comparison in self._remembered.values():
            if comparison.verdict == "same":
                pairs.setdefault(frozenset((id(comparison.a), id(comparison.b))), comparison)
        return list(pairs.values())

    def _compare(self, a: Evidence, b: Evidence) -> Comparison | None:
        if no_ratio_of(a, b) is not None:
            return None
        ratio = ratio_of(a, b, seed=self.seed)
        inverse = replace(ratio, value=1 / ratio.value, low=1 / ratio.high, high=1 / ratio.low)
        comparison = Comparison(a, b, ratio, inverse, "longer" if ratio.value > 1 else "shorter")
        if ratio.n < FEWEST_PROCESSES or comparison.sees_nothing:
            return replace(comparison, verdict="same")
        return comparison


def _question(workload: str, axis: str, others: Mapping[str, int | str]) -> tuple[object, ...]:
    return workload, axis, frozenset(item for item in others.items() if item[0] != axis)


def lead(comparisons: Sequence[Comparison]) -> Comparison:
    """The comparison that stands for the others: of the last stage, which contains the rest."""
    return comparisons[-1]
