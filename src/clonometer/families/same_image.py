"""Launches that go on in the program that is already running: fork, vfork, clone, threads."""

from clonometer.families.common import number
from clonometer.families.types import LAUNCH, Axis, Condition, Cost, Family, WorkloadWords

#: What makes a process and a thread, for whoever compares the two.
FORK, PTHREAD = "launch.fork", "launch.pthread"


def _reap_after_cost(condition: Condition) -> Cost:
    """What the parent sleeps between a launch and its wait for the task."""
    return Cost(launch_ns=float(number(condition, "reap_after_ns")))


FAMILY = Family(
    "same_image",
    title="Same image",
    plain_title="Same program",
    explanation="The new task continues in the program that is already running.",
    order=0,
    shape=LAUNCH,
    task="continues in the same program",
    workloads={
        FORK: WorkloadWords(thing="process", colour="orange"),
        "launch.vfork": WorkloadWords(thing="process", substitute="vfork, for a child that only execs,", colour="teal"),
        PTHREAD: WorkloadWords(thing="thread", substitute="a thread", census="thread", colour="blue"),
        "launch.raw_thread": WorkloadWords(raw=True, colour="cyan"),
        "launch.bare_fork": WorkloadWords(raw=True, colour="red"),
        "launch.clone": WorkloadWords(raw=True, colour="purple"),
        "launch.clone3": WorkloadWords(raw=True, colour="sand"),
    },
    axes={
        "reap_after_ns": Axis(number="{} before the wait", cost=_reap_after_cost),
        "process_ending": Axis({"exit": "exit", "_exit": "_exit"}),
        "detached": Axis({"yes": "detached", "no": "joined"}),
        "stack_kind": Axis({"library": "library's stack", "user_4k": "own stack", "user_huge": "own huge stack"}),
        "guard": Axis({"none": "no guard", "library": "guarded"}),
        "stack_cache": Axis({"cold": "cold stack cache", "warm": "warm stack cache"}),
        "thread_ending": Axis({"return": "return", "pthread_exit": "pthread_exit"}),
    },
)
