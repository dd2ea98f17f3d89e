"""Sysel's claims as predicates over what was measured here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from clonometer.results.types import FEWEST_PROCESSES
from clonometer.stats.quantiles import quantile_interval
from clonometer.studies.cells import FOUR_GB, SYSEL, axes_of, cell, parent_bytes, sysel_fork, sysel_thread, with_axes
from clonometer.studies.judge import CALL, IMAGE, RUNS, Judge, MissingEvidenceError, claim
from clonometer.studies.measured import CALL_MOVED, CALL_STAYED, MIGRATED
from clonometer.studies.shares import mean_share
from clonometer.studies.thresholds import DIFFERS, QUARTER, TENTH, TWICE
from clonometer.studies.types import Verdict
from clonometer.studies.verdicts import JudgedPart, judged_share, over_conditions, over_demands, ruled, tally, verdict
from clonometer.units import approximate_bytes, format_duration, format_share, parse_bytes
from clonometer.verdicts import Status, Word

_THREAD_OVER_FORK = "thread over fork"
_TEMPERATURES = ("cold", "warm")


def _first_stages(judge: Judge, words: str, temperature: str, **axes: str) -> list[JudgedPart]:
    """Thread over fork at both of the study's stages."""
    thread, fork = (make(temperature, **axes) for make in (sysel_thread, sysel_fork))
    return judge.stages(f"{words}, ", thread, fork)


def _can_be_set(judge: Judge, level: str) -> bool:
    """Whether launches were measured at an end of the frequency range."""
    cells = [make("cold", frequency=level) for make in (sysel_thread, sysel_fork)]
    return all(judge.measured.find(text, CALL) is not None for text in cells)


@claim("S11", "{}", DIFFERS)
def s11(judge: Judge) -> Verdict:
    """Threads against fork, first launch and later ones, at both of the study's stages."""
    parts = [part for temperature in _TEMPERATURES for part in _first_stages(judge, temperature, temperature)]
    for level in ("base", "turbo"):
        if _can_be_set(judge, level):
            parts += _first_stages(judge, f"cold at {level} frequency", "cold", frequency=level)
    mhz = judge.find(sysel_fork("warm"), CALL).effective_mhz
    clock = f" at {mhz:,.0f} MHz" if mhz else ""
    words = f"pthread_create over fork{clock} (the study's launches were probably cold)"
    return verdict(over_conditions, parts, words, _THREAD_OVER_FORK)


@claim("S12", "fork {} as long, threads within {}", TWICE, QUARTER)
def s12(judge: Judge) -> Verdict:
    """Fork with much memory against fork with none, and the same of threads, at both of the study's stages.

    The control decides nothing: the same addresses, of which nothing was written.
    """
    bare = {"fork ": sysel_fork("cold"), "pthread_create ": sysel_thread("cold")}
    largest = {words: judge.measured.largest(text) for words, text in bare.items()}
    written = {words: text for words, text in largest.items() if text is not None}
    if len(written) < len(bare):
        raise MissingEvidenceError("no launch with memory in the parent was measured")
    parts = [
        part
        for (words, text), (expected, least) in zip(bare.items(), (("above", TWICE), ("alike", QUARTER)), strict=True)
        for part in judge.stages(words, written[words], text, expected, least)
    ]
    size = approximate_bytes(parent_bytes(written["fork "]))
    words = f"Cold, with {size} just written in the parent over none"
    judged = verdict(over_demands, parts, words, "with memory over without")
    control, cells = _untouched(judge, bare, written)
    return replace(judged, reason=judged.reason + control, evidence=(*judged.evidence, *cells))


