"""The end of a task."""

from clonometer.families.types import Axis, Cost, Family

FAMILY = Family(
    "teardown",
    title="Tear-down",
    explanation="What the end of a task costs, from its last instruction or the signal until it is reaped.",
    order=80,
    axes={
        "child_bytes": Axis(number="child writes {}", cost=Cost(0.3)),
        "zombies": Axis(thing="zombie", things="zombies", cost=Cost(50_000.0)),
    },
)
