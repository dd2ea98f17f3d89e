"""What a request costs a design, part by part, and the queue that follows from that."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from clonometer.advice.designs import LACKS, ServerDesign
from clonometer.advice.queueing import QueueStage, Server, Station
from clonometer.advice.wish import KEPT, LEAST_REQUEST_BYTES, LEAST_RESPONSE_BYTES, Wish

SMALL_PAGE_BYTES = 4096
#: Where a part is paid: by the task that accepts, by the one that answers, or after the client has its answer.
Place = Literal["acceptor", "worker", "after"]
#: TermValues of terms by name (`clonometer.advice.terms.Terms`).
TermValues = Mapping[str, float]
#: The design that does all in one task: what others take more is measured against it.
BASE = "inline"
#: The part that another language adds.
RUNTIME = "runtime's launch"
#: The rates at which designs are measured: a server that hardly sleeps finds its caches warm, and takes less.
SLOW_HZ, BUSY_HZ = 500.0, 4000.0
#: So begin the names of terms at the higher rate.
BUSY = "busy."
#: What the parent's memory adds to fork's call, and to the end of its child.
FORK_MEMORY = ("fork_memory_call", "fork_memory_exit")
#: What each new process needs for itself beside its request: stated, or worked out from what was observed.
CHILD_START = "child_start"
#: What the server's fork takes beyond a small server's with as much memory.
FORK_REST = "fork_rest"
#: Parts that the processes of a real server have more than those of a small one.
FAULTS, FREED, START, COPIED_BY_PARENT, CALL_REST = CHILD_PARTS = (
    "page faults of the child",
    "freeing the child's pages",
    "start of work of the child",
    "pages that the parent copies",
    "mappings, files and all else that fork copies",
)
#: What a fork takes its caller.
CALL_PARTS = LAUNCH_CALL, COPYING_TABLES = "launch call", "copying page tables"
HAND_OVER, CONNECTION = "runtime's hand-over", "runtime's connection"
#: What a wait for something else costs: to go to sleep and to be woken, and how late that is.
WAKING, WAKING_TERM, LATE_TERM = "sleeping and waking", "cpu.wait", "latency.wait"
_READS_AND_ANSWERS = ("connection", "read and answer")


@dataclass(frozen=True)
class RequestPart:
    """A part of what a request costs, in CPU time; ``terms`` are those that it rests on."""

    name: str
    ns: float
    place: Place
    terms: tuple[str, ...]


@dataclass(frozen=True)
class Costs:
    """What a request costs a design: CPU time in parts, and what its client waits besides (network, wake-ups)."""

    parts: Sequence[RequestPart]
    path_ns: float
    #: How much later than due a task goes on that has waited for something.
    late_ns: float = 0.0

    @property
    def cpu_ns(self) -> float:
        """The parts' sum: all CPU time but the work itself."""
        return sum(part.ns for part in self.parts)

    def at(self, place: Place) -> float:
        """The sum of what is paid at a place."""
        return sum(part.ns for part in self.parts if part.place == place)

    def wait_ns(self, wish: Wish) -> float:
        """How long a request waits for something else, until its task goes on."""
        return wish.block_ns and wish.block_ns + self.late_ns

    def worker_around(self, wish: Wish) -> tuple[float, float]:
        """What is paid by the task that answers, before and after it waits for something; never below nothing."""
        # Differences of terms that are nearly nothing may be drawn below it.
        whole_ns = max(self.at("worker"), 0.0)
        if not wish.block_ns:
            return whole_ns, 0.0
        # It reads before, and answers after: half of the connection each, an assumption, which the answer states.
        answering_ns = sum(part.ns for part in self.parts if part.name in _READS_AND_ANSWERS) / 2
        waking_ns = sum(part.ns for part in self.parts if part.name == WAKING)
        then_ns = min(max(answering_ns + waking_ns, 0.0), whole_ns)
        return whole_ns - then_ns, then_ns


def term_name(kind: str, design: str, wish: Wish) -> str:
    """Name a term that was measured of a whole server without work: its CPU time or its latency.

    Of all designs but the simplest it is what they take more than that: measured in turn, the difference is more
    certain than either.
    """
    above = "" if design == BASE else "_above"
    return f"{kind}{above}.{design}.{wish.connections}.{wish.transport}"