def _untouched(judge: Judge, bare: Mapping[str, str], written: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
    """Say what 4 GB do that were allocated and never touched; nothing where that was not measured."""
    untouched = {words: with_axes(text, page_kind="untouched", parent_bytes=FOUR_GB) for words, text in bare.items()}
    try:
        parts = [part for words, text in bare.items() for part in judge.stages(words, untouched[words], text)]
        dearer = [part for words, text in untouched.items() for part in judge.stages(words, written[words], text)]
    except MissingEvidenceError:
        return "", ()
    ratios = "; ".join(part.text for part in parts)
    size = approximate_bytes(parse_bytes(FOUR_GB))
    counts = (
        "memory just written counts, not the address space"
        if {part.outcome for part in dearer} == {Status.HOLDS}
        else "the control"
    )
    return f" With {size} allocated and untouched ({counts}): {ratios}.", tuple(untouched.values())


@claim("S13", "memcpy {} as long; private pages {} more than shared ones", TWICE, QUARTER)
def s13(judge: Judge) -> Verdict:
    """Fork against memcpy of as much, and with memory that is not copied on write; like temperatures alone."""

    def fork(temperature: str, **axes: str) -> tuple[str, str]:
        return sysel_fork(temperature, parent_bytes="64MiB", **axes), CALL

    # A copy has no first time: what it copies was written before.
    copied = (cell("memcpy.private", copy_bytes="64MiB"), "copy_ns")
    parts = [judge.part("fork with 64 MiB over memcpy of 64 MiB, warm", fork("warm"), copied, "below", TWICE)]
    parts += [
        judge.part(
            f"fork with 64 MiB of shared pages over 64 MiB of private ones, {temperature}",
            fork(temperature, page_kind="shared"),
            fork(temperature),
            "below",
            QUARTER,
        )
        for temperature in _TEMPERATURES
    ]
    return verdict(over_demands, parts, "Page tables are copied, pages are not", "fork over memcpy")


@claim("S14", "{} as long; {} between programs", TWICE, QUARTER)
def s14(judge: Judge) -> Verdict:
    """Exec against fork alone, and a C++ program against one without a C library."""

    def program(name: str) -> tuple[str, str]:
        return cell("launch.fork_exec", **SYSEL, program=name, temperature="cold"), IMAGE

    bare = (sysel_fork("cold"), RUNS)
    parts = [
        judge.part("fork+exec of a dynamic program over fork alone", program("target_dynamic"), bare, "above", TWICE),
        judge.part(
            "a C++ program over one without a C library",
            program("target_cxx"),
            program("target_nolibc"),
            "above",
            QUARTER,
        ),
    ]
    return verdict(over_demands, parts, "Cold launches, until the program runs", "fork+exec over fork")


@claim("S15", "{} launches; {} of time", TENTH, QUARTER)
def s15(judge: Judge) -> Verdict:
    """How often the parent is on another CPU after a launch than before, and how much longer such a call takes.

    Where the task itself first runs is placement and no migration; it is said beside it.
    """
    if judge.measured.cpus < 2:
        return Verdict(Status.NOT_MEASURABLE, "There is only one CPU here: nothing can migrate.")
    cells = [text for text in judge.measured.cells if _as_sysel(text) and judge.measured.find(text, MIGRATED)]
    if not cells:
        raise MissingEvidenceError("no launch recorded its parent's CPU")
    rare = [
        judged_share(
            _short(text), mean_share(judge.find(text, MIGRATED).processes.values), "below", (text,), judge.bars
        )
        for text in cells
    ]
    effects = [
        judge.compare(_short(text), moved, stayed, "alike", QUARTER)
        for text in cells
        if (moved := judge.measured.find(text, CALL_MOVED)) is not None
        and (stayed := judge.measured.find(text, CALL_STAYED)) is not None
        and moved.processes.values.size >= FEWEST_PROCESSES
    ]
    outcome = over_demands([*rare, *effects])
    if not effects:
        outcome = outcome._replace(holds=1.0)
    slower = (
        f"the call of those that migrated over that of those that did not: {'; '.join(part.text for part in effects)}"
        if effects
        else "too few migrated to see how that affects the call"
    )
    reason = (
        f"Share of launches after which the parent is on another CPU, each condition alone"
        f"{tally(rare)}: {', '.join(part.text for part in rare)}; {slower}"
        f"{_placed(judge, cells)}."
    )
    lead = max(rare, key=lambda part: part.value.value).value
    draft = Verdict(Status.UNKNOWN, reason, lead.value, (lead.low, lead.high), "share that migrates", tuple(cells))
    return ruled(draft, outcome, judge.bars)


def _as_sysel(text: str) -> bool:
    """Whether a cell is a launch as the study made them, whatever else it varies."""
    workload, axes = axes_of(text)
    return workload.startswith("launch.") and SYSEL.items() <= axes.items()


def _placed(judge: Judge, cells: Sequence[str]) -> str:
    """How many tasks first ran on another CPU than their parent, which is no migration."""
    counts = {"same_cpu": 0, "other_cpu": 0}
    for text in cells:
        for placement, row in judge.measured.placements(text, RUNS).items():
            if placement in counts:
                counts[placement] += row.n_samples
    total = sum(counts.values())
    if not total:
        return ""
    share = format_share(counts["other_cpu"] / total)
    return f" (the task was placed on another CPU than its parent's in {share} of {total:,})"


def _short(text: str) -> str:
    workload, axes = axes_of(text)
    more = [value for name, value in axes.items() if name in ("parent_bytes", "program", "page_kind", "frequency")]
    return " ".join([workload.removeprefix("launch."), *more, axes.get("temperature", "")])


def flags_verdict(judge: Judge, expected: str) -> Verdict:
    """Judge the ladder of flags from none to all of pthread_create's, until the call returns and the task runs."""
    parts: list[JudgedPart] = []
    for temperature in _TEMPERATURES:
        every, none = (cell(f"flags.{name}", temperature=temperature) for name in ("settls", "none"))
        parts += judge.stages(f"{temperature}, ", every, none, expected)
    words = "clone3 with pthread_create's flags over clone3 with none"
    return verdict(over_conditions, parts, words, "all flags over none")


@claim("S21", "{}", DIFFERS)
def s21(judge: Judge) -> Verdict:
    """All flags of pthread_create against none of them, on bare calls of clone3."""
    return flags_verdict(judge, "above")


@claim("S23", "{}", DIFFERS)
def s23(judge: Judge) -> Verdict:
    """The chrono pair against the clock_gettime one, each the first two readings of a fresh program.

    A pair is a whole number of the clock's steps, and so are medians: within one step nobody can tell.
    """
    label = "chrono over clock_gettime"
    chrono, gettime = cell("clock.first_pair", read_clock="chrono"), cell("clock.first_pair")
    a, b = judge.find(chrono, "pair_ns"), judge.find(gettime, "pair_ns")
    step_ns = quantile_interval(judge.find("clock.realtime", "step_ns").processes.values).value
    judged = verdict(over_demands, [judge.compare(label, a, b)], "The first two readings of a fresh program", label)
    apart_ns = quantile_interval(a.processes.values).value - quantile_interval(b.processes.values).value
    if abs(apart_ns) > step_ns:
        return judged
    within = f" They differ by at most one step of the clock ({format_duration(step_ns)})."
    reason = judged.reason + within
    return replace(
        judged, status=Status.UNKNOWN, reason=reason, word=Word.OPEN, likely=None, at_least=None, p=(1.0, 1.0)
    )
