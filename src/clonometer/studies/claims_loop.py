"""The claims of the note of 10,000 launches as predicates over what was measured here."""

from __future__ import annotations

import math
from dataclasses import replace

from clonometer.stats.changes import LogChange
from clonometer.stats.factorial import DesignPoint, factorial_effects
from clonometer.stats.interval import CONFIDENCE
from clonometer.stats.multiplicity import score
from clonometer.studies.cells import LAZY, LOOP_FORK, LOOP_THREAD, cell
from clonometer.studies.explained import EXPLANATIONS, LOOP, say_calls, say_reasons, share_of
from clonometer.studies.judge import CALL, REAPED, RUNS, Judge, MissingEvidenceError, claim
from clonometer.studies.sizes import sized
from clonometer.studies.thresholds import DIFFERS, QUARTER, TENTH
from clonometer.studies.types import Verdict
from clonometer.studies.verdicts import Chances, over_conditions, over_demands, ruled, verdict
from clonometer.tracing.types import Versus
from clonometer.units import format_duration_interval, format_ratio
from clonometer.verdicts import Status

RAW_FORK = cell("launch.clone", **LAZY, temperature="warm")
RAW_THREAD = cell("launch.raw_thread", **LAZY, temperature="warm")
_CALL_PART = "launch_call"
_ALL = 1 - TENTH.share
#: Counts are means over launches, of which one in twenty may have a call more.
_ROUNDING = 0.05


@claim("L6", "{}; its size within {}", DIFFERS, QUARTER)
def l6(judge: Judge) -> Verdict:
    """The loop: wall time of a launch, created and reaped."""
    part = judge.part("real time", (LOOP_FORK, "wall_ns"), (LOOP_THREAD, "wall_ns"))
    direction = verdict(over_conditions, [part], "10,000 processes over 10,000 threads", "processes over threads")
    return sized("L6", direction, part, judge, thread=LOOP_THREAD, quantity=REAPED)


@claim("L7", "{}", DIFFERS)
def l7(judge: Judge) -> Verdict:
    """The rung CLONE_VM of the ladder, all else being the same."""
    with_vm, without = (cell(f"flags.{name}", temperature="warm") for name in ("vm", "sysvsem"))
    parts = judge.stages("", with_vm, without, "below", stages=(CALL, RUNS, REAPED))
    return verdict(over_demands, parts, "clone3 with CLONE_VM over the same without", "with over without")


@claim(
    "L9", "more than {} of the difference outside the call; untraced, the loop's ratio {} above the call's",
    TENTH, DIFFERS,
)  # fmt: skip
def l9(judge: Judge) -> Verdict:
    """How much of the difference of the two loops lies in the call, and where the rest lies.

    By the kernel's own events where they can be seen: the call is not all if its share of the difference is certainly
    below `_ALL`. Else by the ratios of the loop and of the bare call, and by stages.
    """
    loop = judge.part("the loop", (LOOP_FORK, REAPED), (LOOP_THREAD, REAPED))
    call = judge.part("the bare call", (RAW_FORK, CALL), (RAW_THREAD, CALL))
    ratios = [format_ratio(*part.value.ends) for part in (loop, call)]
    both = (
        f"A process takes {ratios[0]} times as long as a thread in the loop, and its bare clone call {ratios[1]} times."
    )
    cells = (LOOP_FORK, LOOP_THREAD, RAW_FORK, RAW_THREAD)
    seen = judge.measured.loops
    if seen.closely is not None:
        return _taken_to_pieces(judge, seen.closely, both, cells)
    rows = [[judge.find(text, stage) for text in pair]
            for pair, stage in (((RAW_FORK, RAW_THREAD), CALL), ((LOOP_FORK, LOOP_THREAD), REAPED))]  # fmt: skip
    points = [DesignPoint({"loop": level}, a.processes, b.processes) for level, (a, b) in enumerate(rows)]
    more = factorial_effects(points, seed=judge.seed(*rows[0], *rows[1]))[0].times
    part = judge.judged("the loop's ratio over the call's", more, "above", DIFFERS, cells)
    whole = judge.difference(*(judge.find(text, REAPED) for text in (LOOP_FORK, LOOP_THREAD)))
    cost = format_duration_interval(*whole.ends)
    why = f" The kernel's events could not be traced here ({seen.refused})." if seen.refused else ""
    reason = (
        f"{both} The first ratio over the second is {format_ratio(*more.ends)}. "
        f"Of the {cost} between the two loops lie in {_by_stages(judge, whole.value)}. Apart from the call, this is "
        f"the child's start, with the page faults of its copied memory, and that memory's tear-down before wait "
        f"returns.{why}"
    )
    return replace(verdict(over_conditions, [part], "", "the loop's ratio over the call's"), reason=reason)


