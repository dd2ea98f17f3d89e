"""Two runs in a row of the default plan: how far the warm cells are apart."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import clonometer
from bench.harness import Line, say
from clonometer.results.types import Estimate
from clonometer.stats.bootstrap import Processes, ratio_of_medians

LEAST_SHARE = 0.90
MOST_OFF = 0.05
FEWEST_PROCESSES = 6

Key = tuple[str, str | None, str | None]


@dataclass(frozen=True)
class Ratio:
    """A ratio of two runs with its 95% interval."""

    value: float
    low: float
    high: float


def measure(out: Path) -> None:
    command = [
        str(Path(sys.executable).with_name("clonometer")),
        "run",
        "--plan",
        "default",
        "--out",
        str(out),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def medians(run: clonometer.LoadedRun, row: Estimate) -> list[float]:
    """Process medians of one row, of its placement where several were observed."""
    table = run.samples()
    frame = table.filter(np.asarray(table["cell"].to_pylist()) == row.cell).to_pandas()
    if row.placement is not None and "cpu_child" in frame:
        same = frame["cpu_child"] == frame["cpu_before"]
        known = frame["cpu_child"].notna()
        frame = frame[known & (same if row.placement == "same_cpu" else ~same)]
    return [float(x) for x in frame.groupby("process")[row.quantity].median().dropna()]


def run() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.parquet" for name in "ab"]
        for path in paths:
            measure(path)
        runs = [clonometer.load(str(path)) for path in paths]
        rows = [
            {(row.cell, row.stage, row.placement): row for row in loaded.results().cells if row.temperature == "warm"}
            for loaded in runs
        ]
        ratios = list(_ratios(runs, rows))
    yield from map(say, judge(ratios))


def _ratios(runs: Sequence[clonometer.LoadedRun], rows: Sequence[dict[Key, Estimate]]) -> Iterator[Ratio]:
    """The ratio of every warm row that both runs have in at least six processes; prints those that are off."""
    for count, key in enumerate(sorted(set(rows[0]) & set(rows[1]), key=str)):
        pair = [medians(loaded, side[key]) for loaded, side in zip(runs, rows, strict=True)]
        if min(map(len, pair)) < FEWEST_PROCESSES:
            continue
        ratio = ratio_of_medians(*(Processes.of(values) for values in pair), seed=count)
        if not ratio.low <= 1 <= ratio.high or abs(ratio.value - 1) > MOST_OFF:
            print(f"  {' '.join(map(str, key))}: {ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]")
        yield Ratio(ratio.value, ratio.low, ratio.high)


def judge(ratios: Sequence[Ratio]) -> Iterator[Line]:
    """What the ratios of two runs say: contained, demonstrably off, and how far off the precise ones are.

    A row whose own interval is wider than 5% to either side does not claim to be known that well: its distance is
    stated, and held against the limit only where its whole interval lies beyond.
    """

    def line(name: str, value: float, limit: float | None, unit: str, note: str) -> Line:
        return Line(f"repeatability.{name}", value, value, value, limit, unit, note)

    out = sum(not ratio.low <= 1 <= ratio.high for ratio in ratios) / len(ratios)
    beyond = sum(ratio.low > 1 + MOST_OFF or ratio.high < 1 - MOST_OFF for ratio in ratios)
    precise = [abs(r.value - 1) for r in ratios if (r.high - r.low) / 2 <= MOST_OFF]
    yield line(
        "contain_1", out, 1 - LEAST_SHARE, "share", f"of {len(ratios)} warm rows whose ratio interval leaves out 1"
    )
    yield line("beyond_5_percent", beyond, 0, "rows", "whose whole interval lies more than 5% from 1")
    note = f"largest distance from 1 of the {len(precise)} rows known to 5% or better"
    yield line("worst_precise", max(precise, default=0.0), MOST_OFF, "ratio", note)
    yield line("worst", max(abs(r.value - 1) for r in ratios), None, "ratio", "largest distance from 1 of any row")
