"""Explanations as JSON: what ``clonometer explain --json`` prints (docs/explain.md)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from clonometer.explain.parts import PARTS
from clonometer.explain.types import CallUse, Counters, Explanation, Figure, Timeline, Versus

EXPLAIN_SCHEMA = 1


def explanation_to_json(one: Explanation) -> dict[str, Any]:
    """Write an explanation; times in ns, shares as fractions."""
    return {
        "schema": EXPLAIN_SCHEMA,
        "cell": one.cell,
        "workload": one.workload,
        "tier": asdict(one.tier),
        "launches": {"traced": one.launches, "untraced": one.untraced, "processes": one.processes},
        "band": list(one.band),
        **_figure("reaped", one.reaped_ns, "_ns"),
        "budget": [
            {
                "part": share.part,
                "who": PARTS[share.part].who,
                "label": PARTS[share.part].label,
                "meaning": PARTS[share.part].meaning,
                **_figure("mean", share.mean_ns, "_ns"),
                "share": share.share,
            }
            for share in one.budget
        ],
        "unexplained": one.unexplained,
        **_figure("unexplained", one.unexplained_ns, "_ns"),
        "overhead": one.overhead.value,
        "overhead_low": one.overhead.low,
        "overhead_high": one.overhead.high,
        "traced_median_ns": one.traced_median_ns,
        "untraced_median_ns": one.untraced_median_ns,
        "timelines": [_timeline(timeline) for timeline in one.timelines],
        "system_calls": [_call(call) for call in one.calls],
        "system_calls_inflated": one.calls_inflated,
        "new_tasks": [{"flags": list(flags), "per_launch": count} for flags, count in one.flags],
        "programs": [{"file": name, "per_launch": count} for name, count in one.programs],
        "stacks": dict(one.stacks),
        "lost": one.lost,
        "buffer_grown": one.grown,
        "notes": list(one.notes),
        "counters": None if one.counters is None else _counters(one.counters),
        "arguments": [asdict(call) for call in one.listing],
        "program_steps": None if one.steps is None else asdict(one.steps),
    }


def versus_to_json(versus: Versus) -> dict[str, Any]:
    """Write two mechanisms side by side: the first's own keys, and ``versus`` with the other and the reasons."""
    return {
        **explanation_to_json(versus.first),
        "versus": {
            "other": explanation_to_json(versus.second),
            "ratio": versus.ratio,
            "difference_ns": versus.difference_ns,
            "reasons": [asdict(reason) for reason in versus.reasons],
        },
    }


def _figure(name: str, figure: Figure, unit: str) -> dict[str, float]:
    return {
        f"{name}{unit}": figure.value,
        f"{name}_low{unit}": figure.low,
        f"{name}_high{unit}": figure.high,
    }


def _timeline(timeline: Timeline) -> dict[str, Any]:
    return {
        "which": timeline.which,
        "reaped_ns": timeline.reaped_ns,
        "stages_ns": dict(timeline.stages),
        "events": [asdict(moment) for moment in timeline.moments],
        "segments": [asdict(segment) for segment in timeline.segments],
    }


def _call(call: CallUse) -> dict[str, Any]:
    return {
        "who": call.who,
        "call": call.name,
        "per_launch": call.count,
        "each_ns": call.each_ns,
        "launch_ns": call.launch_ns,
    }


def _counters(counters: Counters) -> dict[str, Any]:
    return {
        "set": counters.set,
        "reason": counters.reason,
        "missing": dict(counters.missing),
        "launches": counters.launches,
        "running": counters.running,
        "counts": [
            {
                "kind": row.kind,
                "id": row.id,
                **dict(zip(counters.names, row.values, strict=True)),
                **({} if row.ipc is None else {"instructions_per_cycle": row.ipc}),
            }
            for row in counters.rows
        ],
    }
