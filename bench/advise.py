"""Advice against servers: 24 loads drawn at random, the best two designs of each predicted, then run in turn.

Right is an answer whose first design has the lower median, or that is too close to call where the medians differ by
less than 5%. The loads lie within stated bounds (`drawn_wish`), and each has the isolation that is drawn, so that the
best two differ from load to load. ``BENCH_SCENARIOS=3-7`` takes some of them; ``BENCH_SECONDS`` says how long each pair
is run.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from dataclasses import replace

from bench.harness import Line, say
from clonometer.advice.advising import advise
from clonometer.advice.answer import Advice, Proof
from clonometer.advice.basis import AdviceBasis
from clonometer.advice.proving import prove
from clonometer.advice.terms import TermSpan
from clonometer.advice.wish import ISOLATIONS, Wish
from clonometer.app.advise import command_of, default_workers
from clonometer.app.advising import basis_for, machine_here
from clonometer.app.proving import designs_run
from clonometer.errors import ClonometerError
from clonometer.stats.quantiles import quantile_interval

SCENARIOS, MOST_WRONG = 24, 3
MOST_ERROR = 0.20
SECONDS = 12.0
#: Another one draws other loads: those that the model was made with are not the proof.
SEED = int(os.environ.get("BENCH_SEED", "17"))
#: Of the server's CPUs the work of the requests alone keeps so much busy.
_LOADS = (0.05, 0.6)


def drawn_wish(number: int) -> Wish:
    """Draw the load of one scenario: always the same for its number."""
    chance = random.Random(f"{SEED} {number}")

    def between(low: float, high: float) -> float:
        return float(low * (high / low) ** chance.random())

    cpus = max(1, machine_here().cpus - 1)
    work_ns = between(2e4, 4e6)
    load = chance.uniform(*_LOADS)
    # What a request costs besides its work, at least: rates stay below what most designs bear.
    rate_hz = round(min(2000.0, load * cpus * 1e9 / (work_ns + 2e5)))
    memory = round(between(1 << 20, 64 << 20)) if chance.random() < 0.5 else 0
    written = round(between(4096, min(memory, 1 << 20))) if memory and chance.random() < 0.5 else 0
    wish = Wish(
        rate_hz=max(5, rate_hz),
        work_ns=round(work_ns),
        block_ns=round(between(2e5, 5e6)) if chance.random() < 0.25 else 0,
        response_bytes=round(between(1024, 256 << 10)) if chance.random() < 0.5 else 1024,
        memory_bytes=memory,
        written_bytes=written,
        isolation=chance.choice(ISOLATIONS),
        cpus=cpus,
    )
    return replace(wish, workers=default_workers(wish))


def judged(number: int, basis: AdviceBasis, wish: Wish, seconds: float) -> Advice:
    """Predict one scenario, and run its best two designs."""
    answer, best = _best(wish, basis, number)
    # A rate that only one of the designs bears with this isolation compares nothing.
    while len(best) < 2 and wish.rate_hz > 2:
        wish = replace(wish, rate_hz=round(wish.rate_hz / 2))
        answer, best = _best(wish, basis, number)
    with designs_run(wish, best, budget_s=seconds, seed=number) as run:
        return prove(answer, run, number)


def _best(wish: Wish, basis: AdviceBasis, number: int) -> tuple[Advice, list[str]]:
    answer = advise(wish, basis, seed=number)
    return answer, [design.id for design in answer.designs if design.rank in (1, 2)]


def is_right(answer: Advice) -> bool:
    """Whether the order was right, or was called too close and lies within 5%."""
    proof = answer.proof
    assert proof is not None
    ratio = proof.ratio.value
    return 0.95 < ratio < 1.05 if answer.comparisons[0].is_close else ratio > 1.0


def error(proof: Proof) -> float:
    """The larger of both errors of the predicted medians, as a share with its sign."""
    return max((each.predicted_p50_ns.value / each.measured_p50_ns.value - 1 for each in proof.designs), key=abs)


def cpu_errors(proof: Proof) -> list[float]:
    """The same of the CPU time of a request, which other load on the machine hardly changes."""
    return [
        each.predicted_cpu_ns.value / each.measured_cpu_ns.value - 1
        for each in proof.designs
        if each.measured_cpu_ns is not None
    ]


def run() -> Iterator[Line]:
    """Give the number of wrong answers, and how far the predicted medians are off."""
    first, _, last = os.environ.get("BENCH_SCENARIOS", f"1-{SCENARIOS}").partition("-")
    seconds = float(os.environ.get("BENCH_SECONDS", SECONDS))
    wrong, errors, of_cpu = 0, [], []
    for number in range(int(first), int(last or first) + 1):
        wish = drawn_wish(number)
        try:
            answer = judged(number, basis_for(wish, seed=1), wish, seconds)
        except ClonometerError as failed:
            print(f"{number:2} not run: {failed.message}")
            continue
        assert answer.proof is not None
        right = is_right(answer)
        wrong += not right
        errors.append(error(answer.proof))
        of_cpu += cpu_errors(answer.proof)
        print(f"{number:2} {'right' if right else 'WRONG'} {_about(answer)}", flush=True)
    if errors:
        yield say(Line("advise: wrong of those run", wrong, wrong, wrong, MOST_WRONG, "count", f"{len(errors)} run"))
        spread = quantile_interval([abs(each) for each in errors])
        yield say(Line("advise: error of p50, middle one", *spread.ends, MOST_ERROR))
        spread = quantile_interval([abs(each) for each in of_cpu])
        yield say(Line("advise: error of CPU time, middle one", *spread.ends, MOST_ERROR))
        most = max(map(abs, errors))
        yield say(Line("advise: error of p50, largest", most, most, most, None))


def _about(answer: Advice) -> str:
    assert answer.proof is not None
    close = " close" if answer.comparisons[0].is_close else ""
    designs = "; ".join(
        f"{each.id} p50 {_us(each.predicted_p50_ns)} > {_us(each.measured_p50_ns)}, "
        f"CPU {_us(each.predicted_cpu_ns)} > {_us(each.measured_cpu_ns)} us"
        for each in answer.proof.designs
    )
    return f"{answer.proof.ratio.value:.3f}{close} {designs} ({command_of(answer).removeprefix('clonometer advise ')})"


def _us(span: TermSpan | None) -> str:
    return "-" if span is None else f"{span.value / 1e3:.0f}"
