"""What several families have: the stages of a launch, and the axes that say where and how tasks are made and run."""

from __future__ import annotations

from clonometer.families.types import Axis, Condition, Cost, Qualifier, Stage

#: In order of time; the last one is the end of a launch, which contains all others. Families bring further ones.
STAGES = (
    Stage("call_returns", "call returns", "until the call returns",
          "until the parent's call has returned and it can continue its work.",
          part="in the call", ends_part="until_returned",
          stamp="the call has returned", reading="the parent's own clock reading after its call"),
    Stage("task_runs", "task runs", "until the task runs",
          "until the new task executes the first instruction of its own code.",
          part="starting the task", ends_part="until_task_ran",
          stamp="the task's own first instruction", reading="the new task's own clock reading"),
    Stage("image_entered", "program entered", "until the program is entered",
          "until the entry of the new program's file; in a static program its C library starts there.",
          detail=True, ends_part="until_image_entered", begins_part="child_library_start",
          stamp="the program's entry", reading="the new program's clock reading before its C library starts"),
    Stage("image_runs", "program runs", "until the new program enters main",
          "until the first line of the new program's main: after exec, the loader and the C library's start.",
          part="starting the program", ends_part="until_image_ran", begins_part="child_main",
          stamp="main begins", reading="the new program's clock reading in main's first line"),
    Stage("image_ends", "main ends", "until main ends", "until the last line of the new program's main.",
          detail=True, ends_part="until_image_ended", begins_part="child_library_exit",
          stamp="main ends", reading="the new program's clock reading in main's last line"),
    Stage("reaped", "reaped", "until the task is reaped",
          "until wait or join has returned: the task has run, ended and been cleaned up.",
          part="in exit and wait", ends_part="until_reaped"),
)  # fmt: skip

# What launches cost on virtual machines of 2024, good to a factor of some: these keep defaults bearable and let plans
# state their time. Forking with memory costs this much per byte where the pages are written again before each launch
# (1 GiB: 200 to 500 ms), and building the parent this much (1 GiB: 0.4 to 1.2 s).
_LAUNCH_NS_PER_BYTE = 0.3
BUILD_NS_PER_BYTE = 0.7
# Pages that fork copies no entries for, or few: less is copied, and writing them again faults in nothing.
_CHEAP_LAUNCH_NS_PER_BYTE = 0.05
_CHEAP_KINDS = frozenset(
    ("thp", "hugetlb", "shared", "file_shared", "file_shared_read", "file_private_read", "dontfork", "sparse")
)
_VMA = Cost(1_500.0, 3_000.0)
# A written VMA has page tables of its own.
_TOUCHED_VMA = 5
_CLOSE_NS_PER_DESCRIPTOR = 100.0
_NO_COLD = "pages=clean has no cold launch: only an earlier fork leaves the pages clean"
_NO_WARM = "launch_number has no warm launches: it sets which launch of a fresh process the cold sample is"
# What another task takes to walk a byte, a line at a time, and to be seen asleep again.
_WALK_NS_PER_BYTE, _WALK_NS = 0.2, 300_000.0


def _memory_cost(condition: Condition) -> Cost:
    """The parent's memory: dearest where fork finds its pages written."""
    if condition.get("page_kind") == "untouched":
        return Cost()
    if condition.get("page_kind") in _CHEAP_KINDS or condition.get("pages") == "clean":
        launch_ns = _CHEAP_LAUNCH_NS_PER_BYTE
    else:
        launch_ns = _LAUNCH_NS_PER_BYTE + (BUILD_NS_PER_BYTE if condition.get("pages") == "first" else 0.0)
    return Cost(launch_ns, BUILD_NS_PER_BYTE).times(number(condition, "parent_bytes"))


def _vmas_cost(condition: Condition) -> Cost:
    touched = _TOUCHED_VMA if condition.get("vma_kind") == "touched" else 1
    count = number(condition, "vmas")
    return Cost(_VMA.launch_ns * touched * count, _VMA.build_ns * count)


def _caches_cost(condition: Condition) -> Cost:
    """What goes by before each launch until the caches are as they shall be; launchers idle all at once."""
    if condition["caches"] == "idle":
        return Cost(wait_ns=float(number(condition, "idle_ns")))
    if condition["caches"] == "thrashed":
        walked = number(condition, "thrash_bytes")
        return Cost(build_ns=BUILD_NS_PER_BYTE * walked, wait_ns=_WALK_NS + _WALK_NS_PER_BYTE * walked)
    return Cost()


def _close_cost(condition: Condition) -> Cost:
    each_ns = _CLOSE_NS_PER_DESCRIPTOR if condition["close_files"] == "close" else 0.0
    return Cost(launch_ns=each_ns * number(condition, "nofile"))


def number(condition: Condition, axis: str) -> int:
    """The value of a numeric axis, 0 where there is none."""
    value = condition.get(axis, 0)
    return value if isinstance(value, int) else 0


