"""What each task of a program of workers does at each moment, from the kernel's events: pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from clonometer.tracing.actors import GONE, PUSHED_OFF, SWITCH, WAKES, Event
from clonometer.tracing.budget import means_of
from clonometer.tracing.parts import COUNTS, EXITS, MAKES_TASK, UNEXPLAINED

Piece = tuple[int, int, str]
MOST_PIECES = 1000
_WRITES = frozenset({"write", "writev", "pwrite64", "pwritev", "pwritev2"})
_FUTEXES = frozenset({"futex", "futex_wait", "futex_wake", "futex_requeue", "futex_waitv"})
_MEMORY_CALLS = frozenset({"mmap", "munmap", "brk", "mprotect", "madvise", "mremap"})


@dataclass
class Life:
    """One task: what it is at, since when, and what it has spent.

    ``since_ns`` is how far its time is accounted for. ``spent`` has ns for each part, ``on_cpu_ns`` for each part what
    of it was on a CPU (mmap_lock is spent on one or asleep), ``futex_ns`` for each address the time asleep there.
    """

    task: int
    is_starter: bool = False
    made: bool = False
    started: bool = False
    running: bool = False
    ready: bool = False
    leaving: bool = False
    gone: bool = False
    in_fault: bool = False
    in_lock: bool = False
    call: str | None = None
    cpu: int | None = None
    futex_address: int = 0
    since_ns: int = 0
    spent: Counter[str] = field(default_factory=Counter)
    on_cpu_ns: Counter[str] = field(default_factory=Counter)
    futex_ns: Counter[int] = field(default_factory=Counter)
    futex_sleeps: Counter[int] = field(default_factory=Counter)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    pieces: list[Piece] = field(default_factory=list)

    def part(self) -> str:
        """What this moment is spent on."""
        if self.gone:
            return "ended"
        if not self.made:
            return "not_launched"
        if self.ready and not self.running:
            return "run_queue"
        if self.in_lock:
            return "mmap_lock"
        if self.leaving or self.call in EXITS:
            return "exit"
        return self._running_part() if self.running else self._blocked_part()

    def _running_part(self) -> str:
        if self.in_fault:
            return "fault"
        if not self.started:
            return "starts"
        return "user" if self.call is None else self._call_part(self.call)

    def _call_part(self, call: str) -> str:
        if self.is_starter and call in MAKES_TASK:
            return "launching"
        return {"write": "write", "futex": "futex_call", "memory": "memory_call"}.get(_kind(call), "other_call")

    def _blocked_part(self) -> str:
        if self.in_fault:
            return "fault_wait"
        if self.call is None:
            return UNEXPLAINED
        return {"write": "write_wait", "futex": "futex_wait"}.get(_kind(self.call), "other_wait")

    def move_on(self, time_ns: int) -> None:
        """Account for the time until ``time_ns``; times before what is accounted for change nothing."""
        lasts = time_ns - self.since_ns
        if lasts <= 0:
            return
        part = self.part()
        self.spent[part] += lasts
        if self.running and not self.gone and self.made:
            self.on_cpu_ns[part] += lasts
        if part == "futex_wait":
            self.futex_ns[self.futex_address] += lasts
        if self.pieces and self.pieces[-1][2] == part:
            self.pieces[-1] = (self.pieces[-1][0], time_ns, part)
        else:
            self.pieces.append((self.since_ns, time_ns, part))
        self.since_ns = time_ns

    def leave(self, state: int) -> None:
        """Leave the CPU with a switch's ``state``."""
        # A task that is pushed off the CPU is still ready; the kernel shows that as state 0 or as a high bit.
        self.ready = state == 0 or state >= PUSHED_OFF
        self.running = False
        self.gone = self.gone or bool(state & GONE)
        if self.gone:
            return
        self.counts["preemptions" if self.ready else "sleeps"] += 1
        if not self.ready and self.call is not None and _kind(self.call) == "futex" and not self.in_fault:
            self.counts["futex_sleeps"] += 1
            self.futex_sleeps[self.futex_address] += 1

    def come(self, cpu: int) -> None:
        """Get the CPU."""
        if self.cpu is not None and self.cpu != cpu:
            self.counts["migrations"] += 1
        self.running = self.ready = self.made = True
        self.cpu = cpu

    def take(self, event: Event) -> None:
        """Change by an event of its own."""
        # Who does something is on a CPU; a task is made where its first sign of life was lost.
        self.running = self.made = True
        if event.kind in ("fault_user", "fault_kernel"):
            self.in_fault = True
        elif event.kind in ("minor_fault", "major_fault"):
            self.in_fault = False
            self.counts["faults"] += 1
        elif event.kind == "futex":
            self.futex_address = event.values[0]
        elif event.kind == "lock_wanted":
            self.in_lock = True
        elif event.kind == "lock_got":
            self.in_lock = False
        elif event.kind == "call_enter":
            self.call, self.in_fault, self.in_lock, self.started = event.name, False, False, True
            kind = _kind(event.name)
            if kind in ("futex", "write"):
                self.counts[f"{kind}_calls"] += 1
        elif event.kind == "call_exit":
            self.call, self.in_fault, self.in_lock, self.started = None, False, False, True
        elif event.kind == "exit":
            self.leaving, self.in_fault = True, False


def _kind(call: str) -> str:
    if call in _FUTEXES:
        return "futex"
    return "write" if call in _WRITES else "memory" if call in _MEMORY_CALLS else ""


