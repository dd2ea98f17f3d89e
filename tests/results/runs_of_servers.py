"""Runs of servers whose truth is known, for tests of findings and the snapshots of findings."""

from __future__ import annotations

from tests.fakes.memory_run import MemoryRun, RunBuilder
from tests.results.runs import MIB, listed

#: CPU time and median latency of a request, in ns.
DESIGNS = {
    "serve.inline": (120_000, 150_000),
    "serve.event": (125_000, 155_000),
    "serve.thread_pool": (140_000, 170_000),
    "serve.thread": (150_000, 180_000),
    "serve.fork": (300_000, 330_000),
}
CRASHES = {"serve.fork": (1, 1, 0), "serve.prefork": (1, 1, 350_000), "serve.thread_pool": (9, 4, 900_000)}


@listed
def servers() -> MemoryRun:
    """A fork for each connection takes twice the CPU time of a thread; at 2,000 requests/s 1,500 are answered."""
    builder = RunBuilder()
    for workload, (cpu_ns, latency_ns) in DESIGNS.items():
        values = {"latency_ns": latency_ns, "server_cpu_each_ns": cpu_ns, "served_per_s": 500}
        builder.cell(workload, values, None, spread=0.005, rate_hz=500)
    values = {"latency_ns": 80_000_000, "server_cpu_each_ns": 300_000, "served_per_s": 1_500}
    builder.cell("serve.fork", values, None, spread=0.005, rate_hz=2_000)
    late = {"latency_ns": 200_000, "server_cpu_each_ns": 120_000, "served_per_s": 1_000, "sent_late_ns": 90_000}
    builder.cell("serve.inline", late, None, spread=0.005)
    return builder.run


@listed
def servers_with_memory() -> MemoryRun:
    """With 32 MiB in the parent a fork for each connection takes four times the CPU time, and a thread the same."""
    builder = RunBuilder()
    for workload, more in (("serve.thread", 1.0), ("serve.fork", 4.0)):
        cpu_ns, latency_ns = DESIGNS[workload]
        for size, factor in ((0, 1.0), (32 * MIB, more)):
            values = {"latency_ns": factor * latency_ns, "server_cpu_each_ns": factor * cpu_ns, "served_per_s": 250}
            builder.cell(workload, values, None, spread=0.005, rate_hz=250, parent_bytes=size)
    return builder.run


@listed
def crashing_servers() -> MemoryRun:
    """A crash takes a forked process, a pool's process, or all nine threads of a pool and four requests."""
    builder = RunBuilder()
    for workload, (dead, lost, whole_ns) in CRASHES.items():
        values = {"latency_ns": 200_000, "dead_tasks": dead, "lost": lost, "whole_again_ns": whole_ns}
        builder.cell(workload, values, None, spread=0.0, crash="one")
    return builder.run
