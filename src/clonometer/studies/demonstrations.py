"""The studies' teaching programs: which there are, their source, and what their values mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from textwrap import dedent

from clonometer.errors import DriverError, InputError, UsageError, unknown

Values = Mapping[str, str]
_SHOWN = re.compile(r"^[ \t]*/\* >>> shown \*/\n(.*?)^[ \t]*/\* <<< shown \*/\n", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^[ \t]*/\* (>>>|<<<) shown \*/\n", re.MULTILINE)
_LINE = re.compile(r"^(\w+) = (.*)$", re.MULTILINE)
_BUILD = re.compile(r"^/\* Build: (.*?) \*/$", re.MULTILINE)


@dataclass(frozen=True)
class Demo:
    """One teaching program: a question to ask before it runs, and what ``explain`` makes of the values it printed."""

    name: str
    title: str
    question: str
    explain: Callable[[Values], Sequence[str]]

    @property
    def file(self) -> str:
        """The name of its source."""
        return f"{self.name.replace('-', '_')}.c"

    @property
    def program(self) -> str:
        """The name of the program that was built of it."""
        return f"demo-{self.name.replace('-', '_')}"

    @property
    def source(self) -> str:
        """The whole program, which compiles on its own."""
        text = (resources.files("clonometer.studies") / "demos" / self.file).read_text(encoding="utf-8")
        return _MARK.sub("", text)

    @property
    def build(self) -> str:
        """The command that compiles it."""
        match = _BUILD.search(self.source)
        if match is None:
            raise InputError(f"{self.file} does not say how to build it")
        return match.group(1)

    @property
    def shown(self) -> str:
        """The few lines that matter."""
        text = (resources.files("clonometer.studies") / "demos" / self.file).read_text(encoding="utf-8")
        return "\n".join(dedent(part) for part in _SHOWN.findall(text))

    def read(self, output: str) -> dict[str, str]:
        """Read what it printed: lines ``name = value``.

        Raises
        ------
        DriverError
            If something is missing: the demo, or a task of it, was ended before its time.
        """
        values = dict(_LINE.findall(output))
        try:
            # Whatever the sentences speak of must be there.
            self.explain(values)
        except (KeyError, ValueError, ArithmeticError) as error:
            what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else str(error)
            raise DriverError(f"the demo {self.name} failed: {what}", "try again") from None
        return values


@dataclass(frozen=True)
class DemoRun:
    """A demo that has run: what it printed, its values, and what they mean."""

    demo: Demo
    output: str
    values: Mapping[str, str]

    @property
    def explanation(self) -> Sequence[str]:
        """What its values mean, in sentences."""
        return self.demo.explain(self.values)


def find_demo(name: str) -> Demo:
    """Find a demo by its name.

    Raises
    ------
    UsageError
        If there is none, with the nearest match and what exists.

    Examples
    --------
    >>> find_demo("cow").program
    'demo-cow'
    """
    for demo in DEMOS:
        if demo.name == name:
            return demo
    names = [demo.name for demo in DEMOS]
    raise UsageError(unknown("demo", name, names).message, f"available: {', '.join(names)}")


def _whole(values: Values, name: str) -> int:
    return int(float(values[name]))


def _task_ids(values: Values) -> list[str]:
    return [
        f"main is task {values['main_tid']} of process {values['main_pid']}, whose parent is {values['main_ppid']}.",
        f"The thread is task {values['thread_tid']} of process {values['thread_pid']}: getpid returns the thread "
        f"group that a task belongs to, gettid the task itself. Its parent is {values['thread_ppid']}, as main's is: "
        f"a thread is not a child of the thread that created it.",
        f"The child of fork is task {values['child_tid']} of process {values['child_pid']}, a separate group, and "
        f"its parent is {values['child_ppid']}.",
    ]


def _clone_vm(values: Values) -> list[str]:
    return [
        f"Without CLONE_VM the child wrote 42 and the parent still reads {values['without_vm']}: the child wrote to "
        "its own copy of the page.",
        f"With CLONE_VM the parent reads {values['with_vm']}: there is only one memory.",
        "Everything else is the same call. That flag alone is the difference between a process's memory and a "
        "thread's.",
    ]


def _clone_files(values: Values) -> list[str]:
    return [
        f"Without CLONE_FILES the child closed a descriptor, and the parent's is {values['without_files']}: the child "
        "had a copy of the table of open files.",
        f"With CLONE_FILES the parent's is {values['with_files']}: there is only one table.",
        "Memory is not shared in either case. A thread that closes a descriptor closes it for all threads, which may "
        "be reading from it.",
    ]


def _clone_sighand(values: Values) -> list[str]:
    return [
        f"Without CLONE_SIGHAND the child set a handler for SIGUSR1, and the parent's action is "
        f"'{values['without_sighand']}': the child had a copy of the table.",
        f"With CLONE_SIGHAND the parent's action is '{values['with_sighand']}': there is only one table.",
        "The tasks share their memory in both cases: a handler is an address in it, so clone refuses CLONE_SIGHAND "
        "without CLONE_VM. A thread that sets a handler sets it for all threads.",
    ]


def _clone_thread(values: Values) -> list[str]:
    refused = values["with_thread_wait_error"]
    name = "ECHILD, there is no such child" if refused == values["ECHILD"] else "another error"
    return [
        f"Without CLONE_THREAD the task {values['without_thread_tid']} is process {values['without_thread_pid']}, a "
        f"child of {values['parent_pid']}. waitpid reaped it (error {values['without_thread_wait_error']}).",
        f"With CLONE_THREAD the task {values['with_thread_tid']} belongs to process {values['with_thread_pid']}, "
        f"that of its creator. waitpid says {refused} ({name}).",
        "So the end of a thread is learned in another way. The kernel clears the word that CLONE_CHILD_CLEARTID "
        "names and "
        "wakes whoever waits there with futex: that is what pthread_join does.",
    ]


def _argument_race(values: Values) -> list[str]:
    threads, wrong = _whole(values, "address_threads"), _whole(values, "address_wrong")
    lines = [
        f"All {threads:,} threads were given the same address, {values['address']}: that of the loop variable. "
        f"{wrong:,} of them read a number there that was not meant for them.",
    ]
    if wrong == 0:
        lines.append(
            "None was wrong this time: each thread ran before the loop continued. That is luck, not a guarantee."
        )
    else:
        lines.append("The loop had continued before they ran. How many are wrong differs from run to run.")
    for name, way in (("value", "number itself, as a pointer,"), ("element", "address of a separate element,")):
        lines.append(
            f"Given the {way} {_whole(values, f'{name}_wrong'):,} of {_whole(values, f'{name}_threads'):,} are wrong."
        )
    return lines


def _crash(values: Values) -> list[str]:
    workers = _whole(values, "workers")
    return [
        f"As processes: one of {workers} was killed by signal {values['process_signal']}; "
        f"{values['processes_alive']} of the other {workers - 1} continued working.",
        f"As threads: one of {workers} crashed, and the process was killed by signal {values['thread_signal']}; "
        f"{values['threads_alive']} of the others continued working.",
        "A signal such as SIGSEGV ends the whole process, and all of its threads with it. A parent that waits sees the "
        "death of a process; nobody is left to see the death of a thread.",
    ]


def _cow(values: Values) -> list[str]:
    pages, written = _whole(values, "pages"), _whole(values, "written")
    faults = _whole(values, "faults_writing")
    first, second = _whole(values, "first_write_ns"), _whole(values, "second_write_ns")
    return [
        f"fork returned after {values['fork_us']} µs with {pages * 4 // 1024} MiB in the parent; copying as much with "
        f"memcpy took {values['memcpy_us']} µs.",
        f"The child read all {pages:,} pages: {_whole(values, 'faults_reading'):,} page faults, nothing copied.",
        f"It wrote to {written:,} of them: {faults:,} page faults, one per page (a few more are for its stack and "
        f"page tables). The first write to a page took {first:,} ns on average, the second {second:,} ns.",
        f"The parent still reads {values['parent_still_reads']} where the child wrote 2.",
    ]


def _flags(values: Values) -> list[str]:
    shared = [flag for flag in values["thread_flags"].split(" | ") if flag not in values["fork_flags"]]
    return [
        f"fork calls {values['fork_call']} with {values['fork_flags']}.",
        f"pthread_create calls {values['thread_call']} with {values['thread_flags']}.",
        f"What only the thread requests: {', '.join(shared)}. Each of the first ones shares something instead of "
        f"copying it.",
        f"System calls of parent and task together, for one launch: fork, _exit and waitpid "
        f"{values['fork_system_calls_first']} the first time and {values['fork_system_calls_next']} later; "
        f"pthread_create, pthread_exit and pthread_join {values['thread_system_calls_first']} the first time and "
        f"{values['thread_system_calls_next']} later. In a dynamic program the first pthread_exit loads libgcc_s.",
    ]


def _stack_cache(values: Values) -> list[str]:
    threads = _whole(values, "threads")
    return [
        f"{threads} threads alive at once: each got a new stack, with {values['fresh_faults']} page faults per "
        f"thread; half of the pthread_create calls took less than {values['fresh_us']} µs.",
        f"{threads} threads one after another: {values['same_stack']} of {threads - 1} ran on the previous thread's "
        f"stack, with {values['reused_faults']} page faults per thread; half of the calls took less than "
        f"{values['reused_us']} µs.",
        "The library keeps up to 40 MiB of stacks. A loop of create and join therefore measures reused stacks; a "
        "server's first burst gets new ones.",
    ]


def _fork_in_threads(values: Values) -> list[str]:
    timed_out = values["plain_error"] == values["ETIMEDOUT"]
    seen = "waited for the lock until it gave up (ETIMEDOUT)" if timed_out else f"got {values['plain_error']}"
    return [
        f"The parent had {values['plain_tasks_in_parent']} threads when it forked, the child has "
        f"{values['plain_tasks_in_child']}: fork copies only the thread that called it.",
        f"The other thread held the lock. The child {seen}: the owner does not exist there, and nobody will ever "
        "unlock it. malloc, stdio and most libraries hold such locks.",
        f"With pthread_atfork, which takes the lock before the fork, the child's attempt returned "
        f"{values['atfork_error']}. Otherwise a child of a program with threads should do nothing but exec.",
    ]


def _stack_overrun(values: Values) -> list[str]:
    numbers = _whole(values, "numbers")
    ended = "ended without an error" if values["shared_signal"] == "0" else f"got signal {values['shared_signal']}"
    return [
        f"With shared memory, like threads, the task that overran its stack {ended}: it wrote to the stack below, and "
        f"{_whole(values, 'shared_wrong'):,} of the neighbour's {numbers:,} numbers were no longer 42.",
        f"With separate memory, like processes, {values['copied_wrong']} were wrong (signal "
        f"{values['copied_signal']}): the same addresses were the task's own copy of the pages.",
        f"With shared memory and a guard page between the stacks, {values['guarded_wrong']} were wrong: the task was "
        f"killed "
        f"by signal {values['guarded_signal']} when it touched that page. pthread_create puts one below each stack "
        f"that it allocates, but not below a stack that it is given.",
    ]


DEMOS: tuple[Demo, ...] = (
    Demo(
        "task-ids",
        "What getpid, gettid and getppid return in a process and in a thread",
        "Which of the three differ between main, its thread and its child?",
        _task_ids,
    ),
    Demo(
        "clone-vm",
        "Is memory shared? CLONE_VM decides",
        "The child writes 42 into a variable. What does the parent read?",
        _clone_vm,
    ),
    Demo(
        "clone-files",
        "Are open files shared? CLONE_FILES decides",
        "The child closes a descriptor. Is it still open in the parent?",
        _clone_files,
    ),
    Demo(
        "clone-sighand",
        "Are signal handlers shared? CLONE_SIGHAND decides",
        "The child sets a handler for SIGUSR1. What would SIGUSR1 do to the parent?",
        _clone_sighand,
    ),
    Demo(
        "clone-thread",
        "Is it a process or a thread? CLONE_THREAD decides",
        "Who can wait for the task with waitpid?",
        _clone_thread,
    ),
    Demo(
        "argument-race",
        "Threads that get the address of the loop variable",
        "Thread i should read i. How many of 1,000 read something else?",
        _argument_race,
    ),
    Demo("crash", "A crash in a process, a crash in a thread", "One of three crashes. Who is left?", _crash),
    Demo("cow", "Pages are copied only when they are written", "When is memory copied: at fork, or later?", _cow),
    Demo(
        "flags",
        "What fork and pthread_create request from clone, as the kernel saw it",
        "Which call do they really make, and with which flags?",
        _flags,
    ),
    Demo(
        "stack-cache",
        "Threads reuse the stacks of threads that have ended",
        "Does each thread get a new stack?",
        _stack_cache,
    ),
    Demo(
        "fork-in-threads",
        "A lock that is held across fork",
        "Another thread holds a lock while we fork. Can the child take it?",
        _fork_in_threads,
    ),
    Demo(
        "stack-overrun",
        "A stack that is too small, and the neighbour's below it",
        "Who notices that a task writes beyond its stack?",
        _stack_overrun,
    ),
)
