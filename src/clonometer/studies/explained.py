"""What ``clonometer explain`` found of the studies' own launches: its JSON (docs/explain.md) read and said in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clonometer.units import format_duration

#: Names under which explanations are handed in (`EXPLANATIONS`).
LOOP = "loop"
WORK = "work"
_TRACEPOINTS = "tracepoints"
#: The probe's own means to say when its new task ran; no program of the study makes it.
_OURS = ("pwrite64",)


@dataclass(frozen=True)
class Wanted:
    """One explanation that the ledger uses: mechanisms, conditions of both, and how the evidence is called."""

    mechanisms: tuple[str, ...]
    settings: tuple[str, ...]
    study: str

    @property
    def evidence(self) -> str:
        """What a reader types to see it."""
        words = " --vs ".join(self.mechanisms)
        return " ".join(["explain", words, *(f"--set {one}" for one in self.settings)])


#: The two loops, as the study wrote them.
EXPLANATIONS: Mapping[str, Wanted] = {
    LOOP: Wanted(
        ("launch.fork", "launch.pthread"),
        ("linkage=dynamic_lazy", "placement=free", "thread_ending=pthread_exit"),
        "loop-10000",
    ),
    # Five to nine workers are where the study saw the gap open; all is shared, as where its ablation begins.
    WORK: Wanted(
        ("work.factor",),
        ("workers=8", "numbers=2000", "output=shared_stream", "allocate=each_number", "allocator=one_heap",
         "counters=adjacent"),
        "burian-2015",
    ),
}  # fmt: skip


Ends = tuple[float, float, float]


@dataclass(frozen=True)
class Reason:
    """A part of the difference between two mechanisms.

    Attributes
    ----------
    part, words
        Its id, and who does what.
    first_ns, second_ns
        Mean time in each, with the ends of its 95% interval.
    share
        Of the difference.
    """

    part: str
    words: str
    first_ns: Ends
    second_ns: Ends
    share: float


@dataclass(frozen=True)
class Call:
    """A system call: whose, how often a launch, and how long each in ns."""

    who: str
    name: str
    count: float
    each_ns: float


@dataclass(frozen=True)
class Explained:
    """One mechanism beside another.

    Attributes
    ----------
    how, tier
        The means by which launches were looked at.
    refused
        Why there is no closer look, or none at all; empty where it is the closest.
    ratio, difference_ns, reasons
        The first over the second, the first less the second, and what makes it, largest first.
    calls
        System calls of the first and of the second; empty where none could be seen.
    inflated
        Whether the calls' times come from ptrace and are many times too long.
    overhead
        How much longer traced launches are, as shares, of both.
    """

    how: str = ""
    tier: str = ""
    refused: str = ""
    ratio: float = 0.0
    difference_ns: Ends = (0.0, 0.0, 0.0)
    reasons: tuple[Reason, ...] = ()
    calls: tuple[tuple[Call, ...], tuple[Call, ...]] = ((), ())
    inflated: bool = False
    overhead: tuple[float, ...] = ()

    @property
    def closely(self) -> bool:
        """Whether the kernel's own events were seen, so that reasons name what it did."""
        return self.tier == _TRACEPOINTS and bool(self.reasons)

    def share(self, part: str) -> Ends:
        """A part's share of the difference; the ends are those of all that the intervals of both allow."""
        one = next((one for one in self.reasons if one.part == part), None)
        if one is None:
            return 0.0, 0.0, 0.0
        low, high = one.first_ns[1] - one.second_ns[2], one.first_ns[2] - one.second_ns[1]
        whole = self.difference_ns
        if whole[1] <= 0:
            return one.share, float("-inf"), float("inf")
        ends = [part_ns / whole_ns for part_ns in (low, high) for whole_ns in whole[1:]]
        return one.share, min(ends), max(ends)

    def count(self, side: int) -> float | None:
        """System calls of parent and task together for one launch; None where none could be seen."""
        own = [one.count for one in self.calls[side] if one.name not in _OURS]
        return sum(own) if own else None

    def making(self, side: int) -> Call | None:
        """The call that makes the new task."""
        return next((one for one in self.calls[side] if one.name in ("clone", "clone3", "fork", "vfork")), None)


