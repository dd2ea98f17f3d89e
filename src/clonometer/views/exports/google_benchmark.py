"""Google Benchmark's JSON, as its ``tools/compare.py`` reads it: a repetition a process, and the median.

The format demands ``cpu_time``, which Clonometer does not measure: it repeats ``real_time``. ``iterations`` is the
number of samples, on average, behind a repetition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from clonometer.views.exports.entries import measured


def encode(document: Mapping[str, Any], processes: Sequence[Sequence[float]]) -> Iterator[str]:
    """Encode every estimate that is a time and has samples."""
    host = document["host"]
    benchmarks: list[dict[str, Any]] = []
    family = 0
    for cell, medians in zip(document["cells"], processes, strict=True):
        if cell["median_ns"] is not None:
            benchmarks += _entries(cell, medians, family)
            family += 1
    context = {
        "date": document["started"],
        "host_name": str(host.get("host.name_hash") or ""),
        "executable": f"clonometer {document['clonometer_version']}",
        "num_cpus": host.get("cpu.online") or 0,
        "mhz_per_cpu": round(max((cell["effective_mhz"] or 0 for cell in document["cells"]), default=0)),
        "cpu_scaling_enabled": host.get("cpufreq.governor") not in (None, "performance"),
        "caches": [],
        "load_avg": [],
        "library_build_type": "release",
        "json_schema_version": 1,
    }
    yield json.dumps({"context": context, "benchmarks": benchmarks}, indent=2, allow_nan=False) + "\n"


def _entries(cell: Mapping[str, Any], medians: Sequence[float], family: int) -> Iterator[dict[str, Any]]:
    name = "/".join(filter(None, [cell["cell"], measured(cell), cell["placement"]]))
    shared = {
        "family_index": family,
        "per_family_instance_index": 0,
        "run_name": name,
        "repetitions": len(medians),
        "threads": 1,
    }
    iterations = max(1, round(cell["n_samples"] / len(medians)))
    for index, median in enumerate(medians):
        run = {"run_type": "iteration", "repetition_index": index, "iterations": iterations}
        yield {"name": name, **shared, **run, **_times(median)}
    run = {"run_type": "aggregate", "aggregate_name": "median", "aggregate_unit": "time", "iterations": len(medians)}
    yield {"name": f"{name}_median", **shared, **run, **_times(cell["median_ns"])}


def _times(time_ns: float) -> dict[str, Any]:
    return {"real_time": time_ns, "cpu_time": time_ns, "time_unit": "ns"}
