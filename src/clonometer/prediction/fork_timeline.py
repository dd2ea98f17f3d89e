"""A launch as the model predicts it, part by part, in parent and child: what the page about forks draws to scale.

Each part is a term of the model, or a time that a calibration has measured. Within a call they stand in the order of
the kernel's code (``copy_process``); where that alternates, as between areas and their pages, equal things are
together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.model import calibration as names
from clonometer.model.calibration import Calibration, CostModel
from clonometer.model.features import Features
from clonometer.model.later import later_cost
from clonometer.model.predictor import cost_of, page_tables_bytes, term_costs
from clonometer.model.terms import SCATTERED, term_counts
from clonometer.model.types import CostRange, Ns, Scales
from clonometer.prediction.copying import judge_copying
from clonometer.prediction.fork_shape import ForkShape
from clonometer.records import Count, Ge, OneOf

#: The terms of a call, in the order of the kernel's code.
CALL_ORDER = (
    "base",
    "open files",
    "areas kept from children",
    "written areas",
    "empty areas",
    "file and shared areas",
    "userfaultfd areas",
    "page tables",
    "small pages",
    SCATTERED,
    "huge pages",
    "hugetlb pages",
    "having threads",
    "further threads",
)
FORK, FORK_EXEC, SPAWN, THREAD = MECHANISMS = ("fork", "fork_exec", "posix_spawn", "thread")
_CALLS = {SPAWN: names.POSIX_SPAWN, THREAD: names.PTHREAD}
_LANES = ("parent", "child")


@dataclass(frozen=True)
class TimelinePart:
    """Something that the kernel does, or that a task waits for."""

    lane: Annotated[str, OneOf(_LANES)]
    part: Annotated[
        str, "A term of the call, or: waits, copies, starts, lives, frees, ends, executes, inside (during the call)."
    ]
    starts_ns: Ns
    lasts_ns: Ns
    count: Annotated[float, Ge(0), "How many of the term's things; 0 where nothing is counted."] = 0.0


@dataclass(frozen=True)
class PredictedLaunch:
    """What a launch costs, and its parts."""

    call_ns: Annotated[CostRange, "What the caller waits for: the call, with fork_exec until the child's exec."]
    parts: Sequence[TimelinePart]
    page_tables_bytes: Count
    copied_bytes: Annotated[Count, "What is copied on write while the child lives, at the share that was set."]
    copying_ns: Annotated[float | None, Ge(0), "What that costs the writers; None where this machine has no figure."]


def predict_launch(
    mechanism: str, features: Features, shape: ForkShape, calibration: Calibration, scales: Scales
) -> PredictedLaunch | None:
    """Predict a launch, one of `MECHANISMS`; None where the calibration has no model of it."""
    copying = judge_copying(features, _copies(calibration, scales), None, 0.0)
    copying_ns = None if copying.worst_ns is None else shape.copied * copying.worst_ns
    if mechanism in _CALLS:
        name = _CALLS[mechanism]
        if name not in calibration.models:
            return None
        call = cost_of(features, calibration.models[name], scales.cold)
        parts = list(_simple_parts(mechanism, features, calibration, scales))
        return PredictedLaunch(call, parts, 0, 0, 0.0)
    first, unwritten = (
        cost_of(features, calibration.models[name], scales.cold) for name in (names.FORK_FIRST, names.FORK_UNWRITTEN)
    )
    call = later_cost(first, unwritten, shape.share)
    parts = list(_call_parts(features, _fork_terms(features, shape, calibration, scales)))
    if mechanism == FORK_EXEC:
        wait = cost_of(features, calibration.models[names.EXEC], scales.waits)
        parts += _exec_parts(call.median_ns, features, calibration, scales)
        return PredictedLaunch(call.plus(wait), parts, page_tables_bytes(features), 0, 0.0)
    parts += _life_parts(call.median_ns, copying_ns or 0.0, features, calibration, scales)
    copied = round(shape.copied * copying.copied_at_worst_bytes)
    return PredictedLaunch(call, parts, page_tables_bytes(features), copied, copying_ns)


def _copies(calibration: Calibration, scales: Scales) -> Mapping[str, CostRange]:
    return {name: write.times(scales.cold.factor) for name, write in calibration.first_writes.items()}


def _fork_terms(features: Features, shape: ForkShape, calibration: Calibration, scales: Scales) -> dict[str, float]:
    """The parts of fork's call: of each page what its state costs."""
    first, unwritten = (
        term_costs(features, calibration.models[name], scales.cold) for name in (names.FORK_FIRST, names.FORK_UNWRITTEN)
    )
    return {
        term: shape.rewritten * first.get(term, 0.0) + (1 - shape.rewritten) * unwritten.get(term, 0.0)
        for term in CALL_ORDER
    }


