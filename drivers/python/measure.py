"""Blocks of launches: the clock, the columns, the heap, and the collector's pauses."""

import gc
import os
import resource
import subprocess
import sys
import threading
import time
from array import array

from answer import NULL
from request import Skip

LATER_WARMUP = 3
FEWEST_SAMPLES = 3
SETTLE_S = 0.001
#: So short that it changes little, and so long that another thread surely takes the lock meanwhile.
SLEEP_NS = 1_000_000
#: An object of the heap: a Python program has many small ones.
OBJECT_BYTES = 1024

now = time.monotonic_ns


class Block:
    def __init__(self, temperature, names, rows):
        self.temperature = temperature
        self.rows = rows
        # Made and written before anything is timed.
        self.columns = {name: array(_type(name), bytes(rows * (4 if _type(name) == "i" else 8))) for name in names}
        self.facts = {}

    def cut(self, rows):
        self.rows = rows
        for name, values in self.columns.items():
            self.columns[name] = values[:rows]


def _type(name):
    return "q" if name.endswith("_ns") else "i"


class Collector:
    """The time that the collector has had, by its own callbacks."""

    def __init__(self):
        self.spent_ns = self.runs = 0
        self._began = 0

    def __call__(self, phase, _):
        if phase == "start":
            self._began = now()
        else:
            self.spent_ns += now() - self._began
            self.runs += 1


def spin(duration_ns):
    end = now() + duration_ns
    while now() < end:
        pass


class BusyThreads:
    """Threads that compute in pure Python while launches are made; none where none are wanted."""

    def __init__(self, count):
        self._ended = False
        self._threads = [threading.Thread(target=self._compute, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def _compute(self):
        while not self._ended:
            pass

    def close(self):
        self._ended = True
        for thread in self._threads:
            thread.join()


def waited_for_lock():
    """How much later than due this thread runs again after a sleep, for which it has given the lock up, in ns."""
    due = now() + SLEEP_NS
    time.sleep(SLEEP_NS / 1e9)
    return max(now() - due, 0)


def heap_of(size):
    """Objects that hold so many bytes, each of its own."""
    if size > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"):
        raise Skip(
            "parent_bytes=%d: more than the %d free bytes"
            % (size, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"))
        )
    each = OBJECT_BYTES - sys.getsizeof(b"")
    return [bytes([number & 255]) * each for number in range(size // OBJECT_BYTES)]


def measure(request):
    heap = heap_of(request.parent_bytes)
    collector = Collector()
    gc.callbacks.append(collector)
    blocks = []
    launch, close = request.workload.prepare(request)
    busy = BusyThreads(request.busy_threads)
    try:
        if "cold" in request.temperatures:
            blocks.append(_measure_block(request, "cold", 1, launch, collector))
        for number in range(request.blocks if "warm" in request.temperatures else 0):
            time.sleep(SETTLE_S)
            _warm_up(request, launch, request.warmup if number == 0 else min(request.warmup, LATER_WARMUP))
            blocks.append(_measure_block(request, "warm", request.samples, launch, collector))
    finally:
        busy.close()
        close()
    del heap
    return blocks


def _warm_up(request, launch, launches):
    began = now()
    for _ in range(launches):
        if request.block_limit_ns and now() - began > request.block_limit_ns:
            return
        try:
            launch()
        except OSError:
            return


def _measure_block(request, temperature, rows, launch, collector):
    stages = request.workload.stages
    block = Block(
        temperature, ["start_ns", *stages, "collector_ns", "cpu_before", "cpu_after", "cpu_child", "errno"], rows
    )
    starts, errors, pauses = (block.columns[name] for name in ("start_ns", "errno", "collector_ns"))
    columns = [block.columns[name] for name in stages]
    limit, collected = request.block_limit_ns, collector.runs
    created = _tasks_created()
    before, children_before = _usage()
    filled, began = 0, now()
    for index in range(rows):
        spent = collector.spent_ns
        try:
            start, *stamps = launch()
        except OSError as error:
            start, stamps = now(), [None] * len(stages)
            errors[index] = error.errno or 5
        starts[index] = start - began
        for column, stamp in zip(columns, stamps):
            column[index] = NULL["q"] if stamp is None else stamp - start
        pauses[index] = collector.spent_ns - spent
        filled = index + 1
        if limit and filled >= FEWEST_SAMPLES and now() - began > limit:
            break
    wall = now() - began
    after, children_after = _usage()
    created_after = _tasks_created()
    block.cut(filled)
    cpu = next(iter(os.sched_getaffinity(0))) if request.pinned else NULL["i"]
    for name in ("cpu_before", "cpu_after", "cpu_child"):
        is_stamped = name != "cpu_child" or block.columns.get("task_runs_ns", [NULL["q"]])[0] != NULL["q"]
        block.columns[name] = array("i", [cpu if is_stamped else NULL["i"]]) * filled
    block.facts = {
        "wall_ns": wall,
        "start_ticks": began,
        "minor_faults": after.ru_minflt - before.ru_minflt,
        "major_faults": after.ru_majflt - before.ru_majflt,
        "voluntary_switches": after.ru_nvcsw - before.ru_nvcsw,
        "involuntary_switches": after.ru_nivcsw - before.ru_nivcsw,
        "cpu_ns": _cpu_ns(after) - _cpu_ns(before),
        "children_cpu_ns": _cpu_ns(children_after) - _cpu_ns(children_before),
        "collections": collector.runs - collected,
        "tasks_created": created_after - created if created >= 0 else -1,
        "effective_mhz": _frequencies(request),
    }
    return block


def _usage():
    return resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)


def _tasks_created():
    """How many tasks the whole machine has created since it started; -1 where the kernel does not count them."""
    try:
        with open("/proc/stat", "rb") as stat:
            return next((int(line.split()[1]) for line in stat if line.startswith(b"processes ")), 0) or -1
    except (OSError, ValueError):
        return -1


def _cpu_ns(usage):
    return int((usage.ru_utime + usage.ru_stime) * 1e9)


def _frequencies(request):
    """The effective MHz of the CPU that launched, by the tether; where it may be any, of none."""
    if not request.pinned:
        return {}
    cpu = str(next(iter(os.sched_getaffinity(0))))
    tether = os.path.join(request.targets, "clonometer-tether")
    try:
        printed = subprocess.run([tether, "--mhz", cpu], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        number, mhz = printed.stdout.split()
    except (OSError, ValueError):
        return {}
    return {number: float(mhz)} if float(mhz) > 0 else {}
