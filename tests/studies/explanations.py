"""Answers of explaining two mechanisms, made by hand: what the ledger reads of them."""

from __future__ import annotations

from clonometer.tracing.budget import set_beside
from clonometer.tracing.types import BudgetPart, CallUse, Explanation, IntervalEstimate, LaunchCounts, Tier


def side(parts, calls, *, tier="tracepoints", how="kernel tracepoints", refused=None, inflated=False, half=0.02):
    """One mechanism: part -> mean ns, each with an interval of the same relative width; calls by who, name, count."""
    whole = sum(parts.values())

    def bounded(value):
        return IntervalEstimate(value, value * (1 - half), value * (1 + half))

    return Explanation(
        cell="launch.hand",
        workload="launch.hand",
        tier=Tier(tier, how, refused or {}, ()),
        launches=LaunchCounts(90, 90, 3),
        band=(0.25, 0.75),
        reaped_ns=bounded(whole),
        budget=tuple(BudgetPart(part, bounded(value), value / whole) for part, value in parts.items()),
        unexplained=0.0,
        unexplained_ns=IntervalEstimate(0.0, 0.0, 0.0),
        overhead=IntervalEstimate(0.1, 0.1, 0.1),
        traced_median_ns=whole,
        untraced_median_ns=whole,
        timelines=(),
        calls=tuple(CallUse(who, name, count, 1000.0, 1000.0 * count) for who, name, count in calls),
        calls_inflated=inflated,
    )


def versus(first, second, **how):
    """Two of them side by side."""
    return set_beside(side(*first, **how), side(*second, **how))


FORK_CALLS = [("parent", "clone", 1.0), ("child", "pwrite64", 1.0), ("child", "exit_group", 1.0),
              ("parent", "wait4", 1.0)]  # fmt: skip
THREAD_CALLS = [("parent", "rt_sigprocmask", 2.0), ("parent", "clone3", 1.0), ("child", "exit", 1.0),
                ("parent", "futex", 1.0)]  # fmt: skip


def loop(call=40e3, exit_=30e3, **how):
    """Fork beside pthread_create: the call and the exit make the difference."""
    return versus(
        ({"launch_call": call, "child_exit": exit_, "child_cow": 10e3}, FORK_CALLS),
        ({"launch_call": 8e3, "child_exit": 7e3}, THREAD_CALLS),
        **how,
    )
