"""What `clonometer advise` foretells of a server's other designs, from what is seen of the first one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from publications.servers.case import ServerCase, Side

from clonometer.advice.basis import AdviceBasis
from clonometer.advice.children import MEASURED, OBSERVED, Settled, how_known, settle
from clonometer.advice.costs import Costs, costs_of, lacking
from clonometer.advice.designs import design_named
from clonometer.advice.drawing import DRAWS, draws, span_of
from clonometer.advice.terms import TermSpan
from clonometer.advice.wish import KEPT, Wish
from clonometer.units import format_duration

#: How far a ratio that was foretold may be from the measured one, and below which difference sides are the same.
NEAR, SAME = 0.25, 0.1
#: Any rate: CPU time of a request does not depend on it.
_RATE_HZ = 400.0
_PAGE_BYTES = 4096
WORK, BESIDE, SAVED = "work of the request", "the rest: processes beside, and what has no term", "launches now and then"


@dataclass(frozen=True)
class Part:
    """A part of what a request costs the first side, ns, and how it is known."""

    ns: float
    known: str


@dataclass(frozen=True)
class Foretold:
    """A side against the first one.

    ``measured`` is the ratio of CPU time a request with its range; ``ratio`` was foretold, None for a ``reason``, and
    ``span`` is its interval. ``parts`` are what a request of the base spends, of ``base_ns``. ``by_stated`` is the
    ratio by what the designs cost small servers, which knows nothing of the children. ``work_is_least``: what a request
    does in the other design could not be seen in the first, only that it is no less.
    """

    base: str
    side: str
    measured: Sequence[float]
    ratio: float | None = None
    reason: str = ""
    base_ns: float = 0.0
    parts: Mapping[str, Part] = field(default_factory=dict)
    span: TermSpan | None = None
    by_stated: float | None = None
    work_is_least: bool = False

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


def foretold(case: ServerCase, result: Mapping[str, Any], basis: AdviceBasis) -> list[Foretold]:
    """Each other side against the first."""
    base, *others = case.sides
    first = next(side for side in result["sides"] if side["name"] == base.name)
    return [_foretold(case, other, first, result["ratios"][other.name], basis) for other in others]


def _foretold(
    case: ServerCase, other: Side, first: Mapping[str, Any], measured: Sequence[float], basis: AdviceBasis
) -> Foretold:
    base, seen = case.sides[0], first["seen"]
    # What is taken off must be of the same moment: what a census saw of processes, if there are any.
    together = base.launches_processes and "cpu_s" in seen["census"]
    base_ns = (seen["census"]["cpu_s"] if together else first["cpu_s"][0]) * 1e9
    made = Foretold(base.name, other.name, measured, base_ns=base_ns)
    try:
        if base.launches != "per request":
            saved = _now_and_then(seen, basis)
            left_ns = max(base_ns - sum(part.ns for part in saved.values()), 0.0)
            return replace(made, ratio=left_ns / base_ns, parts=saved)
        observed = _observed(case, base, seen, base_ns, basis)
        other_wish = _wish(observed.settled.wish, case, other)
        drawn = _costs(other, other_wish, observed.settled.basis)
        # Where the work was seen on connections that stay, it is right for those as it is, even below nothing.
        stays = "kept" in seen and other_wish.connections == KEPT
        work_ns = observed.work_ns if stays or not observed.parts else max(0.0, observed.work_ns)
        # Nothing is taken off here: what the other design takes stands beside what the first one took in the rounds.
        first_ns = first["cpu_s"][0] * 1e9
        spread = [(costs.cpu_ns + work_ns) / first_ns for costs in drawn]
        return replace(
            made,
            ratio=(_middle(other, other_wish, observed.settled.basis).cpu_ns + work_ns) / first_ns,
            span=span_of(spread),
            parts=observed.parts,
            work_is_least=observed.work_is_least,
            by_stated=_by_stated(case, base, other, first_ns, basis),
        )
    except KeyError as error:
        return replace(made, reason=f"{error.args[0]} is not known")


@dataclass(frozen=True)
class _Observed:
    """What is seen of the first side: its terms, and what its requests do themselves."""

    settled: Settled
    work_ns: float
    parts: Mapping[str, Part]
    work_is_least: bool = False


def _wish(wish: Wish, case: ServerCase, side: Side) -> Wish:
    connections = side.connections or case.connections
    return replace(wish, connections=connections, workers=max(1, side.workers), work_ns=0.0)


def _observed(case: ServerCase, base: Side, seen: Mapping[str, Any], base_ns: float, basis: AdviceBasis) -> _Observed:
    wish = _wish(Wish(rate_hz=_RATE_HZ, language=case.language), case, base)
    if not base.launches_processes:
        work_ns = base_ns - _middle(base, wish, basis).cpu_ns
        return _Observed(Settled(wish, basis), work_ns, {})
    wish = _with_children(wish, seen)
    work_ns, is_least = _work(case, base, seen, basis)
    settled = settle(replace(wish, work_ns=max(0.0, work_ns)), basis, known=["work_ns"])
    # The work stands in a part of its own.
    costs = _middle(base, replace(settled.wish, work_ns=0.0), settled.basis)
    parts: dict[str, Part] = {}
    for part in costs.parts:
        before = parts.get(part.name, Part(0.0, ""))
        parts[part.name] = Part(before.ns + part.ns, how_known(part.terms, settled.wish, _SEEN))
    parts[WORK] = Part(max(0.0, work_ns), f"{OBSERVED}, at least" if is_least else OBSERVED)
    parts[BESIDE] = Part(base_ns - sum(part.ns for part in parts.values()), OBSERVED)
    return _Observed(settled, work_ns, parts, is_least)


_SEEN = ("child_cpu_ns", "child_faults", "parent_faults", "child_start_ns", "fork_call_ns")


def _with_children(wish: Wish, seen: Mapping[str, Any]) -> Wish:
    """What the census sees of each process, and `predict` of the server's memory."""
    way = _way(seen["census"])
    own_faults = seen["census"].get("own_faults")
    return replace(
        wish,
        child_cpu_ns=way["cpu_median_ns"],
        child_faults=round(way["minor_faults_median"]),
        child_launch="spawn" if 2 * way.get("execed", 0) > way.get("created", 1) else "fork",
        parent_faults=None if own_faults is None else round(own_faults),
        fork_call_ns=way["making_median_ns"],
        memory_bytes=seen["predict"].get("features", {}).get("anon_pages", 0) * _PAGE_BYTES,
    )


