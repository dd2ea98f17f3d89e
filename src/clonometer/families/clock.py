"""Reading clocks."""

from clonometer.families.types import LOOP, Axis, Cost, Family

_PROGRAM = Cost(launch_ns=500_000.0)

FAMILY = Family(
    "clock",
    title="Clocks",
    explanation="What reading each clock costs, how fine it is, and whether it ever goes back.",
    order=120,
    shape=LOOP,
    control=True,
    measured_in={"pair_ns": "from its first reading to its second"},
    axes={
        "path": Axis({"syscall": "system call", "vdso": "vDSO"}),
        "read_clock": Axis(
            {
                "realtime": "CLOCK_REALTIME",
                "monotonic": "CLOCK_MONOTONIC",
                "process_cputime": "CPU-time clock",
                "chrono": "std::chrono",
            },
            cost=lambda _: _PROGRAM,
        ),
    },
)
