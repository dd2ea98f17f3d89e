"""What a folder of runs costs: 100, 1,000 and 10,000 runs of 400 rows, generated, asked by the real command.

Run files are made of any bytes, and their summaries are written as `clonometer.dataset.index` writes them. Reading
samples is not in the figures: it happens once a file, and takes as long as `clonometer compare` of that file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from bench.harness import Line, say
from clonometer.dataset.folders import FOLDER
from clonometer.runfile.summaries import write_part

RUNS = (100, 1_000, 10_000)
CELLS = 400
MOST_S, MOST_BYTES = 10.0, 2e9
#: Ten times as many runs take at most ten times the CPU time.
MOST_GROWTH = 10.0
HOST_SHARE = 0.05


def run() -> Iterator[Line]:
    for asked in (["fleet", "show"], ["fleet", "compare", "--by", "kernel"]):
        name = asked[1]
        cpu_s = {}
        for runs in RUNS:
            with tempfile.TemporaryDirectory() as folder:
                # Elsewhere: what a process has had in memory counts as that of its children, too.
                subprocess.run([sys.executable, "-m", "bench.dataset", folder, str(runs)], check=True)
                wall_s, cpu_s[runs], peak = _asked([*asked, folder])
            last = runs == RUNS[-1]
            note = f"{runs * CELLS:,} rows, {cpu_s[runs]:.1f} s of CPU time"
            yield say(Line(f"dataset.{name}.{runs}", wall_s, wall_s, wall_s, MOST_S if last else None, "s", note))
            limit = MOST_BYTES if last else None
            yield say(Line(f"dataset.{name}.{runs}.memory", peak, peak, peak, limit, "bytes"))
        growth = cpu_s[RUNS[2]] / cpu_s[RUNS[1]]
        note = "CPU time of 10,000 runs over that of 1,000"
        yield say(Line(f"dataset.{name}.growth", growth, growth, growth, MOST_GROWTH, "ratio", note))


def _asked(words: list[str]) -> tuple[float, float, float]:
    """Ask the command; its seconds, its CPU time and its largest memory in bytes."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "clonometer.cli.start", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {process.returncode}")
    return time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024.0


def make_folder(folder: Path, runs: int, runs_a_host: int = 10) -> None:
    """Make a folder of runs with their summaries: hosts of 4 classes, two kernels, levels that differ by 5%."""
    random = np.random.default_rng(1)
    start = datetime(2026, 1, 1, tzinfo=UTC)
    entries = []
    for number in range(runs):
        host, turn = divmod(number, runs_a_host)
        path = folder / f"run{number:05}.parquet"
        path.write_bytes(b"placeholder")
        status = path.stat()
        began = start + timedelta(days=turn, seconds=host)
        kernel = "6.12.3" if turn < runs_a_host // 2 else "6.12.4"
        entries.append(
            {
                "path": path.name,
                "size": status.st_size,
                "mtime_ns": status.st_mtime_ns,
                "damage": None,
                "started": began.isoformat(),
                "ended": (began + timedelta(minutes=1)).isoformat(),
                "seed": str(number),
                "host": f"{host:08x}",
                "status": "complete",
                "metadata": _metadata(host, kernel),
            }
        )
    labels = [_label(number) for number in range(CELLS)]
    levels = np.exp(HOST_SHARE * random.normal(size=(-(-runs // runs_a_host), 1, CELLS)))
    values = 1e5 * levels * np.exp(0.01 * random.normal(size=(levels.shape[0], runs_a_host, CELLS)))
    value = values.reshape(-1, CELLS)[:runs].ravel()
    (folder / FOLDER).mkdir()
    write_part(
        folder / FOLDER,
        entries,
        labels,
        {
            "run": np.repeat(np.arange(runs), CELLS),
            "label": np.tile(np.arange(CELLS), runs),
            "value": value,
            "low": value * 0.99,
            "high": value * 1.01,
            "n_samples": np.full(value.size, 3600),
            "n_processes": np.full(value.size, 12),
        },
    )


def _metadata(host: int, kernel: str) -> str:
    facts = {
        "cpu.model": f"Made CPU {host % 4}",
        "cpu.online": 4,
        "virt.hypervisor": "KVM",
        "kernel.release": kernel,
        "host.name_hash": f"{host:08x}",
        **{f"limit.of_{number}": number for number in range(80)},
    }
    return json.dumps({"host": facts, "clonometer_version": "0.1.0", "status": "complete", "clock": {"clock": "tsc"}})


def _label(number: int) -> dict[str, object]:
    workload = f"launch.{('fork', 'vfork', 'pthread', 'posix_spawn')[number % 4]}"
    temperature, vmas = ("cold", "warm")[number // 4 % 2], number // 8
    return {
        "cell": f"{workload}[temperature={temperature},vmas={vmas}]",
        "workload": workload,
        "condition": {"vmas": vmas, "parent_bytes": 0},
        "temperature": temperature,
        "stage": "reaped",
        "placement": "same_cpu",
        "quantity": "reaped_ns",
        "unit": "ns",
        "family": "same_image",
        "resolution_ns": 1.0,
        "is_time": True,
        "point": None,
    }


if __name__ == "__main__":
    make_folder(Path(sys.argv[1]), int(sys.argv[2]))
