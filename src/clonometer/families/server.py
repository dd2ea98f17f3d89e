"""Servers of different designs under the same load."""

from clonometer.families.common import number
from clonometer.families.types import CROWD, Axis, Condition, Cost, Family, WorkloadWords


def _load_cost(condition: Condition) -> Cost:
    """A period of load, and the time until its last answers."""
    return Cost(wait_ns=1.1 * number(condition, "load_ns"))


FAMILY = Family(
    "server",
    title="Servers",
    explanation=(
        "Servers of different designs answer requests that arrive at a set rate; latency counts from the intended time "
        "of sending."
    ),
    order=22,
    shape=CROWD,
    samples="requests",
    when_failed="choose a lower rate_hz, or a design that answers more; what was not answered has no latency",
    measured_in={
        "latency_ns": "until a request is answered",
        "server_cpu_each_ns": "in CPU time per request",
        "whole_again_ns": "until the service is whole again after a crash",
    },
    workloads={
        "serve.inline": WorkloadWords(thing="process for all connections", colour="grey"),
        "serve.fork": WorkloadWords(thing="process for each connection", colour="orange"),
        "serve.thread": WorkloadWords(thing="thread for each connection", colour="blue"),
        "serve.spawn": WorkloadWords(thing="program for each connection", colour="red"),
        "serve.prefork": WorkloadWords(thing="pool of processes", colour="olive"),
        "serve.thread_pool": WorkloadWords(thing="pool of threads", colour="cyan"),
        "serve.event": WorkloadWords(thing="event loop", colour="purple"),
        "serve.event_pool": WorkloadWords(thing="event loop with a pool of threads", colour="teal"),
        "serve.pass_fd": WorkloadWords(thing="pool of processes that gets descriptors", colour="rose"),
    },
    axes={
        "rate_hz": Axis(number="{:,} requests/s", thing="request/s", title="requests per second", always_said=True),
        "arrivals": Axis({"poisson": "Poisson arrivals", "constant": "constant arrivals"}),
        "arrival_seed": Axis(number="arrival seed {}"),
        "load_ns": Axis(number="load of {}", title="length of the load", cost=_load_cost, period=True),
        "work_ns": Axis(number="{} of work", title="CPU time of a request"),
        "block_ns": Axis(number="{} asleep", title="sleep of a request"),
        "request_bytes": Axis(number="requests of {}", title="size of a request"),
        "response_bytes": Axis(number="answers of {}", title="size of an answer"),
        "dirtied_bytes": Axis(
            number="{} written by each request",
            thing="4 KiB written by each request",
            title="memory that each request writes",
        ),
        "connections": Axis({"per_request": "a connection per request", "kept": "kept connections"}),
        "clients": Axis(thing="client", things="clients"),
        "server_workers": Axis(thing="worker in the pool", things="workers in the pool"),
        "transport": Axis({"unix": "Unix socket", "tcp": "TCP"}),
        "server_cpus": Axis(thing="CPU for the server", things="CPUs for the server"),
        "crash": Axis({"none": "no crash", "one": "a request that crashes"}),
    },
)
