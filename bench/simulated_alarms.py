"""Simulated comparisons of runs between which nothing changed: in how many any row is called changed.

27 rows: 9 kinds of process, 3 stages each that rise and fall together, process medians with a scatter of 5%. Between
runs the kinds move by 0, 1 or 2% (standard deviation), and the whole machine by nothing, or by an AR(1) of 0.9 and 8%
from one process to the next. `compare` promises 5%, `check` 1%. Then with several runs a side, which say themselves
what runs differ by; and how often a change of one kind is found. Then first launches (cold), which move by 20%; and
how whole checks end where noise was measured. About 13 minutes; `BENCH_CHECKS=40` tries it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from tests.fakes.documents import made_document

from bench.harness import Line, say
from clonometer.results.check.check import ERROR_RATE as CHECK_RATE
from clonometer.results.check.check import MAX_REGRESSION, check_runs
from clonometer.results.check.types import BLIND_FACTOR
from clonometer.results.compare.between import stored_variance
from clonometer.results.compare.comparison import ERROR_RATE, match_sides, variance_of_sides
from clonometer.results.compare.judge import POWER, PendingTest, adjusted, detectable, pending_tests
from clonometer.results.compare.sides import RowPair
from clonometer.results.compare.types import ComparedRow
from clonometer.results.compare.variance import FIRST_SHARE, UNKNOWN_VARIANCE, BetweenRunVariance, variance_from_share
from clonometer.results.noise.noise import rate_interval
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import LEAST_EFFECT
from clonometer.stats.processes import Processes
from clonometer.verdicts import Direction, Gate

CHECKS = int(os.environ.get("BENCH_CHECKS", "200"))
KINDS, STAGES = 9, 3
SCATTER = 0.05
#: Of tasks that are measured well: there a check must not end without an answer.
LITTLE_SCATTER = 0.02
COMMON, MEMORY = 0.08, 0.9

DOCUMENT = made_document()
_SEEDS = count()

Generator = np.random.Generator
Floats = np.ndarray


@dataclass(frozen=True)
class Machine:
    """What a machine does between runs and within them: shares."""

    between: float = 0.0
    common: float = 0.0
    processes: int = 12
    runs: int = 1
    scatter: float = SCATTER
    temperature: str = "warm"


def scattered(random: Generator, machine: Machine, shape: str = "normal") -> Floats:
    """Logarithms of process medians of one kind, about a level that only some shapes lie at."""
    count, scatter = machine.processes, machine.scatter
    if shape == "normal":
        return scatter * random.normal(size=count)
    if shape == "t3":
        return scatter * random.standard_t(3, count)
    if shape == "floor":
        return scatter * random.exponential(size=count)
    # Beside a neighbour, who slows four processes in ten.
    slowed = random.random(count) < 0.4
    return 0.2 * scatter * random.normal(size=count) + np.where(slowed, random.uniform(0.2, 0.4, count), 0.0)


def one_run(random: Generator, machine: Machine, shape: str = "normal") -> Floats:
    """Logarithms of process medians: shape (kinds, stages, processes)."""
    count = machine.processes
    common = np.empty(count)
    common[0] = random.normal()
    for place in range(1, count):
        common[place] = MEMORY * common[place - 1] + (1 - MEMORY**2) ** 0.5 * random.normal()
    levels = np.empty((KINDS, STAGES, count))
    for kind in range(KINDS):
        shared = scattered(random, machine, shape) + random.normal(0, machine.between)
        for stage in range(STAGES):
            alone = 0.3 * machine.scatter * random.normal(size=count)
            levels[kind, stage] = 0.95 * shared + alone + machine.common * common
    return levels


def sides(random: Generator, machine: Machine, slower: float = 0.0) -> tuple[list[RunEstimates], list[RunEstimates]]:
    """The runs of both sides; in the later ones the first kind is slower by so much, as a logarithm."""
    before, after = ([one_run(random, machine) for _ in range(machine.runs)] for _ in range(2))
    for run in after:
        run[0] += slower
    return [estimates_of(run, machine.temperature) for run in before], [
        estimates_of(run, machine.temperature) for run in after
    ]


def estimates_of(run: Floats, temperature: str = "warm") -> RunEstimates:
    """A run with a row for each kind and stage."""
    rows = [_measured(kind, stage, logs, temperature) for kind, of in enumerate(run) for stage, logs in enumerate(of)]
    return RunEstimates(rows, replace(DOCUMENT, seed=next(_SEEDS)), "simulated")


def matches(before: Sequence[RunEstimates], after: Sequence[RunEstimates]) -> list[RowPair]:
    """All rows of both sides."""
    return match_sides(before, after)[0]


def _measured(kind: int, stage: int, logs: Floats, temperature: str) -> RunEstimate:
    processes = Processes.of(np.exp(9.0 + logs))
    return RunEstimate(
        cell=f"launch.{kind}[{temperature}]",
        workload=f"launch.{kind}",
        condition={},
        temperature=temperature,
        stage=str(stage),
        placement=None,
        quantity=f"{stage}_ns",
        unit="ns",
        n_samples=logs.size,
        n_processes=logs.size,
        median_ns=float(np.median(processes.values)),
        median_low_ns=None,
        median_high_ns=None,
        p99_ns=None,
        p99_reason=None,
        min_ns=None,
        effective_mhz=None,
        resolution_ns=1.0,
        family="same_image",
        processes=processes,
    )


def compared(listed: list[PendingTest]) -> list[ComparedRow]:
    """Judge rows as `compare` does."""
    return adjusted(listed, minimum_effect=LEAST_EFFECT, error_rate=ERROR_RATE)


def checked(listed: list[PendingTest]) -> list[ComparedRow]:
    """Judge rows as `check` does."""
    return adjusted(listed, minimum_effect=MAX_REGRESSION, error_rate=CHECK_RATE)


def alarms(
    checks: int,
    machine: Machine,
    *,
    seed: int = 1,
    slower: float = 0.0,
    variance: BetweenRunVariance = UNKNOWN_VARIANCE,
) -> tuple[int, int, int]:
    """In how many comparisons a row is called changed, a check alarms, and the first kind is called slower."""
    random = np.random.default_rng(seed)
    changed = alarmed = slow = 0
    for _ in range(checks):
        before, after = sides(random, machine, slower)
        listed = pending_tests(matches(before, after), variance_of_sides(before, after, variance))
        rows = compared(listed)
        changed += any(row.verdict.is_change for row in rows)
        alarmed += any(row.verdict == Direction.MORE for row in checked(listed))
        slow += any(row.verdict == Direction.MORE for row in rows[:STAGES])
    return changed, alarmed, slow


def alarms_beside_stored(checks: int, machine: Machine, runs: int, *, seed: int = 1) -> tuple[int, int]:
    """In how many comparisons a row is called changed, and a check alarms, where stored runs tell the noise."""
    random = np.random.default_rng(seed)
    changed = alarmed = 0
    for _ in range(checks):
        variance = stored_variance([[estimates_of(one_run(random, machine)) for _ in range(runs)]])
        assert variance is not None
        listed = pending_tests(matches(*sides(random, machine)), variance)
        changed += any(row.verdict.is_change for row in compared(listed))
        alarmed += any(row.verdict == Direction.MORE for row in checked(listed))
    return changed, alarmed


def endings(checks: int, machine: Machine, *, slower: float = 0.0, seed: int = 1) -> Counter[str]:
    """How checks end that know what the machine's runs differ by."""
    random, variance = np.random.default_rng(seed), variance_from_share(machine.between)
    return Counter(check_runs(*sides(random, machine, slower), variance=variance).verdict for _ in range(checks))