@dataclass(frozen=True)
class Lives:
    """One execution taken to pieces.

    What each worker has ``spent`` sums to ``whole_ns``, and so does what the starter has, who launched them. The keys
    of ``load_ns`` are (tasks on a CPU, tasks ready but not on one); its values are how long there were that many.
    """

    whole_ns: int
    workers: tuple[Life, ...]
    starter: Life
    load_ns: Mapping[tuple[int, int], int]

    def parts(self) -> dict[str, float]:
        """Mean ns of the workers for each part; their sum is ``whole_ns``."""
        return _means([life.spent for life in self.workers])

    def cpu_parts(self, cpus: int) -> dict[str, float]:
        """What ``cpus`` CPUs did meanwhile, in ns over all of them divided by their number; the sum is ``whole_ns``."""
        sums: dict[str, float] = {}
        for life in (*self.workers, self.starter):
            for part, lasts in life.on_cpu_ns.items():
                name = part if not life.is_starter or part == "launching" else "starter"
                sums[name] = sums.get(name, 0.0) + lasts / cpus
        sums["withheld"] = sum(
            lasts * min(ready, max(0, cpus - running)) / cpus for (running, ready), lasts in self.load_ns.items()
        )
        sums["idle"] = self.whole_ns - sum(sums.values())
        return sums

    def counts(self) -> dict[str, float]:
        """Mean number of events of the workers."""
        return _means([life.counts for life in self.workers])


def _means(tables: Sequence[Mapping[str, int]]) -> dict[str, float]:
    names = dict.fromkeys(name for table in tables for name in table)
    return dict(zip(names, means_of(tables, names), strict=True))


def live(events: Sequence[Event], whole_ns: int, starter: int, workers: Sequence[int]) -> Lives:
    """Follow the tasks of one execution through its events.

    Every task's parts sum exactly to ``whole_ns``. Events are in the order of time, in ns from the execution's begin;
    those from before it have negative times and only say what tasks are at when it begins.
    """
    begins = min([0, *(event.time_ns for event in events[:1])])
    first = Life(starter, is_starter=True, made=True, started=True, running=True, ready=True, since_ns=begins)
    tasks = {starter: first, **{task: Life(task, since_ns=begins) for task in workers}}
    load_ns: Counter[tuple[int, int]] = Counter()
    load, since_ns, begun = (1, 0), begins, False
    for event in [*events, None]:
        time_ns = whole_ns if event is None else min(event.time_ns, whole_ns)
        if not begun and time_ns >= 0:
            _begin(tasks)
            load_ns, since_ns, begun = Counter(), 0, True
        load_ns[load] += time_ns - since_ns
        since_ns = time_ns
        if event is None or event.time_ns >= whole_ns:
            break
        if _move(tasks, event):
            load = _load(tasks)
    for life in tasks.values():
        life.move_on(whole_ns)
    return Lives(whole_ns, tuple(tasks[task] for task in workers), first, load_ns)


def _load(tasks: Mapping[int, Life]) -> tuple[int, int]:
    running = sum(life.running and not life.gone for life in tasks.values())
    return running, sum(life.ready and not life.running and not life.gone for life in tasks.values())


def _begin(tasks: Mapping[int, Life]) -> None:
    """Forget what was spent before the execution began."""
    for life in tasks.values():
        life.since_ns = 0
        life.counts = dict.fromkeys(COUNTS, 0)
        for kept in (life.spent, life.on_cpu_ns, life.futex_ns, life.futex_sleeps, life.pieces):
            kept.clear()


def _move(tasks: Mapping[int, Life], event: Event) -> bool:
    """Account for the time of those whom an event concerns until then, and change them; whether who runs may differ."""
    if event.kind == SWITCH:
        leaves, comes = tasks.get(event.values[0]), tasks.get(event.values[2])
        if leaves is not None:
            leaves.move_on(event.time_ns)
            leaves.leave(event.values[1])
        if comes is not None:
            comes.move_on(event.time_ns)
            comes.come(event.cpu)
        return True
    wakes = event.kind in WAKES
    life = tasks.get(event.values[0] if wakes else event.task)
    if life is None:
        return False
    life.move_on(event.time_ns)
    ran = life.running
    if wakes:
        life.made = True
        life.ready = life.ready or not life.running
    else:
        life.take(event)
    return wakes or not ran


def thinned(pieces: Sequence[Piece], whole_ns: int) -> tuple[Piece, ...]:
    """Pieces that a picture has room for: of more than `MOST_PIECES`, what each of so many equal spans is mostly."""
    if len(pieces) <= MOST_PIECES:
        return tuple(pieces)
    kept: list[Piece] = []
    at = 0
    for span in range(MOST_PIECES):
        start_ns, end_ns = span * whole_ns // MOST_PIECES, (span + 1) * whole_ns // MOST_PIECES
        inside: Counter[str] = Counter()
        while True:
            first, last, part = pieces[at]
            inside[part] += min(last, end_ns) - max(first, start_ns)
            if last >= end_ns or at + 1 == len(pieces):
                break
            at += 1
        part = max(inside, key=lambda name: inside[name])
        if kept and kept[-1][2] == part:
            kept[-1] = (kept[-1][0], end_ns, part)
        elif end_ns > start_ns:
            kept.append((start_ns, end_ns, part))
    return tuple(kept)
