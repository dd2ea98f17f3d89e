"""A plan in parts: each host measures the whole plan once a round, in less time; a part of one host is a shard.

Rounds are complete blocks in random order: in each, every host measures every cell, and hosts take their turns in an
order drawn anew. So whatever the hour does to a fleet falls on all hosts alike (R. A. Fisher, "The Design of
Experiments", 1935: randomized blocks).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from dataclasses import dataclass, replace

from clonometer.plan.document import document_of
from clonometer.plan.types import Plan, Target
from clonometer.records import to_json

# A file's name has 255 bytes, of which the fleet, the round and a temporary name want some.
_LONGEST_HOST = 100
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Shard:
    """One round on one host; rounds are counted from 1."""

    fleet: str
    host: str
    round: int

    @property
    def id(self) -> str:
        """Its name, the same whenever the same is asked for."""
        return f"{self.fleet}-{self.host}-{self.round}"

    def attempt(self, number: int) -> str:
        """The name of one attempt at it."""
        return f"{self.id}-{number}"

    @property
    def file_name(self) -> str:
        """The name of its run file in the folder."""
        return f"{self.id}.parquet"

    def seed(self, seed: int) -> int:
        """The seed of its order."""
        return int(_digest(seed, self.host, self.round), 16) % (1 << 31)


def fleet_id(plan: Plan, seed: int, rounds: int) -> str:
    """Name a fleet's run by what is asked for: asked again, it goes on where it ended."""
    return _digest(json.dumps(to_json(document_of(plan)), sort_keys=True), seed, rounds)[:8]


def part_of(plan: Plan, rounds: int) -> Plan:
    """The plan of one round: its share of the budget, and of each target's processes."""

    def fewer(target: Target) -> Target:
        processes = math.ceil(target.limits.processes / rounds)
        return replace(target, limits=replace(target.limits, processes=processes))

    targets = tuple(fewer(target) for target in plan.targets)
    return replace(plan, budget_seconds=plan.budget_seconds / rounds, targets=targets)


def turn(seed: int, round_: int, host: str) -> str:
    """What hosts are sorted by within a round: an order that is random, and the same whoever joins later."""
    return _digest(seed, round_, host)


def safe_name(host: str, taken: set[str]) -> str:
    """Make a name that a file may have, and that no other host has.

    Examples
    --------
    >>> safe_name("alice@web1:22", set()), safe_name("web1", {"web1"})
    ('alice_web1_22', 'web1-2')
    """
    name = _UNSAFE.sub("_", host[:_LONGEST_HOST]).strip("._-") or "host"
    return next(text for text in (name, *(f"{name}-{n}" for n in range(2, len(taken) + 3))) if text not in taken)


def _digest(*parts: object) -> str:
    return hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()