def _call_parts(features: Features, terms: Mapping[str, float]) -> Iterator[TimelinePart]:
    counts, now_ns = term_counts(features), 0.0
    for term in CALL_ORDER:
        lasts_ns = terms.get(term, 0.0)
        if lasts_ns > 0:
            yield TimelinePart("parent", term, now_ns, lasts_ns, counts[term])
            now_ns += lasts_ns


def _wait(model: CostModel, features: Features, scales: Scales) -> tuple[float, float]:
    """A wait after a call: what it takes in any process, and what the memory that was copied adds."""
    terms = term_costs(features, model, scales.waits)
    base_ns = terms.pop("base")
    return base_ns, sum(terms.values())


def _starts_ns(name: str, features: Features, calibration: Calibration, scales: Scales) -> float | None:
    model = calibration.models.get(name)
    return None if model is None else cost_of(features, model, scales.waits).median_ns


def _exec_parts(call_ns: float, features: Features, calibration: Calibration, scales: Scales) -> Iterator[TimelinePart]:
    """After the call: the parent waits until the child has executed a program, which frees what was copied first."""
    base_ns, frees_ns = _wait(calibration.models[names.EXEC], features, scales)
    starts_ns = min(base_ns, _starts_ns(names.FORK_STARTS, features, calibration, scales) or 0.0)
    yield TimelinePart("parent", "waits", call_ns, base_ns + frees_ns)
    yield from _in_turn(call_ns, (("starts", starts_ns), ("frees", frees_ns), ("executes", base_ns - starts_ns)))


def _life_parts(
    call_ns: float, copying_ns: float, features: Features, calibration: Calibration, scales: Scales
) -> Iterator[TimelinePart]:
    """After the call: the parent goes on, and copies what it writes to; the child lives meanwhile, and then exits."""
    base_ns, frees_ns = _wait(calibration.models[names.EXIT], features, scales)
    starts_ns = min(base_ns, _starts_ns(names.FORK_STARTS, features, calibration, scales) or 0.0)
    if copying_ns > 0:
        yield TimelinePart("parent", "copies", call_ns, copying_ns)
    lives_ns = max(0.0, copying_ns - starts_ns)
    ends_ns = base_ns - starts_ns
    yield from _in_turn(call_ns, (("starts", starts_ns), ("lives", lives_ns), ("frees", frees_ns), ("ends", ends_ns)))


def _in_turn(begins_ns: float, parts: Sequence[tuple[str, float]]) -> Iterator[TimelinePart]:
    for part, lasts_ns in parts:
        if lasts_ns > 0:
            yield TimelinePart("child", part, begins_ns, lasts_ns)
            begins_ns += lasts_ns


def _simple_parts(
    mechanism: str, features: Features, calibration: Calibration, scales: Scales
) -> Iterator[TimelinePart]:
    """A call that copies no memory: the child of posix_spawn executes its program within it, a thread starts after."""
    terms = term_costs(features, calibration.models[_CALLS[mechanism]], scales.cold)
    parts = list(_call_parts(features, terms))
    yield from parts
    call_ns = sum(part.lasts_ns for part in parts)
    if mechanism == SPAWN:
        yield TimelinePart("child", "inside", 0.0, call_ns)
        return
    starts_ns = _starts_ns(names.PTHREAD_STARTS, features, calibration, scales)
    if starts_ns:
        yield TimelinePart("child", "starts", call_ns, starts_ns)
