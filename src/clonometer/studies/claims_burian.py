"""Burian's claims and questions as predicates over what was measured here."""

from __future__ import annotations

from dataclasses import replace
from statistics import median

import numpy as np

from clonometer.results.rows.run_estimates import RunEstimate
from clonometer.stats.factorial import DesignPoint, factorial_effects
from clonometer.stats.interval import Interval
from clonometer.stats.ladder import ladder_of_differences
from clonometer.stats.scatter import chance_of_lower_fit, ratio_of_scatter
from clonometer.studies.cells import axes_of, cell
from clonometer.studies.explained import EXPLANATIONS, WORK, WorkAnswer
from clonometer.studies.judge import Judge, MissingEvidenceError, claim
from clonometer.studies.measured import SCATTER, SINGLE
from clonometer.studies.sizes import sized
from clonometer.studies.thresholds import DIFFERS, QUARTER
from clonometer.studies.types import Verdict
from clonometer.studies.verdicts import over_conditions, verdict
from clonometer.studies.workers import (
    LINE,
    PROCESS,
    THREAD,
    WHOLE,
    WORKLOAD,
    Experiment,
    by_numbers,
    by_workers,
    coefficients,
    fit,
    say_r_squared,
)
from clonometer.units import format_duration_interval, format_ratio, format_share
from clonometer.verdicts import Status, Word
from clonometer.words import axis_words

_RATIO = "threads over processes"
_ONE_CPU = Verdict(
    Status.NOT_MEASURABLE, "There is only one CPU here, so no number of workers lies between one and the CPUs."
)
#: From so many processes a point on studies of single runs are drawn: what `--quick` plans.
_LEAST_RUNS = 6
#: What the study's program does: it leaks, and its threads run first, so that processes find files.
_ITS_SIZE = {"numbers": "4000", "workers": "8"}
_LEAKED, _SECOND = {"allocate": "leaked"}, {"result_files": "overwritten"}
_COUNTED = {
    "voluntary_switches": "sleeps",
    "involuntary_switches": "preemptions",
    "run_queue_wait_ns": "wait in run queues",
    "minor_faults": "page faults",
    "migrations": "migrations",
}


def _beyond(judge: Judge, experiment: Experiment) -> Experiment:
    return experiment.between(judge.measured.cpus + 1, float("inf"))


def _at_points(judge: Judge, experiment: Experiment, words: str, x_words: str, *, alike: bool = False) -> Verdict:
    """Judge every point of an experiment: where threads are faster at some and slower at others, it depends."""
    expected = "alike" if alike else "above"
    parts = [judge.compare(f"{x:,} {x_words}", *experiment.pair(x), expected) for x in experiment.x]
    if not parts:
        raise MissingEvidenceError(f"{WORKLOAD}: no point of this stretch was measured")
    return verdict(over_conditions, parts, words, _RATIO)


def _span(experiment: Experiment) -> str:
    x = experiment.x
    return f"{x[0]:,} to {x[-1]:,}" if x else ""


@claim("U7", "{} at every number of workers", DIFFERS)
def u7(judge: Judge) -> Verdict:
    """More workers than CPUs."""
    beyond = _beyond(judge, by_workers(judge.measured))
    words = f"Threads over processes, by workers, of which there are more than the {judge.measured.cpus} CPUs"
    return _at_points(judge, beyond, words, "workers")


@claim("U8", "within {} at every number of workers", DIFFERS)
def u8(judge: Judge) -> Verdict:
    """As many workers as CPUs at most."""
    if judge.measured.cpus < 2:
        return _ONE_CPU
    within = by_workers(judge.measured).between(1, judge.measured.cpus)
    words = f"Threads over processes, by workers, of which there are no more than the {judge.measured.cpus} CPUs"
    return _at_points(judge, within, words, "workers", alike=True)


