"""One task wakes the next and sleeps."""

from clonometer.families.types import CROWD, Axis, Cost, Family, WorkloadWords

FAMILY = Family(
    "switch",
    title="Switching between tasks",
    explanation=(
        "One task wakes the next and sleeps; switch is what remains after subtracting the same calls and work in one "
        "task."
    ),
    order=40,
    shape=CROWD,
    axes={
        "ring_tasks": Axis(thing="task in the ring", things="tasks in the ring", cost=Cost(10_000.0, 150_000.0)),
        "working_set_bytes": Axis(number="{} of work", title="memory that each task works on", cost=Cost(2.0, 2.0)),
    },
    workloads={
        "switch.pipe": WorkloadWords(colour="teal"),
        "switch.unix_socket": WorkloadWords(colour="purple"),
        "switch.eventfd": WorkloadWords(colour="olive"),
        "switch.futex": WorkloadWords(colour="red"),
        "switch.signal": WorkloadWords(colour="rose"),
        "switch.yield": WorkloadWords(colour="sand"),
    },
    besides=frozenset(("alone_ns",)),
)
