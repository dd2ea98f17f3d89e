"""Hosts that measure nothing, in a time that passes as fast as events come: what befalls them is chosen, or drawn."""

from __future__ import annotations

import heapq
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clonometer.errors import RunFileError
from clonometer.fleet.controller import Controller, FleetJob
from clonometer.fleet.dispatch import Dispatch, HostAccount, RetryPolicy
from clonometer.fleet.hosts import Answered, HostConnected, HostEvent, HostLost
from clonometer.fleet.types import FleetRun
from clonometer.plan.cell import Cell
from clonometer.plan.types import Limits, Plan, Target
from clonometer.runner.interrupts import Interruption

CELL = Cell("launch.fork", "launch.fork", {}, None)
PLAN = Plan("small", "", 60.0, (Target("launch.fork", {}, (CELL,), Limits(processes=12)),))
#: What a host answers to one attempt: seconds until then, and the answer; None: never one.
Behaviour = Callable[[str, int, int], tuple[float, "bytes | None"]]


def answer(status: str = "ok", content: bytes = b"complete", reason: str | None = None, **more: Any) -> bytes:
    header = {"status": status, "reason": reason, "bytes": len(content), **more}
    return json.dumps(header).encode() + b"\n" + content


@dataclass
class SimulatedHosts:
    """Reaches hosts of which ``behaviour`` says what they do; ``events`` come at their times besides."""

    behaviour: Behaviour
    events: list[tuple[float, HostEvent]]
    now_s: float = 0.0
    started: list[tuple[float, str, int]] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    most_at_once: int = 0
    _running: dict[str, str] = field(default_factory=dict)
    _queue: list[tuple[float, int, HostEvent]] = field(default_factory=list)

    def begin(self) -> None:
        for at_s, event in self.events:
            self._push(at_s, event)

    def start(self, host: str, request: dict[str, Any]) -> None:
        assert self._running.get(host) in (None, *self.stopped), "a host measures one shard at a time"
        json.dumps(request)
        self._running[host] = request["id"]
        self.most_at_once = max(self.most_at_once, len(self._running))
        round_, attempt = request["fleet"]["round"], request["fleet"]["attempt"]
        self.started.append((self.now_s, host, round_))
        seconds, given = self.behaviour(host, round_, attempt)
        if given is not None:
            self._push(self.now_s + seconds, Answered(host, round_, attempt, given))

    def stop(self, host: str, shard: str) -> None:
        self.stopped.append(shard)

    def next_event(self, timeout_s: float | None, interrupt_fd: int | None) -> HostEvent | None:
        if not self._queue or (timeout_s is not None and self._queue[0][0] > self.now_s + timeout_s):
            assert timeout_s is not None, "nothing will ever happen"
            self.now_s += timeout_s
            return None
        self.now_s, _, event = heapq.heappop(self._queue)
        if isinstance(event, Answered | HostLost):
            self._running.pop(event.host, None)
        return event

    def search_is_over(self) -> bool:
        return not any(isinstance(event, HostConnected) for _, _, event in self._queue)

    def end(self) -> None:
        self._queue.clear()

    def _push(self, at_s: float, event: HostEvent) -> None:
        heapq.heappush(self._queue, (at_s, len(self._queue) + 1000 * len(self.started), event))


class MemoryStore:
    """A folder in memory."""

    def __init__(self, **files: bytes) -> None:
        self.files: dict[str, bytes] = {name.replace("__", "-"): content for name, content in files.items()}

    def status_of(self, name: str) -> str | None:
        return self.files[name].decode() if name in self.files else None

    def put(self, name: str, content: bytes) -> bool:
        return self.files.setdefault(name, content) is content

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content

    @property
    def runs(self) -> list[str]:
        return sorted(name for name in self.files if name.endswith(".parquet"))


class Notes:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def changed(self, account: HostAccount, event: str) -> None:
        self.lines.append(f"{account.name}: {event}")

    def log(self, text: str) -> None:
        self.lines.append(text)


def check(content: bytes) -> str:
    if content not in (b"complete", b"partial"):
        raise RunFileError("rubbish")
    return content.decode()


@dataclass
class Simulation:
    hosts: SimulatedHosts
    store: MemoryStore
    notes: Notes
    run: FleetRun
    dispatch: Dispatch

    def host(self, name: str) -> Mapping[str, Any]:
        return next(vars(host) for host in self.run.hosts if host.host == name)


def simulate(
    behaviour: Behaviour,
    names: tuple[str, ...] = ("a", "b", "c"),
    *,
    events: tuple[tuple[float, HostEvent], ...] = (),
    rounds: int = 2,
    store: MemoryStore | None = None,
    wish: Any = None,
    seed: int = 1,
    **policy: Any,
) -> Simulation:
    came = [(0.0, HostConnected(name)) for name in names]
    hosts = SimulatedHosts(behaviour, [*came, *events])
    dispatch = Dispatch(rounds, seed, RetryPolicy(**policy))
    store, notes = store or MemoryStore(), Notes()
    job = FleetJob(PLAN, rounds, seed, ["clonometer"], "there")
    controller = Controller(job, dispatch, hosts, store, notes, clock=lambda: hosts.now_s, check=check)
    run = controller.run(wish or Interruption(-1, lambda: None))
    return Simulation(hosts, store, notes, run, dispatch)


def unlucky(seed: int) -> Behaviour:
    """Each attempt takes 15 to 40 s; now and then one fails, is lost, is busy, is damaged or never ends."""
    rng = random.Random(seed)

    def behave(host: str, round_: int, attempt: int) -> tuple[float, bytes | None]:
        seconds, luck = rng.uniform(15, 40), rng.random()
        for chance, given in (
            (0.03, answer("failed", b"", "no room on disk")),
            (0.06, answer("lost", b"", "the line broke")),
            (0.08, answer("busy", b"", "another fleet")),
            (0.09, answer(content=b"rubb")),
            (0.10, b"no JSON"),
            (0.12, None),
            (0.14, answer(content=b"partial", reason="cut", cut_short=True)),
        ):
            if luck < chance:
                return seconds, given
        return seconds, answer()

    return behave