def _work(case: ServerCase, base: Side, seen: Mapping[str, Any], basis: AdviceBasis) -> tuple[float, bool]:
    """CPU time of a request itself in the first side, and whether it may be more.

    Where a connection may have several requests, it is what each more of them takes, less a small server's. Else a
    child shows its work only together with its start.
    """
    if "kept" in seen:
        kept = replace(_wish(Wish(rate_hz=_RATE_HZ), case, base), connections="kept")
        # Less than a small server takes, at its price of another moment, is less than nothing.
        return seen["kept"]["cpu_s"] * 1e9 - _middle(base, kept, basis).cpu_ns, False
    return 0.0, True


def _now_and_then(seen: Mapping[str, Any], basis: AdviceBasis) -> dict[str, Part]:
    """What processes that are made now and then cost each request, pages that the server copies meanwhile included."""
    census = seen["census"]
    way = _way(census)
    each = way["created"] / census["seconds"] / census["requests_per_s"]
    own_faults = census.get("own_faults") or 0.0
    # Of the same time as all that is taken off it: a process may outlive the census.
    children_ns = census["children_cpu_s"] * 1e9
    price = basis.terms.get("parent_page")
    if price is None:
        raise KeyError("the price of a page that the parent copies")
    return {
        "launch call": Part(each * way["making_median_ns"], OBSERVED),
        "all that its processes do": Part(children_ns, OBSERVED),
        "pages that the parent copies": Part(own_faults * price.value, f"{OBSERVED} × cow.parent"),
    }


def _by_stated(case: ServerCase, base: Side, other: Side, base_ns: float, basis: AdviceBasis) -> float | None:
    """The ratio by what the designs cost small servers in C."""
    bare = Wish(rate_hz=_RATE_HZ)
    try:
        costs_ns = [_middle(side, _wish(bare, case, side), basis).cpu_ns for side in (base, other)]
    except KeyError:
        return None
    return max((base_ns - costs_ns[0] + costs_ns[1]) / base_ns, 0.0)


def _middle(side: Side, wish: Wish, basis: AdviceBasis) -> Costs:
    """What a request costs a design besides its work."""
    return _costs_with(side, wish, {name: span.value for name, span in _spans(side, wish, basis).items()})


def _costs(side: Side, wish: Wish, basis: AdviceBasis) -> list[Costs]:
    """The same by terms that are drawn from their intervals."""
    return [_costs_with(side, wish, values) for values in draws(_spans(side, wish, basis), DRAWS, 1)]


def _spans(side: Side, wish: Wish, basis: AdviceBasis) -> Mapping[str, TermSpan]:
    spans = basis.spans(wish)
    missing = lacking(design_named(side.design), wish, spans)
    if missing:
        raise KeyError(f"the price of {missing[0]}")
    return spans


def _costs_with(side: Side, wish: Wish, values: Mapping[str, float]) -> Costs:
    return costs_of(design_named(side.design), wish, values)


def _way(census: Mapping[str, Any]) -> Mapping[str, Any]:
    way: Mapping[str, Any] | None = census.get("ways", {}).get("fork")
    if way is None or way["minor_faults_median"] is None or way["cpu_median_ns"] is None:
        raise KeyError("what its tasks used")
    return way


def words_of(parts: Mapping[str, Part]) -> list[tuple[str, str, str]]:
    """The rows of a table: each part, its time, and how it is known."""
    return [(name, format_duration(part.ns), part.known or MEASURED) for name, part in parts.items()]