def detectable_shares(seed: int, sizes: Sequence[int], shape: str) -> list[list[float]]:
    """The slow-down that a check would find of each kind, had it ended after so many processes; a list a size."""
    random = np.random.default_rng(seed)
    before, after = (one_run(random, Machine(processes=max(sizes)), shape)[:, :1] for _ in range(2))
    shares = []
    for size in sizes:
        listed = pending_tests(
            matches([estimates_of(before[..., :size])], [estimates_of(after[..., :size])]), variance_from_share(0.02)
        )
        shares.append([detectable(draft, CHECK_RATE, KINDS * STAGES, MAX_REGRESSION) or 0.0 for draft in listed])
    return shares


def run() -> Iterator[Line]:
    for processes in (12, 30, 60):
        for between, common in ((0.0, 0.0), (0.01, 0.0), (0.02, 0.0), (0.0, COMMON), (0.02, COMMON)):
            machine = Machine(between, common, processes)
            name = f"simulated_alarms.n{processes}.between{between:.0%}.common{common:.0%}"
            changed, alarmed, _ = alarms(CHECKS, machine)
            yield _line(f"{name}.compare", changed, ERROR_RATE)
            yield _line(f"{name}.check", alarmed, CHECK_RATE)
        for between in (0.0, 0.01, 0.02, 0.05, 0.1):
            for runs in (3, 5):
                changed, alarmed = alarms_beside_stored(CHECKS, Machine(between, 0.0, processes), runs)
                name = f"simulated_alarms.n{processes}.between{between:.0%}.stored{runs}"
                yield _line(f"{name}.compare", changed, ERROR_RATE)
                yield _line(f"{name}.check", alarmed, CHECK_RATE)
    for runs in (2, 3, 5):
        for between, common in ((0.01, 0.0), (0.02, 0.0), (0.02, COMMON)):
            changed, _, _ = alarms(CHECKS, Machine(between, common, 12, runs))
            yield _line(
                f"simulated_alarms.runs{runs}.between{between:.0%}.common{common:.0%}.compare", changed, ERROR_RATE
            )
        for slower in (0.05, 0.1, 0.2):
            _, _, slow = alarms(CHECKS, Machine(0.01, 0.0, 12, runs), slower=float(np.log1p(slower)))
            yield _alarm_line(f"simulated_alarms.runs{runs}.between1%.slower{slower:.0%}", slow)
    for slower in (0.05, 0.1, 0.2):
        _, _, slow = alarms(CHECKS, Machine(0.01, 0.0, 30), slower=float(np.log1p(slower)))
        yield _alarm_line(f"simulated_alarms.n30.between1%.slower{slower:.0%}", slow)
    for processes in (12, 30, 60):
        changed, _, _ = alarms(CHECKS, Machine(FIRST_SHARE, 0.0, processes, temperature="cold"))
        yield _line(f"simulated_alarms.cold.n{processes}.between{FIRST_SHARE:.0%}.compare", changed, ERROR_RATE)
    yield from _whole_checks()


def _whole_checks() -> Iterator[Line]:
    """Equal runs end with an answer, and what a check claims to see is not passed over."""
    seen = BLIND_FACTOR * MAX_REGRESSION
    for between, processes in ((0.005, 12), (0.005, 30), (0.01, 30)):
        machine = Machine(between, 0.0, processes, scatter=LITTLE_SCATTER)
        name = f"simulated_alarms.noise{between:.1%}.n{processes}"
        yield _line(f"{name}.equal.cannot_tell", endings(CHECKS, machine)[Gate.UNKNOWN], ERROR_RATE)
        passed = endings(CHECKS, machine, slower=float(np.log1p(seen)))[Gate.PASS]
        yield _line(f"{name}.slower{seen:.0%}.none", passed, 1 - POWER)


def _line(name: str, events: int, limit: float) -> Line:
    low, high = rate_interval(events, CHECKS)
    # What chance leaves of so few comparisons: a line misses where the whole interval lies above what is promised.
    return say(Line(name, low, low, high, limit, "share", f"{events} of {CHECKS}"))


def _alarm_line(name: str, events: int) -> Line:
    low, high = rate_interval(events, CHECKS)
    return say(Line(name, events / CHECKS, low, high, None, "share", f"found in {events} of {CHECKS}"))
