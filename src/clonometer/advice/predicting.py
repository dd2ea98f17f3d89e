"""What a design does under a load: simulated with one value for each term, or with many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clonometer.advice.costs import SMALL_PAGE_BYTES, TermValues, copies_memory, costs_of, server_of
from clonometer.advice.designs import ServerDesign
from clonometer.advice.queueing import Load, latencies_ns
from clonometer.advice.wish import Wish

#: Closer to its capacity a queue grows for longer than any simulation lasts.
MOST_UTILISATION = 0.97


@dataclass(frozen=True)
class QueueOutcome:
    """What a simulation gives of a design; ``latencies_ns`` in order of size, None where it cannot keep up."""

    cpu_ns: float
    utilisation: float
    latencies_ns: Sequence[float] | None

    def quantile_ns(self, share: float) -> float:
        """The latency below which that share of requests lies."""
        ordered = self.latencies_ns or (0.0,)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    @property
    def mean_ns(self) -> float:
        """Of all latencies."""
        ordered = self.latencies_ns or (0.0,)
        return sum(ordered) / len(ordered)


def predict_design(
    design: ServerDesign, wish: Wish, values: TermValues, *, requests: int, seed: int, slice_ns: float
) -> QueueOutcome:
    """Simulate a design with these values of the terms.

    Raises
    ------
    KeyError
        If a term is missing (`clonometer.advice.costs.lacking`).
    """
    costs = costs_of(design, wish, values)
    server = server_of(design, wish, costs, slice_ns)
    utilisation = server.utilisation(wish.rate_hz)
    if utilisation > MOST_UTILISATION:
        return QueueOutcome(server.cpu_ns, utilisation, None)
    taken = latencies_ns(server, Load(wish.rate_hz, requests, seed))
    # Where terms are very uncertain a draw may leave less than nothing for the way.
    return QueueOutcome(server.cpu_ns, utilisation, sorted(max(1.0, each + costs.path_ns) for each in taken))


def memory_of(design: ServerDesign, wish: Wish, values: Mapping[str, float], mean_ns: float) -> int | None:
    """Say how much memory a design takes in all, by how many requests are in it at a time; None where not known."""
    each = values.get("process_bytes" if design.is_of_processes else "thread_bytes")
    if each is None:
        return None
    pages = -(-wish.written_bytes // SMALL_PAGE_BYTES) * SMALL_PAGE_BYTES
    match design.shape:
        case "single":
            return wish.memory_bytes
        case "task_each":
            # Little's law: as many are there as come in the time that they stay.
            tasks = wish.rate_hz * mean_ns / 1e9
            copied = pages if design.is_of_processes else 0
            tables = wish.memory_bytes / 512 if copies_memory(design, wish) else 0
            return round(wish.memory_bytes + tasks * (each + copied + tables))
        case "loops":
            tasks = wish.cpus
        case _:
            tasks = wish.workers
    # A worker that stays has in the end its own copy of whatever its requests write to.
    private = each + (pages + wish.memory_bytes / 512 if design.is_of_processes else 0)
    return round(wish.memory_bytes + tasks * private)
