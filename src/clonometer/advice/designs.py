"""Designs of servers: how each handles a request, what it separates, and what a crash in it takes along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

#: How a design launches a task for each connection.
ConnectionLaunch = Literal["fork", "thread", "spawn"]
#: Who handles requests: one task, a task for each, tasks of a pool, or loops.
Shape = Literal["single", "task_each", "pool", "loops", "loop_and_pool"]


@dataclass(frozen=True)
class ServerDesign:
    """One way to build a server."""

    id: str
    #: What it is called in a table, and in a sentence.
    name: str
    title: str
    #: The workload that runs it here.
    workload: str
    shape: Shape
    #: What a crash in the code of one request takes along.
    crash: str
    #: The kinds of isolation that it gives (`clonometer.advice.wish.ISOLATIONS`).
    gives: frozenset[str]
    launch: ConnectionLaunch | None = None
    #: Whether a task accepts and others handle.
    has_acceptor: bool = False
    #: Whether tasks of its pool are processes.
    is_of_processes: bool = False

    @property
    def hands_to_threads(self) -> bool:
        """Whether a request is handed from one thread of the server to another that waits."""
        return self.shape in ("pool", "loop_and_pool") and self.has_acceptor and not self.is_of_processes

    @property
    def shares_memory(self) -> bool:
        """Whether threads of one process answer requests at the same time."""
        return self.launch == "thread" or self.hands_to_threads


_NONE = frozenset({"none"})
_WORKERS = _NONE | {"crash", "privileges"}
_ALL = _WORKERS | {"memory"}
#: Why a design does not give a kind of isolation.
LACKS = {
    "crash": "a crash takes other requests along",
    "memory": "requests share an address space, at once or one after the other",
    "privileges": "requests run with the privileges of the server",
}

DESIGNS: Sequence[ServerDesign] = (
    ServerDesign(
        "inline", "inline", "one process, one request at a time", "serve.inline", "single", "the server", _NONE
    ),
    ServerDesign(
        "fork",
        "fork",
        "a process for each connection (fork)",
        "serve.fork",
        "task_each",
        "this request alone",
        _ALL,
        "fork",
        has_acceptor=True,
        is_of_processes=True,
    ),
    ServerDesign(
        "spawn",
        "posix_spawn",
        "a program for each connection (posix_spawn)",
        "serve.spawn",
        "task_each",
        "this request alone",
        _ALL,
        "spawn",
        has_acceptor=True,
        is_of_processes=True,
    ),
    ServerDesign(
        "thread",
        "thread",
        "a thread for each connection",
        "serve.thread",
        "task_each",
        "the server with all requests in it",
        _NONE,
        "thread",
        has_acceptor=True,
    ),
    ServerDesign(
        "prefork",
        "prefork pool",
        "a pool of processes that accept",
        "serve.prefork",
        "pool",
        "this request; the worker restarts",
        _WORKERS,
        is_of_processes=True,
    ),
    ServerDesign(
        "thread_pool",
        "thread pool",
        "an acceptor and a pool of threads",
        "serve.thread_pool",
        "pool",
        "the server with all requests in it",
        _NONE,
        has_acceptor=True,
    ),
    ServerDesign(
        "event",
        "event loops",
        "event loops, one for each CPU",
        "serve.event",
        "loops",
        "a loop with all its connections; it restarts",
        _NONE,
        is_of_processes=True,
    ),
    ServerDesign(
        "event_pool",
        "loop and pool",
        "an event loop and a pool of threads",
        "serve.event_pool",
        "loop_and_pool",
        "the server with all requests in it",
        _NONE,
        has_acceptor=True,
    ),
    ServerDesign(
        "pass_fd",
        "passed sockets",
        "an acceptor that passes connections to processes",
        "serve.pass_fd",
        "pool",
        "this request; the worker restarts",
        _WORKERS,
        has_acceptor=True,
        is_of_processes=True,
    ),
)


def design_named(name: str) -> ServerDesign:
    """Give the design of an id."""
    return next(design for design in DESIGNS if design.id == name)
