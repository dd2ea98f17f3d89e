"""An explanation in one sentence, for pages that show it beside others."""

from __future__ import annotations

from clonometer.explain.parts import PARTS
from clonometer.explain.types import Explanation, Tier, Versus
from clonometer.units import format_duration, format_duration_interval, format_number, format_share

_NAMED = 3
_LEAST_SHARE = 0.05


def sentence(one: Explanation) -> str:
    """Say how long a launch takes, what most of that goes to, and how much is unexplained."""
    whole = format_duration_interval(one.reaped_ns.value, one.reaped_ns.low, one.reaped_ns.high)
    greatest = sorted(one.budget, key=lambda share: -share.share)[:_NAMED]
    named = [
        f"{format_share(share.share)} is {part_name(share.part)}" for share in greatest if share.share >= _LEAST_SHARE
    ]
    rest = f"{format_share(one.unexplained)} is unexplained" if one.unexplained else "nothing is unexplained"
    return f"A launch takes {whole}: {', '.join([*named, rest])}."


def versus_sentence(versus: Versus) -> str:
    """Say how the two compare."""
    return (
        f"{format_duration(versus.first.reaped_ns.value)} against {format_duration(versus.second.reaped_ns.value)}: "
        f"{format_number(versus.ratio)} times as long."
    )


def part_name(part: str) -> str:
    """Who is at work and at what; the id where it is no part of a launch."""
    return f"{PARTS[part].who}: {PARTS[part].label}" if part in PARTS else part


def why_no_closer(tier: Tier) -> str | None:
    """Say in one sentence why kernel tracepoints are not used, and the next step; None where they are used.

    Examples
    --------
    >>> print(why_no_closer(Tier("stamps", "stamps in user code", {"by bpf": "no tracefs: run it as root"}, ())))
    Kernel tracepoints cannot be used: no tracefs: run it as root.
    """
    if tier.name == "tracepoints" or not tier.refused:
        return None
    return f"Kernel tracepoints cannot be used: {next(iter(tier.refused.values()))}."


def refused_besides(tier: Tier) -> list[str]:
    """Each better means that is not used and why, where `why_no_closer` does not say it already."""
    said = next(iter(tier.refused.values()), None) if tier.name != "tracepoints" else None
    return [f"{name}: {reason}" for name, reason in tier.refused.items() if reason != said]


def lost_and_grown(lost: int, grown: int) -> str:
    """Say how many events are missing, and whether there had to be more room for them.

    Examples
    --------
    >>> lost_and_grown(0, 1), lost_and_grown(1200, 2)
    ('no events lost; the buffer was made larger once', '1,200 events lost; the buffer was made larger 2 times')
    """
    said = "1 event lost" if lost == 1 else f"{lost:,} events lost" if lost else "no events lost"
    times = "once" if grown == 1 else f"{grown} times"
    return f"{said}; the buffer was made larger {times}" if grown else said
