"""One task wakes the next and sleeps."""

from clonometer.families.types import CROWD, Axis, Cost, Family

FAMILY = Family(
    "switch",
    title="Switching between tasks",
    explanation=(
        "One task wakes the next and sleeps; switch is what is left without the same calls and work in one task."
    ),
    order=40,
    shape=CROWD,
    axes={
        "ring_tasks": Axis(thing="task in the ring", things="tasks in the ring", cost=Cost(10_000.0, 150_000.0)),
        "working_set_bytes": Axis(number="{} of work", title="memory that each task works on", cost=Cost(2.0, 2.0)),
    },
    besides=frozenset(("alone_ns",)),
)
