"""Memory that idle tasks hold."""

from clonometer.families.types import Axis, Cost, Family, WorkloadWords

FAMILY = Family(
    "footprint",
    title="Footprint",
    explanation="What idle tasks hold: kernel memory and their own.",
    order=100,
    measured_in={"create_each_ns": "to create each", "reap_each_ns": "to reap each"},
    axes={
        "tasks": Axis(thing="task", things="tasks", cost=Cost(300_000.0)),
        "touched_bytes": Axis(number="{} of stack written", thing="4 KiB of stack written", title="stack written"),
        "accounting": Axis({"machine": "by the machine", "cgroup": "by its group"}),
    },
    workloads={
        "footprint.process": WorkloadWords(thing="process", things="processes", colour="orange"),
        "footprint.thread": WorkloadWords(thing="thread", things="threads", colour="blue"),
    },
)
