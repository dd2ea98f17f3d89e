"""Results made of chosen medians, so that every verdict has a known answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from clonometer.stats.bootstrap import Processes
from clonometer.studies.measured import Measurements, made_row


def series(cell, quantity, median, *, spread=0.005, n=12, placement=None, samples=120, unit="ns"):
    """Processes about a median, evenly spread: no chance in it."""
    around = np.linspace(-spread, spread, n) if n > 1 else np.zeros(1)
    row = made_row(cell, quantity, unit, Processes.of(median * (1 + around)), samples, placement=placement)
    return replace(row, estimate=replace(row.estimate, effective_mhz=3000.0))


def measured(values: Mapping[tuple[str, str], float], *, missing=None, host=None, observed=None, explained=None, **how):
    """Results with these medians, by cell and quantity."""
    return Measurements(
        [series(cell, quantity, median, **how) for (cell, quantity), median in values.items()],
        missing,
        {"cpu.allowed": 2} if host is None else host,
        observed,
        explained,
    )
