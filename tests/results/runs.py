"""Runs in memory whose truth is known: what tests of findings share, and what the snapshots of findings show.

Each is a function that needs nothing and gives the same run each time. Its docstring says the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fakes.memory_run import MemoryRun, RunBuilder, add_default_plan

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
KINDS = ("thread", "process")
FORK = {"call_returns_ns": 50_000, "task_runs_ns": 60_000, "reaped_ns": 90_000}
PTHREAD = {"call_returns_ns": 10_000, "task_runs_ns": 20_000, "reaped_ns": 30_000}
SPAWN = {"image_entered_ns": 120_000, "image_runs_ns": 470_000, "reaped_ns": 500_000}

#: Every run of this module by its function's name, in the order of the golden file.
RUNS: dict[str, Callable[[], MemoryRun]] = {}


def listed(make: Callable[[], MemoryRun]) -> Callable[[], MemoryRun]:
    """Add a run to the golden file."""
    RUNS[make.__name__] = make
    return make


def scaled(values: dict[str, float], factor: float) -> dict[str, float]:
    """Multiply every duration."""
    return {name: value * factor for name, value in values.items()}


def plus(values: dict[str, float], more_ns: float) -> dict[str, float]:
    """Add to every duration."""
    return {name: value + more_ns for name, value in values.items()}


@listed
def default_plan() -> MemoryRun:
    """The default plan: fork takes 3 times as long as pthread until reaped, and 50 ns a page."""
    return add_default_plan(RunBuilder()).run


@listed
def few_processes() -> MemoryRun:
    """From 2 processes, fork takes twice as long with SCHED_FIFO; from 1, each VMA adds 100 ns."""
    builder = RunBuilder()
    builder.cell("launch.fork", FORK, processes=2)
    builder.cell("launch.fork", scaled(FORK, 2), processes=2, sched_class="fifo")
    builder.cell("launch.pthread", scaled(FORK, 0.1), processes=2)
    for count in (0, 1000, 10_000):
        builder.cell("launch.posix_spawn", plus(FORK, 100 * count), processes=1, vmas=count)
    return builder.run


@listed
def open_contests() -> MemoryRun:
    """Cold, fork and pthread take as long; warm, fork takes 3 times as long, at 5% scatter."""
    builder = RunBuilder()
    for temperature, factor in (("cold", 1.0), ("warm", 3.0)):
        builder.cell("launch.fork", scaled(FORK, factor), temperature, spread=0.05)
        builder.cell("launch.pthread", FORK, temperature, spread=0.05)
    return builder.run


@listed
def choices() -> MemoryRun:
    """Fork takes 1.5 times as long with SCHED_BATCH, twice until reaped with SCHED_FIFO; a shell thrice."""
    builder = RunBuilder()
    builder.cell("launch.fork", scaled(FORK, 1.5), sched_class="batch")
    builder.cell("launch.fork", FORK)
    builder.cell("launch.fork", {**FORK, "reaped_ns": 180_000}, sched_class="fifo")
    image = {"call_returns_ns": 50_000, "image_runs_ns": 60_000, "reaped_ns": 90_000}
    builder.cell("launch.fork_exec", image)
    builder.cell("launch.fork_exec", scaled(image, 3), program="/bin/sh")
    return builder.run


@listed
def caches() -> MemoryRun:
    """With cold caches a bare fork takes 3 times as long; a clean page 69 and 66 ns instead of 37."""
    size, pages = 64 * MIB, 64 * MIB >> 12
    bare = {"call_returns_ns": 30_000, "task_runs_ns": 40_000, "reaped_ns": 60_000}
    cold = scaled(bare, 3)
    builder = RunBuilder()
    builder.cell("launch.fork", bare)
    builder.cell("launch.fork", cold, caches="idle")
    builder.cell("launch.fork", cold, caches="thrashed", thrash_cpu="other")
    memory = {"parent_bytes": size, "pages": "clean"}
    builder.cell("launch.fork", plus(bare, 37 * pages), **memory)
    builder.cell("launch.fork", plus(cold, 69 * pages), caches="idle", idle_ns=20_000_000, **memory)
    builder.cell("launch.fork", plus(cold, 66 * pages), caches="idle", **memory)
    image = {**bare, "image_runs_ns": 50_000}
    builder.cell("launch.posix_spawn", image)
    builder.cell("launch.posix_spawn", plus(image, 90_000), caches="thrashed")
    return builder.run


@listed
def program_start() -> MemoryRun:
    """The C library's start takes 350 us, of which 68 CPUID that trap take 340."""
    builder = RunBuilder()
    counted = {"processes": 1, "samples": 1, "blocks": 1}
    builder.cell("launch.posix_spawn", SPAWN, "warm", spread=0.001)
    builder.cell("launch.posix_spawn", {"reaped_ns": 79_000}, "warm", spread=0.001, program="target_nolibc")
    builder.cell("program.steps", {"start_cpuid": 68}, None, **counted, spread=0.0)
    builder.cell("program.steps", {"start_cpuid": 9}, None, **counted, program="/opt/go")
    builder.cell("program.cpuid", {"cpuid_ns": 5_000}, None, processes=4, spread=0.001)
    return builder.run