def makes_processes(design: ServerDesign, wish: Wish) -> bool:
    """Whether each request has a process of its own."""
    return design.launch in ("fork", "spawn") and wish.connections == "per_request"


def hand_over_term(language: str) -> str:
    """Name the term of handing a request to another thread and back in a language, above the same in C."""
    return f"{language}.hand_over"


def connection_term(language: str) -> str:
    """Name the term of accepting a connection, answering and closing it in a language, above the same in C."""
    return f"{language}.connection"


def copies_memory(design: ServerDesign, wish: Wish) -> bool:
    """Whether each request copies the page tables of the server's memory."""
    return design.launch == "fork" and wish.connections == "per_request" and wish.memory_bytes > 0


def unfit(design: ServerDesign, wish: Wish) -> str:
    """Say why a design cannot be what is wished, whatever it costs; empty where it can."""
    if wish.isolation not in design.gives:
        return f"no isolation of {wish.isolation}: {LACKS[wish.isolation]}"
    if wish.connections == KEPT and design.shape == "single":
        return "stays with one kept connection, and answers no other"
    return ""


def lacking(design: ServerDesign, wish: Wish, values: Collection[str]) -> list[str]:
    """Name the terms without which nothing can be told about a design."""
    needed = [term_name(kind, name, wish) for kind in ("cpu", "latency") for name in {BASE, design.id}]
    if design.launch and wish.connections == "per_request":
        needed += [f"{stage}.{design.launch}" for stage in ("call", "runs", "whole")]
        needed += [f"{wish.language}.{design.launch}"] if _adds_runtime(design, wish) else []
    needed += [WAKING_TERM, LATE_TERM] if wish.block_ns else []
    needed += ["byte_in"] if wish.request_bytes > LEAST_REQUEST_BYTES else []
    needed += ["byte_out"] if wish.response_bytes > LEAST_RESPONSE_BYTES else []
    needed += [_page_term(design, wish)[0]] if wish.written_bytes else []
    if copies_memory(design, wish):
        needed += FORK_MEMORY
    if makes_processes(design, wish) and wish.tells_of(design.launch):
        needed += [_page_term(design, wish)[0], "freed_page"] if wish.child_faults else []
        needed += ["parent_page"] if wish.parent_faults and design.launch == "fork" else []
    return sorted(name for name in needed if name not in values)


def costs_of(design: ServerDesign, wish: Wish, values: TermValues) -> Costs:
    """Put together what a request costs a design, at the rate that is wished.

    Raises
    ------
    KeyError
        If a term is missing (`lacking`).
    """
    slow, share = _costs_at(design, wish, values), busy_share(wish.rate_hz)
    often = {name.removeprefix(BUSY): value for name, value in values.items() if name.startswith(BUSY)}
    if not share or not often:
        return slow
    busy = _costs_at(design, wish, {**values, **often})
    parts = [
        replace(seldom, ns=_between(seldom.ns, frequent.ns, share))
        for seldom, frequent in zip(slow.parts, busy.parts, strict=True)
    ]
    # The way stays: at the higher rate requests meet each other, and latencies say little of it.
    return replace(slow, parts=parts)


def busy_share(rate_hz: float) -> float:
    """How far a rate is from the one at which designs were measured slowly to the other, on the logarithm: 0 to 1."""
    return min(1.0, max(0.0, math.log(rate_hz / SLOW_HZ) / math.log(BUSY_HZ / SLOW_HZ)))


def _between(slow: float, busy: float, share: float) -> float:
    return slow + share * (busy - slow)


