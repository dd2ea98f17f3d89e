"""Reading clocks."""

from clonometer.families.types import LOOP, Axis, Family

FAMILY = Family(
    "clock",
    title="Clocks",
    explanation="What reading each clock costs, how fine it is, and whether it ever goes back.",
    order=120,
    shape=LOOP,
    control=True,
    axes={"path": Axis({"syscall": "system call", "vdso": "vDSO"})},
)