@listed
def areas() -> MemoryRun:
    """Fork takes 130 ns more for each VMA, 900 for a touched one; pthread does not mind."""
    builder = RunBuilder()
    for count in (0, 100, 1000, 10_000):
        builder.cell("launch.fork", plus(FORK, 130 * count), vmas=count)
        builder.cell("launch.pthread", PTHREAD, vmas=count)
        if count:
            builder.cell("launch.fork", plus(FORK, 900 * count), vmas=count, vma_kind="touched")
    return builder.run


@listed
def curve() -> MemoryRun:
    """A fork gets cheaper with each launch, by no straight line; memory in huge pages, 200 ns each."""
    builder = RunBuilder()
    for number in (1, 2, 3, 5, 10, 20):
        builder.cell("launch.fork", plus(FORK, 2_000_000 / number**2), "cold", launch_number=number)
    builder.cell("launch.fork", FORK)
    for size in (64 * MIB, GIB):
        builder.cell("launch.fork", plus(FORK, 50 * (size >> 12)), parent_bytes=size)
        builder.cell("launch.fork", plus(FORK, 200 * (size >> 21)), parent_bytes=size, page_kind="thp")
    return builder.run


@listed
def ladder() -> MemoryRun:
    """Sharing files saves 20 us, sharing the file system nothing; a thread is reaped another way."""
    builder = RunBuilder()
    builder.cell("flags.none", FORK, spread=0.01)
    builder.cell("flags.files", plus(FORK, -20_000), spread=0.01)
    builder.cell("flags.fs", plus(FORK, -20_000), spread=0.01)
    builder.cell("flags.child_cleartid", plus(FORK, -20_000), spread=0.01)
    builder.cell("flags.thread", PTHREAD, spread=0.01)
    builder.cell("launch.pthread", PTHREAD, spread=0.01)
    return builder.run


def switch_times(handover: float, alone: float = 1000) -> dict[str, float]:
    """Give what a switch measures, where work alone takes ``alone``."""
    return {"handover_ns": handover, "alone_ns": alone, "switch_ns": handover - alone}


@listed
def switches() -> MemoryRun:
    """Between processes a pipe takes 1.5 times as long, a futex as long; work costs 2 us from 64 KiB on."""
    builder = RunBuilder()
    for kind, factor in (("thread", 1.0), ("process", 1.5)):
        builder.cell("switch.pipe", switch_times(4000 * factor), None, task_kind=kind)
        builder.cell("switch.futex", switch_times(2500), None, task_kind=kind, spread=0.004)
    for size, more in ((KIB, 0), (64 * KIB, 2000), (256 * KIB, 2500)):
        builder.cell("switch.pipe", switch_times(4000 + more + size, 1000 + size), None, working_set_bytes=size)
    for tasks in (10, 100):
        builder.cell("switch.pipe", switch_times(4000 + 20 * tasks), None, ring_tasks=tasks)
    return builder.run


@listed
def switches_that_leave_caches_warm() -> MemoryRun:
    """Work of any size adds nothing to a switch."""
    builder = RunBuilder()
    for size in (0, 4 * KIB, 64 * KIB):
        times = switch_times(4000 + size, 1000 + size)
        builder.cell("switch.pipe", times, None, working_set_bytes=size, spread=0.0)
    return builder.run


MESSAGE_SIZES = (1, 4 * KIB, 64 * KIB, 1024 * KIB)


