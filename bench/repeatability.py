"""Three runs in a row of the default plan: how far the warm cells are apart, and from a program of another make."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

import clonometer
from bench.harness import Line, compile_c, say
from clonometer.results.types import Estimate
from clonometer.stats.rank_sum import ratio_interval

LEAST_SHARE = 0.90
MOST_OFF = 0.05
FEWEST_PROCESSES = 6
#: How far the three medians of a pinned warm row may be apart, as the median of all such rows; and how far that of a
#: program of another make may be from ours. Both of launches that had their core to themselves.
MOST_SPREAD = 0.02
MOST_FROM_OTHER = 0.03
OTHER_ROUNDS = 9
KINDS = {"fork": "p", "pthread": "t"}

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


def of_all_launches(run: clonometer.LoadedRun, row: Estimate) -> float:
    """The median of process medians of all launches of a row, alone or not: what was stated before they were told."""
    table = run.samples()
    frame = table.filter(np.asarray(table["cell"].to_pylist()) == row.cell).to_pandas()
    return float(frame.groupby("process")[row.quantity].median().dropna().median())


def run() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{name}.parquet" for name in "abc"]
        other = alone_loop(Path(folder))
        others: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for path in paths:
            measure(path)
            for kind, word in KINDS.items():
                others[kind] += [ns for _ in range(OTHER_ROUNDS) if (ns := other(word)) is not None]
        runs = [clonometer.load(str(path)) for path in paths]
        rows = [
            {(row.cell, row.stage, row.placement): row for row in loaded.results().cells if row.temperature == "warm"}
            for loaded in runs
        ]
        for loaded in runs:
            machine = loaded.results().machine
            print(f"  {machine.sentence if machine else 'the state of the machine is not known'}")
        yield from map(say, spreads(runs, rows))
        yield from map(say, beside_another(rows, others))
        ratios = list(_ratios(rows[:2]))
    yield from map(say, judge(ratios))


def alone_loop(folder: Path) -> Callable[[str], float | None]:
    """Compile the program of another make; the median of its launches alone, None where it had none."""
    program = folder / "alone"
    compile_c(Path(__file__).with_name("alone_loop.c"), program, "-static", "-no-pie", "-fno-pie")
    cpu = str(max(os.sched_getaffinity(0)))

    def ask(word: str) -> float | None:
        text = subprocess.check_output(["taskset", "-c", cpu, str(program), word]).decode()
        return float(text) or None

    return ask


def spreads(runs: Sequence[clonometer.LoadedRun], rows: Sequence[dict[Key, Estimate]]) -> Iterator[Line]:
    """How far apart the medians of the pinned warm rows are in all runs, as the median of the rows."""
    common = sorted(set.intersection(*map(set, rows)), key=str)
    shared = [key for key in common if _is_judged([side[key] for side in rows])]
    alone = [_apart([side[key].median_ns or 0.0 for side in rows]) for key in shared]
    whole = [
        _apart([of_all_launches(loaded, side[key]) for loaded, side in zip(runs, rows, strict=True)]) for key in shared
    ]
    note = (
        f"of {len(shared)} pinned warm rows of launches alone, the median distance of the medians of {len(rows)} runs"
    )
    yield _line("spread", median(alone), MOST_SPREAD, "share", note)
    yield _line("spread_worst", max(alone), None, "share", "the row whose medians are farthest apart")
    yield _line("spread_of_all", median(whole), None, "share", "the same rows by all their launches")


def _is_judged(estimates: Sequence[Estimate]) -> bool:
    pinned = all(row.condition.get("placement") == "pinned" and row.stage is not None for row in estimates)
    return pinned and not estimates[0].detail and all(row.alone is not None and row.alone.counted for row in estimates)


def _apart(medians: Sequence[float]) -> float:
    return max(medians) / min(medians) - 1


def beside_another(rows: Sequence[dict[Key, Estimate]], others: dict[str, list[float]]) -> Iterator[Line]:
    """How far our launches alone are from those of a program of another make, by the medians of all rounds."""
    for kind, measured in others.items():
        key = (f"launch.{kind}[temperature=warm]", "reaped", "same_cpu")
        values = [ns for side in rows if key in side and (ns := side[key].median_ns) is not None]
        if values and measured:
            off = abs(median(values) / median(measured) - 1)
            note = f"launches alone: {median(values):.0f} ns, of the other program {median(measured):.0f} ns"
            yield _line(f"from_another.{kind}", off, MOST_FROM_OTHER, "share", note)


def _line(name: str, value: float, limit: float | None, unit: str, note: str) -> Line:
    return Line(f"repeatability.{name}", value, value, value, limit, unit, note)


def _ratios(rows: Sequence[dict[Key, Estimate]]) -> Iterator[Ratio]:
    """The ratio of every warm row that both runs have in at least six processes; prints those that are off."""
    for key in sorted(set(rows[0]) & set(rows[1]), key=str):
        pair = [side[key].process_medians for side in rows]
        if min(map(len, pair)) < FEWEST_PROCESSES:
            continue
        ratio = ratio_interval(*pair)
        if not ratio.low <= 1 <= ratio.high or abs(ratio.value - 1) > MOST_OFF:
            print(f"  {' '.join(map(str, key))}: {ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]")
        yield Ratio(ratio.value, ratio.low, ratio.high)


def judge(ratios: Sequence[Ratio]) -> Iterator[Line]:
    """What the ratios of two runs say: contained, demonstrably off, and how far off the precise ones are.

    A row whose own interval is wider than 5% to either side does not claim to be known that well: its distance is
    stated, and held against the limit only where its whole interval lies beyond.
    """
    out = sum(not ratio.low <= 1 <= ratio.high for ratio in ratios) / len(ratios)
    beyond = sum(ratio.low > 1 + MOST_OFF or ratio.high < 1 - MOST_OFF for ratio in ratios)
    precise = [abs(r.value - 1) for r in ratios if (r.high - r.low) / 2 <= MOST_OFF]
    yield _line(
        "contain_1", out, 1 - LEAST_SHARE, "share", f"of {len(ratios)} warm rows whose ratio interval leaves out 1"
    )
    yield _line("beyond_5_percent", beyond, 0, "rows", "whose whole interval lies more than 5% from 1")
    note = f"largest distance from 1 of the {len(precise)} rows known to 5% or better"
    yield _line("worst_precise", max(precise, default=0.0), MOST_OFF, "ratio", note)
    yield _line("worst", max(abs(r.value - 1) for r in ratios), None, "ratio", "largest distance from 1 of any row")
