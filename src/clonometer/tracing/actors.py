"""Who does what at each moment of a launch: the state of its tasks, moved on by one event after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from clonometer.tracing.memory import Memory
from clonometer.tracing.parts import EXECS, EXITS, FAULT_PARTS, FOREIGN, MAKES_TASK, MARKED_PARTS, WAITS

# Of a switch's state (include/linux/sched.h, TASK_REPORT): a zombie or dead; still ready to run.
GONE = 0x30
PUSHED_OFF = 0x100
#: The kernel gives a CPU to another task; or finds that one is ready to run.
SWITCH = "switch"
WAKES = frozenset(("wake", "wake_new"))
#: A stamp of the new program, put among the kernel's events: its user code counts as ``name`` from there on.
STAMP = "stamp"
#: It comes to a place that the tracer notes, which does the same.
MARK = "mark"


class Event(NamedTuple):
    """One event: when (ns), by which task on which CPU, its kind, its numbers, and its text.

    An exec's text is the file, that of memory its bytes as Latin-1; others have none.
    """

    time_ns: int
    task: int
    cpu: int
    kind: str
    values: tuple[int, ...]
    name: str


@dataclass
class Actor:
    """A task of the launch.

    ``call`` is the system call that it is in; ``slept`` whether it has left the CPU in it; ``fault`` the cause of the
    page fault that it is in; ``ready`` whether it could run; ``user_part`` what its own instructions count as; ``cpu``
    the CPU that it was last seen on.
    """

    task: int
    is_parent: bool
    running: bool = False
    ready: bool = False
    started: bool = False
    call: str | None = None
    slept: bool = False
    fault: str | None = None
    leaving: bool = False
    gone: bool = False
    other_program: bool = False
    user_part: str = "child_user"
    cpu: int | None = None

    def part(self) -> str:
        """What a moment on the CPU is spent on."""
        return self._parent_part() if self.is_parent else self._child_part()

    def _parent_part(self) -> str:
        if self.fault is not None:
            return "parent_faults"
        if self.call is None:
            return "parent_user"
        if self.call in MAKES_TASK:
            return "launch_call"
        if self.call in WAITS:
            return "reaping" if self.slept else "wait_begins"
        return "parent_calls"

    def _child_part(self) -> str:
        if self.leaving or self.call in EXITS:
            return "child_exit"
        if self.fault is not None:
            return FAULT_PARTS.get(self.fault, "child_other_faults")
        if not self.started:
            return "child_starts"
        if self.call is None:
            return self.user_part
        return "child_exec" if self.call in EXECS else "child_calls"


@dataclass
class Cast:
    """The parent and everything that it makes, from the start of one launch on.

    ``threads`` are the tasks of its process, which a runtime may let work for the launch: ``others`` are those that
    were seen to.
    """

    parent: Actor
    memory: Memory
    threads: frozenset[int] = frozenset()
    children: dict[int, Actor] = field(default_factory=dict)
    others: dict[int, Actor] = field(default_factory=dict)

    @classmethod
    def at_the_start(cls, parent_task: int, memory: Memory, threads: frozenset[int] = frozenset()) -> Cast:
        """The parent has just read the clock, in user code."""
        return cls(Actor(parent_task, is_parent=True, running=True, ready=True, started=True), memory, threads)

    def part(self) -> str | None:
        """What this moment is spent on: the parent's doing, else the children's, else waiting; None: unexplained.

        The parent's own doing comes first because nothing ends a launch but the parent; while it sleeps it is the
        newest child at work that it waits for.
        """
        worker = self.at_work()
        if worker is not None:
            part = worker.part()
            # Nothing left to sleep for: the call only reaps.
            over = self.children and all(child.gone for child in self.children.values())
            return "reaping" if part == "wait_begins" and over else part
        if self.parent.ready:
            return "parent_waits"
        if self._child_is_ready():
            return "child_waits"
        busy = any((other.running or other.ready) and not other.gone for other in self.others.values())
        return "parent_threads" if busy else None

    def _child_is_ready(self) -> bool:
        return any(child.ready and not child.gone for child in self.children.values())

    def at_work(self) -> Actor | None:
        """Who is on a CPU and what this moment is billed to; None where it is spent waiting."""
        if self.parent.running:
            return self.parent
        for child in reversed(self.children.values()):
            if child.running and not child.gone:
                return child
        return None

    def member(self, task: int) -> Actor | None:
        """The actor of that number, if it has a part in this launch."""
        if task == self.parent.task:
            return self.parent
        if task in self.threads and task not in self.children and task not in self.others:
            self.others[task] = Actor(task, is_parent=False)
        return self.children.get(task) or self.others.get(task)

    def between(self, events: Iterable[Event], reaped_ns: int) -> Iterator[tuple[int, int]]:
        """Begin and end of each span between a launch's events, in which its tasks are as they are at its begin."""
        at = 0
        for event in events:
            if event.time_ns > at:
                yield at, event.time_ns
                at = event.time_ns
            self.take(event)
        if reaped_ns > at:
            yield at, reaped_ns

    def take(self, event: Event) -> None:
        """Move on by one event."""
        actor = self.member(event.task)
        if actor is not None:
            actor.cpu = event.cpu
        if event.kind == STAMP:
            for child in self.children.values():
                child.user_part = event.name if child.other_program else child.user_part
        elif event.kind == SWITCH:
            self._switch(event)
        elif event.kind in WAKES:
            woken = self.member(event.values[0])
            if woken is not None and not woken.running:
                woken.ready = True
        elif actor is not None:
            self._note_running(actor, event)

    def _switch(self, event: Event) -> None:
        leaves, state, comes = event.values[0], event.values[1], event.values[2]
        actor = self.member(leaves)
        if actor is not None:
            actor.running = False
            # A task that is pushed off the CPU is still ready; the kernel shows that as state 0 or as a high bit.
            actor.ready = state == 0 or state >= PUSHED_OFF
            actor.slept = actor.slept or actor.call is not None
            actor.gone = actor.gone or bool(state & GONE)
        actor = self.member(comes)
        if actor is not None:
            actor.running = actor.ready = True
            actor.cpu = event.cpu

    def _note_running(self, actor: Actor, event: Event) -> None:
        actor.running = True
        if event.kind in ("fault_user", "fault_kernel"):
            address, code = event.values[0], event.values[2]
            actor.fault = self.memory.cause(address, code, another_program=actor.other_program)
        elif event.kind in ("minor_fault", "major_fault"):
            actor.fault = None
        elif event.kind == "call_enter":
            actor.call, actor.slept, actor.fault = event.name, False, None
        elif event.kind == "call_exit":
            actor.call, actor.slept, actor.fault, actor.started = None, False, None, True
        elif event.kind == "new_task":
            # It is woken at once, which is not always noted apart.
            self.others.pop(event.values[0], None)
            self.children[event.values[0]] = Actor(event.values[0], is_parent=False, ready=True)
        elif event.kind == "exec":
            actor.other_program, actor.user_part = True, FOREIGN
        elif event.kind == "exit":
            actor.leaving, actor.fault = True, None
        elif event.kind == MARK:
            actor.user_part = MARKED_PARTS[event.values[0]]
