"""Results made of chosen medians, so that every verdict has a known answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from clonometer.stats.processes import Processes
from clonometer.studies.answer import CLAIMS
from clonometer.studies.judge import Judge
from clonometer.studies.measured import Measurements, made_row
from clonometer.studies.types import Reproduction, Verdict


def series(cell, quantity, median, *, spread=0.005, n=12, placement=None, samples=120, unit="ns"):
    """Processes about a median, evenly spread: no chance in it."""
    around = np.linspace(-spread, spread, n) if n > 1 else np.zeros(1)
    row = made_row(cell, quantity, unit, Processes.of(median * (1 + around)), samples, placement=placement)
    return replace(row, effective_mhz=3000.0)


def row_of(cell, quantity, unit, values):
    """One row with these values of its processes."""
    return made_row(cell, quantity, unit, Processes.of(values), len(values))


def measured(values: Mapping[tuple[str, str], float], *, missing=None, host=None, observed=None, explained=None, **how):
    """Results with these medians, by cell and quantity."""
    return Measurements(
        [series(cell, quantity, median, **how) for (cell, quantity), median in values.items()],
        missing,
        {"cpu.allowed": 2} if host is None else host,
        observed,
        explained,
    )


def verdicts(reproduction: Reproduction) -> dict[str, Verdict]:
    """What is said of each item, by its id."""
    return {entry.item.id: entry.verdict for entry in reproduction.entries}


def judged(results: Measurements) -> Mapping[str, Verdict]:
    """The verdict on every claim and question."""
    return {id_: Judge(results).verdict(id_) for id_ in CLAIMS}