@claim("U9", "{} more scatter", QUARTER)
def u9(judge: Judge) -> Verdict:
    """How far executions lie from the median of their number of workers.

    R2, which the study takes for it, is said beside it: it also falls with the slope.
    """
    line = by_workers(judge.measured).between(*LINE)
    pairs = [tuple(judge.find(row.cell, SCATTER).processes.values for row in line.pair(workers)) for workers in line.x]
    fits = {"threads": fit(judge, line, THREAD, 1).r_squared, "processes": fit(judge, line, PROCESS, 1).r_squared}
    published = ", ".join(f"{name} {say_r_squared(r2)}" for name, r2 in fits.items())
    singles = [
        [judge.find(line.pair(workers)[side].cell, SINGLE).processes.values for workers in line.x] for side in (0, 1)
    ]
    fewest = min(runs.size for side in singles for runs in side)
    of_singles = ""
    # Of fewer runs the drawn studies are much the same one.
    if fewest >= _LEAST_RUNS:
        lower = chance_of_lower_fit(line.x, *singles, seed=judge.seed(*line.pair(line.x[0])))
        of_singles = (
            f". If each point were run only once, as there, threads would have the lower R2 in {lower:.0%} of studies"
        )
    beside = f"R2 of the line, as published: {published} (the study's threads: 2.3% lower){of_singles}"
    ratio = ratio_of_scatter([(a, b) for a, b in pairs], seed=judge.seed(*line.pair(line.x[0])))
    if ratio is None:
        reason = f"Executions with the same number of workers do not scatter, so there is no ratio. {beside}."
        return Verdict(Status.UNKNOWN, reason, evidence=line.cells, word=Word.OPEN)
    means = [format_share(float(np.mean([pair[side].mean() for pair in pairs]))) for side in (0, 1)]
    words = (
        f"An execution lies {means[0]} from the median of its number of workers with threads, {means[1]} with "
        f"processes. {beside}. Scatter of threads over that of processes"
    )
    part = judge.judged(f"{_span(line)} workers", ratio, "above", QUARTER, line.cells)
    return verdict(over_conditions, [part], words, "scatter of threads over that of processes")


@claim("U12", "{}; its size within {}", DIFFERS, QUARTER)
def u12(judge: Judge) -> Verdict:
    """The intercepts of the lines, as the study reads them."""
    line = by_workers(judge.measured).between(*LINE)
    ratio = coefficients(judge, line, 0)
    # Nor is there a ratio of one above zero to one below.
    if ratio is None or ratio.low <= 0:
        both = [fit(judge, line, kind, 1).coefficients[0] for kind in (THREAD, PROCESS)]
        intercepts = ", ".join(format_duration_interval(*intercept.ends) for intercept in both)
        reason = (
            f"An intercept may be zero or less (threads, processes: {intercepts}): it does not show the cost of "
            f"creation."
        )
        return Verdict(Status.UNKNOWN, reason, None, None, "ratio of intercepts", line.cells, word=Word.OPEN)
    part = judge.judged(f"line through {_span(line)} workers", ratio, "above", DIFFERS, line.cells)
    words = "Intercept of threads over that of processes (an intercept is not the cost of creation: compare L6)"
    return sized("U12", verdict(over_conditions, [part], words, "ratio of intercepts"), part, judge)


@claim("U13", "{} at every number", DIFFERS)
def u13(judge: Judge) -> Verdict:
    """The upper third of the numbers that were scanned."""
    whole = by_numbers(judge.measured)
    upper = whole.between(whole.x[-1] * 2 / 3, float("inf"))
    words = f"Threads over processes, {whole.held} workers, by numbers, of which there are many"
    return _at_points(judge, upper, words, "numbers")


def chain(judge: Judge) -> list[tuple[str, RunEstimate, RunEstimate]]:
    """The ablation: what was taken away, and threads and processes without it, in the order in which things go."""
    sides: dict[frozenset[tuple[str, str]], dict[str, RunEstimate]] = {}
    for text in judge.measured.cells:
        workload, axes = axes_of(text)
        row = judge.measured.find(text, WHOLE)
        if workload == WORKLOAD and row is not None and "workers" in axes:
            kind = axes.pop("task_kind", THREAD)
            sides.setdefault(frozenset(axes.items()), {})[kind] = row
    both = {condition: kinds for condition, kinds in sides.items() if len(kinds) == 2}
    start = max(both, key=lambda condition: ("shared_stream" in dict(condition).values(), len(condition)), default=None)
    if start is None or "shared_stream" not in dict(start).values():
        raise MissingEvidenceError(f"{WORKLOAD}: the ablation was not measured in this run")
    steps, last = [("everything shared", start)], start
    held = {name: dict(start).get(name) for name in ("numbers", "workers")}
    left = {
        condition for condition in both if all(dict(condition).get(name) == value for name, value in held.items())
    } - {start}
    while True:
        near = [condition for condition in left if len({name for name, _ in condition ^ last}) == 1]
        if not near:
            break
        # Of two ways on, the one that keeps most of what was shared comes first, as in the plan.
        last = max(near, key=lambda condition: (len(condition & steps[-1][1]), len(condition)))
        left.remove(last)
        changed = dict(last - steps[-1][1]) or {name: "" for name, _ in steps[-1][1] - last}
        steps.append((_taken(changed), last))
    return [(words, both[condition][THREAD], both[condition][PROCESS]) for words, condition in steps]


