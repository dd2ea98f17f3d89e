"""Claims about tasks that work: sharing, switching, crashing, contending; and the question of the switch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.stats.quantiles import quantile_interval
from clonometer.studies.cells import axes_of, cell, heap, sysel_fork, sysel_thread
from clonometer.studies.judge import REAPED, Judge, MissingEvidenceError, claim
from clonometer.studies.measured import SURVIVORS
from clonometer.studies.thresholds import DIFFERS, TENTH, TWICE
from clonometer.studies.types import Verdict
from clonometer.studies.verdicts import (
    JudgedPart,
    over_conditions,
    over_some,
    verdict,
)
from clonometer.units import approximate_bytes, format_duration_interval, parse_bytes
from clonometer.verdicts import Status, Word

SWITCH, LATENCY, OPERATION = "handover_ns", "latency_ns", "op_ns"
SHARED = "ipc.shared_memory"
_PROCESS_OVER_THREAD = "processes over threads"
_ADVICE = "'clonometer advise --rate N --work TIME' weighs it on this machine"


def _pairs(judge: Judge, prefix: str, quantity: str) -> list[tuple[str, dict[str, str], RunEstimate, RunEstimate]]:
    """Threads and processes under the same condition, of every workload that begins so."""
    pairs = []
    for text in judge.measured.cells:
        workload, axes = axes_of(text)
        if not workload.startswith(prefix) or "task_kind" in axes:
            continue
        other = cell(workload, **axes, task_kind="process")
        a, b = judge.measured.find(text, quantity), judge.measured.find(other, quantity)
        if a is not None and b is not None:
            pairs.append((workload, axes, a, b))
    if not pairs:
        raise MissingEvidenceError(f"{prefix}*: {judge.measured.why_none(prefix)}")
    return pairs


@claim("S16", "{}", DIFFERS)
def s16(judge: Judge) -> Verdict:
    """A message through memory that threads share, against each way between processes, by size."""
    parts = []
    for text in judge.measured.cells:
        workload, axes = axes_of(text)
        if not workload.startswith("ipc.") or axes.get("task_kind") != "process":
            continue
        same = {name: value for name, value in axes.items() if name != "task_kind"}
        a, b = judge.measured.find(text, LATENCY), judge.measured.find(cell(SHARED, **same), LATENCY)
        if a is not None and b is not None:
            size = approximate_bytes(parse_bytes(axes.get("message_bytes", "1")))
            words = f"{workload.partition('.')[2].replace('_', ' ')}, {size}"
            parts.append(judge.compare(words, a, b))
    if not parts:
        raise MissingEvidenceError(f"ipc.*: {judge.measured.why_none('ipc.')}")
    words = "A message between processes over one between threads through the memory that they share"
    return _weighed(verdict(over_conditions, parts, words, _PROCESS_OVER_THREAD))


def _weighed(judged: Verdict) -> Verdict:
    """Say where it is weighed against everything else, for a load that somebody has."""
    return replace(judged, reason=f"{judged.reason} How much that matters depends on the load: {_ADVICE}.")


def _switches(judge: Judge) -> list[JudgedPart]:
    return [
        judge.judged(_where(workload, axes), judge.ratio(b, a), "above", DIFFERS, (a.cell, b.cell), rows=(b, a))
        for workload, axes, a, b in _pairs(judge, "switch.", SWITCH)
    ]


def _where(workload: str, axes: dict[str, str]) -> str:
    name = workload.partition(".")[2].replace("_", " ")
    return f"{name} across CPUs" if axes.get("partner_cpu") == "other" else name


@claim("S17", "{} for one way at least, sure among all", DIFFERS)
def s17(judge: Judge) -> Verdict:
    """Every way to switch, between processes over between threads: can be cheaper, so that one is enough."""
    parts = _switches(judge)
    words = "Switches between processes over switches between threads"
    return verdict(over_some, parts, words, _PROCESS_OVER_THREAD)


@claim("B10", "{}", DIFFERS)
def b10(judge: Judge) -> Verdict:
    """How long a switch takes, by each way, between threads and between processes."""
    parts = _switches(judge)
    times_of_ways = []
    for workload, axes, a, b in _pairs(judge, "switch.", SWITCH):
        times = [_time(row) for row in (a, b)]
        times_of_ways.append(f"{_where(workload, axes)} {times[0]} between threads, {times[1]} between processes")
    judged = verdict(over_conditions, parts, "", _PROCESS_OVER_THREAD)
    return replace(judged, reason=f"One way, with the wake-up: {'; '.join(times_of_ways)}.")


def _time(row: RunEstimate) -> str:
    return format_duration_interval(*quantile_interval(row.processes.values).ends)


_WORKER = "isolate.worker"
_SIBLINGS = 3
_KINDS = ("process", "thread")
_HELD = "whole_each_bytes"


@claim("S18", "all others alive after a process failed, none after a thread, in all but {} of launches", TENTH)
def s18(judge: Judge) -> Verdict:
    """One of several workers fails, as a process and as a thread: how many of the others still work."""
    outcomes, evidence = [], []
    held = launches = 0
    for fault, words in ((None, "crashes"), ("kill", "is killed")):
        axes = {} if fault is None else {"fault": fault}
        for kind, alive in (("process", _SIBLINGS), ("thread", 0)):
            text = cell(_WORKER, **axes, **({"task_kind": kind} if kind == "process" else {}))
            seen = judge.find(text, SURVIVORS).processes.values
            as_said = int((seen == alive).sum())
            held, launches = held + as_said, launches + seen.size
            known = _time(judge.find(text, "known_ns"))
            restored = _time(judge.find(text, "restored_ns"))
            continuing = "all others continued" if alive else "no other continued"
            outcomes.append(
                f"one that {words} as a {kind}: {continuing} in {as_said:,} of {seen.size:,}, failure noticed after "
                f"{known}, everything restored after {restored}"
            )
            evidence.append(text)
    if judge.measured.observed.get("crash") is not None:
        evidence.append("demo crash")
    share = held / launches
    status = Status.HOLDS if share >= 1 - TENTH.share else Status.FAILS if share <= TENTH.share else Status.DEPENDS
    reason = f"Of workers, {'; '.join(outcomes)}."
    # What happened is counted: nothing is sure or likely of it.
    counted = f"{held:,} of {launches:,} launches"
    return _weighed(Verdict(status, reason, evidence=tuple(evidence), counted=counted))


@claim("S22", "{} as much of each", TWICE)
def s22(judge: Judge) -> Verdict:
    """What a process weighs over a thread: memory that an idle one holds, its launch, its end, a switch to it."""
    # A group's account counts nothing but the tasks; without the right to make one the whole machine's is read.
    grouped = {kind: cell(f"footprint.{kind}", accounting="cgroup") for kind in _KINDS}
    alone = all(judge.measured.find(text, _HELD) is not None for text in grouped.values())
    cells = grouped if alone else {kind: f"footprint.{kind}" for kind in _KINDS}
    parts = []
    for quantity, words in ((_HELD, "memory held"), ("create_each_ns", "to create"), ("reap_each_ns", "to reap")):
        process, thread = (judge.find(cells[kind], quantity) for kind in _KINDS)
        parts.append(judge.compare(words, process, thread, "above", TWICE))
    switch = [judge.measured.find(text, SWITCH) for text in (cell("switch.pipe", task_kind="process"), "switch.pipe")]
    if switch[0] is not None and switch[1] is not None:
        parts.append(judge.compare("to switch to", switch[0], switch[1], "above", TWICE))
    held = [_bytes(judge.find(cells[kind], _HELD)) for kind in _KINDS]
    words = (
        f"To the kernel both are tasks; an idle process holds {held[0]}, an idle thread {held[1]}; a process over a "
        "thread"
    )
    return verdict(over_conditions, parts, words, _PROCESS_OVER_THREAD)


def _bytes(row: RunEstimate) -> str:
    return approximate_bytes(round(float(np.median(row.processes.values))))


@claim("S19", "{} for one operation at least, sure among all", DIFFERS)
def s19(judge: Judge) -> Verdict:
    """Each operation that touches what threads share, by as many workers as CPUs and more."""
    if judge.measured.cpus < 2:
        return Verdict(Status.NOT_MEASURABLE, "There is only one CPU here: nothing is shared between several.")
    parts = [
        judge.compare(f"{workload.partition('.')[2]}, {_workers(axes)}", a, b)
        for workload, axes, a, b in _pairs(judge, "contend.", OPERATION)
        if int(axes.get("workers", "1")) > 1
    ]
    if not parts:
        raise MissingEvidenceError("contend.*: no more than one worker was measured")
    words = "An operation by several threads over the same by several processes"
    return _weighed(verdict(over_some, parts, words, "threads over processes"))


def _workers(axes: dict[str, str]) -> str:
    layout = axes.get("counter_layout")
    return f"{axes['workers']} workers{', false sharing' if layout == 'packed' else ', one counter' if layout else ''}"


@claim("S20", "those of S16 and S18")
def s20(judge: Judge) -> Verdict:
    """What follows from S16 and S18, which have the evidence."""
    shared, safe = judge.verdict("S16"), judge.verdict("S18")
    for judged in (shared, safe):
        if judged.status == Status.NOT_MEASURABLE:
            raise MissingEvidenceError(judged.reason.removeprefix("Not measured here: ").removesuffix("."))
    statuses = {shared.status, safe.status}
    status = next(
        (status for status in (Status.FAILS, Status.UNKNOWN, Status.DEPENDS) if status in statuses),
        Status.HOLDS,
    )
    line, cells = _line(judge)
    reason = (
        f"This follows from S16 (shared data, {_WORDS[shared.status]}) and S18 (safety, {_WORDS[safe.status]}).{line} "
        f"For a load: {_ADVICE}."
    )
    evidence = tuple(dict.fromkeys([*shared.evidence, *safe.evidence, *cells]))
    # What is counted needs no word, so that how sure it is is how sure the other one is.
    word = shared.word if status != Status.UNKNOWN else Word.OPEN
    return Verdict(status, reason, evidence=evidence, word=word)


def _line(judge: Judge) -> tuple[str, tuple[str, ...]]:
    """How long a task must be for its launch not to decide, by the launches of this run; nothing where it has none."""
    for thread, process in (
        (heap("launch.pthread", "2MiB"), heap("launch.fork", "2MiB")),
        (sysel_thread("warm"), sysel_fork("warm")),
    ):
        rows = [judge.measured.find(text, REAPED) for text in (process, thread)]
        if rows[0] is None or rows[1] is None:
            continue
        line = judge.difference(rows[0], rows[1]).over(DIFFERS.share)
        if line.low <= 0:
            return "", ()
        return (
            f" It also depends on your task's length: the line is at {format_duration_interval(*line.ends)} of work "
            f"here, beyond which a process costs less than {DIFFERS.words} more than a thread.",
            (process, thread),
        )
    return "", ()


_WORDS = {
    Status.HOLDS: "holds",
    Status.DEPENDS: "depends on how",
    Status.FAILS: "does not hold",
    Status.UNKNOWN: "is unclear",
}