def _costs_at(design: ServerDesign, wish: Wish, values: TermValues) -> Costs:
    whole = term_name("cpu", design.id, wish)
    base = term_name("cpu", BASE, wish)
    idle = [*_connection(design, values[base], base), *_launching(design, wish, values, whole)]
    # The latency was measured in C.
    before = [part.ns for part in idle if part.place != "after" and part.name != RUNTIME]
    path_ns = values[term_name("latency", BASE, wish)] - sum(before)
    if design.id != BASE:
        path_ns += values[term_name("latency", design.id, wish)]
    real = [*_children(design, wish, values), *_of_runtime(design, wish, values)]
    waking = [RequestPart(WAKING, values[WAKING_TERM], "worker", (WAKING_TERM,))] if wish.block_ns else []
    late_ns = max(0.0, values[LATE_TERM]) if wish.block_ns else 0.0
    parts = [*idle, *real, *waking, *_memory(design, wish, values), *_data(wish, values)]
    return Costs(parts, path_ns, late_ns)


def _connection(design: ServerDesign, ns: float, term: str) -> list[RequestPart]:
    if not design.has_acceptor:
        return [RequestPart("connection", ns, "worker", (term,))]
    # Who accepts pays for half: an assumption, which the answer states.
    return [
        RequestPart("accept", ns / 2, "acceptor", (term,)),
        RequestPart("read and answer", ns / 2, "worker", (term,)),
    ]


def _launching(design: ServerDesign, wish: Wish, values: TermValues, whole: str) -> list[RequestPart]:
    """What a design needs above one process that does all: launches, or handing over."""
    if design.id == BASE:
        return []
    above_ns = values[whole]
    terms = (whole,)
    if not design.launch or wish.connections != "per_request":
        if not design.has_acceptor:
            return [RequestPart("hand-over", above_ns, "worker", terms)]
        return [RequestPart("hand-over", above_ns / 2, place, terms) for place in ("acceptor", "worker")]
    names = {stage: f"{stage}.{design.launch}" for stage in ("call", "runs", "whole")}
    call_ns, runs_ns, whole_ns = (values[name] for name in names.values())
    if design.launch == "spawn":
        # The caller waits for the new program's start; on one CPU, for its whole life.
        call_ns = runs_ns
    # A launch in a server may cost less than one alone: threads that nobody joins.
    share = min(1.0, max(0.0, above_ns) / whole_ns)
    return [
        RequestPart(LAUNCH_CALL, share * call_ns, "acceptor", (names["call"],)),
        RequestPart("start of the task", share * (runs_ns - call_ns), "worker", (names["runs"], names["call"])),
        RequestPart("end of the task", share * (whole_ns - runs_ns), "after", (names["whole"], names["runs"])),
        RequestPart("first steps of the task", above_ns - share * whole_ns, "worker", (*terms, names["whole"])),
        *_runtime(design, wish, values),
    ]


def _adds_runtime(design: ServerDesign, wish: Wish) -> bool:
    """Whether a launch in the language takes more than what is counted anyway.

    What a forked child of the language does is in its faults, its start and the pages that the parent copies: where any
    is known, the language's fork is counted there. What a program or a thread takes more is its caller's.
    """
    return wish.language != "c" and not (design.launch == "fork" and _knows_children(design, wish))


def _knows_children(design: ServerDesign, wish: Wish) -> bool:
    figures = (wish.child_faults, wish.child_start_ns, wish.child_cpu_ns)
    return wish.tells_of(design.launch) and any(figure is not None for figure in figures)


def _runtime(design: ServerDesign, wish: Wish, values: TermValues) -> list[RequestPart]:
    """What a launch costs more in another language than in C."""
    term = f"{wish.language}.{design.launch}"
    return [RequestPart(RUNTIME, values[term], "worker", (term,))] if _adds_runtime(design, wish) else []


def _children(design: ServerDesign, wish: Wish, values: TermValues) -> list[RequestPart]:
    """What the process of each request costs a real server more than a small one: faults, its start, pages copied."""
    if not makes_processes(design, wish) or not wish.tells_of(design.launch):
        return []
    parts = []
    if wish.child_faults:
        term, _ = _page_term(design, wish)
        # The small server's children have faults too, and pages that a request writes to are counted by themselves.
        more = max(0.0, wish.child_faults - values.get(f"faults.{design.id}", 0.0) - _pages_written(wish))
        parts.append(RequestPart(FAULTS, more * values[term], "worker", (term,)))
        parts.append(RequestPart(FREED, more * values["freed_page"], "after", ("freed_page",)))
    start_ns = values.get(CHILD_START, wish.child_start_ns or 0.0)
    if start_ns:
        parts.append(RequestPart(START, start_ns, "worker", (CHILD_START,)))
    if wish.parent_faults and design.launch == "fork":
        copied_ns = wish.parent_faults * values["parent_page"]
        parts.append(RequestPart(COPIED_BY_PARENT, copied_ns, "acceptor", ("parent_page",)))
    if FORK_REST in values and design.launch == "fork":
        parts.append(RequestPart(CALL_REST, values[FORK_REST], "acceptor", (FORK_REST,)))
    return parts


