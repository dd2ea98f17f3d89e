"""Bendersky's claims as predicates over what was measured here."""

from __future__ import annotations

from clonometer.studies.cells import cell, heap
from clonometer.studies.claims_sysel import flags_verdict
from clonometer.studies.judge import CALL, Judge, claim
from clonometer.studies.sizes import sized
from clonometer.studies.thresholds import DIFFERS, QUARTER, TWICE
from clonometer.studies.types import Verdict
from clonometer.studies.verdicts import over_conditions, over_demands, verdict
from clonometer.units import format_duration_interval
from clonometer.verdicts import Status

PAGES = (63 << 20) // 4096
_FORK, _THREAD = "launch.fork", "launch.pthread"


@claim("B6", "{}; its size within {}", DIFFERS, QUARTER)
def b6(judge: Judge) -> Verdict:
    """Fork over thread with a heap of 2 MB; the study's number is that of the call."""
    parts = judge.stages("", heap(_FORK, "2MiB"), heap(_THREAD, "2MiB"))
    words = "Fork over pthread_create with a 2 MB heap, warm"
    direction = verdict(over_conditions, parts, words, "fork over thread")
    return sized("B6", direction, parts[0], judge, thread=heap(_THREAD, "2MiB"), quantity=CALL)


@claim("B7", "fork {} as long, threads within {}", TWICE, QUARTER)
def b7(judge: Judge) -> Verdict:
    """Both with 64 MiB against 1 MiB, until the call returns and until the task runs."""
    parts = [
        *judge.stages("fork ", heap(_FORK, "64MiB"), heap(_FORK, "1MiB"), "above", TWICE),
        *judge.stages("pthread_create ", heap(_THREAD, "64MiB"), heap(_THREAD, "1MiB"), "alike", QUARTER),
    ]
    return verdict(over_demands, parts, "With a heap of 64 MiB over 1 MiB", "64 MiB over 1 MiB")


@claim("B8", "{}", DIFFERS)
def b8(judge: Judge) -> Verdict:
    """Fork with 2 MB against memcpy of 2 MB."""
    # A fast memcpy does not show that fork copies pages, nor a slow one that it does not.
    words = "Only the times are judged here; B9 and S13 show what is copied. Fork with 2 MB over memcpy of 2 MB"
    part = judge.part("until the call returns", (heap(_FORK, "2MiB"), CALL), ("memcpy.private", "copy_ns"), "below")
    return verdict(over_conditions, [part], words, "fork over memcpy")


@claim("B9", "{} more with entries than without", QUARTER)
def b9(judge: Judge) -> Verdict:
    """The same memory without page-table entries to copy: huge pages, and pages that were never touched."""
    full = heap(_FORK, "64MiB")
    parts = [
        judge.part("in huge pages", (heap(_FORK, "64MiB", page_kind="thp"), CALL), (full, CALL), "below", QUARTER),
        judge.part("untouched", (heap(_FORK, "64MiB", page_kind="untouched"), CALL), (full, CALL), "below", QUARTER),
    ]
    each = judge.difference(judge.find(full, CALL), judge.find(heap(_FORK, "1MiB"), CALL))
    cost = format_duration_interval(*each.over(PAGES).ends)
    words = f"64 MiB that need (almost) no page-table entries over 64 MiB of 4 KiB pages; an entry costs {cost}"
    return verdict(over_demands, parts, words, "without entries over with them")


@claim("B11", "{} as long without as with what is shared", TWICE)
def b11(judge: Judge) -> Verdict:
    """What is left of the call when memory is shared: the rung CLONE_VM of the ladder."""
    shared, copied = (cell(f"flags.{name}", temperature="warm") for name in ("vm", "sysvsem"))
    parts = [judge.part("until the call returns", (shared, CALL), (copied, CALL), "below", TWICE)]
    share = 1 - parts[0].value.value
    most = "the largest part" if parts[0].outcome == Status.HOLDS else "not shown to be the largest part"
    words = (
        f"Copying the memory's bookkeeping is {share:.0%} of the call in a small process, {most}; shared over copied"
    )
    return verdict(over_conditions, parts, words, "memory shared over copied")


@claim("B12", "{}", DIFFERS)
def b12(judge: Judge) -> Verdict:
    """The ladder of flags, the other way round."""
    return flags_verdict(judge, "below")
