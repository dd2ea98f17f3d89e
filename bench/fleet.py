"""Fleets: what a Dask worker of the same host costs a launch, idle and while it is asked, and an hour of 64 hosts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.fleet.simulated import simulate, unlucky

from bench.harness import Line, binaries, clock, interleaved_ratio, launch_ns, say
from clonometer.fleet.errand import __file__ as errand_file

LIMIT = 1.005
LAUNCHES = 3000
MOST_PAIRS = 80
WATCHED_S = 15
HOSTS, ROUNDS = 64, 120
LIMIT_S = 180.0
# As the errand does around an agent, until a file appears.
_HOLD = "(lambda space: (exec(text, space), exec(wait, space)))({})"
_WAIT = "import time\nwith _quiet():\n    time.sleep(3600)\n"


def run() -> Iterator[Line]:
    yield from an_hour()
    with tempfile.TemporaryDirectory() as name, _workers(Path(name)) as (scheduler, idle, quiet):
        cpu, words, probe = max(os.sched_getaffinity(0)), clock(), binaries() / "probe-static"

        for label, worker, limit in (("idle", idle, None), ("measuring", quiet, LIMIT - 1)):
            share = cpu_share(worker.pid)
            note = f"of a CPU, over {WATCHED_S} s: what a launch can lose at most where CPUs are few"
            yield say(Line(f"fleet.cpu.{label}", share, share, share, limit, "share", note))

        def beside(*running: subprocess.Popen[bytes]) -> Callable[[], float]:
            def measure() -> float:
                for process in (scheduler, idle, quiet):
                    process.send_signal(signal.SIGCONT if process in running else signal.SIGSTOP)
                return launch_ns(probe, "fork", LAUNCHES, cpu, words)

            return measure

        nobody = beside()
        for label, worker in (("idle", idle), ("measuring", quiet)):
            yield say(
                interleaved_ratio(
                    f"fleet.worker.{label}", beside(scheduler, worker), nobody, LIMIT,
                    "fork beside a worker and its scheduler", most_pairs=MOST_PAIRS,
                )
            )  # fmt: skip
        for process in (scheduler, idle, quiet):
            process.send_signal(signal.SIGCONT)


def cpu_share(pid: int) -> float:
    """The share of a CPU that a process takes, watched for a while."""

    def used_s() -> float:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    began_s = used_s()
    time.sleep(WATCHED_S)
    return (used_s() - began_s) / WATCHED_S


def an_hour() -> Iterator[Line]:
    """An hour's worth of events of 64 hosts that are unlucky now and then."""
    names = tuple(f"host{number}" for number in range(HOSTS))
    began_s = time.perf_counter()
    seen = simulate(unlucky(1), names, rounds=ROUNDS, at_once=HOSTS, shard_s=180.0, attempts=8)
    seconds = time.perf_counter() - began_s
    hours = seen.hosts.now_s / 3600
    assert hours >= 1.0
    assert sum(len(host.rounds) for host in seen.run.hosts) == len(seen.shelf.runs)
    note = f"{hours:.1f} h of {HOSTS} hosts, {len(seen.hosts.started)} rounds begun, {len(seen.shelf.runs)} run files"
    yield say(Line("fleet.hour", seconds / hours, seconds / hours, seconds / hours, LIMIT_S, "s/h", note))


@contextlib.contextmanager
def _workers(folder: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """A scheduler, a worker that has nothing to do, and a worker that is as quiet as while an agent measures."""
    from distributed import Client

    address = "tcp://127.0.0.1:18786"
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> None:
        environment = {**os.environ, "DASK_TEMPORARY_DIRECTORY": str(folder)}
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", *words], env=environment, cwd=folder, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip

    try:
        start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "18786", "--no-dashboard")
        for name in ("idle", "quiet"):
            start("distributed.cli.dask_worker", address, "--no-nanny", "--no-dashboard", "--name", name)
        client = Client(address, timeout=30, set_as_default=False)
        client.wait_for_workers(2, timeout=30)
        text = Path(errand_file).read_text()
        held = {"text": text, "wait": _WAIT}
        client.submit(eval, _HOLD, held, workers=["quiet"], pure=False, key="hold")
        time.sleep(3)
        client.close()
        yield started
    finally:
        for process in reversed(started):
            process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


if __name__ == "__main__":
    for _ in run():
        pass