def _of_runtime(design: ServerDesign, wish: Wish, values: TermValues) -> list[RequestPart]:
    """What a language takes more than C to serve a connection, and to hand a request to a thread."""
    parts = []
    term = connection_term(wish.language)
    if wish.connections == "per_request" and term in values:
        places: Sequence[Place] = ("acceptor", "worker") if design.has_acceptor else ("worker",)
        parts = [RequestPart(CONNECTION, values[term] / len(places), place, (term,)) for place in places]
    term = hand_over_term(wish.language)
    if design.hands_to_threads and term in values:
        parts.append(RequestPart(HAND_OVER, values[term], "worker", (term,)))
    return parts


def _pages_written(wish: Wish) -> int:
    return math.ceil(wish.written_bytes / SMALL_PAGE_BYTES)


def _memory(design: ServerDesign, wish: Wish, values: TermValues) -> list[RequestPart]:
    """What the parent's memory costs: copying the page tables, freeing them, and pages that a request writes to."""
    parts = []
    if copies_memory(design, wish):
        call, end = FORK_MEMORY
        parts = [
            RequestPart(COPYING_TABLES, values[call], "acceptor", (call,)),
            RequestPart("freeing page tables", values[end], "after", (end,)),
        ]
    if wish.written_bytes:
        term, name = _page_term(design, wish)
        parts.append(RequestPart(name, _pages_written(wish) * values[term], "worker", (term,)))
    return parts


def _page_term(design: ServerDesign, wish: Wish) -> tuple[str, str]:
    """What a page that a request writes to costs, and what that is.

    A forked child copies it, a new program gets a new one, and whoever stays has it already.
    """
    if design.launch in ("fork", "spawn") and wish.connections == "per_request":
        return ("copied_page", "copying pages") if design.launch == "fork" else ("fresh_page", "new pages")
    return "written_page", "writing to pages"


def _data(wish: Wish, values: TermValues) -> list[RequestPart]:
    """What data cost beyond those with which the designs were measured."""
    both = (
        ("reading data", wish.request_bytes - LEAST_REQUEST_BYTES, "byte_in"),
        ("writing data", wish.response_bytes - LEAST_RESPONSE_BYTES, "byte_out"),
    )
    return [RequestPart(name, more * values[term], "worker", (term,)) for name, more, term in both if more > 0]


def server_of(design: ServerDesign, wish: Wish, costs: Costs, slice_ns: float) -> Server:
    """Make the queue of a design."""
    acceptor_ns, after_ns = (max(costs.at(place), 0.0) for place in ("acceptor", "after"))
    before_ns, then_ns = costs.worker_around(wish)
    worker = QueueStage(0, before_ns, wish.work_ns, costs.wait_ns(wish), answers=True, then_ns=then_ns)
    match design.shape:
        case "single":
            stations, stages = [Station(1)], [worker]
        case "loops":
            stations, stages = [Station(1, copies=wish.cpus)], [worker]
        case "pool" if not design.has_acceptor:
            stations, stages = [Station(wish.workers)], [worker]
        case _:
            tasks = 0 if design.shape == "task_each" else wish.workers
            stations = [Station(1), Station(tasks)]
            stages = [QueueStage(0, acceptor_ns, hands_cpu=design.launch == "spawn"), _moved(worker, 1)]
    if after_ns:
        stages = [*stages, QueueStage(len(stations) - 1, after_ns)]
    return Server(stations, stages, wish.cpus, slice_ns)


def _moved(stage: QueueStage, station: int) -> QueueStage:
    return replace(stage, station=station)
