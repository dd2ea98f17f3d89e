"""A program's explanation as JSON: what ``clonometer explain work.factor --json`` prints (docs/explain.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clonometer.explain.types import Figure
from clonometer.explain.work.notes import conclusion
from clonometer.explain.work.parts import part_kind, part_meaning, part_title
from clonometer.explain.work.types import WorkExplanation, WorkReason, WorkSide

WORK_SCHEMA = 1


def work_to_json(one: WorkExplanation) -> dict[str, Any]:
    """Write an explanation; times in ns, shares as fractions."""
    return {
        "schema": WORK_SCHEMA,
        "cell": one.condition,
        "workload": one.workload,
        "workers": one.workers,
        "numbers": one.numbers,
        "cpus": one.cpus,
        "tier": asdict(one.tier),
        "pairs": one.pairs,
        "conclusion": conclusion(one),
        **_figure("gap", one.gap_ns, "_ns"),
        **_figure("gap", one.gap, ""),
        **_figure("untraced_gap", one.untraced_gap, ""),
        "told_apart": one.is_told_apart,
        "budget": [_reason(reason) for reason in one.reasons],
        "cpu_budget": [_reason(reason) for reason in one.cpu_reasons],
        "user_code": [
            {
                "what": reason.what,
                **_figure("difference", reason.difference_ns, "_ns"),
                "each_ns": None if reason.each_ns is None else asdict(reason.each_ns),
            }
            for reason in one.user_reasons
        ],
        "unexplained": one.unexplained,
        "overhead": one.overhead.value,
        "overhead_low": one.overhead.low,
        "overhead_high": one.overhead.high,
        "sides": {side.kind: _side(side) for side in (one.thread, one.process)},
        "ablation": None if one.ablation is None else asdict(one.ablation),
        "executions_not_seen": one.missing,
        "lost": one.lost,
        "buffer_grown": one.grown,
        "notes": list(one.notes),
    }


def _reason(reason: WorkReason) -> dict[str, Any]:
    return {
        "part": reason.part,
        "label": part_title(reason.part),
        "meaning": part_meaning(reason.part),
        "kind": part_kind(reason.part),
        **_figure("thread", reason.thread_ns, "_ns"),
        **_figure("process", reason.process_ns, "_ns"),
        **_figure("difference", reason.difference_ns, "_ns"),
        "share": None if reason.share is None else asdict(reason.share),
    }


def _side(side: WorkSide) -> dict[str, Any]:
    return {
        "cell": side.cell,
        **_figure("whole", side.whole_ns, "_ns"),
        **_figure("untraced", side.untraced_ns, "_ns"),
        **_figure("overhead", side.overhead, ""),
        "executions": side.executions,
        "untraced_executions": side.untraced_executions,
        "counts": {name: asdict(figure) for name, figure in side.counts.items()},
        "frequency_hz": None if side.frequency_hz is None else asdict(side.frequency_hz),
        "futexes": [asdict(futex) for futex in side.futexes],
        "slow_executions": side.slow,
        "delays": [asdict(delay) for delay in side.delays],
        "timeline": None
        if side.timeline is None
        else {
            "whole_ns": side.timeline.whole_ns,
            "tasks": [
                {"task": name, "segments": [{"start_ns": a, "end_ns": b, "part": part} for a, b, part in pieces]}
                for name, pieces in side.timeline.tasks
            ],
        },
    }


def _figure(name: str, figure: Figure, unit: str) -> dict[str, float]:
    return {
        f"{name}{unit}": figure.value,
        f"{name}_low{unit}": figure.low,
        f"{name}_high{unit}": figure.high,
    }
