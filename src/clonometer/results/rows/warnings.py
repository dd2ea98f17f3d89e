"""What weakens a number, as values with their next step. None of them fires on what is usual."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import replace

import numpy as np

from clonometer.families import family
from clonometer.families.types import CROWD, LOOP
from clonometer.results.rows.groups import SampleGroup
from clonometer.results.rows.outliers import is_disturbed, switches_of
from clonometer.results.rows.shape_warnings import shape_warnings
from clonometer.results.rows.source import effective_frequencies_mhz
from clonometer.results.types import WIDE_HALF_WIDTH, Estimate, RunWarning
from clonometer.run_document import BlockEntry, ClockEntry, RunDocument
from clonometer.stats.interval import LEAST_NOMINAL
from clonometer.stats.quantiles import quantile_interval, quantile_of_ordered
from clonometer.words import stage_name

#: The column that says whether a program was counted to its end.
ENDED = "ended"
FEW_PROCESSES = 12
FEW_EFFECTIVE_SAMPLES = 20
RARE_SHARE = 0.05
RARE_PROCESSES = 3
DRIFT_SHARE = 0.05
DISTURBED_SHARE = 0.20
WALL_OVER_CPU = 1.5
_LEAST_BLOCKS = 10


def estimate_warnings(
    estimate: Estimate,
    group: SampleGroup,
    all_samples: int,
    clock: ClockEntry,
    drift: RunWarning | None,
    *,
    wanted: int = FEW_PROCESSES,
) -> tuple[RunWarning, ...]:
    """Judge one row.

    ``all_samples`` are valid ones of the same cell and quantity at every placement, ``drift`` is what
    `frequency_drift` says of the cell, ``wanted`` how many processes its plan gives it.
    """
    warnings = [_failed_launches(estimate), _clock_skew(estimate)]
    if estimate.n_samples:
        warnings.append(_cut_short(estimate, group))
        rare = _rare_placement(estimate, all_samples)
        warnings.append(rare)
        if rare is None and not estimate.detail:
            warnings += [
                _few_processes(estimate, wanted),
                _few_samples(estimate, group),
                _wide_interval(estimate, clock),
                *shape_warnings(estimate, _name(estimate)),
            ]
        warnings.append(drift)
    return tuple(warning for warning in warnings if warning is not None)


def run_warnings(estimates: Sequence[Estimate], document: RunDocument) -> tuple[RunWarning, ...]:
    """Judge a run: what holds for all of it, then one warning for each kind that rows have.

    A kind that one row has is said as that row says it; one that several have, once, with their number and the
    first of them.
    """
    blocks, entries = document.blocks, document.catalogue.workloads
    # They launch nothing and wait for nobody, so that no child pushes them aside.
    loops = {entry.id for entry in entries if not entry.temperatures and family(entry.family).shape == LOOP}
    # But for those whose programs do the work.
    loops -= {_workload(block) for block in blocks if block.facts.get("children_cpu_ns")}
    # Workers that take turns, and tasks that wake one another, push each other aside by design.
    crowds = {entry.id for entry in entries if family(entry.family).shape == CROWD}
    alone = [block for block in blocks if _workload(block) not in crowds]
    whole = [
        frequency_drift(effective_frequencies_mhz(blocks), "the run"),
        _neighbour(alone, loops),
        _wall(alone, loops),
    ]
    warnings = [warning for warning in whole if warning is not None]
    return tuple(warnings + _gathered(estimates, {warning.id for warning in warnings}))


def _gathered(estimates: Iterable[Estimate], left_out: set[str]) -> list[RunWarning]:
    kinds: dict[str, dict[str, RunWarning]] = {}
    for estimate in estimates:
        for warning in estimate.warnings:
            if warning.id not in left_out:
                kinds.setdefault(warning.id, {}).setdefault(warning.sentence, warning)
    firsts = [(next(iter(sentences.values())), len(sentences) - 1) for sentences in kinds.values()]
    return [replace(first, alike=others) for first, others in firsts]


def _name(estimate: Estimate) -> str:
    where = {"same_cpu": " on the same CPU", "other_cpu": " on another CPU"}.get(estimate.free_placement or "", "")
    return estimate.cell + where


def _failed_launches(estimate: Estimate) -> RunWarning | None:
    failed = {name: count for name, count in estimate.outcomes.items() if name != "ok" and count}
    if not failed:
        return None
    total = sum(estimate.outcomes.values())
    text = ", ".join(f"{count} {name}" for name, count in sorted(failed.items()))
    return RunWarning(
        "launches.failed",
        f"{estimate.cell}: {sum(failed.values())} of {total} {family(estimate.family).samples} failed: {text}",
        family(estimate.family).when_failed,
    )


def _cut_short(estimate: Estimate, group: SampleGroup) -> RunWarning | None:
    if estimate.quantity != ENDED or group.values.all():
        return None
    return RunWarning(
        "counts.cut_short",
        f"{estimate.cell}: the program was stopped at a limit of time or steps: counts cover what came before",
        "choose a shorter program; each variable of env_bytes lengthens its start",
    )


def _clock_skew(estimate: Estimate) -> RunWarning | None:
    if not estimate.clock_skew:
        return None
    total = sum(estimate.outcomes.values())
    return RunWarning(
        "clock.skew",
        f"{estimate.cell}: left out {estimate.clock_skew} of {total} samples, because a stage came before the call "
        "or after reaping",
        "the clocks of the CPUs disagree: repeat with --set placement=pinned",
    )


def _rare_placement(estimate: Estimate, all_samples: int) -> RunWarning | None:
    share = estimate.n_samples / all_samples
    if share >= RARE_SHARE or estimate.n_processes >= RARE_PROCESSES:
        return None
    return RunWarning(
        "placement.rare",
        f"{_name(estimate)}: only {estimate.n_samples} of {all_samples} launches ran there",
        "read the row of the other placement; these launches ran there by chance",
    )


def _few_processes(estimate: Estimate, wanted: int) -> RunWarning | None:
    """Judge their number: what a plan gives few on purpose needs as many as an interval does."""
    count = estimate.n_processes
    if count >= min(FEW_PROCESSES, max(wanted, LEAST_NOMINAL)):
        return None
    interval = quantile_interval([float(number) for number in range(count)])
    noun = "process" if count == 1 else "processes"
    covers = f": the interval is their range, which covers only {interval.confidence:.0%}"
    if count == 1:
        covers = ": there is no interval"
    return RunWarning(
        "processes.few",
        f"{_name(estimate)}: {count} {noun}, fewer than {FEW_PROCESSES}" + ("" if interval.reaches_nominal else covers),
        "measure longer with a larger --budget, or fewer cells with --only",
    )


def _few_samples(estimate: Estimate, group: SampleGroup) -> RunWarning | None:
    # A cold process has but one sample to give: there the number of processes says it all.
    if estimate.temperature == "cold":
        return None
    effective = group.effective_samples
    if effective >= FEW_EFFECTIVE_SAMPLES:
        return None
    count = estimate.n_samples
    worth = f"{count} samples resemble each other and count only as much as {effective:.0f} independent samples"
    if round(effective) >= count:
        worth = f"only {count} sample{'' if count == 1 else 's'}"
    return RunWarning(
        "samples.few",
        f"{_name(estimate)}, {stage_name(estimate.stage, estimate.quantity)}: {worth}",
        "measure longer with a larger --budget, or fewer cells with --only",
    )


def _wide_interval(estimate: Estimate, clock: ClockEntry) -> RunWarning | None:
    median, low, high = estimate.median_ns, estimate.median_low_ns, estimate.median_high_ns
    if median is None or low is None or high is None or median <= 0:
        return None
    half = (high - low) / 2
    # What is narrower than one reading of the clock is not worth a second look.
    negligible = max(estimate.resolution_ns, clock.cost_ns or 0.0)
    if half <= WIDE_HALF_WIDTH * median or half <= negligible:
        return None
    return RunWarning(
        "interval.wide",
        f"{_name(estimate)}, {stage_name(estimate.stage, estimate.quantity)}: the interval is wide: "
        f"{half / median:.0%} of the median to each side",
        "repeat on a quieter machine, or measure longer with a larger --budget",
    )


def frequency_drift(frequencies_mhz: Sequence[float], what: str) -> RunWarning | None:
    """Judge measured frequencies, without the lowest and highest twentieth: one is an accident."""
    if len(frequencies_mhz) < _LEAST_BLOCKS:
        return None
    ordered = np.sort(np.array(frequencies_mhz))
    low, median, high = (quantile_of_ordered(ordered, share) for share in (0.05, 0.5, 0.95))
    if high - low <= DRIFT_SHARE * median:
        return None
    return RunWarning(
        "frequency.drift",
        f"{what}: the CPU frequency changed between {low:.0f} and {high:.0f} MHz",
        "set the performance governor, or let the machine cool down; compare figures only within this run",
    )


def _workload(block: BlockEntry) -> str:
    return block.cell.split("[", 1)[0]


def _neighbour(blocks: Sequence[BlockEntry], loops: Set[str]) -> RunWarning | None:
    """Count blocks in which somebody else ran: more switches than the launches themselves explain."""
    known = [block for block in blocks if switches_of(block) is not None and block.rows]
    judged = len(known)
    disturbed = sum(is_disturbed(block, launches=_workload(block) not in loops) for block in known)
    if judged < _LEAST_BLOCKS or disturbed <= DISTURBED_SHARE * judged:
        return None
    return RunWarning(
        "switches.involuntary",
        f"other programs took the CPU away in {disturbed} of {judged} blocks",
        "stop other programs, or use taskset to give the run a CPU that nothing else uses",
    )


def _wall(blocks: Sequence[BlockEntry], loops: Set[str]) -> RunWarning | None:
    """Compare wall and CPU time of CPU-bound blocks; a parent waits for its child by design."""
    judged = slow = 0
    for block in blocks:
        cpu_ns = block.facts.get("cpu_ns")
        if _workload(block) not in loops or not cpu_ns:
            continue
        judged += 1
        slow += (block.facts.get("wall_ns") or 0) > WALL_OVER_CPU * cpu_ns
    if judged < _LEAST_BLOCKS or slow <= DISTURBED_SHARE * judged:
        return None
    return RunWarning(
        "wall.far_above_cpu",
        f"in {slow} of {judged} computing blocks wall time was above {WALL_OVER_CPU} times CPU time",
        "another program or the hypervisor had the CPU: look at steal time, then repeat",
    )
