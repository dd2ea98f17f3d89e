"""A worker fails, and its siblings survive or not."""

from clonometer.families.types import CROWD, Axis, Condition, Cost, Family

# An incident, and one of a worker that leaks until its limit, with the replacement.
_FAULT, _LEAK = Cost(wait_ns=1e6), Cost(wait_ns=15e6)


def _fault_cost(condition: Condition) -> Cost:
    return _LEAK if condition["fault"] == "leak" else _FAULT


FAMILY = Family(
    "isolate",
    title="Isolation",
    explanation="A worker fails: what survives, how soon it is noticed, and how soon another worker replaces it.",
    order=70,
    shape=CROWD,
    axes={
        "fault": Axis(
            {
                "segfault": "segfaults",
                "abort": "aborts",
                "overrun_guard": "overruns into a guard page",
                "overrun_neighbour": "overruns its neighbour's data",
                "leak": "leaks until its limit",
                "kill": "is killed",
            },
            where="a worker that {}",
            cost=_fault_cost,
        ),
        "siblings": Axis(thing="sibling", things="siblings"),
    },
)
