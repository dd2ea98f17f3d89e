"""The words people read for axes and their values, and the units of quantities: one vocabulary for all of us."""

from __future__ import annotations

from pathlib import PurePosixPath

from clonometer.units import approximate_bytes, format_duration

_VALUES: dict[str, dict[str, str]] = {
    "pages": {"first": "never forked pages"},
    "linkage": {
        "dynamic_lazy": "lazily bound",
        "dynamic_now": "bound at start",
        "static": "static",
        "musl": "musl",
    },
    "frequency": {"as_is": "frequency as it is", "base": "base frequency", "turbo": "turbo"},
    "page_kind": {
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
    },
    "vma_kind": {"touched": "touched VMAs", "untouched": "untouched VMAs", "dontfork": "DONTFORK VMAs"},
    "caches": {"hot": "hot caches", "idle": "cold caches after idling", "thrashed": "thrashed caches"},
    "thrash_cpu": {"same": "thrashed on the same CPU", "other": "thrashed on another CPU"},
    "file_kind": {"same": "one file", "distinct": "distinct files"},
    "thread_state": {"busy": "busy threads", "idle": "idle threads"},
    "mlockall": {"yes": "mlockall", "no": "not locked"},
    "sched_class": {
        "other": "SCHED_OTHER",
        "batch": "SCHED_BATCH",
        "idle": "SCHED_IDLE",
        "fifo": "SCHED_FIFO",
        "rr": "SCHED_RR",
    },
    "after": {"none": "after no other launch"},
    "close_files": {"none": "no close", "close": "child closes each", "close_range": "child close_range"},
    "process_ending": {"exit": "exit", "_exit": "_exit"},
    "detached": {"yes": "detached", "no": "joined"},
    "stack_kind": {"library": "library's stack", "user_4k": "own stack", "user_huge": "own huge stack"},
    "guard": {"none": "no guard", "library": "guarded"},
    "stack_cache": {"cold": "cold stack cache", "warm": "warm stack cache"},
    "thread_ending": {"return": "return", "pthread_exit": "pthread_exit"},
    "launchers": {"threads": "launched by threads", "processes": "launched by processes"},
    "write_step": {"page": "each page", "small_page": "each 4 KiB"},
    "other_process": {"alive": "other alive", "gone": "other gone"},
    "task_kind": {"thread": "threads", "process": "processes"},
    "cutoff": {"none": "no cut-off", "sqrt": "cut off at the root"},
    "output": {
        "worker_file": "a file each",
        "shared_stream": "one stream",
        "shared_append": "one appended file",
        "none": "no output",
    },
    "stdio_lock": {"locked": "locked stdio", "unlocked": "unlocked stdio"},
    "writing": {"buffered": "buffered", "each_number": "a write for each number"},
    "allocate": {"none": "no allocation", "each_number": "allocating"},
    "allocator": {"library": "library's allocator", "one_heap": "one heap", "mapped": "memory mapped each time"},
    "worker_memory": {"library": "library's memory", "prefaulted": "prefaulted memory"},
    "file_table": {"inherited": "inherited file table", "own": "own file table"},
    "counters": {"padded": "padded counters", "adjacent": "adjacent counters"},
    "release": {"as_launched": "working as launched", "together": "released together"},
    "cpus": {"free": "free CPUs", "one": "one CPU", "spread": "spread over CPUs"},
    "accounting": {"machine": "by the machine", "cgroup": "by its group"},
    "partner_cpu": {"same": "one CPU", "other": "two CPUs"},
    "path": {"syscall": "system call", "vdso": "vDSO"},
    "counter_layout": {"padded": "padded", "packed": "side by side", "one": "one for all"},
    "fault": {
        "segfault": "segfaults",
        "abort": "aborts",
        "overrun_guard": "overruns into a guard page",
        "overrun_neighbour": "overruns its neighbour's data",
        "leak": "leaks until its limit",
        "kill": "is killed",
    },
    "opened": {"distinct": "distinct files", "same": "the same file"},
    "stages": {"parent": "parent's stamps", "all": "all stamps"},
    "program": {
        "target_static": "static hello world",
        "target_nolibc": "hello without libc",
        "target_dynamic": "dynamic hello",
        "target_cxx": "C++ hello",
    },
}
# What one of an axis's things is called, and what many are.
_THINGS = {
    "vmas": ("VMA", "VMAs"),
    "open_files": ("open file", "open files"),
    "parent_threads": ("thread in the parent", "threads in the parent"),
    "launch_number": ("launch before it", "launches"),
    "concurrency": ("launcher", "at once"),
    "tasks": ("task", "tasks"),
    "siblings": ("sibling", "siblings"),
    "workers": ("worker", "workers"),
    "zombies": ("zombie", "zombies"),
    "numbers": ("number", "numbers"),
    "ring_tasks": ("task in the ring", "tasks in the ring"),
    "nofile": ("descriptor of the limit", "descriptors at most"),
}
_PHRASES = {"pages": "{} pages", "frequency": "at {}", "after": "after {}", "placement": "{}"}
# What is written, where an axis says how much of it.
_WRITTEN = {"touched_bytes": "stack written", "written_bytes": "memory written"}
_SIZES = {
    "parent_bytes": "{}",
    "stack_bytes": "{} stack",
    "child_bytes": "child writes {}",
    "copy_bytes": "{}",
    "written_bytes": "{} written",
    "allocation_bytes": "blocks of {}",
    "touched_bytes": "{} of stack written",
    "message_bytes": "messages of {}",
    "working_set_bytes": "{} of work",
    "thrash_bytes": "{} walked",
}