@listed
def messages() -> MemoryRun:
    """Between processes a pipe is twice as slow as threads from 64 KiB on, and shared memory 1.2 times at any size."""
    builder = RunBuilder()

    def add(workload: str, time: float, size: int, kind: str) -> None:
        times = {"latency_ns": time, "stream_ns": time / 2 if workload == "ipc.shared_memory" else time}
        builder.cell(workload, times, None, task_kind=kind, partner_cpu="other", message_bytes=size)

    for size in MESSAGE_SIZES:
        time = 5000 + size / 4
        add("ipc.shared_memory", time, size, "thread")
        add("ipc.shared_memory", 1.2 * time, size, "process")
        add("ipc.pipe", (2.0 if size >= 64 * KIB else 0.9) * time, size, "process")
    return builder.run


#: What a thread's mapping takes by number of workers, where a process's takes 1 microsecond.
CONTENTION = {1: 1.0, 2: 2.0, 8: 0.5}


def operation(time_ns: float) -> dict[str, float]:
    """Give what an operation measures that is on the CPU for half of its time."""
    return {"op_ns": time_ns, "cpu_op_ns": time_ns / 2}


@listed
def contention() -> MemoryRun:
    """Threads lose at mapping with 2 workers and win with 8; counters know no difference, but false sharing."""
    builder = RunBuilder()
    for workers, ratio in CONTENTION.items():
        builder.cell("contend.mmap", operation(1000 * ratio), None, spread=0.005, workers=workers)
        builder.cell("contend.mmap", operation(1000), None, spread=0.005, workers=workers, task_kind="process")
    for kind in KINDS:
        builder.cell("contend.counter", operation(5), None, workers=2, task_kind=kind)
        builder.cell("contend.counter", operation(40), None, workers=2, task_kind=kind, counter_layout="packed")
    return builder.run


@listed
def isolation() -> MemoryRun:
    """A crash takes all threads; data that are overwritten damage a thread, and no process notices."""
    builder = RunBuilder()
    whole = {"survivors": 3, "damaged": 0, "parent_alive": 1, "ended_by_signal": 11}
    times = {"known_ns": 60_000, "replaced_ns": 130_000, "restored_ns": 130_000}
    slow = {"known_ns": 120_000, "replaced_ns": 320_000, "restored_ns": 390_000}
    exact: dict[str, Any] = {"spread": 0.0}
    builder.cell("isolate.worker", {**whole, **slow, "survivors": 0, "parent_alive": 0}, None, **exact)
    builder.cell("isolate.worker", {**whole, **times}, None, task_kind="process", **exact)
    builder.cell("isolate.pool", {**whole, **times, "replaced_ns": 65_000}, None, **exact)
    silent = {"survivors": 3, "parent_alive": 1}
    fault = {"fault": "overrun_neighbour", **exact}
    builder.cell("isolate.worker", {**silent, **slow, "damaged": 1}, None, **fault)
    builder.cell("isolate.worker", {**silent, "damaged": 0}, None, task_kind="process", **fault)
    return builder.run


@listed
def languages() -> MemoryRun:
    """A thread takes 30 us in C, twice that in Python, 100 times in Node.js; commands 0.5 ms, as Python, 1 and 2 ms."""
    builder = RunBuilder()
    pthread, spawn = {**PTHREAD, "reaped_ns": 30_000}, {**SPAWN, "reaped_ns": 500_000}
    builder.cell("launch.pthread", pthread)
    builder.cell("python.os_thread", {"call_returns_ns": 20_000, "reaped_ns": 60_000}, facts={"tasks_created": 31})
    builder.cell("node.os_thread", {"call_returns_ns": 20_000, "reaped_ns": 3_000_000})
    builder.cell("node.os_thread", {"call_returns_ns": 20_000, "reaped_ns": 9_000_000}, "cold")
    # CRuby keeps threads that ended, and uses them again.
    ruby = {"call_returns_ns": 10_000, "reaped_ns": 30_000}
    builder.cell("ruby.os_thread", ruby, facts={"tasks_created": 0})
    builder.cell("ruby.os_thread", ruby, "cold", facts={"tasks_created": 1})
    builder.cell("python.task", {"call_returns_ns": 200, "reaped_ns": 4_000}, facts={"tasks_created": 0})
    builder.cell("launch.posix_spawn", spawn)
    builder.cell("python.command", {"call_returns_ns": 200_000, "reaped_ns": 500_000})
    node = {"call_returns_ns": 500_000, "reaped_ns": 1_000_000, "loop_blocked_ns": 600_000, "collector_ns": 0}
    builder.cell("node.command", node, facts={"collections": 0})
    builder.cell("java_25_0.command", {"call_returns_ns": 900_000, "reaped_ns": 2_000_000})
    builder.cell("wake.thread_futex", {"answered_ns": 4_000})
    builder.cell("python.thread_pool", {"call_returns_ns": 2_000, "result_ns": 12_000})
    return builder.run


