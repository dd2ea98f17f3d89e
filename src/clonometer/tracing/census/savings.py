"""What a program would save that made its tasks in another way: a model from what such ways cost on this machine.

The costs are those of small programs. A large creator pays more for a fork, and as much as a small one for a thread,
posix_spawn or vfork. So the model leaves out what a program of threads would pay at work, and what its tasks do.

Only forks are judged, whose call holds the copy of the memory and nothing else. What shares the memory until exec
(vfork, posix_spawn, clone with both flags) is the cheapest way to execute a program already: its creator waits for
exec, whichever of them it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from clonometer.tracing.census.tally import Census, Group

FORK = "fork"
#: What can do the work of a fork whose task executes a program, and of one whose task does not.
_EXECUTES, _STAYS = ("posix_spawn", "vfork"), ("thread",)
#: Nobody who writes for a shell chooses how it makes its tasks.
SHELLS = frozenset(("sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "mksh", "zsh"))
LEAST_SHARE = 0.1
_MOST_GROUPS = 2
#: Fewer have no interval of 95% of their median.
LEAST_CALLS = 6
#: The ends of an interval.
IntervalEnds = tuple[float, float]


@dataclass(frozen=True)
class Instead:
    """Another way to make the tasks of a group: what each costs here at most, and what all save at least, ns."""

    mechanism: str
    making_ns: float
    saved_ns: float


@dataclass(frozen=True)
class Saving:
    """Forks of a group that could be made otherwise: how many, what each takes at least (ns), and what else would do.

    ``making_ns`` is the low end of the 95% interval of their calls' median.
    """

    group: Group
    created: int
    making_ns: float
    instead: tuple[Instead, ...]


def savings(
    census: Census, costs_ns: Mapping[str, IntervalEnds], left_out: Callable[[str], bool] = lambda _: False
) -> list[Saving]:
    """Say of the dearest groups of forks what other ways of making their tasks would save, at least.

    ``costs_ns`` has what a making costs on this machine, for each way that could be measured
    (`clonometer.families.census_ways`): the ends of its interval, exec included where it executes a program.
    ``left_out`` says of a program's path whether nothing is advised to it.

    At most two, the dearest first. A way is named where it costs a tenth less than the low end of the calls' median.
    Left out are groups of fewer than 6 timed calls, which have no interval, those with less than a tenth of what all
    cost, shells, and what ``left_out`` names.
    """
    worth = []
    groups = census.by_cost()
    least_ns = LEAST_SHARE * sum(group.cost_ns for group in groups)
    for group in groups:
        calls_ns = group.times["call_ns"]
        if group.mechanism != FORK or len(calls_ns) < LEAST_CALLS or group.cost_ns < least_ns:
            continue
        if (group.creator or "").rpartition("/")[2] in SHELLS or left_out(group.creator or ""):
            continue
        execute = 2 * group.execed >= group.created
        created = group.execed if execute else group.created - group.execed
        making_ns, _ = calls_ns.median_ends_ns
        ways = [way for way in (_EXECUTES if execute else _STAYS) if way in costs_ns]
        cheaper = [way for way in ways if costs_ns[way][1] <= (1 - LEAST_SHARE) * making_ns]
        if cheaper:
            instead = (Instead(way, costs_ns[way][1], created * (making_ns - costs_ns[way][1])) for way in cheaper)
            worth.append(Saving(group, created, making_ns, tuple(instead)))
    return worth[:_MOST_GROUPS]
