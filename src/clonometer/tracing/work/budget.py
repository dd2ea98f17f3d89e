"""Means over executions and pairs of processes: the gap between threads and processes, part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clonometer.stats.interval import Interval
from clonometer.stats.means import mean_intervals
from clonometer.stats.paired_parts import covariate_effect, shares_of_mean
from clonometer.tracing.budget import interval_estimate, means_of
from clonometer.tracing.parts import COUNTS, CPU_ORDER, LIFE_ORDER, UNEXPLAINED
from clonometer.tracing.types import IntervalEstimate
from clonometer.tracing.work.life import Lives
from clonometer.tracing.work.types import Delay, GapPart, UserCodePart

SEED = 6
# Executions of a side from which on the slowest quarter is told from the rest.
LEAST_FOR_DELAYS = 12
_SLOW = 0.75

ProcessTable = NDArray[np.float64]


@dataclass(frozen=True)
class Account:
    """One execution, added up: its duration, parts of lives and of the CPUs' time, counts, and sleeps by address.

    ``user`` and ``moves`` are ns of user code and migrations of each worker.
    """

    whole_ns: int
    parts: Mapping[str, float]
    cpu_parts: Mapping[str, float]
    counts: Mapping[str, float]
    futex_ns: Mapping[int, int] = field(default_factory=dict)
    futex_sleeps: Mapping[int, int] = field(default_factory=dict)
    user: tuple[int, ...] = ()
    moves: tuple[int, ...] = ()


def account_of(lives: Lives, cpus: int) -> Account:
    """Add an execution up."""
    return Account(
        lives.whole_ns,
        lives.parts(),
        lives.cpu_parts(cpus),
        lives.counts(),
        sum((life.futex_ns for life in lives.workers), Counter()),
        sum((life.futex_sleeps for life in lives.workers), Counter()),
        tuple(life.spent["user"] for life in lives.workers),
        tuple(life.counts["migrations"] for life in lives.workers),
    )


@dataclass(frozen=True)
class Process:
    """One traced process: its executions (at least one), and the frequency of its CPUs, None if not measured."""

    accounts: tuple[Account, ...]
    frequency_hz: float | None = None

    def mean_whole_ns(self) -> float:
        """Mean duration of its executions."""
        return sum(account.whole_ns for account in self.accounts) / len(self.accounts)


def mean_of(values: Sequence[float]) -> IntervalEstimate:
    """Mean of one value a process."""
    return interval_estimate(mean_intervals([[value] for value in values], seed=SEED)[0])


def table_of(processes: Sequence[Process], what: str, names: Sequence[str]) -> ProcessTable:
    """Means over each process's executions, a row a process and a column a name."""
    tables = ([getattr(account, what) for account in process.accounts] for process in processes)
    return np.array([means_of(each, names) for each in tables], dtype=np.float64)


def reasons_of(thread: Sequence[Process], process: Sequence[Process], what: str, *, apart: bool) -> tuple[GapPart, ...]:
    """Take the gap apart.

    Parts on which either side spends time, in their order; of ``parts`` also ``unexplained``, always. Their
    differences sum to the gap.
    """
    order = LIFE_ORDER if what == "parts" else CPU_ORDER
    sides = [table_of(side, what, order) for side in (thread, process)]
    differences = sides[0] - sides[1]
    means = [mean_intervals(table, seed=SEED) for table in (*sides, differences)]
    gap = differences.sum(axis=1)
    shares: Sequence[Interval | None] = [None] * len(order)
    if apart and gap.mean() != 0:
        shares = shares_of_mean(differences, gap, seed=SEED)
    return tuple(
        GapPart(
            part,
            interval_estimate(means[0][index]),
            interval_estimate(means[1][index]),
            interval_estimate(means[2][index]),
            None if share is None else interval_estimate(share),
        )
        for index, (part, share) in enumerate(zip(order, shares, strict=True))
        if part == UNEXPLAINED or sides[0][:, index].any() or sides[1][:, index].any()
    )


