"""Whether it can tell: simulated reports, how many state a difference that is none, how many the one there is.

Each report has 15 cells of three stages: fork, vfork and pthread, with memory of four sizes, pages of three states,
VMAs and another linkage. Their processes ran in turn, 24 of each; stages of one process rise and fall together. Kinds
of machine on which nothing differs (`NULLS`): processes scatter independently; they have one of two levels; all cells
wander together by 8% (AR(1) of 0.9 from one turn to the next), or each by itself, or one among still ones; one cell
takes six times as long from some time on; a cell keeps an effect of its layout of 3%; the host has two speeds; cells
have the residuals of a real run on a noisy machine (tests/data/noisy_residuals.json), shifted in time; another tenant
shares the core, and launches beside it are left out. Then how often fork is told from a thread that takes less, and
what `compare` and `check` make of two single runs with such residuals. `BENCH_NOISY=run.parquet` names a real run, of
which no pair without overlap may be untold. Findings and advice are those of `show`, read by the verdicts in their
numbers. `BEFORE` has the same of an earlier commit. Five minutes on two CPUs; `BENCH_REPORTS=20` tries it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tests.fakes.documents import made_document

from bench.harness import Line, say
from clonometer.results.change import Change
from clonometer.results.check.check import check_runs
from clonometer.results.compare.comparison import compare_runs
from clonometer.results.compare.sides import read_side
from clonometer.results.findings.comparing import PairwiseTests
from clonometer.results.findings.finder import find_all
from clonometer.results.first.advice import advice
from clonometer.results.first.answer import first_question
from clonometer.results.noise.noise import rate_interval
from clonometer.results.rows.run_estimates import RunEstimate, RunEstimates
from clonometer.results.types import LEAST_EFFECT, Finding
from clonometer.runfile import open_run
from clonometer.stats.processes import Processes
from clonometer.stats.quantiles import quantile_interval
from clonometer.verdicts import Direction, Gate, Word

REPORTS = int(os.environ.get("BENCH_REPORTS", "120"))
MOST_WRONG = 0.05
LEVEL_NS = 50_000.0
KEPT = 0.9
#: The cell that is bistable on a real host: not one of those that are compared first.
_BISTABLE = 12
STAGES = ("call_returns", "task_runs", "reaped")
MIB = 1 << 20
_AXES: Mapping[str, Mapping[str, int | str]] = {
    "linkage": {"type": "choice", "default": "static"},
    "pages": {"type": "choice", "default": "rewritten"},
    "parent_bytes": {"type": "bytes", "default": 0},
    "placement": {"type": "choice", "default": "pinned"},
    "vmas": {"type": "count", "default": 0},
}
_CELLS: tuple[tuple[str, Mapping[str, int | str]], ...] = (
    ("launch.fork", {}),
    ("launch.vfork", {}),
    ("launch.pthread", {}),
    *(
        (workload, {"parent_bytes": size})
        for workload in ("launch.fork", "launch.pthread")
        for size in (MIB, 4 * MIB, 64 * MIB)
    ),
    *(("launch.fork", {"vmas": count}) for count in (10, 100, 1000)),
    ("launch.fork", {"linkage": "dynamic_lazy"}),
    *(("launch.fork", {"parent_bytes": 64 * MIB, "pages": state}) for state in ("first", "clean")),
)
_CATALOGUE = {
    "axes": _AXES,
    "workloads": [
        {"id": workload, "family": "", "summary": "", "temperatures": [], "quantities": []}
        for workload in dict.fromkeys(cell[0] for cell in _CELLS)
    ],
    "quantities": {},
}
_DOCUMENT = made_document(catalogue=_CATALOGUE)

Generator = np.random.Generator
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Machine:
    """How processes scatter, as a logarithm, and whether with heavy tails; what else moves them.

    ``peaks``: the distance of two levels, of which each process has one. ``drift``: by how much all cells wander
    together, ``alone``: each by itself, ``single``: one of them. ``step``: how many times as long one cell takes from a
    turn in the second half on. ``layout``: the effect that a cell keeps, as a standard deviation. ``host``: what moves
    processes besides, of `_HOSTS`. ``change``: how much longer the first cell takes, as a share.
    """

    processes: int = 24
    scatter: float = 0.05
    heavy: bool = False
    peaks: float = 0.0
    drift: float = 0.0
    alone: float = 0.0
    single: float = 0.0
    step: float = 1.0
    layout: float = 0.0
    host: str = ""
    change: float = 0.0


def report(random: Generator, machine: Machine) -> tuple[Finding, ...]:
    """The findings of one simulated run, and the advice of its first screen."""
    estimates = RunEstimates(one_run(random, machine), _DOCUMENT)
    tests = PairwiseTests(estimates, 1, first_question(estimates))
    findings = find_all(tests)
    return (*findings, *tests.with_correction(lambda: advice(tests)))


def one_run(random: Generator, machine: Machine) -> list[RunEstimate]:
    """The rows of one simulated run."""
    turns = machine.processes
    together = machine.drift * _wandering(random, turns)
    wanderer, bistable = random.integers(len(_CELLS), size=2)
    host = _HOSTS[machine.host](random, turns)
    rows = []
    for place, (workload, changes) in enumerate(_CELLS):
        level = LEVEL_NS * (1 + (machine.change if place == 0 else 0.0))
        alone = machine.alone + (machine.single if place == wanderer else 0.0)
        shared = together + alone * _wandering(random, turns)
        shared += machine.layout * random.normal() + machine.peaks * random.integers(0, 2, turns)
        if place == bistable:
            shared += np.log(machine.step) * (np.arange(turns) > random.integers(turns // 2, turns))
        if machine.host != "real":
            shared += 0.8 * _scattered(random, machine)
        of_stages = host()
        kept = np.flatnonzero(np.isfinite(of_stages[0]))
        starts = np.arange(turns, dtype=np.float64) + place / len(_CELLS)
        for stage, moved in zip(STAGES, of_stages, strict=True):
            logs = shared + moved + (0.0 if machine.host == "real" else 0.6 * _scattered(random, machine))
            rows.append(_row(workload, changes, stage, Processes(level * np.exp(logs[kept]), starts[kept])))
    return rows


def _wandering(random: Generator, turns: int) -> Floats:
    """An AR(1) of variance 1."""
    levels = random.normal(size=turns)
    for turn in range(1, turns):
        levels[turn] = KEPT * levels[turn - 1] + levels[turn] * np.sqrt(1 - KEPT**2)
    return levels


def _scattered(random: Generator, machine: Machine) -> Floats:
    if machine.heavy:
        return machine.scatter * random.standard_t(3, machine.processes) / np.sqrt(3)
    return machine.scatter * random.normal(size=machine.processes)


#: What a host does to the stages of a cell: shape (stages, turns), NaN for a process that tells nothing.
_Host = Callable[[], Floats]


def _still(random: Generator, turns: int) -> _Host:
    return lambda: np.zeros((len(STAGES), turns))


def _two_speeds(random: Generator, turns: int) -> _Host:
    """A common share of slow moments that wanders; the host flips within 0.1 s, so processes are slow independently."""
    slow = np.clip(0.6 + 0.2 * _wandering(random, turns), 0.0, 1.0)

    def cell() -> Floats:
        is_slow = random.random(turns) < slow
        return np.tile(np.where(is_slow, np.log(random.uniform(1.2, 1.5, turns)), 0.0), (len(STAGES), 1))

    return cell


@lru_cache(maxsize=1)
def _residuals() -> tuple[Floats, Floats]:
    """Logarithms about their median, of rows pinned to a CPU and of a bistable one: shape (cells, stages, turns)."""
    path = Path(__file__).parent.parent / "tests" / "data" / "noisy_residuals.json"
    cells = json.loads(path.read_text(encoding="utf-8"))
    free = ["free" in cell["cell"] for cell in cells]
    logs = np.array([cell["logs"] for cell in cells], np.float64)
    # They are kept with three digits: values that are the same by rounding would be ties.
    logs += np.random.default_rng(0).uniform(-0.0005, 0.0005, logs.shape)
    return logs[~np.array(free)], logs[free]


def _real(random: Generator, turns: int) -> _Host:
    """Each cell has the residuals of a real one in order of time, all from a drawn moment on; one is bistable."""
    pinned, bistable = _residuals()
    known = pinned.shape[2]
    parts = [random.permutation(len(pinned)) for _ in range(-(-turns // known))]
    moments = random.integers(known, size=len(parts))
    places = count()

    def cell() -> Floats:
        place = next(places)
        drawn = bistable[:1] if place == _BISTABLE else pinned[[part[place % len(pinned)] for part in parts]]
        shifted = [
            np.roll(each, by, axis=1)
            for each, by in zip(np.resize(drawn, (len(parts), *drawn.shape[1:])), moments, strict=True)
        ]
        # One process of each in turn: what moved slowly in a run still does so in a longer one.
        return np.stack(shifted, axis=2).reshape(len(STAGES), -1)[:, :turns]

    return cell


def _tenant(random: Generator, turns: int) -> _Host:
    """Another tenant on the core: launches beside it take 1.4 times as long, and are left out where they can be.

    A process has 100 launches in bursts of about ten, of which some are alone. Additions miss one launch in thirty that
    was shared. A process tells something with five launches alone; a row with six such processes is of these, else of
    all.
    """
    share = np.clip(0.6 + 0.2 * _wandering(random, turns), 0.05, 0.98)

    def cell() -> Floats:
        levels = np.full(turns, np.nan)
        everything = np.empty(turns)
        for turn in range(turns):
            is_shared = np.repeat(random.random(10) < share[turn], 10)
            logs = np.where(is_shared, np.log(1.4), 0.0) + 0.05 * random.normal(size=100)
            kept = logs[~is_shared | (random.random(100) < 1 / 30)]
            everything[turn] = np.median(logs)
            levels[turn] = np.median(kept) if kept.size >= 5 else np.nan
        levels_seen = levels if np.isfinite(levels).sum() >= 6 else everything
        return np.tile(levels_seen, (len(STAGES), 1))

    return cell


_HOSTS: Mapping[str, Callable[[Generator, int], _Host]] = {
    "": _still,
    "two_speeds": _two_speeds,
    "real": _real,
    "tenant": _tenant,
}


def _row(workload: str, changes: Mapping[str, int | str], stage: str, processes: Processes) -> RunEstimate:
    condition = {axis: changes.get(axis, facts["default"]) for axis, facts in _AXES.items()}
    middle = quantile_interval(processes.values)
    return RunEstimate(
        cell=f"{workload}[{','.join(f'{axis}={value}' for axis, value in changes.items())}]",
        workload=workload,
        condition=condition,
        temperature="warm",
        stage=stage,
        placement=None,
        quantity=f"{stage}_ns",
        unit="ns",
        n_samples=processes.values.size,
        n_processes=processes.values.size,
        median_ns=middle.value,
        median_low_ns=middle.low,
        median_high_ns=middle.high,
        p99_ns=None,
        p99_reason="too few samples",
        min_ns=float(processes.values.min()),
        effective_mhz=None,
        resolution_ns=1.0,
        family="same_image",
        processes=processes,
    )


def differences(
    numbers: Any, key: str = "verdict", wanted: tuple[str, ...] = (Direction.MORE, Direction.LESS)
) -> list[Mapping[str, Any]]:
    """All comparisons within the numbers of findings whose verdict is a difference."""
    if isinstance(numbers, Mapping):
        stated = [numbers] if numbers.get(key) in wanted else []
        return stated + [each for value in numbers.values() for each in differences(value, key, wanted)]
    if isinstance(numbers, list | tuple):
        return [each for value in numbers for each in differences(value, key, wanted)]
    return []


class Counts(NamedTuple):
    """How many reports state a difference, call one likely, give advice, and state that of fork and pthread."""

    stating: int
    likely: int
    advising: int
    seen: int


def simulated(reports: int, machine: Machine, *, seed: int = 1) -> Counts:
    """Count what so many reports say."""
    random = np.random.default_rng(seed)
    counts = np.zeros(4, np.int64)
    for _ in range(reports):
        findings = {finding.id: finding for finding in report(random, machine)}
        numbers = [finding.numbers for finding in findings.values()]
        stating, likely = bool(differences(numbers)), bool(differences(numbers, "sureness", (Word.LIKELY,)))
        advising = any(id_.startswith("do.") for id_ in findings)
        seen = findings["process_vs_thread.warm"].numbers["verdict"] == Direction.MORE
        counts += stating, likely, advising, seen
    return Counts(*counts.tolist())


class Alarms(NamedTuple):
    """In how many pairs of runs `compare` and `check` call anything slower or faster, and the first cell slower."""

    compare_any: int
    compare_first: int
    check_any: int
    check_first: int


def two_runs(pairs: int, machine: Machine, *, seed: int = 1) -> Alarms:
    """Count what is made of two single runs, of which the later one has `Machine.change` in its first cell."""
    random = np.random.default_rng(seed)
    counts = np.zeros(4, np.int64)
    for place in range(pairs):
        sides = [
            RunEstimates(one_run(random, each), replace(_DOCUMENT, seed=2 * place + number), "simulated")
            for number, each in enumerate((replace(machine, change=0.0), machine))
        ]
        changed = [row for pair in compare_runs(sides).pairs for row in pair.rows if row.verdict in _STATED]
        failed = [row.compared for row in check_runs(*sides).rows if row.verdict == Gate.FAIL]
        for place_of, rows in ((0, changed), (2, failed)):
            counts[place_of] += bool(rows)
            counts[place_of + 1] += any(row.other.cell == _FIRST and row.verdict == Direction.MORE for row in rows)
    return Alarms(*counts.tolist())


_STATED = (Direction.MORE, Direction.LESS)
_FIRST = "launch.fork[]"

#: Machines on which nothing differs.
NULLS: Mapping[str, Machine] = {
    "independent": Machine(),
    "peaks": Machine(peaks=0.2),
    "together": Machine(drift=0.08),
    "alone": Machine(alone=0.08),
    "single": Machine(single=0.08),
    "step": Machine(step=6.0),
    "layout": Machine(layout=0.03),
    "two_speeds": Machine(host="two_speeds", scatter=0.03),
    "real": Machine(host="real"),
    "tenant": Machine(host="tenant", scatter=0.03),
}
#: In what share of reports fork is told from a thread at least, by how many times as long it takes.
TOLD = {1.25: 0.90, 1.5: 0.99, 2.0: 1.0}
#: The same of two single runs, of which the second takes so much longer.
TOLD_OF_RUNS = {1.5: 0.90, 2.0: 0.99}
_CHECK_WRONG = 0.01
#: Shares of commit 34a247bc, of 60 reports or pairs of runs: this file in an archive of it, with nothing of today on
#: the path. `Processes` is there in `clonometer.stats.bootstrap`, tests have no first question, and beside a tenant all
#: launches count (`everything`), since nothing was sensed.
BEFORE: Mapping[str, float] = {
    "independent.wrong": 0 / 60,
    "peaks.wrong": 0 / 60,
    "together.wrong": 0 / 60,
    "alone.wrong": 0 / 60,
    "single.wrong": 0 / 60,
    "step.wrong": 0 / 60,
    "layout.wrong": 4 / 60,
    "two_speeds.wrong": 1 / 60,
    "real.wrong": 0 / 60,
    "tenant.wrong": 0 / 60,
    "real.times1.25.missed": 13 / 60,
    "real.times1.5.missed": 1 / 60,
    "real.times2.missed": 1 / 60,
    "two_speeds.times1.25.missed": 29 / 60,
    "two_speeds.times1.5.missed": 6 / 60,
    "two_speeds.times2.missed": 0 / 60,
    "tenant.times1.25.missed": 9 / 60,
    "tenant.times1.5.missed": 0 / 60,
    "tenant.times2.missed": 0 / 60,
    "runs.compare.wrong": 0 / 60,
    "runs.check.wrong": 0 / 60,
    "runs.times1.5.compare.missed": 60 / 60,
    "runs.times1.5.check.missed": 60 / 60,
    "runs.times2.compare.missed": 60 / 60,
    "runs.times2.check.missed": 60 / 60,
}
BEFORE_UNTOLD = "15 of 19"


class _Job(NamedTuple):
    """One kind of machine: ``name``, and whether reports or two runs are simulated of it."""

    name: str
    machine: Machine
    of_runs: bool = False


def _jobs() -> Iterator[_Job]:
    for name, machine in NULLS.items():
        yield _Job(name, machine)
    for host in ("real", "two_speeds", "tenant"):
        for times in TOLD:
            yield _Job(f"{host}.times{times:g}", replace(NULLS[host], change=times - 1))
    for times in (1.0, *TOLD_OF_RUNS):
        yield _Job(f"runs.times{times:g}", replace(NULLS["real"], change=times - 1), of_runs=True)


def _done(job: _Job) -> Counts | Alarms:
    return two_runs(REPORTS, job.machine) if job.of_runs else simulated(REPORTS, job.machine)


def run() -> Iterator[Line]:
    jobs = list(_jobs())
    with ProcessPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        for job, counts in zip(jobs, pool.map(_done, jobs), strict=True):
            yield from _lines(job, counts)
    yield from untold()


def _lines(job: _Job, counts: Counts | Alarms) -> Iterator[Line]:
    name, times = job.name, 1 + job.machine.change
    if isinstance(counts, Alarms) and times == 1:
        yield _share("runs.compare.wrong", counts.compare_any, MOST_WRONG, "of two runs")
        yield _share("runs.check.wrong", counts.check_any, _CHECK_WRONG, "of two runs")
    elif isinstance(counts, Alarms):
        most = 1 - TOLD_OF_RUNS[times]
        yield _share(f"{name}.compare.missed", REPORTS - counts.compare_first, most, "of two runs")
        yield _share(f"{name}.check.missed", REPORTS - counts.check_first, most, "of two runs")
    elif times == 1:
        note = f"{counts.likely} call one likely, {counts.advising} advise"
        yield _share(f"{name}.wrong", counts.stating, MOST_WRONG, note)
    else:
        yield _share(f"{name}.missed", REPORTS - counts.seen, 1 - TOLD[times], f"{counts.seen} found")


def _share(name: str, count: int, most: float | None, note: str) -> Line:
    low, high = rate_interval(count, REPORTS)
    before = f"before: {BEFORE[name]:.1%}" if name in BEFORE else "before: not run"
    text = f"{count} of {REPORTS}, {note}; {before}"
    return say(Line(f"decisive.{name}", count / REPORTS, low, high, most, "share", text))


def untold() -> Iterator[Line]:
    """Of a real run: how many compared pairs of rows whose processes do not overlap are not sure."""
    name = os.environ.get("BENCH_NOISY")
    if name is None:
        print("  decisive.untold: left out, BENCH_NOISY names no run")
        return
    with open_run(name) as measured:
        estimates = read_side(measured, name)
    tests = _Noted(estimates, 1, first_question(estimates))
    find_all(tests)
    apart = [change for change in tests.noted.values() if change.value is not None and _do_not_overlap(*change.sides)]
    open_ = [change for change in apart if change.word != Word.SURE and abs((change.value or 1) - 1) >= LEAST_EFFECT]
    for change in open_:
        print(f"  untold: {change.value:.2f} {change.other.cell} {change.base.cell} {change.other.stage}")
    note = f"of {len(apart)} that do not overlap; before: {BEFORE_UNTOLD}"
    yield say(Line("decisive.untold", len(open_), len(open_), len(open_), 0, "pairs", note))


class _Noted(PairwiseTests):
    """Keeps each ratio as it was said last: corrected with all others."""

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.noted: dict[frozenset[int], Change[RunEstimate]] = {}

    def compare(self, other: RunEstimate, base: RunEstimate) -> Change[RunEstimate] | None:
        change = super().compare(other, base)
        if change is not None:
            self.noted[frozenset((id(other), id(base)))] = change
        return change


def _do_not_overlap(a: RunEstimate, b: RunEstimate) -> bool:
    first, second = a.processes.values, b.processes.values
    return bool(first.min() > second.max() or second.min() > first.max())
