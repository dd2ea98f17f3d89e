"""Real programs of workers, followed by the kernel's events: what was told agrees with what is known of them."""

from __future__ import annotations

import os
import subprocess
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from tests import probe

from clonometer.answers import Trace
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.types import Target
from clonometer.runner.drivers import Drivers, find_drivers
from clonometer.runner.tracing import ProbeTracer
from clonometer.tracing.work.life import Lives
from clonometer.tracing.work.measure import _EVENTS, WorkWish, explain_work, work_sides
from clonometer.tracing.work.read import Execution, follow

pytestmark = pytest.mark.real
SHARED = ("output=shared_stream", "workers=4", "numbers=400", "writing=each_number")


@pytest.fixture(scope="module")
def drivers() -> Drivers:
    return find_drivers([[str(probe.executable("static"))]])


def sides(drivers: Drivers, *settings: str) -> tuple[Target, Target]:
    return work_sides(settings, read_catalogue(drivers.descriptions))


def followed(drivers: Drivers, target: Target, how: str = "fast") -> tuple[Trace, list[tuple[Execution, Lives | None]]]:
    trace = ProbeTracer(drivers, drivers.calibrate()).trace(target, how, _EVENTS)
    if trace.refused is not None:
        pytest.skip(trace.refused)
    return trace, list(follow(trace))


@pytest.mark.parametrize("how", ["fast", "tracepoints"])
@pytest.mark.parametrize("side", [0, 1], ids=["threads", "processes"])
def test_every_workers_parts_sum_to_the_whole(drivers: Drivers, how: str, side: int) -> None:
    trace, seen = followed(drivers, sides(drivers, *SHARED)[side], how)
    assert len(seen) == 20
    for execution, lives in seen:
        assert lives is not None
        assert lives.whole_ns == execution.whole_ns
        assert len(lives.workers) == len({life.task for life in lives.workers}) == 4
        for life in (*lives.workers, lives.starter):
            assert sum(life.spent.values()) == execution.whole_ns
            assert all(left[1] == right[0] for left, right in pairwise(life.pieces))
        if trace.lost == 0:
            assert all(life.counts["write_calls"] == 400 for life in lives.workers)
            assert all(life.spent["user"] > 0 for life in lives.workers)


def test_processes_never_wait_for_the_stream_that_threads_share(drivers: Drivers) -> None:
    def futex_calls(side: Target) -> int:
        seen = followed(drivers, side)[1]
        return sum(life.counts["futex_calls"] for _, lives in seen if lives for life in lives.workers)

    threads, processes = sides(drivers, *SHARED)
    assert futex_calls(processes) == 0
    if len(os.sched_getaffinity(0)) > 1:
        # Threads that have one CPU, since others have the rest, need not meet: they get more than one chance.
        assert any(futex_calls(threads) > 0 for _ in range(5))


def test_the_kernels_own_accounts_agree(drivers: Drivers) -> None:
    trace, seen = followed(drivers, sides(drivers, "workers=4", "numbers=1000")[1])
    if trace.lost:
        pytest.skip(f"{trace.lost} events were lost")
    apart: dict[str, list[float]] = {"cpu": [], "run queue": []}
    for execution, lives in seen:
        assert lives is not None
        for life, row in zip(lives.workers, execution.rows, strict=True):
            # What it reads before it ends is less than what is seen of it, but not by much.
            recorded, waited = row["cpu_ns"], row["run_queue_ns"]
            assert recorded is not None
            apart["cpu"].append((sum(life.on_cpu_ns.values()) - recorded) / execution.whole_ns)
            if waited is not None:
                apart["run queue"].append((life.spent.get("run_queue", 0) - waited) / execution.whole_ns)
            assert life.counts["faults"] >= (row["faults"] or 0)
    assert abs(median(apart["cpu"])) < 0.1
    assert abs(median(apart["run queue"] or [0.0])) < 0.1


def test_waits_for_the_lock_of_an_address_space_are_seen_where_the_kernel_tells(drivers: Drivers) -> None:
    trace, _ = followed(drivers, sides(drivers, "workers=2", "numbers=100")[1])
    kinds = {trace.kinds[kind] for kind in trace.events["kind"].tolist()}
    look = ["test", "-d", "/sys/kernel/tracing/events/mmap_lock"]
    if not Path("/sys/kernel/tracing/events").is_dir():
        # In a namespace that goes with the shell.
        mount = 'mount -t tracefs tracefs /sys/kernel/tracing && exec "$@"'
        look = ["unshare", "--mount", "sh", "-c", mount, "sh", *look]
    traceable = subprocess.run(look, check=False).returncode == 0
    assert ({"lock_wanted", "lock_got"} <= kinds) == traceable


def test_threads_and_processes_are_explained(drivers: Drivers) -> None:
    tracer = ProbeTracer(drivers, drivers.calibrate())
    explanation = explain_work(tracer, sides(drivers, *SHARED), WorkWish(pairs=2), cpus=len(os.sched_getaffinity(0)))
    assert sum(reason.difference_ns.value for reason in explanation.reasons) == pytest.approx(
        explanation.gap_ns.value, abs=1
    )
    if explanation.tier.name == "tracepoints":
        assert sum(reason.difference_ns.value for reason in explanation.cpu_reasons) == pytest.approx(
            explanation.gap_ns.value, abs=1
        )
        assert explanation.process.futexes == ()
        assert {futex.place for futex in explanation.thread.futexes} <= {"heap"}
        assert explanation.unexplained < 0.01


def test_workers_that_are_released_together_are_followed_from_their_release(drivers: Drivers) -> None:
    _, seen = followed(drivers, sides(drivers, "workers=3", "numbers=300", "release=together")[0])
    for _, lives in seen:
        assert lives is not None
        for life in lives.workers:
            assert "not_launched" not in life.spent
            assert sum(life.spent.values()) == lives.whole_ns


def test_where_there_is_no_room_more_is_taken(drivers: Drivers) -> None:
    tracer = ProbeTracer(drivers, drivers.calibrate(), _ring_bytes=4096)
    trace = tracer.trace(sides(drivers, *SHARED)[0], "fast", _EVENTS)
    if trace.refused is not None:
        pytest.skip(trace.refused)
    assert tracer.grown > 0
    assert trace.lost == trace.missed
    assert all(lives is not None for _, lives in follow(trace))


@pytest.mark.parametrize(
    "setting", ["cpus=one", "cpus=spread", "output=none", "worker_memory=prefaulted", "file_table=own", "workers=1"]
)
def test_any_condition_of_workers_is_followed(drivers: Drivers, setting: str) -> None:
    for side in sides(drivers, "numbers=50", setting):
        _, seen = followed(drivers, side)
        assert len(seen) == 20
        for _, lives in seen:
            assert lives is not None
            assert all(sum(life.spent.values()) == lives.whole_ns for life in lives.workers)
            assert sum(life.spent.get("unexplained", 0) for life in lives.workers) <= 0.05 * 8 * lives.whole_ns
