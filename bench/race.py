"""Time to an answer, and what it is worth: Clonometer to a 2% interval, beside one answer of other tools.

Ten rounds, in each of which every tool gives one answer, so that all see the same machine. An answer of Clonometer is
a `clonometer run` of one warm cell to the target width, between two slices of a long run. Whether it covers is asked of
these two neighbours: an interval speaks of the seconds in which it was made, and a shared machine is another minutes
later. How many miss the median of the whole long run is said beside it, as the machine's share.
The other tools are run as their users run them. They time other things (hyperfine a whole command, stress-ng its loop):
only how long one answer takes and how far ten of them scatter is compared, not the figures. A table of that ends the
answer. About 5 minutes; `BENCH_REPETITIONS=2` tries it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import clonometer
from bench.harness import Line, compile_c, say
from clonometer.runfile import open_run
from clonometer.runner.peers import PROGRAMS, PeerProgram, parse_hyperfine, parse_stress_ng, run_peer
from clonometer.stats.quantiles import quantile_interval

REPETITIONS = int(os.environ.get("BENCH_REPETITIONS", "10"))
WORKLOADS = ("fork", "pthread")
BUDGET_S, SLICE_S = 6.0, 2.5
#: Of ten intervals at 95%, more than two miss in 1.2% of races.
MOST_MISSED = 0.2


@dataclass(frozen=True)
class Answer:
    """One answer: seconds until it was there, its value in ns, and of Clonometer its interval and what ended it."""

    seconds: float
    value_ns: float
    low_ns: float | None = None
    high_ns: float | None = None
    on_target: bool = False

    def covers(self, least_ns: float, most_ns: float) -> bool:
        """Whether its interval reaches into what the truth may be; what has no interval covers nothing."""
        return (
            self.low_ns is not None and self.high_ns is not None and self.low_ns <= most_ns and least_ns <= self.high_ns
        )


@dataclass(frozen=True)
class Trial:
    """An answer, and the process medians in ns of the slices of the long run just before and just after it."""

    answer: Answer
    before: Sequence[float]
    after: Sequence[float]

    def holds(self) -> bool:
        """Whether the answer covers what its neighbours say.

        Their median has an interval of its own, that of `quantile_interval`: neighbours that differ leave more open.
        """
        truth = quantile_interval([*self.before, *self.after])
        return self.answer.covers(truth.low, truth.high)


def scatter(answers: Sequence[Answer]) -> float:
    """How far answers are apart: the greatest less the least, over the median."""
    values = [answer.value_ns for answer in answers]
    return (max(values) - min(values)) / float(np.median(values))


def cell_run(workload: str, out: Path, *options: str) -> tuple[Answer, list[float]]:
    """Measure one warm cell as a user does; its answer, and its process medians in ns."""
    words = ["run", f"launch.{workload}", "--set", "temperature=warm", "--out", str(out), "--force", *options]
    began = time.monotonic()
    command = [str(Path(sys.executable).with_name("clonometer")), *words]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - began
    results = clonometer.load(str(out)).results()
    rows = [place for place, row in enumerate(results.cells) if row.stage == "reaped"]
    place = max(rows, key=lambda index: results.cells[index].n_samples)
    row = results.cells[place]
    with open_run(out) as run:
        on_target = all(cell.stopped_by == "target" for cell in run.document.cells)
    answer = Answer(seconds, row.median_ns or 0.0, row.median_low_ns, row.median_high_ns, on_target)
    return answer, [float(median_ns) for median_ns in results.process_medians[place]]


def peers(program: Path) -> dict[str, PeerProgram]:
    """One answer each as a user takes it: hyperfine's defaults, a second of stress-ng, perf and lmbench as they are."""
    programs: dict[str, PeerProgram] = {}
    for workload in WORKLOADS:
        argv: tuple[str, ...] = ("hyperfine", "--style=none", "--export-json=/dev/stdout", f"{program} {workload}")
        programs[f"hyperfine.{workload}"] = PeerProgram("hyperfine", argv, ("hyperfine.true",), "", parse_hyperfine)
        argv = ("stress-ng", f"--{workload}", "1", "--timeout", "1", "--metrics")
        programs[f"stress-ng.{workload}"] = PeerProgram(
            "stress-ng", argv, (f"stress-ng.{workload}",), "", parse_stress_ng
        )
    wanted = ("perf.fork", "lmbench.fork")
    programs |= {figure: peer for peer in PROGRAMS for figure in peer.figures if figure in wanted}
    return programs


def peer_lines(name: str, answers: Sequence[Answer]) -> Iterator[Line]:
    """What one answer of a peer costs, and how far ten of them scatter."""
    yield seconds_line(
        name, answers, f"one answer, in the median {np.median([a.value_ns for a in answers]) / 1e3:.4g} us"
    )
    apart = scatter(answers)
    yield Line(f"race.{name}.scatter", apart, apart, apart, None, "share", f"of {len(answers)} answers")


def seconds_line(name: str, answers: Sequence[Answer], note: str) -> Line:
    """Seconds to an answer: the median, the least and the most."""
    seconds = [answer.seconds for answer in answers]
    return Line(f"race.{name}.seconds", float(np.median(seconds)), min(seconds), max(seconds), None, "s", note)


