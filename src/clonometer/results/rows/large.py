"""Cells with more samples than should be held: read piece by piece, counted, and thinned for what draws them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from clonometer.errors import RunFileError
from clonometer.results.rows.alone import FEWEST_LAUNCHES, FEWEST_PROCESSES, Cores
from clonometer.results.rows.groups import (
    PLACEMENTS,
    MeasuredQuantity,
    SampleGroup,
    Totals,
    count_outcomes,
    rows_of,
)
from clonometer.results.rows.source import PiecewiseSource, null_mask
from clonometer.results.types import Alone
from clonometer.runfile.arrays import changes
from clonometer.stats.digest import Digest

LARGE_ROWS = 200_000
KEPT_SAMPLES = 50_000
_HELD_VALUES = 65_536
#: Samples of all launches, and of those that had their core to themselves.
_ALL, _ALONE = "all", "alone"
_Key = tuple[str, int, str]


class _Collector:
    """Samples of one quantity at one placement, process after process; those with fewer than ``least`` are left out."""

    def __init__(self, quantity: MeasuredQuantity, least: int) -> None:
        self.quantity = quantity
        self._least = least
        self.digest = Digest()
        self.processes: list[int] = []
        self.medians: list[float] = []
        self.means: list[float] = []
        self._process_digest = Digest()
        self._held: list[NDArray[Any]] = []
        self._n_held = 0
        self.kept: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []

    def add(self, process: NDArray[Any], values: NDArray[Any]) -> None:
        """Add samples in order of processes."""
        for start, stop in pairwise(changes(process)):
            number = int(process[start])
            if not self.processes or number != self.processes[-1]:
                self.close()
                if self.processes and number < self.processes[-1]:
                    raise RunFileError("the run file is damaged: its rows are not in the order of processes")
                self.processes.append(number)
            self._hold(values[start:stop])

    def _hold(self, values: NDArray[Any]) -> None:
        self._held.append(values)
        self._n_held += values.size
        if self._n_held > _HELD_VALUES:
            self._release()

    def _release(self) -> None:
        # Counting a few values costs as much as counting many: the counts are as long as the largest value.
        for values in self._held:
            self._process_digest.add(values)
        self._held, self._n_held = [], 0

    def close(self) -> None:
        """End the process that is being added."""
        held = self._process_digest.count + self._n_held
        if 0 < held < self._least:
            self.processes.pop()
            self._held, self._n_held = [], 0
            self._process_digest = Digest()
        elif self._process_digest.count == 0 and self._held:
            joined = np.concatenate(self._held)
            self.medians.append(float(np.median(joined)))
            self.means.append(float(joined.mean()))
            self.digest.add(joined)
            self._held, self._n_held = [], 0
        elif self._process_digest.count:
            self._release()
            self.medians.append(self._process_digest.quantile(0.5))
            self.means.append(self._process_digest.mean)
            self.digest.merge(self._process_digest)
            self._process_digest = Digest()


def is_large(run: PiecewiseSource, cell: str) -> bool:
    """Whether a cell has more samples than should be held."""
    return run.n_rows(cell) > LARGE_ROWS


def observe_large(
    run: PiecewiseSource,
    cell: str,
    quantities: Sequence[MeasuredQuantity],
    names: Sequence[str],
    cores: Cores | None = None,
) -> tuple[list[SampleGroup], dict[str, int], int]:
    """Observe a cell without holding its samples.

    Its groups hold every k-th sample, about 50,000 in all, and a `Totals` made of all of them.

    Returns
    -------
    tuple
        Its groups, how its launches ended, and how many samples were left out because their stages were out of order.

    Raises
    ------
    RunFileError
        If rows are not in the order of processes.
    """
    step = -(-run.n_rows(cell) // KEPT_SAMPLES)
    collectors = {
        (quantity.name, code, kind): _Collector(quantity, least)
        for quantity in quantities
        for code in range(len(PLACEMENTS))
        for kind, least in ((_ALL, 1), (_ALONE, FEWEST_LAUNCHES))
    }
    alone = np.zeros((2, len(PLACEMENTS)), np.int64)  # how many launches were alone, and of how many it is known
    outcomes = Counter(ok=0)
    skew = offset = 0
    for columns in run.pieces(cell, [name for name in names if name != "sample"]):
        rows = rows_of(columns, quantities)
        skew += int(rows.skewed.sum())
        outcomes.update(count_outcomes(columns, rows.failed))
        every = np.zeros(rows.valid.size, np.bool_)
        every[-offset % step :: step] = True
        offset += rows.valid.size
        launches = {_ALL: rows.valid}
        if cores is not None and (answer := cores.alone(columns)) is not None:
            launches[_ALONE] = rows.valid & answer[0]
            alone += [np.bincount(rows.placement[rows.valid & which], minlength=len(PLACEMENTS)) for which in answer]
        piece = _Piece(columns, rows.placement, launches, every)
        for quantity in quantities:
            if quantity.name in columns:
                _collect(piece, quantity, collectors)
    groups = [group for quantity in quantities for group in _groups(quantity, collectors, step, alone.T.tolist())]
    return groups, dict(outcomes), skew


class _Piece(NamedTuple):
    """A part of a cell's rows: which launches are of which kind, and which samples are kept."""

    columns: Mapping[str, NDArray[Any]]
    placement: NDArray[np.int8]
    launches: Mapping[str, NDArray[np.bool_]]
    every: NDArray[np.bool_]


