"""A server under an open load, simulated request by request: stations with tasks, which share a few CPUs.

A request passes through stages. In each it occupies a task of a station, needs CPU time, and may then block, which
keeps the task and frees the CPU. Tasks that are ready wait in one queue for all CPUs, and run for at most a slice while
others wait. With slices longer than any stage that is first come, first served. With very short ones it is processor
sharing, in which the mean depends on nothing but the load.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from clonometer.advice.uniform import exponential, uniform

POISSON, CONSTANT = "poisson", "constant"
#: A part of the requests comes first, while queues fill.
_WARM_UP = 0.1
#: Less CPU time than this is none: sums of floating numbers end beside zero.
_NOTHING_NS = 1e-3


@dataclass(frozen=True)
class Station:
    """A group of tasks that take requests in order.

    ``tasks`` of 0: each request has its own. ``copies``: as many such groups, of which a request meets one at random.
    """

    tasks: int = 1
    copies: int = 1


@dataclass(frozen=True)
class QueueStage:
    """What a request needs in one task: CPU time, work that may vary from request to request, and time blocked."""

    station: int
    cpu_ns: float
    work_ns: float = 0.0
    block_ns: float = 0.0
    #: CPU time when it goes on after it was blocked; without a block it is needed all the same.
    then_ns: float = 0.0
    #: Whether the client has its answer when the stage ends; what follows is tidying up.
    answers: bool = False
    #: Whether the next stage goes on at once on the same CPU, as a program does for which its starter has waited.
    hands_cpu: bool = False


@dataclass(frozen=True)
class Server:
    """A design of a server on a machine: stations, the stages of each request, and CPUs."""

    stations: Sequence[Station]
    stages: Sequence[QueueStage]
    cpus: int = 1
    #: How long a task runs while others are ready.
    slice_ns: float = float("inf")

    @property
    def cpu_ns(self) -> float:
        """CPU time of a request."""
        return sum(stage.cpu_ns + stage.work_ns + stage.then_ns for stage in self.stages)

    def utilisation(self, rate_hz: float) -> float:
        """The share of its capacity that a rate needs, of CPUs or of the station that is busiest; above 1: too much."""
        per_ns = rate_hz / 1e9
        shares = [self.cpu_ns * per_ns / self.cpus]
        for number, station in enumerate(self.stations):
            if station.tasks:
                held = sum(
                    stage.cpu_ns + stage.work_ns + stage.block_ns + stage.then_ns
                    for stage in self.stages
                    if stage.station == number
                )
                shares.append(held * per_ns / (station.tasks * station.copies))
        return max(shares)


@dataclass(frozen=True)
class Load:
    """Requests at a rate, from an open loop: they come whether or not earlier ones have their answers."""

    rate_hz: float
    requests: int
    seed: int = 1
    arrivals: str = POISSON
    #: Whether the work of a request is drawn from an exponential distribution with the stated mean.
    work_varies: bool = False


def latencies_ns(server: Server, load: Load) -> list[float]:
    """Simulate requests, and give for each how long it waited for its answer, in the order in which they came.

    The first tenth, while queues fill, is left out.
    """
    return _Simulation(server, load).run()


@lru_cache(maxsize=64)
def _drawn(requests: int, seed: int, arrivals: str, work_varies: bool) -> tuple[list[float], list[float], list[float]]:
    """Draw when requests come, in mean gaps, how their work varies, and which copy of a station they meet.

    All designs meet the same requests.
    """
    draw = uniform(seed)
    came, varied, lot = [], [], []
    now = 0.0
    for _ in range(requests):
        now += exponential(draw) if arrivals == POISSON else 1.0
        came.append(now)
        varied.append(exponential(draw) if work_varies else 1.0)
        lot.append(draw())
    return came, varied, lot


class _Simulation:
    """The state of one simulation; requests are numbers."""

    def __init__(self, server: Server, load: Load) -> None:
        first = [0]
        for station in server.stations:
            first.append(first[-1] + station.copies)
        #: Of each stage its first group of tasks and the number of such, times, whether it answers or hands its CPU
        #: on, and what it does after a block.
        self._stages = [
            (
                first[stage.station],
                server.stations[stage.station].copies,
                stage.cpu_ns,
                stage.work_ns,
                stage.block_ns,
                stage.answers,
                stage.hands_cpu,
                stage.then_ns,
            )
            for stage in server.stages
        ]
        #: Tasks of each group that wait for requests; -1: there is always another.
        self._free = [station.tasks or -1 for station in server.stations for _ in range(station.copies)]
        self._waiting: list[deque[int]] = [deque() for _ in self._free]
        self._slice_ns = server.slice_ns
        self._idle = server.cpus
        self._ready: deque[int] = deque()
        gap_ns = 1e9 / load.rate_hz
        came, self._varied, self._lot = _drawn(load.requests, load.seed, load.arrivals, load.work_varies)
        self._came = [each * gap_ns for each in came]
        self._stage = [0] * load.requests
        self._group = [0] * load.requests
        self._left = [0.0] * load.requests
        self._answered = [0.0] * load.requests
        #: What it still has to do in its stage when it goes on; below 0: it has been blocked.
        self._then = [0.0] * load.requests
        # When, in which order, which request, and how much of its slice the task has used; below 0: it was blocked.
        self._events: list[tuple[float, int, int, float]] = []
        self._number = 0

    def run(self) -> list[float]:
        came, events, count = self._came, self._events, len(self._came)
        enter, leave, ends, take = self._enter, self._leave, self._slice_ends, heapq.heappop
        following = 0
        while following < count or events:
            if following < count and (not events or came[following] <= events[0][0]):
                enter(following, came[following])
                following += 1
                continue
            now, _, request, used_ns = take(events)
            if used_ns >= 0:
                ends(request, now, used_ns)
            elif self._then[request] > _NOTHING_NS:
                self._left[request] = self._then[request]
                self._then[request] = -1.0
                self._becomes_ready(request, now)
            elif (successor := leave(request, now)) is not None:
                self._becomes_ready(successor, now)
        kept = range(int(count * _WARM_UP), count)
        return [self._answered[request] - came[request] for request in kept]

    def _enter(self, request: int, now: float) -> None:
        """Give it a task, or have it wait for one."""
        group, copies, cpu_ns, work_ns, block_ns, _, _, then_ns = self._stages[self._stage[request]]
        if copies > 1:
            group += int(self._lot[request] * copies)
        self._group[request] = group
        self._left[request] = cpu_ns + work_ns * self._varied[request] + (0.0 if block_ns else then_ns)
        self._then[request] = then_ns if block_ns else -1.0
        free = self._free[group]
        if free == 0:
            self._waiting[group].append(request)
            return
        if free > 0:
            self._free[group] = free - 1
        self._becomes_ready(request, now)

    def _becomes_ready(self, request: int, now: float) -> None:
        if self._idle:
            self._idle -= 1
            self._dispatch(request, now, 0.0)
        else:
            self._ready.append(request)

    def _dispatch(self, request: int, now: float, used_ns: float) -> None:
        """Have its task run on a CPU, for the rest of a slice at most."""
        left_ns, rest_ns = self._left[request], self._slice_ns - used_ns
        runs_ns = left_ns if left_ns <= rest_ns else rest_ns if rest_ns > 0 else 0.0
        self._left[request] = left_ns - runs_ns
        self._number += 1
        heapq.heappush(self._events, (now + runs_ns, self._number, request, used_ns + runs_ns))

    def _slice_ends(self, request: int, now: float, used_ns: float) -> None:
        if self._left[request] > _NOTHING_NS:
            if self._ready:
                self._ready.append(request)
                request = self._ready.popleft()
            self._dispatch(request, now, 0.0)
            return
        block_ns = self._stages[self._stage[request]][4]
        if block_ns and self._then[request] >= 0:
            self._number += 1
            heapq.heappush(self._events, (now + block_ns * self._varied[request], self._number, request, -1.0))
        elif self._stages[self._stage[request]][6]:
            self._hand_on(request, now, used_ns)
            return
        elif (successor := self._leave(request, now)) is not None:
            # The task goes on with the next request that waits for it, on the same CPU and in the same slice.
            self._dispatch(successor, now, used_ns)
            return
        if self._ready:
            self._dispatch(self._ready.popleft(), now, 0.0)
        else:
            self._idle += 1

    def _hand_on(self, request: int, now: float, used_ns: float) -> None:
        """Have the next stage take over the CPU; the task that it comes from waits for another."""
        self._idle += 1
        # What is ready waits: the CPU is not free.
        waiting, self._ready = self._ready, deque()
        successor = self._leave(request, now)
        self._ready = waiting
        if successor is not None:
            self._becomes_ready(successor, now)
        while self._ready and self._idle:
            self._becomes_ready(self._ready.popleft(), now)

    def _leave(self, request: int, now: float) -> int | None:
        """Free its task, and have it enter the next stage; gives the request that takes over the task."""
        group, stage = self._group[request], self._stage[request]
        if self._stages[stage][5]:
            self._answered[request] = now
        successor = None
        if self._waiting[group]:
            successor = self._waiting[group].popleft()
        elif self._free[group] >= 0:
            self._free[group] += 1
        if stage + 1 < len(self._stages):
            self._stage[request] = stage + 1
            self._enter(request, now)
        return successor
