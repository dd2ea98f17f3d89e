"""Copying memory, to compare fork with."""

from clonometer.families.types import LOOP, Axis, Cost, Family

FAMILY = Family(
    "memory",
    title="Memory",
    explanation="Copying memory: what fork does not do.",
    order=110,
    shape=LOOP,
    axes={"copy_bytes": Axis(number="{}", cost=Cost(0.3, 1.0))},
)
