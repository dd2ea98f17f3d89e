"""How wide the intervals of a target are, kept up as its processes end."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.results.rows.alone import LONGEST_NS, Cores, enough_alone, only_alone
from clonometer.results.rows.groups import MeasuredQuantity, SampleGroup
from clonometer.results.rows.observed import process_groups
from clonometer.stats.interval import LEAST_NOMINAL
from clonometer.stats.quantiles import median, quantile_interval
from clonometer.stats.trend import keeps_level

_RARE = 0.5
_NEGLIGIBLE_NS = 1.0
_NEGLIGIBLE_COST_NS = 0.1

_Row = tuple[str, str, str | None]


class Precision:
    """The process medians of one target, by cell, quantity and observed placement."""

    def __init__(self, quantities: Sequence[str]) -> None:
        self._quantities = [MeasuredQuantity(name, "ns", None, "i64") for name in quantities]
        self._medians: dict[_Row, list[float]] = {}
        self._alone: dict[_Row, list[float]] = {}
        self._whole: set[str] = set()

    def add(self, samples: Sequence[tuple[str, Mapping[str, Any]]], cores: Cores | None = None) -> None:
        """Take what one process measured: ``samples`` as in `process_groups`; ``cores`` tells launches alone."""
        for _, columns in samples:
            self._whole |= {name for name, column in columns.items() if column.dtype.kind == "i"}
        launches: dict[_Row, int] = {}
        for row, group in self._rows(samples):
            launches[row] = group.n_samples
            self._medians.setdefault(row, []).append(median(group.values))
        alone = [] if cores is None else [(cell, only_alone(columns, cores)) for cell, columns in samples]
        for row, group in self._rows(alone):
            if group.n_samples >= enough_alone(launches[row]):
                self._alone.setdefault(row, []).append(median(group.values))

    def _rows(self, samples: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[_Row, SampleGroup]]:
        for cell, group in process_groups(samples, self._quantities):
            yield (cell, group.quantity.name, group.placement), group

    def _counted(self, row: _Row, values: list[float]) -> list[float]:
        """The process medians that an estimate would be made of; of launches alone where there are some."""
        alone = self._alone.get(row, [])
        return alone if alone and statistics.median(values) <= LONGEST_NS else values

    def widest(self, target_width: float) -> float | None:
        """Half the width of the widest interval as a share of its median; None where there is none to judge.

        Rows that fewer than half of the processes have, accidents of placement, do not count, nor does what is narrower
        than the clock's resolution. A row without a 95% interval, of fewer than 6 processes or of processes that do not
        keep their level, is as wide as it is long. So is one that lacks processes with enough launches alone but has
        some: more processes bring them.
        """
        most: dict[tuple[str, str], int] = {}
        for (cell, quantity, _), values in self._medians.items():
            most[cell, quantity] = max(len(values), most.get((cell, quantity), 0))
        widths = []
        for (cell, quantity, placement), medians in self._medians.items():
            if len(medians) < _RARE * most[cell, quantity]:
                continue
            values = self._counted((cell, quantity, placement), medians)
            if len(values) < LEAST_NOMINAL or not keeps_level(values):
                widths.append(1.0)
                continue
            interval = quantile_interval(values)
            half, share = (interval.high - interval.low) / 2, interval.relative_half_width
            negligible = _NEGLIGIBLE_NS if quantity in self._whole else _NEGLIGIBLE_COST_NS
            widths.append(min(share or 1.0, target_width) if half <= negligible else min(share or 1.0, 1.0))
        return max(widths, default=None)
