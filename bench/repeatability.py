"""Two runs in a row of the default plan: how far the warm cells are apart."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import clonometer
from bench.harness import Line, say
from clonometer.results.types import Estimate
from clonometer.stats.bootstrap import Processes, ratio_of_medians

LEAST_SHARE = 0.90
MOST_OFF = 0.05


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
        contains, off, count = 0, [], 0
        for key in sorted(set(rows[0]) & set(rows[1]), key=str):
            pair = [medians(loaded, side[key]) for loaded, side in zip(runs, rows, strict=True)]
            if min(map(len, pair)) < 6:
                continue
            ratio = ratio_of_medians(*(Processes.of(values) for values in pair), seed=count)
            count += 1
            contains += ratio.low <= 1 <= ratio.high
            off.append(abs(ratio.value - 1))
            if not ratio.low <= 1 <= ratio.high or off[-1] > MOST_OFF:
                print(f"  {key}: {ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]")
        share = contains / count
        yield say(
            Line(
                "repeatability.contain_1",
                1 - share,
                1 - share,
                1 - share,
                1 - LEAST_SHARE,
                "share",
                f"of {count} warm rows whose ratio interval leaves out 1",
            )
        )
        yield say(
            Line(
                "repeatability.worst",
                max(off),
                max(off),
                max(off),
                MOST_OFF,
                "ratio",
                "largest distance from 1",
            )
        )
