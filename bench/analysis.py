"""`show`, `report` and `compare` of one run file, as ratios to reading that file alone, in CPU time.

Each side is a whole process: interpreter, imports, file. A run of the default plan is measured for it first, or
`BENCH_RUN=run.parquet` names one.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench.harness import FEWEST_PAIRS, Line, interleaved_ratio, say

BUDGET_S = 20
# Who only reads loads the command's libraries too, and every column of every cell.
READ = """
import sys
import numpy, pyarrow.parquet, rich_click
from clonometer.runfile import open_run
with open_run(sys.argv[1]) as run:
    for cell in run.cells():
        run.columns(cell)
"""
LIMITS = {"show": 3.0, "compare": 4.0, "report": 5.0}


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """User and system time of a process and of those that it waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run() -> Iterator[Line]:
    with tempfile.TemporaryDirectory() as folder:
        # As installed: an interpreter that may not keep its bytecode compiles for longer than it computes.
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        clonometer = [sys.executable, str(Path(sys.executable).with_name("clonometer"))]
        path = os.environ.get("BENCH_RUN") or str(Path(folder) / "run.parquet")
        if "BENCH_RUN" not in os.environ:
            measure = [*clonometer, "run", "--budget", f"{BUDGET_S}s", "--out", path]
            subprocess.run(measure, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        commands = {
            "show": [*clonometer, "show", path],
            "compare": [*clonometer, "compare", path, path],
            "report": [*clonometer, "report", path, "--force", "--out", str(Path(folder) / "report.html")],
        }
        read = partial(cpu_seconds, [sys.executable, "-c", READ, path], environment)
        read()
        note = f"of {Path(path).stat().st_size / 2**20:.1f} MiB, CPU time, reading alone {read():.2f} s"
        for name, command in commands.items():
            ours = partial(cpu_seconds, command, environment)
            ours()
            yield say(
                interleaved_ratio(
                    f"analysis.{name}_over_reading", ours, read, LIMITS[name], note, most_pairs=FEWEST_PAIRS
                )
            )
