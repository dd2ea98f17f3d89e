"""Sysel's claims as predicates over what was measured here."""

from __future__ import annotations

from clonometer.studies.cells import axes_of, cell, parent_bytes, sysel_fork, sysel_thread
from clonometer.studies.conditions import largest
from clonometer.studies.judge import CALL, IMAGE, RUNS, STAGE_WORDS, Claim, Judge, MissingEvidenceError
from clonometer.studies.types import DOES_NOT_HOLD, HOLDS, NOT_DISTINGUISHABLE, NOT_MEASURABLE, Verdict
from clonometer.studies.verdicts import JudgedRatio, over_conditions, over_demands, verdict
from clonometer.units import approximate_bytes, format_share

RARE = 0.10
_THREAD_OVER_FORK = "thread over fork"


def _first_stages(judge: Judge, temperature: str) -> list[JudgedRatio]:
    return [
        judge.part(
            f"{temperature}, {STAGE_WORDS[stage]}", (sysel_thread(temperature), stage), (sysel_fork(temperature), stage)
        )
        for stage in (CALL, RUNS)
    ]


def _at_frequency(judge: Judge, level: str) -> list[JudgedRatio]:
    """The same at an end of the frequency range; nothing where it cannot be set."""
    thread, fork = (make("cold", frequency=level) for make in (sysel_thread, sysel_fork))
    if judge.measured.find(thread, CALL) is None or judge.measured.find(fork, CALL) is None:
        return []
    return [
        judge.part(f"cold at {level} frequency, {STAGE_WORDS[stage]}", (thread, stage), (fork, stage))
        for stage in (CALL, RUNS)
    ]


def s11(judge: Judge) -> Verdict:
    """Threads against fork, first launch and later ones, at both of the study's stages."""
    parts = [part for temperature in ("cold", "warm") for part in _first_stages(judge, temperature)]
    parts += [part for level in ("base", "turbo") for part in _at_frequency(judge, level)]
    status = over_conditions(parts)
    mhz = judge.find(sysel_fork("warm"), CALL).estimate.effective_mhz
    clock = f" at {mhz:,.0f} MHz" if mhz else ""
    words = f"pthread_create over fork{clock} (the study's launches were probably cold)"
    return verdict("S11", status, parts, words, _THREAD_OVER_FORK)


def s12(judge: Judge) -> Verdict:
    """Fork with much memory against fork with none, and the same of threads."""
    fork, thread = (largest(judge.measured, base) for base in (sysel_fork("cold"), sysel_thread("cold")))
    if fork is None or thread is None:
        raise MissingEvidenceError("no launch with memory in the parent was measured")
    size = approximate_bytes(parent_bytes(fork))
    parts = [
        judge.part(f"fork with {size} over fork with none", (fork, CALL), (sysel_fork("cold"), CALL), "above", 1.0),
        judge.part("pthread_create the same", (thread, CALL), (sysel_thread("cold"), CALL), "alike", 0.25),
    ]
    words = "Until the call returns, cold"
    return verdict("S12", over_demands(parts), parts, words, "with memory over without")


def s13(judge: Judge) -> Verdict:
    """Fork against memcpy of as much, and with memory that is not copied on write."""
    shared = sysel_fork("warm", page_kind="shared", parent_bytes="64MiB")
    copied = cell("memcpy.private", copy_bytes="64MiB")
    parts = [
        judge.part(
            "fork with 64 MiB over memcpy of 64 MiB",
            (sysel_fork("cold", parent_bytes="64MiB"), CALL),
            (copied, "copy_ns"),
            "below",
            1.0,
        ),
        judge.part(
            "fork with 64 MiB of shared pages over 64 MiB of private ones",
            (shared, CALL),
            (sysel_fork("cold", parent_bytes="64MiB"), CALL),
            "below",
            0.25,
        ),
    ]
    return verdict("S13", over_demands(parts), parts, "Page tables are copied, pages are not", "fork over memcpy")