def own_lines(workload: str, trials: Sequence[Trial]) -> Iterator[Line]:
    """What Clonometer's answers cost, whether they cover what the long run says, and what the machine did meanwhile."""
    name = f"clonometer.{workload}"
    answers = [trial.answer for trial in trials]
    slices = [part for trial in trials for part in (trial.before, trial.after)]
    widths = [((a.high_ns or 0.0) - (a.low_ns or 0.0)) / 2 / a.value_ns for a in answers]
    reached = sum(a.on_target for a in answers)
    note = (
        f"to half a width of {np.median(widths):.1%}; {reached} of {len(answers)} reached the target of 2%, the others "
        f"ended when the budget was spent of {BUDGET_S:g} s"
    )
    yield seconds_line(name, answers, note)
    missed = sum(not trial.holds() for trial in trials) / len(trials)
    size = int(np.median([len(trial.before) + len(trial.after) for trial in trials]))
    note = f"intervals that miss the long run's slices just before and after, {size} processes"
    yield Line(f"race.{name}.missed", missed, missed, missed, MOST_MISSED, "share", note)
    whole = np.concatenate([np.asarray(medians_ns) for medians_ns in slices])
    truth_ns = float(np.median(whole))
    elsewhere = sum(not a.covers(truth_ns, truth_ns) for a in answers) / len(answers)
    note = f"intervals that miss the whole long run's median, {truth_ns / 1e3:.4g} us from {whole.size} processes"
    yield Line(f"race.{name}.missed_later", elsewhere, elsewhere, elsewhere, None, "share", note)
    apart = scatter(answers)
    yield Line(f"race.{name}.scatter", apart, apart, apart, None, "share", f"of {len(answers)} answers")
    moved = scatter([Answer(0.0, float(np.median(medians_ns))) for medians_ns in slices])
    note = f"of {len(slices)} slices of the long run: what the machine itself did"
    yield Line(f"race.{name}.machine", moved, moved, moved, None, "share", note)


def trial_of(workload: str, out: Path) -> Trial:
    """One answer between two slices of the long run."""

    def part() -> list[float]:
        return cell_run(workload, out, "--budget", str(SLICE_S), "--target-width", "0.1%")[1]

    before = part()
    answer = cell_run(workload, out, "--budget", str(BUDGET_S), "--target-width", "2%")[0]
    return Trial(answer, before, part())


#: What a peer's answer is about, since it is not what Clonometer's is.
_ABOUT = {
    "hyperfine.fork": "a whole command that forks",
    "hyperfine.pthread": "a whole command with a thread",
    "stress-ng.fork": "its loop, a mean",
    "stress-ng.pthread": "its loop, a mean",
    "perf.fork": "its loop, a mean",
    "lmbench.fork": "its loop",
}


def table(
    trials_by_workload: Mapping[str, Sequence[Trial]], others: Mapping[str, Sequence[Answer]], absent: Mapping[str, str]
) -> list[str]:
    """All that one reads the benchmark for: a line a tool and mechanism, at most 80 columns wide."""
    count = max(map(len, trials_by_workload.values()))
    lines = ["", f"{'':18} {'seconds to an answer':22} {'scatter':>7}  what the answer is worth"]
    for workload, trials in trials_by_workload.items():
        answers = [trial.answer for trial in trials]
        held, reached = sum(trial.holds() for trial in trials), sum(answer.on_target for answer in answers)
        worth = f"{held} of {len(trials)} cover, {reached} to 2%"
        lines.append(_table_line(f"clonometer.{workload}", answers, worth))
        lines += [
            _table_line(name, theirs, _ABOUT.get(name, ""))
            for name, theirs in others.items()
            if name.endswith(f".{workload}")
        ]
    for name, reason in absent.items():
        lines += textwrap.wrap(f"{name:18} {reason}", 80, subsequent_indent=" " * 19)
    return [*lines, f"scatter: the greatest of {count} answers less the least, over their median", ""]


def _table_line(name: str, answers: Sequence[Answer], worth: str) -> str:
    seconds = [answer.seconds for answer in answers]
    took = f"{np.median(seconds):.2f} ({min(seconds):.2f} to {max(seconds):.2f})"
    apart = f"{scatter(answers):.1%}" if len(answers) > 1 else "-"
    return f"{name:18} {took:22} {apart:>7}  {worth}"


def run() -> Iterator[Line]:
    trials: dict[str, list[Trial]] = {workload: [] for workload in WORKLOADS}
    others: dict[str, list[Answer]] = {}
    absent: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.parquet"
        programs = peers(compile_c(Path(__file__).with_name("launch_once.c"), Path(folder) / "launch_once"))
        absent |= {name: "not installed" for name, peer in programs.items() if shutil.which(peer.argv[0]) is None}
        for _ in range(REPETITIONS):
            for workload in WORKLOADS:
                trials[workload].append(trial_of(workload, out))
            for name, program in programs.items():
                if name in absent:
                    continue
                answer = run_peer(program, 0, timeout_s=60.0)
                if answer.reason is None:
                    value = next(iter(answer.figures_ns.values()))
                    others.setdefault(name, []).append(Answer(answer.seconds, value))
                else:
                    absent[name] = answer.reason
    for workload in WORKLOADS:
        yield from map(say, own_lines(workload, trials[workload]))
    for name, answers in others.items():
        yield from map(say, peer_lines(name, answers))
    print("\n".join(table(trials, others, absent)))
