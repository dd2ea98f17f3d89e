"""What a server does now, as far as a look at it tells: its memory, and its tasks by a short census."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clonometer.app.census import CensusAnswer, census
from clonometer.app.live import read
from clonometer.errors import UsageError
from clonometer.model.features import HUGE_PAGE_BYTES, SMALL_PAGE_BYTES, Features
from clonometer.prediction.profile import profile_of
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.tracing.census.tally import AS_FORK, AS_THREAD, Group
from clonometer.units import approximate_bytes, format_duration
from clonometer.words import counted

#: A rate from fewer tasks is none.
_LEAST_TASKS = 5
#: A task begins so much later than its creator goes on only where the CPUs have other work: idle ones wake in less.
_LATE_NS = 200_000


@dataclass(frozen=True)
class Observed:
    """What was seen: fields of a wish, what to say of each, and what the process has."""

    fields: dict[str, Any] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    features: Features | None = None


def observe(
    *,
    pid: int | None = None,
    command: Sequence[str] = (),
    seconds: float,
    given: Sequence[str] = (),
    progress: Progress = SILENT,
) -> Observed:
    """Look at a running process, or at a command, and take each task that it creates for a request.

    Parameters
    ----------
    pid
        Of a server that runs; it is only read and watched.
    command
        What to start instead: it runs for ``seconds`` at most.
    seconds
        How long the census lasts.
    given
        Fields of the wish that are stated, and so need not be seen.
    progress
        Watches.

    Raises
    ------
    UsageError
        If there is no such process, or it creates too few tasks to say how many requests it has.
    UnavailableError
        If no census can be taken here.
    """
    seen = Observed()
    if pid is not None:
        seen = _memory_of(pid)
    load = "; put its load on it now" if command else ""
    progress.say(f"clonometer: watching for {seconds:g} s which tasks are created{load}")
    answer = census(
        command, pid=pid, seconds=seconds, stacks=False, hooks=False, advice=False, output_to_stderr=True,
        progress=progress,
    )  # fmt: skip
    if pid is None:
        seen = _memory_by(answer)
    tasks = _of_requests(answer)
    if tasks is None or tasks.created < _LEAST_TASKS:
        if "rate_hz" in given:
            seen.texts.append("It created no task for each request: rate and work are as stated.")
            return seen
        raise UsageError(
            f"{_too_few(answer, tasks, seconds)}: that tells no rate",
            "give --rate, and --work; or watch it under load for longer, with --for",
        )
    _add_tasks(seen, tasks, answer.tally.wall_s)
    faults = answer.tally.ended.get("own_faults")
    if faults is not None:
        _add_parent(seen, faults / tasks.created)
    return seen


def _of_requests(answer: CensusAnswer) -> Group | None:
    """The most frequent tasks; those that stay for most of the time are a pool of the server, and no requests."""
    groups = [group for group in answer.tally.groups.values() if not _stays(group, answer)]
    return max(groups, key=lambda group: group.created, default=None)


def _stays(group: Group, answer: CensusAnswer) -> bool:
    life_ns = group.times["life_ns"].median_ns
    return life_ns is not None and life_ns > 0.5e9 * answer.tally.wall_s


def _too_few(answer: CensusAnswer, tasks: Group | None, seconds: float) -> str:
    """Say what was seen instead of a task for each request."""
    wall_s = answer.tally.wall_s
    if answer.command and wall_s < 0.9 * seconds:
        return f"{answer.name} ended after {wall_s:.1f} s"
    stayed = sum(group.created for group in answer.tally.groups.values() if _stays(group, answer))
    beside = f", and {stayed} that stayed" if stayed else ""
    number = 0 if tasks is None else tasks.created
    return f"{answer.name} created {counted(number, 'task')}{beside} in {wall_s:.1f} s"


def _add_parent(seen: Observed, faults: float) -> None:
    """Take the process's own faults for copies of pages after forks: it has few others while it serves."""
    if seen.fields.get("child_launch") == "fork":
        seen.fields["parent_faults"] = round(faults)
        seen.texts.append(f"Server: {counted(round(faults), 'page fault')} of its own for each of them.")


