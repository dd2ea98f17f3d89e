"""Workers that repeat one operation at the same time."""

from clonometer.families.common import number
from clonometer.families.types import CROWD, Axis, Condition, Cost, Family, WorkloadWords

# What workers are let go and watched for.
_LEAD_NS, _WINDOW_NS = 3e6, 5e6


def _workers_cost(condition: Condition) -> Cost:
    """A window for each two workers, where what they do has no end of its own."""
    if "numbers" in condition:
        return Cost()
    return Cost(wait_ns=_LEAD_NS + _WINDOW_NS * max(1, number(condition, "workers") // 2))


FAMILY = Family(
    "contend",
    title="Contention",
    explanation="Workers that repeat one operation at the same time, as threads, which share, and as processes.",
    order=60,
    shape=CROWD,
    axes={
        "workers": Axis(thing="worker", things="workers", cost=_workers_cost),
        "counter_layout": Axis({"padded": "padded", "packed": "side by side", "one": "one for all"}),
        "opened": Axis({"distinct": "distinct files", "same": "the same file"}),
        "allocation_bytes": Axis(number="blocks of {}"),
    },
    workloads={
        "contend.fault": WorkloadWords(doing="faulting in a page", colour="teal"),
        "contend.mmap": WorkloadWords(doing="mapping and unmapping memory", colour="purple"),
        "contend.malloc": WorkloadWords(doing="malloc and free", colour="red"),
        "contend.open": WorkloadWords(doing="opening and closing a file", colour="olive"),
        "contend.counter": WorkloadWords(doing="adding to a counter", colour="cyan"),
    },
)
