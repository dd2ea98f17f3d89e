"""Bendersky's claims as predicates over what was measured here."""

from __future__ import annotations

from clonometer.studies.cells import cell, heap
from clonometer.studies.claims_sysel import flags_verdict
from clonometer.studies.judge import CALL, RUNS, Claim, Judge
from clonometer.studies.types import HOLDS, Verdict
from clonometer.studies.verdicts import over_conditions, over_demands, verdict
from clonometer.units import format_duration_interval

PAGES = (63 << 20) // 4096
_FORK, _THREAD = "launch.fork", "launch.pthread"


def b6(judge: Judge) -> Verdict:
    """Fork over thread with a heap of 2 MB."""
    parts = [
        judge.part(words, (heap(_FORK, "2MiB"), stage), (heap(_THREAD, "2MiB"), stage), "above", 1.0)
        for stage, words in ((CALL, "until the call returns"), (RUNS, "until the task runs"))
    ]
    words = "Fork over pthread_create with a 2 MB heap, warm (the study: about 7)"
    return verdict("B6", over_conditions(parts), parts, words, "fork over thread")


def b7(judge: Judge) -> Verdict:
    """Both with 64 MiB against 1 MiB."""
    parts = [
        judge.part("fork", (heap(_FORK, "64MiB"), CALL), (heap(_FORK, "1MiB"), CALL), "above", 0.5),
        judge.part("pthread_create", (heap(_THREAD, "64MiB"), CALL), (heap(_THREAD, "1MiB"), CALL), "alike", 0.15),
    ]
    words = "With a heap of 64 MiB over 1 MiB, until the call returns"
    return verdict("B7", over_demands(parts), parts, words, "64 MiB over 1 MiB")


def b8(judge: Judge) -> Verdict:
    """Fork with 2 MB against memcpy of 2 MB."""
    part = judge.part("until the call returns", (heap(_FORK, "2MiB"), CALL), ("memcpy.private", "copy_ns"), "below")
    return verdict("B8", over_conditions([part]), [part], "Fork with 2 MB over memcpy of 2 MB", "fork over memcpy")


def b9(judge: Judge) -> Verdict:
    """The same memory without page-table entries to copy: huge pages, and pages that were never touched."""
    full = heap(_FORK, "64MiB")
    parts = [
        judge.part("in huge pages", (heap(_FORK, "64MiB", page_kind="thp"), CALL), (full, CALL), "below", 0.25),
        judge.part("untouched", (heap(_FORK, "64MiB", page_kind="untouched"), CALL), (full, CALL), "below", 0.25),
    ]
    each = judge.difference(judge.find(full, CALL), judge.find(heap(_FORK, "1MiB"), CALL))
    cost = format_duration_interval(each.value / PAGES, each.low / PAGES, each.high / PAGES)
    status = over_demands(parts)
    words = f"64 MiB that need (almost) no page-table entries over 64 MiB of 4 KiB pages; an entry costs {cost}"
    return verdict("B9", status, parts, words, "without entries over with them")


def b11(judge: Judge) -> Verdict:
    """What is left of the call when memory is shared: the rung CLONE_VM of the ladder."""
    parts = [
        judge.part(
            "until the call returns",
            (cell("flags.vm", temperature="warm"), CALL),
            (cell("flags.sysvsem", temperature="warm"), CALL),
            "below",
            1.0,
        )
    ]
    share = 1 - parts[0].ratio.value
    status = over_conditions(parts)
    most = "the biggest part" if status == HOLDS else "not shown to be the biggest part"
    words = (
        f"Copying the memory's bookkeeping is {share:.0%} of the call in a small process, {most}; shared over copied"
    )
    return verdict("B11", status, parts, words, "memory shared over copied")


def b12(judge: Judge) -> Verdict:
    """The ladder of flags, the other way round."""
    return flags_verdict("B12", judge, "below")


CLAIMS = {
    claim.id: claim
    for claim in (
        Claim("B6", "twice as long", b6),
        Claim("B7", "fork 1.5 times as long, threads within 15%", b7),
        Claim("B8", "5%", b8),
        Claim("B9", "20% less", b9),
        Claim("B11", "half of the call", b11),
        Claim("B12", "5%", b12),
    )
}
