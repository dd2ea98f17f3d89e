"""The contradictions of the studies: what is compared, and the factorials over the suspected conditions."""

from __future__ import annotations

from clonometer.studies.types import Design, Pairing

_TEMPERATURE = {"temperature": ("warm", "cold")}
_BOTH = (
    Design(
        "memory, linkage, placement",
        {
            **_TEMPERATURE,
            "parent_bytes": ("", "16MiB"),
            "linkage": ("", "dynamic_now"),
            "placement": ("", "free"),
        },
    ),
    Design(
        "kind of memory, with 16 MiB in the parent",
        {**_TEMPERATURE, "page_kind": ("", "thp"), "mlockall": ("", "yes")},
        {"parent_bytes": "16MiB"},
    ),
    Design(
        "what was launched before, cold",
        {"after": ("", "pthread"), "launch_number": ("", "10")},
        {"temperature": "cold"},
    ),
)
_LAUNCHES = (
    *_BOTH,
    Design("C library", {**_TEMPERATURE, "linkage": ("", "musl"), "placement": ("", "free")}),
    Design("launchers at once", {**_TEMPERATURE, "concurrency": ("", "4"), "placement": ("", "free")}),
    Design(
        "the thread's stack",
        {**_TEMPERATURE, "stack_cache": ("", "cold"), "mlockall": ("", "yes")},
        first_only=("stack_cache",),
    ),
    Design(
        "the pages of a stack of its own",
        {**_TEMPERATURE, "stack_kind": ("user_4k", "user_huge"), "mlockall": ("", "yes")},
        {"stack_bytes": "8MiB"},
        ("stack_kind", "stack_bytes"),
    ),
)
_AT_WORK = (
    Design(
        "workers, numbers, output, allocation",
        {
            "workers": ("2", "8"),
            "numbers": ("200", "2000"),
            "output": ("", "shared_stream"),
            "allocate": ("", "each_number"),
        },
    ),
    Design(
        "placement, with 2,000 numbers",
        {"workers": ("2", "8"), "output": ("", "shared_stream"), "cpus": ("", "one")},
        {"numbers": "2000"},
    ),
    Design(
        "allocator, with 2,000 numbers that allocate",
        {"workers": ("2", "8"), "output": ("", "shared_stream"), "allocator": ("", "one_heap")},
        {"numbers": "2000", "allocate": "each_number"},
    ),
)

LAUNCH, FLAGS, WORK = (
    Pairing(
        "launch",
        "Is a thread slower to launch than a process?",
        {"S11: threads are slower": 1, "B6: processes are, by 7 times": -1, "L6: processes are, by 13 times": -1},
        "launch.pthread",
        "launch.fork",
        "a thread",
        "a process",
        ("call_returns_ns", "task_runs_ns", "reaped_ns"),
        _LAUNCHES,
        {"temperature": "warm"},
    ),
    Pairing(
        "flags",
        "Do the flags that pthread_create passes to clone cost or save time?",
        {"S21: they cost": 1, "B12: they save": -1},
        "flags.settls",
        "flags.none",
        "clone3 with all of them",
        "clone3 with none",
        ("call_returns_ns", "task_runs_ns"),
        _BOTH,
        {"temperature": "warm"},
    ),
    Pairing(
        "work",
        "Do workers that are threads take longer than workers that are processes?",
        {
            "U7: they do beyond the CPUs": 1,
            "U12: processes cost less to create": 1,
            "L6: threads are faster, by 13 times": -1,
        },
        "work.factor",
        "work.factor[task_kind=process]",
        "threads",
        "processes",
        ("whole_ns",),
        _AT_WORK,
        {"numbers": "200", "workers": "2"},
    ),
)
PAIRINGS: tuple[Pairing, ...] = (LAUNCH, FLAGS, WORK)