def _taken(changed: dict[str, str]) -> str:
    name, value = next(iter(changed.items()))
    return axis_words(name, value) if value else f"{name.replace('_', ' ')} as by default"


def _ablation(judge: Judge) -> tuple[str, tuple[str, ...]]:
    """What each thing taken away did to the gap, in words, and the evidence."""
    rungs = chain(judge)
    ladder = ladder_of_differences(
        [(a.processes, b.processes) for _, a, b in rungs], seed=judge.seed(rungs[0][1], rungs[-1][1])
    )
    first, last = ladder.gaps[0], ladder.gaps[-1]
    steps = [
        f"{words} {format_duration_interval(*step.ends)}"
        for (words, _, _), step in zip(rungs[1:], ladder.steps, strict=True)
        if not step.contains(0.0)
    ]
    cells = tuple(row.cell for _, a, b in rungs for row in (a, b))
    moved = f"what changed it: {'; '.join(steps)}" if steps else "no single step certainly changed it"
    rest = ladder.remainder_share
    left = f"; unexplained {format_share(rest.value)}" if rest is not None else ""
    return (
        f"Threads less processes: {format_duration_interval(*first.ends)} with everything "
        f"shared, {format_duration_interval(*last.ends)} with nothing shared; "
        f"{moved}{left}"
    ), cells


def _as_its_program(judge: Judge) -> tuple[str, tuple[str, ...]]:
    """Threads over processes under the conditions of the study's program, and under each of them alone; the cells."""
    cells: list[str] = []

    def times(threads: dict[str, str], processes: dict[str, str]) -> str:
        sides = ({**_ITS_SIZE, **threads}, {**_ITS_SIZE, **processes, "task_kind": PROCESS})
        rows = [judge.find(cell(WORKLOAD, **side), WHOLE) for side in sides]
        cells.extend(row.cell for row in rows)
        return format_ratio(*judge.ratio(*rows).ends)

    try:
        text = (
            "The study's program leaks memory, each point is one run, and its processes overwrite the files of its "
            f"threads. Measured that way, threads over processes are {times(_LEAKED, {**_LEAKED, **_SECOND})} with "
            f"{_ITS_SIZE['workers']} workers: leaks alone {times(_LEAKED, _LEAKED)}, files alone {times({}, _SECOND)}, "
            f"neither {times({}, {})}."
        )
    except MissingEvidenceError as error:
        text = f"The conditions of its program are not measured here: {error}."
    return text, tuple(dict.fromkeys(cells))


def _counters(judge: Judge, experiment: Experiment) -> str:
    """Switches, faults and waits of a worker, threads beside processes, at the largest number of workers."""
    x = experiment.x[-1]
    a, b = experiment.pair(x)
    counts = []
    for quantity, words in _COUNTED.items():
        pair = [judge.measured.find(row.cell, quantity) for row in (a, b)]
        if all(pair):
            medians = [_median(row) for row in pair if row is not None]
            counts.append(f"{words} {medians[0]} against {medians[1]}")
    return f"of a worker among {x}, threads against processes: {', '.join(counts)}" if counts else ""


def _median(row: RunEstimate) -> str:
    value = median(row.processes.values.tolist())
    return format_duration_interval(value, value, value) if row.is_time else f"{value:,.0f}"


