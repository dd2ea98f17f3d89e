"""What a program would save that made its tasks in another way: a model from what such ways cost on this machine.

The costs are those of small programs. A large creator pays more for a fork, and as much as a small one for a thread,
posix_spawn or vfork. So the model leaves out what a program of threads would pay at work, and what its tasks do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clonometer.explain.census import Census, Group

#: What may take the place of what, where the task then executes a program; else a thread alone can do the same work.
_INSTEAD = {
    "fork": ("posix_spawn", "vfork", "thread"),
    "posix_spawn": ("vfork", "thread"),
    "clone(VM|VFORK)": ("vfork", "thread"),
    "vfork": ("posix_spawn", "thread"),
}
_LEAST_SHARE = 0.1
_MOST_GROUPS = 2


@dataclass(frozen=True)
class Instead:
    """Another way to make the tasks of a group: what each making costs here, and what all would save, ns."""

    mechanism: str
    making_ns: float
    saved_ns: float


@dataclass(frozen=True)
class Saving:
    """The tasks of a group, what a typical making took (the median, ns), and what could take its place."""

    group: Group
    making_ns: float
    instead: tuple[Instead, ...]


def savings(census: Census, costs_ns: Mapping[str, float]) -> list[Saving]:
    """Say of the dearest groups what other ways of making their tasks would save.

    ``costs_ns`` has what a making costs on this machine, for each way that could be measured
    (`clonometer.families.census_ways`).

    At most two, the dearest first. A way is named where it costs a tenth less than the group's median making: one
    that waited for long says nothing of its way. Left out are groups without such a way, without times, and with
    less than a tenth of what all cost.
    """
    worth = []
    groups = census.by_cost()
    least_ns = _LEAST_SHARE * sum(group.cost_ns for group in groups)
    for group in groups:
        making_ns = group.median_ns("making_ns")
        if making_ns is None or group.cost_ns < least_ns:
            continue
        ways = _INSTEAD.get(group.mechanism, ())
        if group.mechanism == "fork" and not group.execed:
            ways = ("thread",)
        cheaper = [way for way in ways if way in costs_ns and costs_ns[way] <= (1 - _LEAST_SHARE) * making_ns]
        if cheaper:
            instead = (Instead(way, costs_ns[way], group.created * (making_ns - costs_ns[way])) for way in cheaper)
            worth.append(Saving(group, making_ns, tuple(instead)))
    return worth[:_MOST_GROUPS]
