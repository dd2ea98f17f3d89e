"""What a server shall do: its requests, its memory, and what its owner wants of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from clonometer.errors import UsageError
from clonometer.records import Count, Ge, Gt, OneOf, Positive
from clonometer.results.latency_limit import QUANTILES as NAMED_QUANTILES
from clonometer.results.latency_limit import LatencyLimit
from clonometer.units import approximate_bytes, format_duration

ISOLATIONS = ("none", "crash", "memory", "privileges")
KEPT = "kept"
CONNECTIONS = ("per_request", KEPT)
TRANSPORTS = ("tcp", "unix")
#: Those of which a simulation of some thousand requests can tell.
QUANTILES = {name: NAMED_QUANTILES[name] for name in ("p50", "p90", "p99")}
#: How a server may make a process for each request.
CHILD_LAUNCHES = ("fork", "spawn")
#: What designs are ranked by.
ORDERS = ("p50", "p99", "cpu", "memory")
#: With so much data the designs were measured; less costs as much.
LEAST_REQUEST_BYTES, LEAST_RESPONSE_BYTES = 128, 1024
#: More cannot be asked of any machine, and would take simulations without end.
MOST_RATE_HZ = 1e7


@dataclass(frozen=True, kw_only=True)
class Wish:
    """The load of a server and what is wanted of its design."""

    rate_hz: Annotated[float, Gt(0), "Requests a second, which come at random (Poisson)."]
    work_ns: Annotated[float, Ge(0), "CPU time of a request's own work."] = 0.0
    block_ns: Annotated[float, Ge(0), "For how long a request waits for something else, without CPU."] = 0.0
    request_bytes: Annotated[Count, "What the client sends, with its head."] = LEAST_REQUEST_BYTES
    response_bytes: Annotated[Count, "What the server answers, with its head."] = LEAST_RESPONSE_BYTES
    memory_bytes: Annotated[Count, "Memory that the server's first process has written."] = 0
    written_bytes: Annotated[Count, "How much of that memory a request writes to."] = 0
    child_start_ns: Annotated[
        float | None, Ge(0), "CPU time that each new process needs for itself, beside its request; null: not known."
    ] = None
    child_faults: Annotated[Count | None, "Page faults of each new process; null: not known."] = None
    child_cpu_ns: Annotated[
        float | None,
        Ge(0),
        "All CPU time of each process of the server that runs, its request too; null: not known.",
    ] = None
    child_launch: Annotated[str, OneOf(CHILD_LAUNCHES), "How the processes are made that the child figures are of."] = (
        "fork"
    )
    parent_faults: Annotated[Count | None, "Pages that the server copies after each fork; null: not known."] = None
    fork_call_ns: Annotated[
        float | None, Ge(0), "What a fork takes the server that runs; null: calculated from its memory."
    ] = None
    isolation: Annotated[str, OneOf(ISOLATIONS)] = "none"
    language: str = "c"
    limit: LatencyLimit | None = None
    cpus: Annotated[Positive, "CPUs that the server may use."] = 1
    workers: Annotated[Positive, "Processes or threads of a pool."] = 4
    connections: Annotated[str, OneOf(CONNECTIONS), "Whether each request has a connection of its own."] = "per_request"
    transport: Annotated[str, OneOf(TRANSPORTS)] = "tcp"

    def tells_of(self, launch: str | None) -> bool:
        """Whether figures of children hold for this launch: a new program does at least what a forked child does."""
        return launch is not None and self.child_launch in (launch, "fork")

    @property
    def demand(self) -> float:
        """The CPUs that the work alone keeps busy."""
        return self.rate_hz * self.work_ns / 1e9


@dataclass(frozen=True)
class ServerMachine:
    """What limits a wish here."""

    cpus: Positive
    memory_bytes: Annotated[Count | None, "All memory; null where it is not known."]


def check_wish(wish: Wish, machine: ServerMachine) -> None:
    """Refuse what contradicts itself, or what this machine cannot do whatever the design.

    Raises
    ------
    UsageError
        With both sides of the contradiction.
    """
    if wish.rate_hz > MOST_RATE_HZ:
        raise UsageError(f"--rate {wish.rate_hz:g}: at most {MOST_RATE_HZ:g} requests a second are simulated")
    if wish.cpus > machine.cpus:
        raise UsageError(f"--cpus {wish.cpus}: this machine has {machine.cpus}")
    if wish.demand >= wish.cpus:
        raise UsageError(
            f"--rate {wish.rate_hz:g} and --work {format_duration(wish.work_ns)} contradict --cpus {wish.cpus}: the "
            f"work alone needs {wish.demand:.2f} CPUs",
            f"at most {wish.cpus * 1e9 / wish.work_ns:,.0f} requests a second fit, without any overhead",
        )
    _check_memory(wish, machine)
    _check_limit(wish)


def _check_memory(wish: Wish, machine: ServerMachine) -> None:
    if wish.written_bytes > wish.memory_bytes:
        raise UsageError(
            f"--written {approximate_bytes(wish.written_bytes)} contradicts --memory "
            f"{approximate_bytes(wish.memory_bytes)}: a request writes to memory that the server has",
            "give at least as much --memory",
        )
    if machine.memory_bytes is not None and wish.memory_bytes > machine.memory_bytes:
        raise UsageError(
            f"--memory {approximate_bytes(wish.memory_bytes)}: this machine has "
            f"{approximate_bytes(machine.memory_bytes)}"
        )


def _check_limit(wish: Wish) -> None:
    if wish.limit is not None and wish.limit.quantile not in QUANTILES:
        raise UsageError(
            f"--limit {wish.limit.as_option}: the simulated requests are too few to tell {wish.limit.quantile}",
            f"limits may be of {', '.join(QUANTILES)}; 'clonometer capacity' measures others",
        )
    least_ns = wish.work_ns + wish.block_ns
    if wish.limit is not None and wish.limit.ns <= least_ns:
        block = f" and --block {format_duration(wish.block_ns)}" if wish.block_ns else ""
        work = format_duration(wish.work_ns)
        raise UsageError(
            f"--limit {wish.limit.as_option} contradicts --work {work}{block}: a request alone takes "
            f"{format_duration(least_ns)}"
        )