def footprint_sizes(kernel: float, user: float, **more: float) -> dict[str, float]:
    """Give what a task holds, where free memory lost just as much."""
    return {
        "whole_each_bytes": kernel + user,
        "kernel_each_bytes": kernel,
        "user_each_bytes": user,
        "virtual_each_bytes": MIB,
        "resident_each_bytes": 400 * KIB,
        "create_each_ns": 200_000.0,
        "reap_each_ns": 100_000.0,
        **more,
    }


@listed
def footprints() -> MemoryRun:
    """A process holds 90 KiB, a thread 30; the kernel's parts are known of the process alone."""
    builder = RunBuilder()
    parts = {"kernel_stack_each_bytes": 16 * KIB, "page_tables_each_bytes": 40 * KIB, "slab_each_bytes": 4 * KIB}
    for tasks in (100, 1000):
        builder.cell("footprint.process", footprint_sizes(70 * KIB, 20 * KIB, **parts), None, tasks=tasks)
        builder.cell("footprint.thread", footprint_sizes(25 * KIB, 5 * KIB), None, tasks=tasks)
    return builder.run


@listed
def footprints_below_noise() -> MemoryRun:
    """Free memory lost less than was made, or grew."""
    builder = RunBuilder()
    builder.cell("footprint.process", footprint_sizes(-5 * KIB, 0.0), None, tasks=100)
    builder.cell("footprint.thread", footprint_sizes(25 * KIB, 5 * KIB, whole_each_bytes=12 * KIB), None, tasks=1000)
    return builder.run


def write_times(each_ns: float) -> dict[str, float]:
    """Give what first writes measure, where a further one takes 10 ns."""
    return {"write_each_ns": each_ns, "again_each_ns": 10.0}


def story_times(parent_bytes: int, pass_ns: float) -> dict[str, float]:
    """Give the phases of a fork whose aftermath takes ``pass_ns`` for each page."""
    pages = parent_bytes / 4096
    return {
        "fork_call_ns": 100_000 + 50 * pages,
        "quiet_stall_ns": 2_000,
        "call_stall_ns": 20_000 + 40 * pages,
        "aftermath_stall_ns": 30_000,
        "quiet_pass_ns": 1_000 + 60 * pages,
        "aftermath_pass_ns": 1_000 + pass_ns * pages,
    }


@listed
def copies_on_write() -> MemoryRun:
    """A page costs the parent 3 us while the child lives and 1 when it has gone; the story at 1 GiB."""
    builder = RunBuilder()
    builder.cell("cow.parent", write_times(3_000.0), None)
    builder.cell("cow.parent", write_times(1_000.0), None, other_process="gone")
    builder.cell("cow.child", write_times(4_000.0), None)
    builder.cell("cow.child", write_times(1_200.0), None, other_process="gone")
    builder.cell("cow.fresh", write_times(2_000.0), None)
    for size in (0, GIB):
        builder.cell("cow.stall", story_times(size, 1_060.0), None, parent_bytes=size)
        builder.cell("cow.stall", story_times(size, 60.0), None, parent_bytes=size, other_process="gone")
    return builder.run


def huge_writes(split_pages: float, faults: float) -> MemoryRun:
    """Write 8 MiB of huge pages, of which so many are split once the child has gone."""
    builder = RunBuilder()
    huge: dict[str, Any] = {"page_kind": "thp", "write_step": "small_page", "written_bytes": 8 * MIB, "spread": 0.0}
    builder.cell("cow.parent", write_times(3_000.0) | {"faults": 2048.0, "split_pages": 4.0}, None, **huge)
    counts = {"faults": faults, "split_pages": split_pages}
    builder.cell("cow.parent", write_times(100.0) | counts, None, other_process="gone", **huge)
    return builder.run


@listed
def huge_pages_reused() -> MemoryRun:
    """The parent takes huge pages over whole once the child has gone."""
    return huge_writes(0.0, 228.0)


@listed
def huge_pages_split() -> MemoryRun:
    """The parent splits a huge page although the child has gone."""
    return huge_writes(1.0, 515.0)
