"""What the instrument itself costs: it comes last of all, even after families that have no module."""

from clonometer.families.types import LAST, LOOP, Family, LanguageTask, WorkloadWords

FAMILY = Family(
    "floor",
    title="The instrument itself",
    explanation="What measuring costs: it is part of the figures above.",
    order=LAST + 1,
    shape=LOOP,
    control=True,
    instrument=True,
    workloads={
        "launch.none": WorkloadWords("bare loop"),
        "launch.stamp": WorkloadWords("child's stamp"),
        "clock.used": WorkloadWords("clock reading"),
    },
    language_tasks={
        "none": LanguageTask("readings", "the readings of a launch", "reaped_ns", "launch.none", "reaped_ns"),
    },
)
