"""Functions that languages run elsewhere: in a pool, in a new process, in a worker."""

from clonometer.families.types import Family, LanguageTask, Stage

FAMILY = Family(
    "runtime_call",
    title="Functions run elsewhere",
    plain_title="A function run elsewhere",
    explanation="A language runs a function in a pool, a new process or a worker, and waits for its result.",
    order=210,
    task="runs a function for a language's runtime",
    not_ranked="may include the function's whole run",
    stages=(
        Stage(
            "result",
            "result",
            "until the result is here",
            "until the caller has the function's result, and a process made for it has been waited for.",
            after="task_runs",
            part="until the result",
            stamp="the result is here",
            reading="the caller's own clock reading",
        ),
    ),
    language_tasks={
        "thread_pool": LanguageTask(
            "pool", "a function in a thread pool", "result_ns", "wake.thread_futex", "answered_ns", creates=0
        ),
        "process_pool": LanguageTask(
            "processes", "a function in a pool of processes", "result_ns", "wake.futex", "answered_ns", creates=0
        ),
        "interpreter": LanguageTask("interpreter", "a function in a new interpreter", "result_ns", creates=0),
        "interpreter_pool": LanguageTask(
            "interpreters", "a function in a pool of interpreters", "result_ns", creates=0
        ),
        "worker": LanguageTask("worker", "a function in a ractor", "result_ns"),
        "fork": LanguageTask("fork", "a fork that ends at once", "result_ns", "launch.fork", "reaped_ns", creates=1),
        "process_fork": LanguageTask(
            "forked", "a function in a forked process", "result_ns", "launch.fork", "reaped_ns", creates=1
        ),
        "process_open": LanguageTask(
            "opened", "a function in a process opened as a pipe", "result_ns", "launch.fork", "reaped_ns", creates=1
        ),
        "process_spawn": LanguageTask("spawned", "a function in a fresh process of the runtime", "result_ns"),
        "process_forkserver": LanguageTask("server", "a function in a process of a fork server", "result_ns"),
    },
)
