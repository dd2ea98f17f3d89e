"""Whether the kernel would refuse a process its child: what it asks before it makes one, and what is left of it.

Sources: kernel/fork.c (dup_mmap, copy_process), mm/util.c (__vm_enough_memory), Documentation/mm/overcommit-accounting.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.host.target.headroom import Headroom
from clonometer.prediction.profile import Profile
from clonometer.records import Count, OneOf
from clonometer.units import approximate_bytes

#: From the worst on.
OUTCOMES = ("yes", "maybe", "unknown", "no")
_NEVER, _ALWAYS = 2, 1
#: A child's own record, kernel stack and areas beside its page tables, roughly.
_CHILD_BYTES = 64 << 10
_AREA_BYTES = 256


@dataclass(frozen=True)
class RefusalCheck:
    """One thing that the kernel asks before it makes a child."""

    check: Annotated[str, OneOf(("overcommit", "cgroup_memory", "cgroup_pids", "user_tasks", "machine_tasks"))]
    fails: Annotated[str, OneOf(OUTCOMES)]
    sentence: str
    needed: Annotated[Count | None, "What the child takes: bytes or tasks."]
    left: Annotated[Count | None, "What is left; null where nothing limits it or it is not known."]


@dataclass(frozen=True)
class Refusal:
    """Whether fork would fail."""

    fails: Annotated[str, OneOf(OUTCOMES), "The worst of the checks."]
    checks: Sequence[RefusalCheck]


def judge_headroom(profile: Profile, headroom: Headroom, page_tables_bytes: int, copied_bytes: int) -> Refusal:
    """Judge whether fork would fail, by the child's page tables and what copying on write takes at worst afterwards."""
    checks = [
        _promise(profile, headroom),
        _group_memory(profile, headroom, page_tables_bytes, copied_bytes),
        *_tasks(headroom),
    ]
    return Refusal(min((check.fails for check in checks), key=OUTCOMES.index), checks)


def _promise(profile: Profile, headroom: Headroom) -> RefusalCheck:
    needed = profile.promised_bytes
    if headroom.overcommit == _ALWAYS:
        return RefusalCheck("overcommit", "no", "Overcommit is always allowed here (mode 1).", needed, None)
    if headroom.overcommit is None:
        return RefusalCheck("overcommit", "unknown", "The overcommit mode cannot be read.", needed, None)
    if headroom.overcommit == _NEVER:
        return _strict_promise(profile, headroom)
    # Mode 0 refuses only what is larger than the machine, area by area.
    largest = profile.largest_promised_bytes
    if headroom.total_bytes is None or headroom.swap_bytes is None:
        return RefusalCheck("overcommit", "unknown", "The machine's memory cannot be read.", needed, None)
    left = headroom.total_bytes + headroom.swap_bytes
    most = profile.rss_bytes if largest is None else largest
    if most > left:
        return RefusalCheck(
            "overcommit",
            "yes",
            f"One area needs {approximate_bytes(most)}, more than memory and swap together "
            f"({approximate_bytes(left)}): overcommit mode 0 refuses it.",
            needed,
            left,
        )
    return RefusalCheck("overcommit", "no", "Overcommit mode 0 allows a child.", needed, left)


def _strict_promise(profile: Profile, headroom: Headroom) -> RefusalCheck:
    if headroom.commit_limit_bytes is None or headroom.committed_bytes is None:
        return RefusalCheck("overcommit", "unknown", "CommitLimit cannot be read.", profile.promised_bytes, None)
    left = max(0, headroom.commit_limit_bytes - headroom.reserve_bytes - headroom.committed_bytes)
    needed = profile.promised_bytes
    if needed is None:
        least = profile.features.anon_pages * 4096
        fails, needed = ("yes" if least > left else "unknown"), least
        size = f"at least {approximate_bytes(needed)}"
    else:
        fails, size = ("yes" if needed > left else "no"), approximate_bytes(needed)
    room_words = f"{approximate_bytes(left)} of CommitLimit ({approximate_bytes(headroom.commit_limit_bytes)}) is left"
    return RefusalCheck(
        "overcommit",
        fails,
        f"Overcommit is off (mode 2): a child needs a commitment of {size}, and {room_words}.",
        needed,
        left,
    )


def _group_memory(profile: Profile, headroom: Headroom, page_tables_bytes: int, copied_bytes: int) -> RefusalCheck:
    features = profile.features
    areas = features.anon_areas + features.empty_areas + features.file_areas + features.shared_areas
    needed = page_tables_bytes + _CHILD_BYTES + _AREA_BYTES * areas
    if headroom.memory is not None:
        left, where = headroom.memory.left, "its control group"
    elif headroom.available_bytes is not None:
        left, where = headroom.available_bytes, "the machine"
    else:
        return RefusalCheck("cgroup_memory", "unknown", "Free memory cannot be read.", needed, None)
    if needed <= left and headroom.memory is not None and headroom.memory.used is None:
        # Nothing is not what it uses.
        reason = f"What its control group uses of {approximate_bytes(left)} cannot be read."
        return RefusalCheck("cgroup_memory", "unknown", reason, needed, None)
    if needed > left:
        fails, words = "yes", f"The child's page tables need {approximate_bytes(needed)}; {where} has"
    elif copied_bytes > left:
        fails, words = "maybe", f"Copying everything takes {approximate_bytes(copied_bytes)}; {where} has"
    else:
        return RefusalCheck(
            "cgroup_memory", "no", f"Free memory of {where} is enough, even if everything is copied.", needed, left
        )
    ending = "left: out of memory, the kernel kills a process." if fails == "maybe" else "left."
    return RefusalCheck("cgroup_memory", fails, f"{words} {approximate_bytes(left)} {ending}", needed, left)


def _tasks(headroom: Headroom) -> list[RefusalCheck]:
    checks = []
    for check, bound, name in (
        ("cgroup_pids", headroom.pids, "pids.max of its control group"),
        ("user_tasks", headroom.user_tasks, "RLIMIT_NPROC of its user"),
        ("machine_tasks", headroom.machine_tasks, "the machine's limit of tasks (pid_max, threads-max)"),
    ):
        if bound is None:
            checks.append(RefusalCheck(check, "no", f"There is no limit in {name}.", 1, None))
            continue
        full = bound.left < 1
        if bound.used is None and not full:
            reason = f"How many of {bound.limit:,} tasks are in use cannot be read, counted by {name}."
            checks.append(RefusalCheck(check, "unknown", reason, 1, None))
            continue
        used = "" if bound.used is None else f"{bound.used:,} of "
        words = f"{used}{bound.limit:,} tasks are in use, counted by {name}"
        checks.append(
            RefusalCheck(
                check, "yes" if full else "no", f"{'No task is left: ' if full else ''}{words}.", 1, bound.left
            )
        )
    return checks