def gap_of(thread: Sequence[float], process: Sequence[float]) -> tuple[IntervalEstimate, IntervalEstimate]:
    """Threads less processes over pairs, in ns and as a share of the processes' mean."""
    differences = np.array(thread) - np.array(process)
    share = shares_of_mean(differences[:, None], process, seed=SEED)[0]
    return mean_of(differences.tolist()), interval_estimate(share)


def user_reasons_of(thread: Sequence[Process], process: Sequence[Process]) -> tuple[UserCodePart, ...]:
    """Estimate what frequency and migrations add to the difference in user code.

    The frequency adds what user code of the processes would take longer at the threads' frequency. A migration's cost
    is the slope of user time on migrations among the workers of one execution, who all do the same work.
    """
    reasons = []
    pairs = list(zip(thread, process, strict=True))
    user = table_of(process, "parts", ["user"])[:, 0].tolist()
    slower = [
        user_ns * (b.frequency_hz / a.frequency_hz - 1)
        for user_ns, (a, b) in zip(user, pairs, strict=True)
        if a.frequency_hz and b.frequency_hz
    ]
    if slower:
        reasons.append(UserCodePart("frequency", mean_of(slower)))
    moves = [table_of(side, "counts", ["migrations"])[:, 0] for side in (thread, process)]
    sums = [[_scatter(account) for account in (*a.accounts, *b.accounts)] for a, b in pairs]
    effect = covariate_effect(
        [sum(xy for xy, _ in products) for products in sums],
        [sum(xx for _, xx in products) for products in sums],
        moves[0] - moves[1],
        seed=SEED,
    )
    if effect is not None:
        reasons.append(UserCodePart("migrations", interval_estimate(effect[1]), interval_estimate(effect[0])))
    return tuple(reasons)


def _scatter(account: Account) -> tuple[float, float]:
    """Within an execution: the sum of products of user time and migrations, and of squared migrations."""
    user, moves = np.array(account.user, dtype=np.float64), np.array(account.moves, dtype=np.float64)
    moves -= moves.mean()
    return float((moves * user).sum()), float((moves * moves).sum())


def counts_of(side: Sequence[Process]) -> dict[str, IntervalEstimate]:
    """Mean number of each kind of event of a worker; those that are not known are left out."""
    known = [name for name in COUNTS if all(name in account.counts for process in side for account in process.accounts)]
    means = mean_intervals(table_of(side, "counts", known), seed=SEED)
    return {name: interval_estimate(mean) for name, mean in zip(known, means, strict=True)}


def delays_of(side: Sequence[Process]) -> tuple[int, tuple[Delay, ...]]:
    """Say what makes the slow executions of a side slow.

    Gives how many are slow, and what each part adds to them, greatest first; those of parts that add under a hundredth
    are left out. Nothing where there are fewer than `LEAST_FOR_DELAYS` executions.
    """
    accounts = sorted(
        (account for process in side for account in process.accounts), key=lambda account: account.whole_ns
    )
    if len(accounts) < LEAST_FOR_DELAYS:
        return 0, ()
    cut = round(_SLOW * len(accounts))
    rows = [[account.parts.get(name, 0.0) for name in LIFE_ORDER] for account in accounts]
    typical = np.array(rows[:cut]).mean(axis=0)
    extra = np.array(rows[cut:]) - typical
    whole = float(extra.sum(axis=1).mean())
    if whole <= 0:
        return 0, ()
    means = mean_intervals(extra, seed=SEED)
    delays = [
        Delay(part, interval_estimate(mean), mean.value / whole)
        for part, mean in zip(LIFE_ORDER, means, strict=True)
        if abs(mean.value) >= 0.01 * whole
    ]
    return len(accounts) - cut, tuple(sorted(delays, key=lambda delay: -abs(delay.extra_ns.value)))
