"""Whether advice saves what `census` says: planted programs and their twins that were changed as the book advises.

Both are started in turn, in pairs, with the same memory, and time their own launches. What `census` foretells is of one
further run of the program. ``BENCH_PROGRAMS=python,rust-uid`` selects some.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from tests.planted import PLANTED, NotHereError, Planted, Program, build

from bench.harness import Line, real_time, say
from clonometer.app.census import census
from clonometer.launch_paths.types import COPIES
from clonometer.stats.quantiles import quantile_interval

LAUNCHES, MEGABYTES, PAIRS = 8, 300, 6
#: How far what was foretold may be from what was saved, and of how many programs it may be further (of 24: 4).
WITHIN, MOST_BEYOND = 0.25, 4 / 24


def run() -> Iterator[Line]:
    ratios: list[float] = []
    with real_time() as scheduling:
        for planted in chosen():
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                folder.chmod(0o755)
                try:
                    line = compared(planted, build(planted, folder), build(planted, folder, mended=True))
                except NotHereError as reason:
                    print(f"{planted.id}: left out: {reason}")
                    continue
            ratios.append(line.value)
            yield say(line)
    beyond = sum(not 1 - WITHIN <= ratio <= 1 + WITHIN for ratio in ratios)
    share = beyond / len(ratios) if ratios else 1.0
    note = f"{len(ratios) - beyond} of {len(ratios)} within {WITHIN:.0%}; class {scheduling}"
    yield say(Line("planted.beyond", share, share, share, MOST_BEYOND, "share", note))


def chosen() -> list[Planted]:
    """The programs of this run."""
    words = [word for word in os.environ.get("BENCH_PROGRAMS", "").split(",") if word]
    named = [each for each in PLANTED if not words or {each.id, each.runtime} & set(words)]
    return [each for each in named if os.geteuid() == 0 or each.runtime not in ("ruby", "go")]


def compared(planted: Planted, program: Program, twin: Program) -> Line:
    """What was foretold over what was saved, for each launch; the interval is that of the pairs."""
    foretold, saved, each_ns = [], [], []
    for pair in range(PAIRS):
        sides = [program, twin] if pair % 2 == 0 else [twin, program]
        took = {side: side.took_ns(LAUNCHES, MEGABYTES) / LAUNCHES for side in sides}
        saved.append(took[program] - took[twin])
        each_ns.append(took[program])
        if pair % 2 == 0:
            foretold.append(foretold_ns(planted, program))
    estimate = quantile_interval(saved, 0.5)
    value = median(foretold)
    note = (
        f"foretold {value / 1e6:.2f} ms a launch ({min(foretold) / 1e6:.2f} to {max(foretold) / 1e6:.2f}), "
        f"saved {estimate.value / 1e6:.2f} of {median(each_ns) / 1e6:.2f}"
    )
    low, high = value / max(estimate.high, 1), value / max(estimate.low, 1)
    return Line(f"planted.{planted.id}", value / estimate.value, low, high, None, "ratio", note)


def foretold_ns(planted: Planted, program: Program) -> float:
    """What a census says that another launch would save; 0 where it says nothing."""
    answer = census(program.command(LAUNCHES, MEGABYTES), output_to_stderr=True)
    return max(
        (
            launch.saved.value_ns / launch.site.execed
            for launch in answer.launches
            if launch.saved is not None
            and launch.site.execed >= LAUNCHES
            and COPIES.get(launch.site.mechanism)
            and any(Path(each).name == planted.executes for each in launch.site.programs)
        ),
        default=0.0,
    )
