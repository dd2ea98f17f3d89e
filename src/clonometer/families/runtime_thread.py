"""Threads of control as languages start them: their own APIs for OS threads, and their lighter tasks."""

from clonometer.families.types import LAUNCH, Axis, Cost, Family, LanguageTask

FAMILY = Family(
    "runtime_thread",
    title="Threads of languages",
    plain_title="A thread in each language",
    explanation="A language's own API starts an OS thread, or a task of its scheduler, which ends at once.",
    order=200,
    shape=LAUNCH,
    axes={
        # A launch may wait for each of them several times, for 5 ms in Python and 100 ms in Ruby.
        "busy_threads": Axis(
            thing="computing thread",
            things="computing threads",
            title="threads that compute meanwhile",
            where="beside {}",
            cost=Cost(launch_ns=30_000_000.0),
        ),
    },
    task="is started by a language's runtime",
    language_tasks={
        "os_thread": LanguageTask(
            "thread",
            "a thread",
            "reaped_ns",
            "launch.pthread",
            "reaped_ns",
            creates=1,
            reuse="wake.thread_futex",
            reuse_quantity="answered_ns",
        ),
        "task": LanguageTask("task", "a task of the runtime", "reaped_ns", creates=0),
    },
)