AXES = {
    "linkage": Axis(
        {"dynamic_lazy": "lazily bound", "dynamic_now": "bound at start", "static": "static", "musl": "musl"},
        drawn_apart=True,
        by_runner=True,
        where="a {} parent",
        advice={"static": "link the parent statically", "dynamic_now": "bind the parent's symbols at start (-z now)"},
    ),
    "side": Axis({"a": "side A", "b": "side B"}, by_runner=True, drawn_apart=True),
    "frequency": Axis(
        {"as_is": "frequency as it is", "base": "base frequency", "turbo": "turbo"}, phrase="at {}", by_runner=True
    ),
    "placement": Axis(phrase="{}", drawn_apart=True, order=1),
    "stages": Axis({"parent": "parent's stamps", "all": "all stamps"}),
    "sched_class": Axis(
        {"other": "SCHED_OTHER", "batch": "SCHED_BATCH", "idle": "SCHED_IDLE", "fifo": "SCHED_FIFO", "rr": "SCHED_RR"}
    ),
    "parent_bytes": Axis(
        number="{}",
        thing="4 KiB page",
        title="memory of the parent",
        cost=_memory_cost,
        where="{} in the parent",
        order=-1,
        fewer="launch before memory is filled",
    ),
    "page_kind": Axis(
        {
            "4k": "4 KiB pages",
            "thp": "THP",
            "hugetlb": "reserved huge pages",
            "shared": "shared",
            "file_private": "private file, written",
            "file_private_read": "private file, only read",
            "file_shared": "shared file, written",
            "file_shared_read": "shared file, only read",
            "dontfork": "DONTFORK",
            "untouched": "untouched",
            "sparse": "one page per 2 MiB",
        },
        qualifies=Qualifier("parent_bytes", "4k"),
        advice={
            "thp": "put the parent's memory into huge pages",
            "hugetlb": "put the parent's memory into reserved huge pages",
            "dontfork": "exclude memory from children with MADV_DONTFORK",
        },
    ),
    "heap_kind": Axis(
        {"objects": "objects", "buffer": "Buffers"},
        title="kind of heap",
        qualifies=Qualifier("parent_bytes", "objects", is_said=False),
    ),
    "pages": Axis(
        {"first": "never forked pages"},
        phrase="{} pages",
        qualifies=Qualifier("parent_bytes", "rewritten"),
        no_launches=("cold", lambda value: value == "clean", _NO_COLD),
    ),
    "vmas": Axis(thing="VMA", things="VMAs", cost=_vmas_cost, fewer="launch from few memory areas"),
    "vma_kind": Axis(
        {
            "touched": "touched VMAs",
            "untouched": "untouched VMAs",
            "dontfork": "DONTFORK VMAs",
            "wipeonfork": "WIPEONFORK VMAs",
            "file": "file VMAs",
        },
        qualifies=Qualifier("vmas", "untouched"),
    ),
    "open_files": Axis(
        thing="open file",
        things="open files",
        cost=Cost(30.0, 1_500.0),
        fewer="launch with few open files",
    ),
    "file_kind": Axis({"same": "one file", "distinct": "distinct files"}, qualifies=Qualifier("open_files", "same")),
    "fork_handlers": Axis(
        thing="fork handler",
        things="fork handlers",
        cost=Cost(20.0, 100.0),
        fewer="register few handlers with pthread_atfork",
    ),
    "nofile": Axis(thing="descriptor of the limit", things="descriptors at most", title="limit of open files"),
    "close_files": Axis(
        {"none": "no close", "close": "child closes each", "close_range": "child close_range"},
        cost=_close_cost,
        advice={"close_range": "close descriptors by close_range"},
    ),
    "parent_threads": Axis(thing="thread in the parent", things="threads in the parent", cost=Cost(0.0, 40_000.0)),
    "thread_state": Axis(
        {"busy": "busy threads", "idle": "idle threads"}, qualifies=Qualifier("parent_threads", "idle")
    ),
    "mlockall": Axis({"yes": "mlockall", "no": "not locked"}, advice={"no": "do not lock all of the parent's memory"}),
    "caches": Axis(
        {"hot": "hot caches", "idle": "cold caches after idling", "thrashed": "thrashed caches"}, cost=_caches_cost
    ),
    "idle_ns": Axis(number="{} idle", qualifies=Qualifier("caches", 100_000_000, "idle")),
    "thrash_bytes": Axis(number="{} walked", qualifies=Qualifier("caches", 128 << 20, "thrashed")),
    "thrash_cpu": Axis(
        {"same": "thrashed on the same CPU", "other": "thrashed on another CPU"},
        qualifies=Qualifier("caches", "same", "thrashed"),
    ),
    "launch_number": Axis(
        number="launch {}",
        thing="launch before it",
        title="number of the launch",
        cost=Cost(0.0, 100_000.0),
        no_launches=("warm", lambda value: value != 1, _NO_WARM),
    ),
    "after": Axis({"none": "after no other launch"}, phrase="after {}"),
    "concurrency": Axis(number="{:,} at once", thing="launcher", title="launchers at once", multiplies=True),
    "launchers": Axis({"threads": "launched by threads", "processes": "launched by processes"}),
    "stack_bytes": Axis(number="{} stack"),
    "task_kind": Axis(
        {"thread": "threads", "process": "processes"},
        always_said=True,
        advice={"thread": "use threads, not processes", "process": "use processes, not threads"},
        # As fork and pthread are drawn.
        colours={"thread": "blue", "process": "orange"},
    ),
    "call_spin_ns": Axis(delays=("call", "call_returns")),
    "stamp_spin_ns": Axis(delays=("stamp", "task_runs")),
    "child_spin_ns": Axis(delays=("exit", "reaped")),
    "partner_cpu": Axis({"same": "one CPU", "other": "two CPUs"}),
}
