"""What benchmarks share: a line a figure, ratios of interleaved pairs, the probe asked directly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from clonometer.answers import Block
from clonometer.protocol import AnswerReader
from clonometer.stats.quantiles import quantile_interval

HALF_WIDTH = 0.005
MOST_PAIRS = 1000
FEWEST_PAIRS = 20
PAGE_BYTES = 4096
PARTS = 30  # of a loop (bare_loop.c)
BLOCK_LIMIT_NS = 60_000_000_000
UNDISTURBED = 3  # which of the parts is the loop's figure, by length


@dataclass(frozen=True)
class Line:
    """One figure of a benchmark; ``limit`` None where nothing is demanded; ``strict``: the whole interval is judged."""

    name: str
    value: float
    low: float
    high: float
    limit: float | None
    unit: str = "ratio"
    note: str = ""
    strict: bool = False

    @property
    def verdict(self) -> str:
        """``ok``, ``miss`` or ``stated``; ``unclear`` where it is strict and the limit lies within the interval."""
        if self.limit is None:
            return "stated"
        if self.strict and self.low <= self.limit < self.high:
            return "unclear"
        return "ok" if self.value <= self.limit else "miss"

    def text(self) -> str:
        """The line as printed."""
        limit = "-" if self.limit is None else f"<= {self.limit:g}"
        figures = f"{self.value:10.4g} [{self.low:.4g}, {self.high:.4g}]"
        return f"{self.name:44} {figures:34} {self.unit:6} {limit:10} {self.verdict:7} {self.note}".rstrip()


def binaries() -> Path:
    """The folder of the built probe."""
    for entry in (files("clonometer") / "_bin").iterdir():
        return Path(str(entry)).parent
    raise FileNotFoundError("the probe is not built: make build")


def clock() -> list[str]:
    """The words that hand the calibrated clock to the probe."""
    probe = str(binaries() / "probe-static")
    calibrated = json.loads(subprocess.check_output([probe, "--calibrate"]))
    return [f"clock={calibrated['clock']}", f"clock_hz={calibrated['clock_hz']}"]


def ask_probe(words: Sequence[str], linkage: str = "static", probe: Path | None = None) -> list[Block]:
    """Start the probe once, or this copy, and return its blocks."""
    return ask_driver([str(probe or binaries() / f"probe-{linkage}")], [f"linkage={linkage}", *words])


def ask_driver(argv: Sequence[str], words: Sequence[str], environment: Mapping[str, str] | None = None) -> list[Block]:
    """Start any driver once and return its blocks; by default in the environment of this process."""
    reading, writing = os.pipe()
    command = [*argv, "--fd", str(writing), *words]
    with subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL, env=environment) as process:
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            data = answer.read()
        process.wait()
    reader = AnswerReader()
    blocks = list(reader.feed(data))
    reader.finish()
    return blocks


def copy_by_pages(program: Path, copy: Path) -> Path:
    """Copy a program so that the page cache holds it in single pages.

    How a file was written decides whether it lies there in large folios, of which a child maps many pages at once:
    the same program takes 1 to 4% less or more for a fork.
    """
    data = program.read_bytes()
    with copy.open("wb", buffering=0) as file:
        for at in range(0, len(data), PAGE_BYTES):
            file.write(data[at : at + PAGE_BYTES])
    copy.chmod(0o755)
    return copy


def launch_ns(probe: Path, kind: str, launches: int, cpu: int, clock_words: Sequence[str], *condition: str) -> float:
    """Nanoseconds a launch of the probe, pinned, from one start to the next, everything included.

    Of 30 parts as of the bare loop (`undisturbed`). The block is limited, as every run limits it, but far off.
    """
    each = launches // PARTS
    words = [
        f"workload=launch.{kind}",
        f"samples={launches + 1}",
        "blocks=1",
        "block_limit_ns=60000000000",
        "warmup=20",
    ]
    words += condition
    (block,) = ask_probe([*words, f"cpu={cpu}", *clock_words], probe=probe)
    # What senses the core beside each launch is no part of it.
    before, after = (block.columns[f"additions_{side}_ns"].astype("i8") for side in ("before", "after"))
    launched = block.columns["start_ns"] - (before + after).cumsum() + after
    starts = [int(start) for start in launched[::each]]
    return undisturbed([(later - earlier) / each for earlier, later in pairwise(starts)])


def undisturbed(parts: Sequence[float]) -> float:
    """Return the third-shortest part of a loop: what it takes where nobody else is in it.

    Others' time slices, and caches that they have emptied, lie in the other parts. With both CPUs busy, medians of
    the same bare loop were four times as long; this moved by 5%.
    """
    return sorted(parts)[UNDISTURBED - 1]


@dataclass(frozen=True)
class Sides:
    """The loop that anyone can check, linked as the probe is, and the probe."""

    loop: Path
    probe: Path
    cpu: int

    def loop_ns(self, word: str, launches: int) -> float:
        """Nanoseconds a launch of the bare loop, pinned, as `launch_ns`; ``word``: what it launches (bare_loop.c)."""
        command = ["taskset", "-c", str(self.cpu), str(self.loop), word, str(launches)]
        return undisturbed([float(part) for part in subprocess.check_output(command).split()])

    def probe_ns(self, kind: str, launches: int, clock_words: Sequence[str], *condition: str) -> float:
        """Nanoseconds a launch of the probe."""
        return launch_ns(self.probe, kind, launches, self.cpu, clock_words, *condition)


def bare_loop_and_probe(folder: str) -> Sides:
    """Compile the loop and copy both sides the same way."""
    place = Path(folder)
    loop = compile_c(Path(__file__).with_name("bare_loop.c"), place / "linked", "-static", "-no-pie", "-fno-pie")
    return Sides(
        copy_by_pages(loop, place / "bare"),
        copy_by_pages(binaries() / "probe-static", place / "probe"),
        max(os.sched_getaffinity(0)),
    )


@contextmanager
def real_time() -> Iterator[str]:
    """Run this and what it starts in the class rr, where that is allowed; yield the class.

    Nobody else's time slices then lie within the loops of either side.
    """
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        yield "other"
        return
    try:
        yield "rr"
    finally:
        os.sched_setscheduler(0, *before)


def compile_c(source: Path, output: Path, *flags: str) -> Path:
    """Compile a small C program as the probe is compiled."""
    subprocess.run(["gcc", "-O2", "-pthread", str(source), "-o", str(output), *flags], check=True)
    return output


def interleaved_ratio(
    name: str,
    a: Callable[[], float],
    b: Callable[[], float],
    limit: float | None,
    note: str = "",
    *,
    most_pairs: int = MOST_PAIRS,
    half_width: float = HALF_WIDTH,
    best_of: int = 1,
) -> Line:
    """Ratio a/b over pairs measured in turn, A B then B A, until the interval is narrow enough or pairs run out.

    The figure is the median of the pairs' ratios with its order-statistic interval: neighbours in time share the
    machine's state, so their ratio does not. ``half_width`` is a share of the ratio. With ``best_of`` above 1 each side
    of a pair is the least of so many runs, taken in turn: what is left when somebody else's time slices are not in it.
    """
    ratios: list[float] = []
    while True:
        runs = [_in_turn(a, b, a_first=(len(ratios) + turn) % 2 == 0) for turn in range(best_of)]
        ratios.append(min(first for first, _ in runs) / min(second for _, second in runs))
        if len(ratios) < FEWEST_PAIRS or len(ratios) % 5:
            continue
        estimate = quantile_interval(ratios, 0.5)
        if (estimate.high - estimate.low) / 2 <= half_width * estimate.value or len(ratios) >= most_pairs:
            return Line(name, estimate.value, estimate.low, estimate.high, limit, note=f"{len(ratios)} pairs {note}")


def _in_turn(a: Callable[[], float], b: Callable[[], float], *, a_first: bool) -> tuple[float, float]:
    if a_first:
        first = a()
        return first, b()
    second = b()
    return a(), second


def say(line: Line) -> Line:
    """Print a line at once, so that a long benchmark shows that it lives."""
    print(line.text())
    sys.stdout.flush()
    return line
