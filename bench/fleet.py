"""Fleets: what a Dask worker of the same host costs a launch, idle and while it measures, and hours of 64 hosts."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.fleet.simulated import simulate, unlucky

from bench.harness import Line, binaries, clock, launch_ns, say
from clonometer.fleet.remote_worker import __file__ as remote_worker_file
from clonometer.stats.quantiles import quantile_interval

LIMIT = 0.005
LAUNCHES = 1500
ROUNDS_OF_ALL = 200
# What a worker was late for while it stood still, it does at once when it goes on.
SETTLE_S = 0.05
# Longer than workers at rest are silent.
WATCHED_S = 21
HOSTS, ROUNDS = 64, 120
LIMIT_S = 180.0
# Errands in a worker: to rest as all workers of a fleet do, and to wait as beside an agent.
_REST = "(lambda space: (exec(text, space), space['rest']())[1])({})"
_HOLD = "__import__('time').sleep(3600)"

#: A worker with its nanny, or the scheduler: all processes of one group.
Group = subprocess.Popen[bytes]


def run() -> Iterator[Line]:
    yield from an_hour()
    with tempfile.TemporaryDirectory() as name, _workers(Path(name)) as (scheduler, unasked, idle, measuring):
        yield say(cpu_share("fleet.cpu.unasked", unasked, None))
        os.killpg(unasked.pid, signal.SIGSTOP)
        workers = {"idle": idle, "measuring": measuring}
        for label, worker in workers.items():
            yield say(cpu_share(f"fleet.cpu.{label}", worker, LIMIT))
        yield from beside_workers(scheduler, workers)


def beside_workers(scheduler: Group, workers: Mapping[str, Group]) -> Iterator[Line]:
    """What a launch takes beside each worker and its scheduler, by what it takes beside neither.

    Randomized complete blocks: in each round all conditions are measured once, in an order drawn anew, and a round's
    ratios are taken within it. So what the machine does in a minute falls on all alike, and ends with the ratio. The
    number of rounds is fixed beforehand: to stop where the verdict pleases would make it too often ok.
    """
    cpu, words, probe = max(os.sched_getaffinity(0)), clock(), binaries() / "probe-static"
    order = random.Random(1)
    conditions = ["nobody", *workers]
    ratios: dict[str, list[float]] = {label: [] for label in workers}
    for _ in range(ROUNDS_OF_ALL):
        order.shuffle(conditions)
        taken = {}
        for condition in conditions:
            running = (scheduler, workers[condition]) if condition in workers else ()
            for process in (scheduler, *workers.values()):
                os.killpg(process.pid, signal.SIGCONT if process in running else signal.SIGSTOP)
            time.sleep(SETTLE_S)
            taken[condition] = launch_ns(probe, "fork", LAUNCHES, cpu, words)
        for label, its in ratios.items():
            its.append(taken[label] / taken["nobody"])
    for label, its in ratios.items():
        middle = quantile_interval(its, 0.5)
        note = f"{ROUNDS_OF_ALL} rounds in random order: fork beside a worker and its scheduler"
        yield say(
            Line(f"fleet.worker.{label}", middle.value, middle.low, middle.high, 1 + LIMIT, note=note, strict=True)
        )


def cpu_share(name: str, group: Group, limit: float | None) -> Line:
    """The share of a CPU that all threads of a group take: what a launch can lose to them at most."""

    def used_ns() -> int:
        tasks = (task for pid in _members(group) for task in Path(f"/proc/{pid}/task").iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)

    began_ns, began_s = used_ns(), time.perf_counter()
    time.sleep(WATCHED_S)
    share = (used_ns() - began_ns) / 1e9 / (time.perf_counter() - began_s)
    return Line(name, share, share, share, limit, "share", f"of a CPU, over {WATCHED_S} s, a heartbeat among them")


def _members(group: Group) -> list[int]:
    pids = (int(entry.name) for entry in Path("/proc").glob("[0-9]*"))
    return [pid for pid in pids if _group_of(pid) == group.pid]


def _group_of(pid: int) -> int | None:
    with contextlib.suppress(ProcessLookupError):
        return os.getpgid(pid)
    return None


def an_hour() -> Iterator[Line]:
    """An hour's worth of events of 64 hosts that are unlucky now and then."""
    names = tuple(f"host{number}" for number in range(HOSTS))
    began_s = time.perf_counter()
    seen = simulate(unlucky(1), names, rounds=ROUNDS, at_once=HOSTS, shard_s=180.0, attempts=8)
    seconds = time.perf_counter() - began_s
    hours = seen.hosts.now_s / 3600
    assert hours >= 1.0
    assert sum(len(host.rounds) for host in seen.run.hosts) == len(seen.store.runs)
    note = f"{hours:.1f} h of {HOSTS} hosts, {len(seen.hosts.started)} rounds begun, {len(seen.store.runs)} run files"
    yield say(Line("fleet.hour", seconds / hours, seconds / hours, seconds / hours, LIMIT_S, "s/h", note))


@contextlib.contextmanager
def _workers(folder: Path) -> Iterator[list[Group]]:
    """A scheduler, and workers with their nannies: as Dask leaves one, at rest, and at rest with a task that waits."""
    from distributed import Client

    address = "tcp://127.0.0.1:18786"
    started: list[Group] = []

    def start(*words: str) -> None:
        environment = {**os.environ, "DASK_TEMPORARY_DIRECTORY": str(folder)}
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", *words], env=environment, cwd=folder, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, start_new_session=True,
            )
        )  # fmt: skip

    try:
        start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "18786", "--no-dashboard")
        names = ("unasked", "idle", "measuring")
        for name in names:
            start("distributed.cli.dask_worker", address, "--no-dashboard", "--name", name)
        client = Client(address, timeout=30, set_as_default=False)
        client.wait_for_workers(len(names), timeout=60)
        known = client.scheduler_info()["workers"]
        resting = [worker for worker, its in known.items() if its["name"] != "unasked"]
        words = {"text": Path(remote_worker_file).read_text()}
        for nanny in (False, True):
            client.run(eval, _REST, words, workers=resting, nanny=nanny)
        client.submit(eval, _HOLD, workers=["measuring"], pure=False, key="hold")
        time.sleep(3)
        client.close()
        yield started
    finally:
        for group in reversed(started):
            os.killpg(group.pid, signal.SIGKILL)
            group.wait()


if __name__ == "__main__":
    for _ in run():
        pass
