"""Tasks that exist already and are woken, instead of launched."""

from clonometer.families.types import Family, WorkloadWords

FAMILY = Family(
    "wake",
    title="Waking an idle worker",
    explanation="The task exists already and sleeps: what a pool or a pre-forked server pays instead of a launch.",
    order=30,
    not_ranked="may include the worker's answer",
    workloads={
        "wake.pipe": WorkloadWords(colour="teal"),
        "wake.futex": WorkloadWords(colour="red"),
        "wake.thread_futex": WorkloadWords(colour="blue"),
        "wake.thread_condvar": WorkloadWords(colour="purple"),
    },
    advice="keep idle workers, and wake them",
)