def s14(judge: Judge) -> Verdict:
    """Exec against fork alone, and a C++ program against one without a C library."""

    def program(name: str) -> str:
        return cell("launch.fork_exec", linkage="dynamic_now", placement="free", program=name, temperature="cold")

    parts = [
        judge.part(
            "fork+exec of a dynamic program over fork alone, cold, until it runs",
            (program("target_dynamic"), IMAGE),
            (sysel_fork("cold"), RUNS),
            "above",
            1.0,
        ),
        judge.part(
            "a C++ program over one without a C library",
            (program("target_cxx"), IMAGE),
            (program("target_nolibc"), IMAGE),
            "above",
            0.10,
        ),
    ]
    return verdict("S14", over_demands(parts), parts, "Cold launches", "fork+exec over fork")


def s15(judge: Judge) -> Verdict:
    """How many launches have their task on another CPU, and what that does to the call."""
    if judge.measured.cpus < 2:
        return Verdict("S15", NOT_MEASURABLE, "There is but one CPU here: nothing can migrate.")
    cells = [make(temperature) for make in (sysel_fork, sysel_thread) for temperature in ("cold", "warm")]
    for text in cells:
        judge.find(text, CALL)
    counts = {"same_cpu": 0, "other_cpu": 0}
    for text in cells:
        for placement, row in judge.measured.placements(text, RUNS).items():
            if placement in counts:
                counts[placement] += row.estimate.n_samples
    total = sum(counts.values())
    if not total:
        raise MissingEvidenceError("no launch says where its task ran")
    share = counts["other_cpu"] / total
    effects = []
    for text in cells:
        rows = judge.measured.placements(text, CALL)
        if {"same_cpu", "other_cpu"} <= set(rows):
            ratio = judge.ratio(rows["other_cpu"], rows["same_cpu"])
            effects.append(JudgedRatio(f"{_short(text)}, other CPU over same CPU", ratio, "alike", RARE, (text,)))
    migrated = f"{format_share(share)} of {total:,} launches ran on another CPU than their parent"
    outcomes = {part.outcome for part in effects}
    if share > RARE or "no" in outcomes:
        status = DOES_NOT_HOLD
    else:
        status = HOLDS if outcomes <= {"yes"} else NOT_DISTINGUISHABLE
    tail = "; ".join(part.text for part in effects)
    reason = f"{migrated}{f'; until the call returns: {tail}' if tail else ''}."
    return Verdict("S15", status, reason, share, None, "share on another CPU", tuple(cells))


def _short(text: str) -> str:
    workload, axes = axes_of(text)
    return f"{workload.removeprefix('launch.')} {axes.get('temperature', '')}"


def flags_verdict(name: str, judge: Judge, expected: str) -> Verdict:
    """Judge the ladder of flags from none to all of pthread_create's, until the call returns and the task runs."""
    parts = [
        judge.part(
            f"{temperature}, {STAGE_WORDS[stage]}",
            (cell("flags.settls", temperature=temperature), stage),
            (cell("flags.none", temperature=temperature), stage),
            expected,
        )
        for temperature in ("cold", "warm")
        for stage in (CALL, RUNS)
    ]
    words = "clone3 with pthread_create's flags over clone3 with none"
    return verdict(name, over_conditions(parts), parts, words, "all flags over none")


def s21(judge: Judge) -> Verdict:
    """All flags of pthread_create against none of them, on bare calls of clone3."""
    return flags_verdict("S21", judge, "above")


CLAIMS = {
    claim.id: claim
    for claim in (
        Claim("S11", "5%", s11),
        Claim("S12", "fork twice as long, threads within 25%", s12),
        Claim("S13", "half of memcpy; shared pages 20% cheaper", s13),
        Claim("S14", "twice as long; 10% between programs", s14),
        Claim("S15", "10% of launches, 10% of time", s15),
        Claim("S21", "5%", s21),
    )
}
