"""What explaining the studies' own launches and workers found, and how that is said in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.types import Catalogue, Target
from clonometer.records import from_json
from clonometer.tracing.anatomy import TraceOptions, admit, explain
from clonometer.tracing.budget import set_beside
from clonometer.tracing.parts import MAKES_TASK, part_of
from clonometer.tracing.source import Tracer
from clonometer.tracing.types import CallUse, Explanation, IntervalEstimate, RatioPart, Tier, Versus
from clonometer.tracing.work.measure import WorkWish, explain_work, work_sides
from clonometer.tracing.work.types import WorkSide, WorkTier
from clonometer.units import format_duration

#: Names under which explanations are handed in (`EXPLANATIONS`).
LOOP = "loop"
WORK = "work"
_TRACEPOINTS = "tracepoints"
_NOTHING = IntervalEstimate(0.0, 0.0, 0.0)
# By whether it is the short form.
_PROCESSES = {True: 3, False: 8}
_WORK_PAIRS = {True: 3, False: 12}
_QUICK_SAMPLES = 6
_LIMITS = {"samples": 100, "blocks": 2, "warmup": 20}
#: The probe's own means to say when its new task ran; no program of the study makes it.
_OURS = ("pwrite64",)
# What is named by itself: of a difference at least this share, of calls those made so often a launch.
_NAMED_SHARE = 0.02
_NAMED_COUNT = 0.05


@dataclass(frozen=True)
class ExplanationRequest:
    """One explanation that the ledger uses: mechanisms, conditions of both, and how the evidence is called."""

    mechanisms: tuple[str, ...]
    settings: tuple[str, ...]
    study: str

    @property
    def evidence(self) -> str:
        """What a reader types to see it."""
        words = " --vs ".join(self.mechanisms)
        return " ".join(["explain", words, *(f"--set {setting}" for setting in self.settings)])


#: The two loops, as the study wrote them.
EXPLANATIONS: Mapping[str, ExplanationRequest] = {
    LOOP: ExplanationRequest(
        ("launch.fork", "launch.pthread"),
        ("linkage=dynamic_lazy", "placement=free", "thread_ending=pthread_exit"),
        "loop-10000",
    ),
    # Five to nine workers are where the study saw the gap open; all is shared, as where its ablation begins.
    WORK: ExplanationRequest(
        ("work.factor",),
        ("workers=8", "numbers=2000", "output=shared_stream", "allocate=each_number", "allocator=one_heap",
         "counters=adjacent"),
        "burian-2015",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Refused:
    """Why nothing could be looked at."""

    refused: str

    @property
    def text(self) -> str:
        """What it says in the place of an answer about workers."""
        return f"The workers could not be traced closely here ({self.refused}): only the ablation answers."


@dataclass(frozen=True)
class NamedDelay:
    """A part that makes slow executions slow, and its share of what they take longer."""

    part: str
    label: str
    share: float


@dataclass(frozen=True)
class WorkAnswer:
    """Of workers that are threads beside workers that are processes, what the ledger uses.

    ``delays`` says what makes the slowest quarter of the executions slow, of threads and of processes.
    """

    conclusion: str
    tier: WorkTier
    delays: tuple[tuple[NamedDelay, ...], tuple[NamedDelay, ...]]

    @property
    def text(self) -> str:
        """The answer to why the gap is there."""
        closely = self.tier.name == _TRACEPOINTS
        less = "" if closely else f" Closer tracing is not permitted here ({_refusals(self.tier)})."
        return f"Split into parts ({self.tier.how}): {self.conclusion}{less}"

    @property
    def delayed(self) -> str:
        """What slow executions are slow by; empty where there were too few."""
        sides = [
            f"those of {side}: {', '.join(f'{delay.label} {delay.share:.0%}' for delay in delays[:3])}"
            for side, delays in zip(("threads", "processes"), self.delays, strict=True)
            if delays
        ]
        how = self.tier.how
        return f"What makes the slowest quarter of executions slow ({how}), {'; '.join(sides)}." if sides else ""


Answer = Versus | WorkAnswer | Refused


def trace_launches(
    wanted: ExplanationRequest, catalogue: Catalogue, listen: Callable[[], Tracer], *, cpus: int, quick: bool
) -> Answer:
    """Explain what the ledger uses.

    Each mechanism takes those of the conditions that it has an axis for; ``listen`` makes what starts the probe.
    """
    if wanted.mechanisms == ("work.factor",):
        sides = work_sides(wanted.settings, catalogue)
        if quick:
            sides = (_shorter(sides[0]), _shorter(sides[1]))
        worked = explain_work(listen(), sides, WorkWish(_WORK_PAIRS[quick]), cpus=cpus)
        return WorkAnswer(worked.conclusion, worked.tier, (_delays(worked.thread), _delays(worked.process)))
    targets = [_target(name, wanted.settings, catalogue) for name in wanted.mechanisms]
    explained = []
    for target in targets:
        admit(target, catalogue)
        explained.append(explain(listen(), target, TraceOptions(_PROCESSES[quick])))
    return set_beside(explained[0], explained[1])


def _shorter(target: Target) -> Target:
    return replace(target, limits=replace(target.limits, samples=min(target.limits.samples, _QUICK_SAMPLES)))


def _target(name: str, settings: Sequence[str], catalogue: Catalogue) -> Target:
    axes = catalogue.workloads[name].axes
    fitting = [setting for setting in settings if setting.partition("=")[0] in axes]
    return plan_from_arguments([name], [*fitting, "temperature=warm"], catalogue, limits=_LIMITS).targets[0]


def _delays(side: WorkSide) -> tuple[NamedDelay, ...]:
    return tuple(NamedDelay(delay.part, part_of(delay.part).label, delay.share) for delay in side.delays)


def read_answer(name: str, document: Mapping[str, Any]) -> Answer:
    """Read an answer that was kept.

    Raises
    ------
    InputError
        If it is none.

    Examples
    --------
    >>> read_answer(WORK, {"refused": "perf events are not permitted"})
    Refused(refused='perf events are not permitted')
    """
    if "refused" in document:
        return from_json(Refused, document)
    return from_json(WorkAnswer, document) if name == WORK else from_json(Versus, document)


def _refusals(tier: Tier) -> str:
    return "; ".join(f"{means}: {why}" for means, why in tier.refused.items())


@dataclass(frozen=True)
class Loops:
    """The two loops side by side; None where they were not to be explained, or with the reason why they could not."""

    versus: Versus | None = None
    why_none: str = ""

    @property
    def closely(self) -> Versus | None:
        """The two where the kernel's own events were seen, so that reasons name what it did; else None."""
        seen = self.versus
        return seen if seen is not None and seen.first.tier.name == _TRACEPOINTS and seen.against.reasons else None

    @property
    def refused(self) -> str:
        """Why there is no closer look, or none at all; empty where it is the closest."""
        return self.why_none if self.versus is None else _refusals(self.versus.first.tier)

    def calls(self, side: int) -> tuple[CallUse, ...]:
        """System calls of the first mechanism or of the second; empty where none could be seen."""
        if self.versus is None:
            return ()
        return (self.versus.first, self.versus.second)[side].calls

    def count(self, side: int) -> float | None:
        """System calls of parent and task together for one launch; None where none could be seen."""
        counts = [call.count for call in self.calls(side) if call.name not in _OURS]
        return sum(counts) if counts else None

    def making(self, side: int) -> CallUse | None:
        """The call that makes the new task."""
        return next((call for call in self.calls(side) if call.name in MAKES_TASK), None)

    @property
    def means(self) -> str:
        """How the calls were seen."""
        if self.versus is None:
            return ""
        return "ptrace" if self.versus.first.calls_inflated else self.versus.first.tier.how