def _collect(piece: _Piece, quantity: MeasuredQuantity, collectors: Mapping[_Key, _Collector]) -> None:
    columns, column = piece.columns, piece.columns[quantity.name]
    present = ~null_mask(column)
    for kind, launches in piece.launches.items():
        for code in range(len(PLACEMENTS)):
            chosen = launches & present & (piece.placement == code)
            if not chosen.any():
                continue
            collector = collectors[quantity.name, code, kind]
            if chosen.all():
                collector.add(columns["process"], column)
            else:
                collector.add(columns["process"][chosen], column[chosen])
            kept = chosen & piece.every
            collector.kept.append((columns["process"][kept], columns["block"][kept], column[kept]))


def _groups(
    quantity: MeasuredQuantity, collectors: Mapping[_Key, _Collector], step: int, launches: Sequence[Sequence[int]]
) -> Iterator[SampleGroup]:
    is_measured = False
    for code, name in enumerate(PLACEMENTS):
        collector = collectors[quantity.name, code, _ALL]
        collector.close()
        if collector.digest.count == 0:
            continue
        is_measured = True
        alone = None
        if launches[code][1]:
            of_alone = collectors[quantity.name, code, _ALONE]
            of_alone.close()
            counted = len(of_alone.processes) >= FEWEST_PROCESSES
            alone = Alone(launches[code][0], launches[code][1], counted, None)
            if counted:
                yield replace(_group(of_alone, name, step), alone=alone, whole=_group(collector, name, step))
                continue
        yield replace(_group(collector, name, step), alone=alone)
    if not is_measured:
        empty = np.zeros(0, np.int64)
        yield SampleGroup(quantity, None, empty, empty, np.zeros(0))


def _group(collector: _Collector, name: str | None, step: int) -> SampleGroup:
    scale = collector.quantity.ns_per_unit or 1.0
    process, block, values = (np.concatenate(parts) for parts in zip(*collector.kept, strict=True))
    counted = np.isin(process, collector.processes)
    totals = Totals(
        digest=collector.digest,
        scale=scale,
        step=step,
        processes=tuple(collector.processes),
        medians=tuple(median * scale for median in collector.medians),
        means=tuple(mean * scale for mean in collector.means),
    )
    return SampleGroup(
        collector.quantity,
        name,
        process[counted].astype(np.int64),
        block[counted].astype(np.int64),
        values[counted].astype(np.float64) * scale,
        None,
        totals,
    )
