"""What of a new program's time is the start of its C library, and what CPUID takes of that."""

from __future__ import annotations

from typing import Any

from clonometer.families.other import CPUID, STEPS, traps
from clonometer.results.findings.comparing import PairwiseTests, from_few
from clonometer.results.findings.ends import interval_ends
from clonometer.results.findings.finder import Finder
from clonometer.results.findings.wording import condition, headed, short_median
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import Finding
from clonometer.stats.interval import Interval
from clonometer.stats.quantiles import quantile_interval
from clonometer.units import format_duration
from clonometer.words import axis_words, mechanism_name

_LAUNCHES = ("launch.posix_spawn", "launch.vfork_exec", "launch.fork_exec")
_TEMPERATURES = ("warm", "cold")
_NO_LIBRARY = {"program": "target_nolibc"}


def startup(tests: PairwiseTests) -> list[Finding]:
    """Split the time of a new program with a C library at the entry of its file and at its main."""
    estimates = tests.estimates
    for workload in _LAUNCHES:
        for temperature in _TEMPERATURES:
            stages = [
                estimates.main(workload, {}, temperature, stage) for stage in ("image_entered", "image_runs", "reaped")
            ]
            entered, runs, reaped = stages
            if entered is not None and runs is not None and reaped is not None:
                start = _between(entered, runs)
                return [] if start is None else [_startup_finding(estimates, runs, reaped, start)]
    return []


def _between(first: RunEstimate, second: RunEstimate) -> Interval | None:
    """The difference of two stages of the same launches, by process."""
    if first.processes.values.size != second.processes.values.size:
        return None
    differences = second.processes.values - first.processes.values
    if not (differences > 0).all():
        return None
    return quantile_interval(differences)


def _startup_finding(estimates: RunEstimates, runs: RunEstimate, reaped: RunEstimate, start: Interval) -> Finding:
    estimate = reaped
    whole_ns = estimate.median_ns or 0.0
    program = str(estimate.condition.get("program", ""))
    low, high = interval_ends(start) or (None, None)
    reaped_low, reaped_high = estimate.known_within or (None, None)
    numbers: dict[str, Any] = {
        "workload": estimate.workload,
        "temperature": estimate.temperature,
        "program": program,
        "reaped_ns": whole_ns,
        "reaped_low_ns": reaped_low,
        "reaped_high_ns": reaped_high,
        "library_start_ns": start.value,
        "library_start_low_ns": low,
        "library_start_high_ns": high,
        "share": start.value / whole_ns,
        "cells": [estimate.cell],
    }
    whole = short_median(reaped)
    start_text = format_duration(start.value, low, high)
    what = axis_words("program", program) + from_few(estimate.n_processes)
    texts = [f"{start_text} of a new program's {whole} ({what}) are the start of its C library"]
    brief = f"of {mechanism_name(estimate.workload)}'s {whole} ({what}), {start_text} are the C library's start"
    cpuid = _cpuid(estimates, program)
    if cpuid is not None:
        count, each_ns, cells = cpuid
        numbers |= {"cpuid": count, "cpuid_ns": each_ns, "cpuid_share": count * each_ns / start.value}
        numbers["cells"] += cells
        does = "which trap" if traps(each_ns) else "which do not trap"
        whole_cpuid = format_duration(count * each_ns)
        brief += f", and {whole_cpuid} of that CPUID instructions"
        texts.append(
            f"{count} CPUID instructions, {does}, take {whole_cpuid} of that ({format_duration(each_ns)} each)"
        )
    bare = estimates.main(estimate.workload, _NO_LIBRARY, estimate.temperature, "reaped")
    if bare is not None and bare.median_ns is not None:
        numbers["without_library_ns"] = bare.median_ns
        numbers["cells"] += [bare.cell]
        texts.append(f"without a C library, a program takes {short_median(bare)}")
    words = condition({}, estimate.temperature, estimate.condition.get("placement"))
    head = f"{mechanism_name(estimate.workload)}, {words}"
    return Finding("program_start", headed(head, texts), numbers, headed(estimate.temperature or "", [brief]))


def _cpuid(estimates: RunEstimates, program: str) -> tuple[int, float, list[str]] | None:
    """How many CPUID the library's start executes, by single steps, and what one takes; of this very run."""
    counts = [
        row
        for row in estimates.all_rows
        if (row.workload, row.quantity) == (STEPS, "start_cpuid") and row.condition.get("program") == program
    ]
    cost = estimates.main(CPUID, {}, None, None)
    if not counts or cost is None or not counts[0].value or cost.median_ns is None:
        return None
    cells = [counts[0].cell, cost.cell]
    return round(counts[0].value), cost.median_ns, cells


FINDERS = (Finder(startup, 20),)
