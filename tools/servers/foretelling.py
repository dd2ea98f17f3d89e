"""What Clonometer foretells of a server's other designs, from what it sees of the first one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tools.servers.case import ServerCase, Side

#: How far a ratio that was foretold may be from the measured one, and below which difference sides are the same.
NEAR, SAME = 0.25, 0.1
_LAUNCHES = ("fork", "spawn", "thread")
#: Parts of a launch.
CREATION, FAULTS, TEAR_DOWN, START = "creation", "page faults of the child", "its tear-down", "its start of work"
PARENT = "what the parent does beside"


@dataclass(frozen=True)
class Foretold:
    """A side against the first one.

    ``measured`` is the ratio of CPU time a request with its range; ``ratio`` was foretold, None for a ``reason``.
    ``parts`` are what a request of the base spends on its launch, of ``base_ns``; ``added_ns`` what the other's design
    adds. ``by_stated`` is the ratio by what the designs cost small servers, which knows nothing of the children.
    """

    base: str
    side: str
    measured: Sequence[float]
    ratio: float | None = None
    reason: str = ""
    base_ns: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    added_ns: float = 0.0
    by_stated: float | None = None

    @property
    def is_near(self) -> bool:
        """Whether the ratio is within a quarter of the measured one."""
        return self.ratio is not None and abs(self.ratio / self.measured[0] - 1) <= NEAR

    @property
    def is_saving_near(self) -> bool:
        """Whether what the other side uses less, or more, is within a quarter of that."""
        return self.ratio is not None and abs((1 - self.ratio) / (1 - self.measured[0]) - 1) <= NEAR

    @property
    def is_sign_right(self) -> bool:
        """Whether the side that was foretold to take less does.

        Where rounds contradict each other, no sign was measured, and the ratio must be among theirs or near 1.
        """
        if self.ratio is None:
            return False
        value, low, high = self.measured
        if low < 1 < high:
            return low <= self.ratio <= high or _sign(self.ratio) == 0
        return _sign(self.ratio) == _sign(value)

    @property
    def verdict(self) -> str:
        """In a word."""
        if self.ratio is None:
            return f"not foretold: {self.reason}"
        if not self.is_sign_right:
            return "near, but with the other sign" if self.is_near else "wrong"
        return "right" if self.is_near else "saving right" if self.is_saving_near else "sign right"


def _sign(ratio: float) -> int:
    return 0 if abs(ratio - 1) < SAME else 1 if ratio > 1 else -1


def foretold(case: ServerCase, result: Mapping[str, Any], prices: Mapping[str, float]) -> list[Foretold]:
    """Each other side against the first."""
    base, *others = case.sides
    first = next(side for side in result["sides"] if side["name"] == base.name)
    return [_foretold(case, other, first, result["ratios"][other.name], prices) for other in others]


def _foretold(
    case: ServerCase,
    other: Side,
    seen: Mapping[str, Any],
    measured: Sequence[float],
    prices: Mapping[str, float],
) -> Foretold:
    base = case.sides[0]
    # With connections that ask for nothing, both of the same moment.
    base_ns = (seen["seen"]["census"]["cpu_s"] if "empty" in seen["seen"] else seen["cpu_s"][0]) * 1e9
    try:
        parts = launch_parts(base, seen["seen"], prices) if base.design in _LAUNCHES else {}
    except KeyError as error:
        return Foretold(base.name, other.name, measured, reason=f"{error.args[0]} is not known")
    # Whose launch is taken off term by term serves as one process does.
    alone = "inline" if case.connections == "per_request" else "prefork"
    serves = alone if parts else base.design
    designs = (base.design, serves, other.design)
    of_base, of_serving, of_other = (prices.get(f"{name}.{case.connections}") for name in designs)
    if base.launches != "per request" or base.design == other.design or of_other is None or of_serving is None:
        of_base = of_serving = of_other = 0.0
    added_ns = of_other - of_serving
    # Two large figures differ by little here: what is left is no less than what a small server of that design takes.
    ratio = max(base_ns - sum(parts.values()) + added_ns, of_other, 0.0) / base_ns
    stated = None if of_base is None else max((base_ns - of_base + of_other) / base_ns, 0.0)
    return Foretold(base.name, other.name, measured, ratio, "", base_ns, parts, added_ns, stated)


def launch_parts(side: Side, seen: Mapping[str, Any], prices: Mapping[str, float]) -> dict[str, float]:
    """What a side's launch costs each request, by part, ns.

    Raises
    ------
    KeyError
        If a part is not known; with its name.
    """
    way = _way(side, seen["census"])
    if side.design == "thread":
        return {CREATION: way["making_median_ns"]}
    exit_ns = seen["predict"].get("exit_ns")
    if exit_ns is None:
        raise KeyError("the child's tear-down")
    if side.launches != "per request":
        each = way["created"] / seen["census"]["seconds"] / seen["census"]["requests_per_s"]
        return {CREATION: each * way["making_median_ns"], "all that the child did": each * way["cpu_ns"] / way["known"]}
    # What a connection without a request does is no work of a request.
    empty = _way(side, seen["empty"]) if "empty" in seen else way
    used_ns = empty["cpu_median_ns"]
    # Prices are of other moments: together they are no more than what the child used.
    faults_ns = min(empty["minor_faults_median"] * prices["copied page"], used_ns)
    exit_ns = min(exit_ns["median"], used_ns - faults_ns)
    parts = {CREATION: empty["making_median_ns"], FAULTS: faults_ns, TEAR_DOWN: exit_ns}
    if "empty" not in seen:
        return parts
    parts[START] = used_ns - faults_ns - exit_ns
    return {**parts, PARENT: max(seen["empty"]["cpu_s"] * 1e9 - sum(parts.values()), 0.0)}


def _way(side: Side, census: Mapping[str, Any]) -> Mapping[str, Any]:
    way: Mapping[str, Any] | None = census.get("ways", {}).get("thread" if side.design == "thread" else "fork")
    if way is None or way["minor_faults_median"] is None or way["cpu_median_ns"] is None:
        raise KeyError("what its tasks used")
    return way