def _mean(explanation: Explanation, part: str) -> IntervalEstimate:
    return next((each.mean_ns for each in explanation.budget if each.part == part), _NOTHING)


def share_of(versus: Versus, part: str) -> IntervalEstimate:
    """A part's share of the difference; the ends are those of all that the intervals of both allow."""
    reason = next((each for each in versus.against.reasons if each.part == part), None)
    if reason is None:
        return _NOTHING
    first, second = versus.first.reaped_ns, versus.second.reaped_ns
    whole = (first.low - second.high, first.high - second.low)
    if whole[0] <= 0:
        return IntervalEstimate(reason.share, float("-inf"), float("inf"))
    mine, other = (_mean(side, part) for side in (versus.first, versus.second))
    ends = [part_ns / whole_ns for part_ns in (mine.low - other.high, mine.high - other.low) for whole_ns in whole]
    return IntervalEstimate(reason.share, min(ends), max(ends))


def loops_of(answers: Mapping[str, Answer]) -> Loops:
    """What was found of the loops."""
    answer = answers.get(LOOP)
    if isinstance(answer, Refused):
        return Loops(why_none=answer.refused)
    return Loops(answer if isinstance(answer, Versus) else None)


def worked_of(answers: Mapping[str, Answer]) -> WorkAnswer | Refused | None:
    """What was found of workers; None where they were not to be explained."""
    answer = answers.get(WORK)
    return answer if isinstance(answer, WorkAnswer | Refused) else None


def say_reasons(versus: Versus) -> str:
    """Say the parts of a difference that are worth a word, and what the rest comes to."""
    named = [reason for reason in versus.against.reasons if abs(reason.share) >= _NAMED_SHARE]
    rest = sum(reason.share for reason in versus.against.reasons) - sum(reason.share for reason in named)
    words = [_reason(versus, reason) for reason in named]
    return ", ".join([*words, *([f"everything else {rest:.0%}"] if abs(rest) >= 0.005 else [])])


def _reason(versus: Versus, reason: RatioPart) -> str:
    first, second = (_time(_mean(side, reason.part)) for side in (versus.first, versus.second))
    return f"{part_of(reason.part).title} {reason.share:.0%} ({first} against {second})"


def _time(mean_ns: IntervalEstimate) -> str:
    return format_duration(*mean_ns.ends) if mean_ns.value > 0 else "none"


def say_calls(calls: Iterable[CallUse]) -> str:
    """Name system calls with how often they are made, the parent's first; what few launches make is summed up."""
    ordered = sorted((call for call in calls if call.name not in _OURS), key=lambda call: call.who != "parent")
    words = [
        f"{call.name}{f' {call.count:.3g} times' if round(call.count, 2) != 1 else ''}"
        for call in ordered
        if call.count >= _NAMED_COUNT
    ]
    rare = sum(call.count for call in ordered if call.count < _NAMED_COUNT)
    return ", ".join([*words, *([f"rare others {rare:.2g} times"] if rare >= 0.005 else [])])