def _add_processes(seen: Observed, tasks: Group, used_ns: float) -> None:
    """Say what each process used in all: its work is what is left of that beside launch, faults and start."""
    is_program = 2 * tasks.execed > tasks.created
    seen.fields["child_cpu_ns"] = round(used_ns, -3)
    seen.fields["child_launch"] = "spawn" if is_program else "fork"
    text = f"Each: {format_duration(used_ns)} of CPU time in all"
    faults = tasks.used.minor_faults.median_ns
    if faults is not None:
        seen.fields["child_faults"] = round(faults)
        text += f" and {counted(round(faults), 'page fault')}"
    seen.texts.append(f"{text} (medians){', a program that it executes included' if is_program else ''}.")
    call_ns = tasks.times["making_ns"].median_ns
    if call_ns is not None and not is_program and tasks.mechanism == AS_FORK:
        seen.fields["fork_call_ns"] = round(call_ns, -2)
        seen.texts.append(f"Fork: {format_duration(call_ns)} of the server for each of them (median).")


def _memory_of(pid: int) -> Observed:
    reading = read(pid)
    profile = profile_of(reading, huge_pages_used=True)
    features = profile.features
    size = features.anon_pages * SMALL_PAGE_BYTES + features.huge_pages * HUGE_PAGE_BYTES
    name = profile.process or f"process {pid}"
    text = f"Memory: {name} (pid {pid}) has written {approximate_bytes(size)}, by {profile.how}."
    return Observed({"memory_bytes": size}, [text], features)


def _memory_by(answer: CensusAnswer) -> Observed:
    """The memory of the largest process that created tasks, if it was seen."""
    sizes = [int(each["rss_bytes"]) for each in answer.predictions]
    if not sizes:
        return Observed({}, ["Memory: not seen, taken as stated (or as none)."])
    return Observed({"memory_bytes": max(sizes)}, [f"Memory: {approximate_bytes(max(sizes))} in its largest process."])


def _add_tasks(seen: Observed, tasks: Group, wall_s: float) -> None:
    """Take tasks of the most frequent kind for requests: their rate, the CPU time of each, and how long it slept."""
    rate_hz = tasks.created / wall_s
    creator = Path(tasks.creator).name if tasks.creator else "it"
    seen.fields["rate_hz"] = float(f"{rate_hz:.3g}")
    made = f"{tasks.created:,} tasks by {tasks.mechanism} of {creator}"
    seen.texts.append(f"Rate: {made} in {wall_s:.1f} s; each is taken for a request.")
    used_ns, life_ns = tasks.used.cpu_ns.median_ns, tasks.times["life_ns"].median_ns
    if used_ns is None and tasks.running:
        so_far_ns = tasks.used_so_far.cpu_ns.median_ns
        used = f", which had used {format_duration(so_far_ns)} each by then (median)" if so_far_ns is not None else ""
        seen.texts.append(
            f"Work: not seen, since none of these tasks ended meanwhile{used}; watch for longer, with --for."
        )
        return
    if used_ns is None:
        seen.texts.append("Work: not seen, since the kernel does not say what ended tasks used; taken as stated.")
        return
    if tasks.mechanism == AS_THREAD:
        seen.fields["work_ns"] = round(used_ns, -3)
        seen.texts.append(f"Work: {format_duration(used_ns)} of CPU time in each (median), its start and end included.")
    else:
        _add_processes(seen, tasks, used_ns)
    if life_ns is not None and life_ns > 2 * used_ns:
        _add_waiting(seen, tasks, life_ns - used_ns)


def _add_waiting(seen: Observed, tasks: Group, waiting_ns: float) -> None:
    """Take the rest of a task's life for waiting, unless tasks wait for a CPU before they begin: it may be that."""
    runs_ns, making_ns = tasks.times["runs_ns"].median_ns, tasks.times["making_ns"].median_ns
    begins_ns = 0.0 if runs_ns is None or making_ns is None else runs_ns - making_ns
    text = f"Waiting: {format_duration(waiting_ns)} in each"
    if begins_ns > _LATE_NS:
        late = f"each waits {format_duration(begins_ns)} for a CPU before it begins (median)"
        seen.texts.append(f"{text}, but none is taken: {late}. Watch a less busy machine, or state --block.")
        return
    seen.fields["block_ns"] = round(waiting_ns, -3)
    seen.texts.append(f"{text}; waiting for a CPU counts too.")