def axis_words(name: str, value: int | str) -> str:
    """Say one axis with its value, in a few words.

    Examples
    --------
    >>> axis_words("parent_bytes", 1 << 30), axis_words("pages", "clean"), axis_words("vmas", 10_000)
    ('1 GiB', 'clean pages', '10,000 VMAs')
    >>> axis_words("launch_number", 3), axis_words("after", "fork"), axis_words("program", "/bin/true")
    ('launch 3', 'after fork', 'true')
    """
    if isinstance(value, int):
        return _number_words(name, value)
    known = _VALUES.get(name, {}).get(value)
    if known is not None:
        return known
    if name == "program":
        return PurePosixPath(value).name or value
    return _PHRASES.get(name, f"{name.replace('_', ' ')} {{}}").format(value.replace("_", " "))


def _number_words(name: str, value: int) -> str:
    if name == "launch_number":
        return f"launch {value}"
    if name in _THINGS:
        one, many = _THINGS[name]
        return f"{value:,} {one if value == 1 and name != 'concurrency' else many}"
    if name.endswith("_bytes"):
        return _SIZES.get(name, f"{name.removesuffix('_bytes').replace('_', ' ')} {{}}").format(
            approximate_bytes(value)
        )
    if name == "idle_ns":
        return f"{format_duration(float(value))} idle"
    return f"{name.replace('_', ' ')} {value}"


def axis_thing(name: str) -> str:
    """What one unit of a numeric axis is called.

    Examples
    --------
    >>> axis_thing("open_files"), axis_thing("stack_bytes"), axis_thing("child_spin_ns")
    ('open file', '4 KiB of stack', 'ns of child spin')
    """
    if name in _THINGS:
        return _THINGS[name][0]
    if name == "parent_bytes":
        return "4 KiB page"
    if name.endswith("_bytes"):
        return f"4 KiB of {_WRITTEN.get(name, name.removesuffix('_bytes').replace('_', ' '))}"
    if name.endswith("_ns"):
        return f"ns of {name.removesuffix('_ns').replace('_', ' ')}"
    return name.replace("_", " ").removesuffix("s")


def axis_title(name: str) -> str:
    """What a numeric axis is called where it is drawn.

    Examples
    --------
    >>> axis_title("vmas"), axis_title("launch_number"), axis_title("stack_bytes")
    ('VMAs', 'number of the launch', 'stack')
    """
    special = {
        "parent_bytes": "memory of the parent",
        "numbers": "numbers for each worker",
        "launch_number": "number of the launch",
        "concurrency": "launchers at once",
        "nofile": "limit of open files",
        "message_bytes": "size of a message",
        "working_set_bytes": "memory that each task works on",
    }
    special |= _WRITTEN
    if name in special:
        return special[name]
    if name in _THINGS:
        return _THINGS[name][1]
    return name.removesuffix("_bytes").removesuffix("_ns").replace("_", " ")