@claim("U10", "{} more scatter", QUARTER)
def u10(judge: Judge) -> Verdict:
    """Whether threads are delayed more at random, and what goes with it."""
    scatter = judge.verdict("U9")
    if scatter.status == Status.NOT_MEASURABLE:
        return scatter
    beyond = _beyond(judge, by_workers(judge.measured))
    ablation, cells = _ablation(judge)
    premise = {Status.HOLDS: "They are", Status.FAILS: "Processes are the ones that are"}.get(
        scatter.status, "Whether they are is open"
    )
    worked = judge.measured.worked
    delayed = worked.delayed if isinstance(worked, WorkAnswer) else ""
    looked = f" {delayed or worked.text}" if worked is not None else ""
    its, its_cells = _as_its_program(judge)
    reason = f"{premise}: {scatter.reason}{looked} {its} {ablation}; {_counters(judge, beyond)}."
    return replace(scatter, reason=reason, evidence=(*scatter.evidence, *its_cells, *cells, *_pieces(judge)))


def _pieces(judge: Judge) -> tuple[str, ...]:
    """The explanation as evidence, if there is one."""
    return (EXPLANATIONS[WORK].evidence,) if isinstance(judge.measured.worked, WorkAnswer) else ()


@claim("U11", "{} at every number of workers just beyond the CPUs, against each up to them", DIFFERS)
def u11(judge: Judge) -> Verdict:
    """Whether the gap opens beyond the CPUs, and which shared thing opens it."""
    if judge.measured.cpus < 2:
        return _ONE_CPU
    workers = by_workers(judge.measured)
    cpus = judge.measured.cpus
    within, beyond = workers.between(1, cpus), workers.between(cpus + 1, max(2 * cpus + 1, cpus + 5))
    parts = [
        judge.judged(f"{more} over {few}", _opening(judge, within, few, beyond, more), "above", DIFFERS,
                     tuple(row.cell for row in (*within.pair(few), *beyond.pair(more))))
        for few in within.x
        for more in beyond.x
    ]  # fmt: skip
    if not parts:
        raise MissingEvidenceError(f"{WORKLOAD}: no point up to the CPUs, or none just beyond them, was measured")
    judged = verdict(over_conditions, parts, "", f"{_RATIO}, with more over with fewer")
    lead = {
        Status.HOLDS: f"A gap opens here too, beyond {cpus} workers",
        Status.DEPENDS: f"A gap opens here beyond {cpus} workers at some numbers, but not at others",
        Status.FAILS: f"Here no gap opens beyond {cpus} workers",
    }.get(judged.status, "With the study's settings, it is open whether a gap opens here")
    its, its_cells = _as_its_program(judge)
    ablation, cells = _ablation(judge)
    reason = (
        f"{lead}. Threads over processes: {_gaps(judge, within)} (no more workers than CPUs), {_gaps(judge, beyond)}. "
        f"{_say_smt(judge)} {its} "
        f"{'' if judge.measured.worked is None else judge.measured.worked.text + ' '}{ablation}."
    )
    evidence = (*within.cells, *beyond.cells, *its_cells, *cells, *_pieces(judge))
    return replace(judged, reason=reason, evidence=evidence)


def _say_smt(judge: Judge) -> str:
    """What the study suspects, and whether it can be so on this machine."""
    smt = judge.measured.host.get("cpu.smt")
    this_machine = "whether this machine has it is not known"
    if smt is not None:
        this_machine = (
            "this machine has it too: repeat with `off` written to /sys/devices/system/cpu/smt/control"
            if smt
            else "this machine does not use it either, so it cannot explain a gap here"
        )
    return f"The study suspects hyper-threading, which its CPU does not have; {this_machine}."


def _opening(judge: Judge, within: Experiment, few: int, beyond: Experiment, more: int) -> Interval:
    """The gap with more workers over the gap with few."""
    pairs = (within.pair(few), beyond.pair(more))
    points = [DesignPoint({"more": level}, a.processes, b.processes) for level, (a, b) in enumerate(pairs)]
    return factorial_effects(points, seed=judge.seed(*pairs[0], *pairs[1]))[0].times


def _gaps(judge: Judge, experiment: Experiment) -> str:
    """The gap at each number of workers."""
    ratios = {x: judge.ratio(*experiment.pair(x)) for x in experiment.x}
    return ", ".join(f"{format_ratio(*ratio.ends)} with {x}" for x, ratio in ratios.items())
