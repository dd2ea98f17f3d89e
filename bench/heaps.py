"""What `clonometer predict` foretells of a runtime's launches, against what they cost the caller in the same process.

The programs hold a heap of the runtime (`publications.runtimes`). ``BENCH_LANGUAGES=python,node`` selects some
languages, ``BENCH_HEAPS=4000000000`` other sizes. It needs a calibration of a while ago (`clonometer calibrate`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any

from publications.runtimes.foretold import SIZES, foretold
from publications.runtimes.languages import LANGUAGES

from bench.harness import Line, real_time, say
from clonometer.app.predicting import calibrated_machine
from clonometer.units import approximate_bytes, format_duration, format_duration_interval

#: How far a prediction may be from the median.
WITHIN = 0.2


def run() -> Iterator[Line]:
    """Judge every language that is installed."""
    asked = [word for word in os.environ.get("BENCH_LANGUAGES", "").split(",") if word]
    sizes = [int(word) for word in os.environ.get("BENCH_HEAPS", "").split(",") if word] or SIZES
    machine = calibrated_machine()
    if machine is not None:
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(machine.calibration.made_at))
        print(f"foretold by a {machine.name} of {made}; load {os.getloadavg()[0]:.0f}")
    with real_time():
        for language in LANGUAGES:
            if asked and language.name not in asked:
                continue
            if language.missing():
                print(f"{language.name} is left out: it is not installed")
                continue
            for row in foretold(language, sizes):
                yield say(line_of(language.name, row))


def line_of(language: str, row: dict[str, Any]) -> Line:
    """Set the prediction of a row beside the median of its launches; processes give the interval."""
    foretold, measured = row["predicted"], row["measured_ns"]
    median, low, high = (foretold[end] for end in ("median", "low", "high"))
    ratio = row["ratio"]
    note = (
        f"{format_duration_interval(median, low, high)} foretold, of it {format_duration(row['own_ns'])} of the "
        f"runtime's own; {format_duration(measured)} measured; {row['inside']:.0%} of launches inside; "
        f"{row['copied_pages']:,} pages copied, {row['left_out_pages']:,} left out"
    )
    errors = sorted(abs(each - 1) for each in row["ratios"])
    return Line(
        f"{language} {row['way']}, {approximate_bytes(row['size'])}: ratio {ratio:.2f}",
        abs(ratio - 1), errors[0], errors[-1], WITHIN, "error", note,
    )  # fmt: skip
