"""What fork postpones: the copies of pages."""

from clonometer.families.types import Axis, Cost, Family

_PAUSE, _WRITES = "longest pause of another thread", "writing all memory"

FAMILY = Family(
    "cow",
    title="After a fork",
    explanation=("What fork postpones: pages that are copied when they are written, and what other threads notice."),
    order=90,
    measured_in={
        "write_each_ns": "for the first write to each page",
        "again_each_ns": "for the second write to each page",
    },
    phases={
        "fork_call_ns": ("the call", ""),
        "quiet_stall_ns": (_PAUSE, "before"),
        "call_stall_ns": (_PAUSE, "during the call"),
        "aftermath_stall_ns": (_PAUSE, "afterwards"),
        "quiet_pass_ns": (_WRITES, "before"),
        "aftermath_pass_ns": (_WRITES, "afterwards"),
    },
    axes={
        "written_bytes": Axis(
            number="{} written", thing="4 KiB of memory written", title="memory written", cost=Cost(0.6)
        ),
        "write_step": Axis({"page": "each page", "small_page": "each 4 KiB"}),
        "other_process": Axis(
            {"alive": "the other process alive", "gone": "the other process gone"},
            advice={"gone": "let the child exec or exit before the parent writes again"},
        ),
    },
)