@dataclass(frozen=True)
class ExplainedWork:
    """Workers that are threads beside workers that are processes.

    Attributes
    ----------
    conclusion
        Who is slower, and where that time goes, in words; empty where nothing was seen.
    how, refused
        By which means; why there is no closer look, or none.
    closely
        Whether the kernel's own events were seen.
    delays
        What makes the slowest quarter of the executions slow: of threads, of processes; part and share, greatest first.
    """

    conclusion: str = ""
    how: str = ""
    refused: str = ""
    closely: bool = False
    delays: tuple[tuple[tuple[str, float], ...], ...] = ((), ())

    @property
    def text(self) -> str:
        """The answer to why the gap is there."""
        if not self.conclusion:
            return f"The workers could not be looked at closely here ({self.refused}): the ablation alone answers."
        less = "" if self.closely else f" A closer look is not permitted here ({self.refused})."
        return f"Taken to pieces ({self.how}): {self.conclusion}{less}"

    @property
    def delayed(self) -> str:
        """What slow executions are slow by; empty where there were too few."""
        said = [
            f"those of {side}: {', '.join(f'{part} {share:.0%}' for part, share in own[:3])}"
            for side, own in zip(("threads", "processes"), self.delays, strict=True)
            if own
        ]
        return f"What the slowest quarter of executions is slow by ({self.how}), {'; '.join(said)}." if said else ""


def read_work(document: Mapping[str, Any]) -> ExplainedWork:
    """Take over what explaining workers gave, or ``{"refused": why}``.

    Examples
    --------
    >>> read_work({"refused": "no probe has it"}).text
    'The workers could not be looked at closely here (no probe has it): the ablation alone answers.'
    """
    if "conclusion" not in document:
        return ExplainedWork(refused=str(document.get("refused") or "nothing was looked at"))
    tier = document["tier"]
    return ExplainedWork(
        document["conclusion"],
        tier["how"],
        "; ".join(f"{means}: {why}" for means, why in tier["refused"].items()),
        tier["name"] == _TRACEPOINTS,
        tuple(tuple((one["label"], one["share"]) for one in side) for side in document["delays"]),
    )


def read_explained(document: Mapping[str, Any]) -> Explained:
    """Take over what ``explain FIRST --vs OTHER --json`` printed, or ``{"refused": why}``.

    Examples
    --------
    >>> read_explained({"refused": "perf events are not permitted"}).closely
    False
    """
    versus = document.get("versus")
    if versus is None:
        return Explained(refused=str(document.get("refused") or "nothing was looked at"))
    sides = (document, versus["other"])
    labels: dict[str, str] = {}
    means: list[dict[str, Ends]] = []
    for one in sides:
        labels |= {part["part"]: f"{part['who']}: {part['label']}" for part in one["budget"]}
        means.append({part["part"]: _ends(part, "mean") for part in one["budget"]})
    reasons = tuple(_reason(one, labels, means) for one in versus["reasons"])
    first, other = (_ends(one, "reaped") for one in sides)
    tier = document["tier"]
    return Explained(
        how=tier["how"],
        tier=tier["name"],
        refused="; ".join(f"{means}: {why}" for means, why in tier["refused"].items()),
        ratio=versus["ratio"],
        difference_ns=(versus["difference_ns"], first[1] - other[2], first[2] - other[1]),
        reasons=reasons,
        calls=(_calls(document), _calls(versus["other"])),
        inflated=document["system_calls_inflated"],
        overhead=tuple(one["overhead"] for one in sides),
    )


def _reason(one: Mapping[str, Any], labels: Mapping[str, str], means: Sequence[Mapping[str, Ends]]) -> Reason:
    none = (0.0, 0.0, 0.0)
    part = one["part"]
    return Reason(part, labels.get(part, part), means[0].get(part, none), means[1].get(part, none), one["share"])


def _ends(one: Mapping[str, Any], name: str) -> Ends:
    return one[f"{name}_ns"], one[f"{name}_low_ns"], one[f"{name}_high_ns"]


def _calls(document: Mapping[str, Any]) -> tuple[Call, ...]:
    return tuple(Call(one["who"], one["call"], one["per_launch"], one["each_ns"]) for one in document["system_calls"])


def say_reasons(reasons: Iterable[Reason], *, least: float = 0.02) -> str:
    """Say the parts of a difference that are at least a share of it, and what the rest comes to."""
    told = [one for one in reasons if abs(one.share) >= least]
    rest = sum(one.share for one in reasons) - sum(one.share for one in told)
    said = [f"{one.words} {one.share:.0%} ({_time(one.first_ns)} against {_time(one.second_ns)})" for one in told]
    return ", ".join([*said, *([f"all else {rest:.0%}"] if abs(rest) >= 0.005 else [])])


def _time(one: Ends) -> str:
    return format_duration(*one) if one[0] > 0 else "none"


def say_calls(calls: Sequence[Call]) -> str:
    """Name system calls with how often they are made, the parent's first."""
    ordered = sorted((one for one in calls if one.name not in _OURS), key=lambda one: one.who != "parent")
    return ", ".join(f"{one.name}{f' {one.count:.3g} times' if round(one.count, 2) != 1 else ''}" for one in ordered)
