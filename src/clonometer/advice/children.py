"""What each new process of a real server costs besides its launch: what is known of that, and what is not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from clonometer.advice.basis import AdviceBasis
from clonometer.advice.costs import (
    CALL_PARTS,
    CHILD_START,
    FORK_REST,
    connection_term,
    costs_of,
    hand_over_term,
    lacking,
    makes_processes,
)
from clonometer.advice.designs import DESIGNS, ServerDesign, design_named
from clonometer.advice.drawing import DRAWS, draws, span_of
from clonometer.advice.terms import Term, TermSpan
from clonometer.advice.wish import Wish

#: How a figure is known.
MEASURED, OBSERVED, STATED, UNKNOWN = KINDS = ("measured", "observed", "stated", "unknown")
_C = "c"
_START, _UNMEASURED = "its start of work", "not measured here"


@dataclass(frozen=True)
class UnknownTerm:
    """A part of what designs cost a real server, of which nothing is known: they take more than is said."""

    name: str
    designs: Annotated[Sequence[str], "Those that have it."]
    how: Annotated[str, "What would tell it."]


@dataclass(frozen=True)
class Settled:
    """A wish with all that could be worked out, and what that rests on."""

    wish: Wish
    basis: AdviceBasis
    #: Whether the work is what is left of a child's CPU time, its start included.
    work_has_start: bool = False


def settle(wish: Wish, basis: AdviceBasis, known: Collection[str], seed: int = 1) -> Settled:
    """Divide the CPU time that each process of the running server uses: launch, faults and tear-down have their prices.

    What is left is the work of its request, and its start. If one of them is known (``known`` names fields of the wish
    that are stated or observed), the other follows. If neither is, all of it is work. What the server's fork takes
    beyond its price is known where the fork was timed.
    """
    fork_rest = _fork_rest(wish, basis, seed)
    as_stated = Settled(wish, replace(basis, stated=_stated(wish) | fork_rest))
    design = design_named(wish.child_launch)
    both_known = "work_ns" in known and wish.child_start_ns is not None
    if wish.child_cpu_ns is None or both_known or not makes_processes(design, wish):
        return as_stated
    bare = replace(wish, work_ns=0.0, child_start_ns=None)
    spans = basis.spans(bare)
    if lacking(design, bare, spans):
        return as_stated
    left = _left(design, bare, spans, seed)
    if "work_ns" in known:
        start = TermSpan(*(end - wish.work_ns for end in (left.value, left.low, left.high)))
        wish = replace(wish, child_start_ns=max(0.0, round(start.value, -3)))
        return Settled(wish, replace(basis, stated={CHILD_START: Term(start, OBSERVED), **fork_rest}))
    work_ns = max(0.0, round(left.value - (wish.child_start_ns or 0.0), -3))
    return replace(as_stated, wish=replace(wish, work_ns=work_ns), work_has_start=wish.child_start_ns is None)


def _stated(wish: Wish) -> dict[str, Term]:
    start_ns = wish.child_start_ns
    return {} if start_ns is None else {CHILD_START: Term(TermSpan(start_ns, start_ns, start_ns), STATED)}


def _fork_rest(wish: Wish, basis: AdviceBasis, seed: int) -> dict[str, Term]:
    """What the server's fork takes beyond the price of a small server's with as much memory."""
    fork = design_named("fork")
    if wish.fork_call_ns is None or not makes_processes(fork, wish):
        return {}
    spans = basis.spans(wish)
    if lacking(fork, wish, spans):
        return {}
    calls_ns = [
        sum(part.ns for part in costs_of(fork, wish, values).parts if part.name in CALL_PARTS)
        for values in draws(spans, DRAWS, seed)
    ]
    return {FORK_REST: Term(span_of([wish.fork_call_ns - each_ns for each_ns in calls_ns]), OBSERVED)}


def _left(design: ServerDesign, bare: Wish, spans: dict[str, TermSpan], seed: int) -> TermSpan:
    """What a process of the running server uses beside what has a price."""
    assert bare.child_cpu_ns is not None
    costs = [costs_of(design, bare, values) for values in draws(spans, DRAWS, seed)]
    return span_of([bare.child_cpu_ns - each.at("worker") - each.at("after") for each in costs])


def how_known(terms: Sequence[str], wish: Wish, seen: Collection[str]) -> str:
    """Say how the size of a part is known: what it rests on was measured, and how often was observed or stated."""
    fields = {
        "copied_page": "child_faults" if wish.child_faults is not None else "written_bytes",
        "freed_page": "child_faults",
        "fresh_page": "child_faults" if wish.child_faults is not None else "written_bytes",
        "parent_page": "parent_faults",
        CHILD_START: "child_start_ns",
        FORK_REST: "fork_call_ns",
    }
    counted = [field for term, field in fields.items() if term in terms]
    if not counted:
        return MEASURED
    if CHILD_START in terms and wish.child_cpu_ns is not None:
        counted.append("child_cpu_ns")
    return OBSERVED if any(field in seen for field in counted) else STATED


def unknown_terms(wish: Wish, basis: AdviceBasis, *, work_has_start: bool) -> Iterator[UnknownTerm]:
    """Name what real servers pay and nobody has said or seen of this one."""
    makers = [design for design in DESIGNS if makes_processes(design, wish)]
    asked = (
        (_START, wish.child_start_ns, "--child-start"),
        ("its page faults", wish.child_faults, "--child-faults"),
    )
    for name, value, option in asked:
        lack = [each.id for each in makers if value is None or not wish.tells_of(each.launch)]
        if lack:
            how = "--work, or --child-start" if work_has_start and name == asked[0][0] else option
            yield UnknownTerm(name, lack, how)
    forks = [each.id for each in makers if each.launch == "fork"]
    if forks and wish.parent_faults is None:
        yield UnknownTerm("pages that the server copies after each fork", forks, "--parent-faults")
    if wish.language != _C and hand_over_term(wish.language) not in basis.terms.terms:
        pools = [each.id for each in DESIGNS if each.hands_to_threads]
        yield UnknownTerm(f"what {wish.language} takes to hand a request to a thread", pools, _UNMEASURED)
    lacks_connection = wish.language != _C and connection_term(wish.language) not in basis.terms.terms
    if lacks_connection and wish.connections == "per_request":
        every = [each.id for each in DESIGNS]
        yield UnknownTerm(f"what {wish.language} takes more than C to serve a connection", every, _UNMEASURED)


def say_unknown(unknown: Sequence[UnknownTerm], shown: Collection[str], *, work_has_start: bool) -> list[str]:
    """Say first what an answer does not contain, if it concerns designs that are shown."""
    texts = []
    named = [each for each in unknown if set(each.designs) & set(shown)]
    # A start that counts as work is in all designs, and has a sentence of its own.
    starts = [_START] if work_has_start else []
    of_child = [each for each in named if each.how != _UNMEASURED and each.name not in starts]
    if of_child:
        options = ", ".join(f"{each.name} ({each.how})" for each in of_child)
        texts.append(
            f"Not known of this server: {options}. With real children fork and posix_spawn take more than this "
            "table says; a small server in C takes as much. --pid observes a server that runs."
        )
    if work_has_start:
        texts.append(
            "What each child does at its start is counted as work of its request, which other designs would do too: "
            "without children a request may take far less. State --work, or --child-start."
        )
    return [*texts, *(f"Not known: {each.name}." for each in named if each.how == _UNMEASURED)]
