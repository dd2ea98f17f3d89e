"""Launches whose task executes another program."""

from clonometer.families.types import LAUNCH, Axis, Cost, Family, WorkloadWords

_PROGRAM = Cost(launch_ns=400_000.0)
# Of a byte in words of 150.
_HANDED = Cost(launch_ns=2.5, build_ns=1.0)

FAMILY = Family(
    "new_program",
    title="New program",
    explanation="The new task executes another program: more work, never ranked against the same image.",
    order=10,
    shape=LAUNCH,
    task="starts a new program",
    axes={
        "program": Axis(
            {
                "target_static": "static hello world",
                "target_nolibc": "hello without libc",
                "target_dynamic": "dynamic hello",
                "target_cxx": "C++ hello",
            },
            cost=lambda _: _PROGRAM,
            programs=True,
            where="{} as the program",
            explanations={
                "target_static": "a static hello world in C",
                "target_nolibc": "a static hello world without C library",
                "target_dynamic": "a dynamically linked hello world in C",
                "target_cxx": "a dynamically linked hello world in C++",
            },
        ),
        "env_bytes": Axis(
            number="{} of environment",
            thing="4 KiB of environment",
            title="environment",
            cost=_HANDED,
            fewer="start programs with a small environment",
        ),
        "arg_bytes": Axis(
            number="{} of arguments",
            thing="4 KiB of arguments",
            title="arguments",
            cost=_HANDED,
            fewer="start programs with short arguments",
        ),
    },
    workloads={
        "launch.fork_exec": WorkloadWords("fork+exec", thing="program", colour="red"),
        "launch.posix_spawn": WorkloadWords(thing="program", census="posix_spawn", colour="cyan"),
        "launch.vfork_exec": WorkloadWords(thing="program", census="vfork", colour="olive"),
    },
)
