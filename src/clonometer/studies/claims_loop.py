"""The claims of the note of 10,000 launches as predicates over what was measured here."""

from __future__ import annotations

from clonometer.studies.cells import LAZY, LOOP_FORK, LOOP_THREAD, cell
from clonometer.studies.judge import CALL, REAPED, RUNS, STAGE_WORDS, Claim, Judge
from clonometer.studies.types import Verdict
from clonometer.studies.verdicts import (
    DOES_NOT_HOLD,
    HOLDS,
    NOT_DISTINGUISHABLE,
    over_conditions,
    over_demands,
    verdict,
)
from clonometer.units import format_duration_interval, format_ratio

RAW_FORK = cell("launch.clone", **LAZY, temperature="warm")
RAW_THREAD = cell("launch.raw_thread", **LAZY, temperature="warm")


def l6(judge: Judge) -> Verdict:
    """The loop: wall time of a launch, created and reaped."""
    part = judge.part("real time", (LOOP_FORK, "wall_ns"), (LOOP_THREAD, "wall_ns"), "above", 1.0)
    words = "10,000 processes over 10,000 threads (the study: 13)"
    return verdict("L6", over_conditions([part]), [part], words, "processes over threads")


def l7(judge: Judge) -> Verdict:
    """The rung CLONE_VM of the ladder, all else being the same."""
    parts = [
        judge.part(
            STAGE_WORDS[stage],
            (cell("flags.vm", temperature="warm"), stage),
            (cell("flags.sysvsem", temperature="warm"), stage),
            "below",
        )
        for stage in (CALL, RUNS, REAPED)
    ]
    return verdict("L7", over_demands(parts), parts, "clone3 with CLONE_VM over the same without", "with over without")


def l9(judge: Judge) -> Verdict:
    """How much of the difference of the two loops lies in the call, and where the rest lies."""
    loop = judge.part("the loop", (LOOP_FORK, REAPED), (LOOP_THREAD, REAPED))
    call = judge.part("the bare call", (RAW_FORK, CALL), (RAW_THREAD, CALL))
    ends = [judge.find(one, REAPED) for one in (LOOP_FORK, LOOP_THREAD)]
    whole = judge.difference(*ends)
    steps = []
    for words, later, earlier in (
        ("the call", CALL, None),
        ("until the task runs after it", RUNS, CALL),
        ("its end and its reaping", REAPED, RUNS),
    ):
        ours = judge.difference(judge.find(LOOP_FORK, later), judge.find(LOOP_THREAD, later)).value
        before = (
            judge.difference(judge.find(LOOP_FORK, earlier), judge.find(LOOP_THREAD, earlier)).value if earlier else 0.0
        )
        steps.append((words, ours - before))
    shares = ", ".join(f"{words} {share / whole.value:.0%}" for words, share in steps) if whole.value else ""
    apart = loop.ratio.low > call.ratio.high
    other = call.ratio.low > loop.ratio.high
    status = HOLDS if apart else DOES_NOT_HOLD if other else NOT_DISTINGUISHABLE
    cost = format_duration_interval(whole.value, whole.low, whole.high)
    said = [format_ratio(one.ratio.value, one.ratio.low, one.ratio.high) for one in (loop, call)]
    reason = (
        f"A process takes {said[0]} times as long as a thread in the loop, and its bare clone call {said[1]} times. "
        f"Of the {cost} between the two loops lie in {shares}: besides the call it is the child's own start, with the "
        "page faults of its copied memory, and the tear-down of that memory before wait returns."
    )
    cells = (LOOP_FORK, LOOP_THREAD, RAW_FORK, RAW_THREAD)
    return Verdict("L9", status, reason, loop.ratio.value, (loop.ratio.low, loop.ratio.high), "loop ratio", cells)


CLAIMS = {
    claim.id: claim
    for claim in (
        Claim("L6", "twice as long", l6),
        Claim("L7", "5%", l7),
        Claim("L9", "the two ratios' intervals do not overlap", l9),
    )
}
