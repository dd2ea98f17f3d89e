"""An answer of ``explain --vs --json`` made by hand: what the ledger reads of it."""

from __future__ import annotations


def side(parts, calls, *, tier="tracepoints", how="kernel tracepoints", refused=None, inflated=False, half=0.02):
    """One mechanism: part -> mean ns, each with an interval of the same relative width; calls by who, name, count."""
    whole = sum(parts.values())

    def figure(name, value):
        return {f"{name}_ns": value, f"{name}_low_ns": value * (1 - half), f"{name}_high_ns": value * (1 + half)}

    return {
        "tier": {"name": tier, "how": how, "refused": refused or {}, "cannot_see": []},
        **figure("reaped", whole),
        "budget": [
            {"part": part, "who": part.partition("_")[0], "label": part, **figure("mean", value)}
            for part, value in parts.items()
        ],
        "overhead": 0.1,
        "system_calls": [
            {"who": who, "call": name, "per_launch": count, "each_ns": 1000.0, "launch_ns": 1000.0 * count}
            for who, name, count in calls
        ],
        "system_calls_inflated": inflated,
    }


def versus(first, second, **how):
    """Two of them side by side, as `clonometer.explain.as_json.versus_to_json` writes it."""
    one, other = side(*first, **how), side(*second, **how)
    whole = one["reaped_ns"] - other["reaped_ns"]
    parts = [{part["part"]: part["mean_ns"] for part in own["budget"]} for own in (one, other)]
    reasons = []
    for part in dict.fromkeys([*parts[0], *parts[1]]):
        a, b = (own.get(part, 0.0) for own in parts)
        reasons.append({"part": part, "first_ns": a, "second_ns": b, "difference_ns": a - b, "share": (a - b) / whole})
    reasons.sort(key=lambda reason: -abs(reason["difference_ns"]))
    ratio = one["reaped_ns"] / other["reaped_ns"]
    return {**one, "versus": {"other": other, "ratio": ratio, "difference_ns": whole, "reasons": reasons}}


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