def _taken_to_pieces(judge: Judge, versus: Versus, both: str, cells: tuple[str, ...]) -> Verdict:
    share = share_of(versus, _CALL_PART)
    below, above = ((end - share.value) / score(1 - CONFIDENCE) for end in (share.low, share.high))
    change = LogChange(share.value - _ALL, -below, above)
    p = change.p_value() if math.isfinite(below) and math.isfinite(above) else 1.0
    outcome = Chances(p, 1.0) if change.value < 0 else Chances(1.0, p)
    over = ", ".join(f"{side.overhead.value:+.0%}" for side in (versus.first, versus.second))
    reason = (
        f"{both} Split into parts ({versus.first.tier.how}; tracing changed their length by {over}), a process takes "
        f"{versus.against.ratio:.1f} times as long, and the call is {share.value:.0%} of the difference: "
        f"{say_reasons(versus)}."
    )
    evidence = (*cells, EXPLANATIONS[LOOP].evidence)
    ends = (share.low, share.high)
    draft = Verdict(Status.UNKNOWN, reason, share.value, ends, "the call's share of the difference", evidence)
    return ruled(draft, outcome, judge.bars)


def _by_stages(judge: Judge, whole: float) -> str:
    steps, before = [], 0.0
    for words, stage in (
        ("the call", CALL),
        ("until the task runs after it", RUNS),
        ("its end and its reaping", REAPED),
    ):
        until = judge.difference(judge.find(LOOP_FORK, stage), judge.find(LOOP_THREAD, stage)).value
        steps.append(f"{words} {(until - before) / whole:.0%}" if whole else words)
        before = until
    return ", ".join(steps)


@claim("L8", "one call more")
def l8(judge: Judge) -> Verdict:
    """System calls of parent and task for one launch, as the kernel's events count them, or ptrace."""
    seen = judge.measured.observed.get("flags")
    traced = judge.measured.loops
    thread, fork = traced.count(1), traced.count(0)
    if thread is not None and fork is not None:
        names = [say_calls(traced.calls(side)) for side in (1, 0)]
        counted = f"{names[0]} against {names[1]}; by {traced.means}"
        evidence: tuple[str, ...] = (EXPLANATIONS[LOOP].evidence,)
    elif seen is not None:
        thread, fork = (float(seen[f"{name}_system_calls_next"]) for name in ("thread", "fork"))
        counted, evidence = "by ptrace", ()
    else:
        raise MissingEvidenceError("neither explain nor demo flags could be run, or tracing is not permitted here")
    reason = (
        f"Create, end and reap take {thread:.3g} system calls with a thread and {fork:.3g} with a process ({counted})."
    )
    if seen is not None:
        first = [seen[f"{name}_system_calls_first"] for name in ("thread", "fork")]
        reason += f" The first time they take {first[0]} and {first[1]}: in a dynamic program the first pthread_exit "
        reason += "loads libgcc_s."
        evidence = (*evidence, "demo flags")
    least = 1 - _ROUNDING
    more = thread - fork
    status = Status.HOLDS if more >= least else Status.FAILS if more <= -least else Status.UNKNOWN
    # Counts of what happened, not a sample of it: the ratio has no interval, and nothing is sure or likely of it.
    counted_words = f"{thread:.3g} calls with a thread, {fork:.3g} with a process"
    effect_is = "calls of a thread over those of a process"
    return Verdict(status, reason, thread / fork, None, effect_is, evidence, counted=counted_words)
