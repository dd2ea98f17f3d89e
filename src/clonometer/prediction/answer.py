"""The answer: what ``clonometer predict --json`` prints (docs/schemas/predict.schema.json)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.host.target.locked import LockTime
from clonometer.model.features import Features
from clonometer.model.later import RewrittenShare
from clonometer.model.stretch import StretchAt
from clonometer.model.types import Contributor, Ns, Scales
from clonometer.prediction.copying import Copying
from clonometer.prediction.refusals import Refusal
from clonometer.prediction.spans import PredictedTime
from clonometer.prediction.what_ifs import WhatIf
from clonometer.records import Count, Ge, Mark, OneOf, Positive, version

PREDICT_SCHEMA = 3


@dataclass(frozen=True)
class ForkSpans:
    """What fork's call takes of a CPU, by what cannot be seen: whether pages were written to since the last fork."""

    first_ns: Annotated[
        PredictedTime, "All pages written to since the last fork, cold caches: a first fork, or a busy writer's."
    ]
    later_ns: Annotated[
        PredictedTime,
        "A later fork, cold caches: the span from no page written to since the last fork to all of them, narrowed by "
        "what is known (rewritten). At least 90% of forks lie in it, wherever in that span the process is.",
    ]
    unwritten_ns: Annotated[PredictedTime, "No page written to since the last fork, cold caches."]
    first_hot_ns: Annotated[PredictedTime, "As first_ns, with hot caches: forks in a tight loop."]
    later_hot_ns: Annotated[PredictedTime, "As later_ns, with hot caches."]
    unwritten_hot_ns: Annotated[PredictedTime, "As unwritten_ns, with hot caches."]


@dataclass(frozen=True)
class Waits:
    """Who waits, and how long, at a first fork: wall time, where it was measured how busy the CPUs are (stretches)."""

    call_ns: Annotated[
        PredictedTime,
        "A caller that only forks, and any thread that maps memory or faults in the meantime: the whole fork call.",
    ]
    call_cpu_ns: Annotated[PredictedTime, "CPU time of that call: what it takes where nobody else wants the CPU."]
    until_exit_ns: Annotated[PredictedTime, "A caller that waits for its child to exit: the call plus exit_ns."]
    until_exec_ns: Annotated[PredictedTime, "A caller that waits for its child's exec: the call plus exec_ns."]
    threads: Annotated[Count, "Threads of the process."]
    sentence: str


@dataclass(frozen=True)
class MappingPart:
    """What a group of areas adds to a fork."""

    label: str
    kind: str
    areas: Count
    size_bytes: Count
    rss_bytes: Count
    first_ns: Ns
    unwritten_ns: Ns
    share: Annotated[float, Ge(0), "Its share of the median of a first fork."]


@dataclass(frozen=True)
class Basis:
    """What the answer rests on."""

    how: Annotated[str, OneOf(("smaps", "pagemap", "counters")), "How the process's areas were read."]
    why: Annotated[str | None, "Why smaps was not used; null where it was."]
    lock: Annotated[LockTime | None, "Null for a saved profile."]
    model: Annotated[str, OneOf(("calibration", "quick calibration", "rough")), "Where the times come from."]
    age_days: Annotated[float | None, Ge(0), "Age of the calibration."]
    scales: Annotated[Scales, "Present times over those of the calibration, by the reference scan."]
    is_scaled: Annotated[bool, "Whether that scan was run; without it the scales are 1, and treated as uncertain."]
    beyond: Annotated[
        Sequence[str], "Terms of which the process has more than was calibrated, or that were not calibrated."
    ]
    stretches: Annotated[
        Sequence[StretchAt] | None,
        "Wall time over CPU time of work of some lengths, as measured now; null where it was not: waits are CPU time.",
    ]
    wrote_to_it: Annotated[bool, "Whether its clear_refs was written to, which --measure-writes does."]
    notes: Annotated[Sequence[str], "What to know about the process or the reading."]


@dataclass(frozen=True)
class RuntimeLaunches:
    """Ways to launch in the runtime of a process, by the book of launch paths, that take one path."""

    api: Annotated[str, "What is called."]
    options: Annotated[Sequence[str], "The options that choose this path; empty text: none is needed."]
    mechanism: Annotated[str, "As a census names it."]
    copies: Annotated[bool, "Whether the process's memory map is copied for it."]
    waits_ns: Annotated[
        PredictedTime | None,
        "What its caller waits for: the kernel's part, which is waits.until_exec_ns, waits.call_ns or posix_spawn_ns, "
        "and own_ns. Null where posix_spawn was not calibrated.",
    ] = None
    own_ns: Annotated[
        Ns | None,
        "The runtime's own work in it, whatever the heap, as measured elsewhere; null where it was not: then the "
        "caller waits for at least waits_ns.",
    ] = None


@dataclass(frozen=True)
class RuntimePaths:
    """What a process runs, and what each of its APIs would do to it."""

    runtime: Annotated[str, "As in the book of launch paths."]
    title: str
    version: Annotated[str | None, "Null where its files do not say."]
    launches: Annotated[Sequence[RuntimeLaunches], "Those that copy the memory map first."]


@dataclass(frozen=True)
class Predicted:
    """What fork and its kin would cost a process."""

    schema = version(PREDICT_SCHEMA)

    pid: Annotated[Positive | None, "Null for a saved profile."]
    process: Annotated[str | None, "Its name; null where the profile has none."]
    rss_bytes: Count
    fork: ForkSpans
    waits: Waits
    rewritten: Annotated[RewrittenShare, "The share of its pages that is written to between two forks."]
    exit_ns: Annotated[
        PredictedTime, "From the call's return until the parent has reaped a child that exits without an exec."
    ]
    exec_ns: Annotated[
        PredictedTime,
        "From the call's return until the child has executed a program, which first frees the memory that was copied.",
    ]
    posix_spawn_ns: Annotated[PredictedTime | None, "The posix_spawn call instead; null where not calibrated."]
    vfork_ns: Annotated[PredictedTime | None, "The vfork call instead, with a child that exits at once."]
    page_tables_bytes: Annotated[Count, "Memory for the page tables of the child."]
    cow: Copying
    would_fail: Annotated[Refusal | None, "Null for a saved profile."]
    contributors: Annotated[Sequence[MappingPart], "Groups of areas, those that cost most first."]
    terms: Annotated[Sequence[Contributor], "Terms of the model; they add up to fork's medians."]
    what_ifs: Sequence[WhatIf]
    features: Annotated[Features, "What was counted."]
    basis: Basis
    paths: Annotated[
        RuntimePaths | None, Mark.OMITTED, "How its runtime launches; left out where the runtime is not known."
    ] = None
