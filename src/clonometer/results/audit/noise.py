"""How noisy the machine is just now: from a short ordinary run of the bare loop and of pinned forks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.results.audit.types import FINE, NOTE, WARN, AuditItem, MachineNoise
from clonometer.results.rows.source import RunSource, null_mask
from clonometer.run_document import BlockEntry
from clonometer.units import format_duration

LOOP = "launch.none"
LAUNCH = "launch.fork"
_WIDE = 0.10
_VERY_WIDE = 0.30
_LONG_GAP_NS = 100_000.0
_VERY_LONG_GAP_NS = 1_000_000.0
_SWITCHES_PER_S = 5.0


def noise_of(run: RunSource) -> MachineNoise:
    """Measure noise in a run that has `LOOP` and `LAUNCH` cells."""
    planned = run.document.plan.workload_of
    gaps, watched_ns = [0.0], 0.0
    forks: list[NDArray[np.float64]] = []
    for cell in run.cells():
        if planned.get(cell) == LOOP:
            cell_gaps, length_ns = _gaps(run.columns(cell, ["process", "block", "start_ns"]))
            gaps += cell_gaps
            watched_ns += length_ns
        elif planned.get(cell) == LAUNCH:
            forks.append(_reaped(run.columns(cell, ["reaped_ns", "errno"])))
    values = np.concatenate(forks) if forks else np.zeros(0)
    involuntary, wall_ns = _switches(run.document.blocks)
    largest = max(gaps)
    return MachineNoise(_scatter(values), largest or None, watched_ns, involuntary, wall_ns, int(values.size))


def check_noise(noise: MachineNoise) -> list[AuditItem]:
    """Judge the noise."""
    return [_scatter_item(noise), _switches_item(noise), _gap_item(noise)]


def _gaps(columns: Mapping[str, NDArray[Any]]) -> tuple[list[float], float]:
    """Largest distance between neighbouring starts of each block, and the time from first to last, in ns."""
    largest, watched_ns = [], 0.0
    marks = columns["process"].astype(np.int64) * (1 << 32) + columns["block"]
    for mark in np.unique(marks):
        starts = columns["start_ns"][marks == mark].astype(np.float64)
        if starts.size > 1:
            largest.append(float(np.diff(starts).max()))
            watched_ns += float(starts[-1] - starts[0])
    return largest, watched_ns


def _reaped(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    launched = (columns["errno"] == 0) & ~null_mask(columns["reaped_ns"])
    return np.asarray(columns["reaped_ns"][launched], dtype=np.float64)


def _scatter(values: NDArray[np.float64]) -> float | None:
    if values.size < 20:
        return None
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return float((high - low) / middle) if middle > 0 else None


def _switches(blocks: Iterable[BlockEntry]) -> tuple[int, float]:
    involuntary, wall_ns = 0, 0.0
    for block in blocks:
        switches = block.facts.get("involuntary_switches")
        if switches is not None:
            involuntary += int(switches)
            wall_ns += float(block.facts.get("wall_ns") or 0.0)
    return involuntary, wall_ns


def _scatter_item(noise: MachineNoise) -> AuditItem:
    id_, title = "noise.scatter", "Scatter of forks"
    if noise.scatter is None:
        effect = "Too few forks succeeded to tell."
        return AuditItem(id_, title, f"unknown: {noise.samples} samples", NOTE, effect, known=False)
    value = f"half of {noise.samples:,} pinned forks lie within {noise.scatter:.0%} of their median"
    if noise.scatter <= _WIDE:
        return AuditItem(id_, title, value, FINE, "Intervals will be narrow.")
    effect = "Expect wide intervals: measure longer (--budget), or when the machine is quiet."
    return AuditItem(id_, title, value, WARN if noise.scatter > _VERY_WIDE else NOTE, effect)


def _switches_item(noise: MachineNoise) -> AuditItem:
    id_, title = "noise.switches", "Losing the CPU"
    if not noise.wall_ns:
        return AuditItem(id_, title, "unknown: nothing was measured", NOTE, "It says nothing about noise.", known=False)
    rate = noise.involuntary / (noise.wall_ns / 1e9)
    value = f"{noise.involuntary:,} times in {noise.wall_ns / 1e9:.1f} s of measuring"
    if rate <= _SWITCHES_PER_S:
        return AuditItem(id_, title, value, FINE, "Nothing competes for the CPU of the launches.")
    effect = "Another task competes for the CPU of the launches: each time makes an outlier, and may shift the median."
    return AuditItem(id_, title, value, WARN, effect)


def _gap_item(noise: MachineNoise) -> AuditItem:
    id_, title = "noise.gap", "Largest gap"
    if noise.largest_gap_ns is None:
        return AuditItem(id_, title, "unknown: nothing was measured", NOTE, "It says nothing about noise.", known=False)
    value = f"{format_duration(noise.largest_gap_ns)} in {noise.watched_ns / 1e6:.1f} ms of a bare loop"
    if noise.largest_gap_ns <= _LONG_GAP_NS:
        return AuditItem(id_, title, value, FINE, "Only the timer and short interrupts intervene.")
    effect = "Something stopped a loop that does nothing: p99 and the maximum show such pauses, not launches."
    return AuditItem(id_, title, value, WARN if noise.largest_gap_ns > _VERY_LONG_GAP_NS else NOTE, effect)
