"""How far predictions of processes made for it lie from their forks, and how often the interval holds them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from clonometer.model.calibration import FORK_FIRST, FORK_UNWRITTEN
from clonometer.model.fitting import middle
from clonometer.model.later import UNKNOWN_SHARE, RewrittenShare, later_cost
from clonometer.model.making import ForkedProcess
from clonometer.model.types import Contributor, CostRange, Prediction
from clonometer.model.validated import ErrorSummary, ValidatedFork, Validation

_LEAST_PAGES, _MOST_PAGES = 256, 160_000
_HALF = RewrittenShare(0.5, 0.5, 0.5, "given")


def random_mixture(chance: random.Random) -> dict[str, int]:
    """Draw what a process shall have, by the keys of core/targets/maker.c.

    Each kind of thing is there in half of the processes, few or many of it.
    """

    def some(most: int, least: int = 1) -> int:
        """A number whose logarithm is even between the ends, or none."""
        return round(least * float(most / least) ** chance.random()) if chance.random() < 0.5 else 0

    dense = round(_LEAST_PAGES * (_MOST_PAGES / _LEAST_PAGES) ** chance.random()) * (chance.random() < 0.85)
    return {
        "dense_pages": dense,
        "dense_parts": chance.randint(1, 6),
        "scattered_pages": some(_MOST_PAGES, _LEAST_PAGES),
        "sparse_pages": some(400, 10),
        "huge_pages": some(100),
        "written_areas": some(3000, 10),
        "empty_areas": some(3000, 10),
        "dontfork_areas": some(4000, 10),
        "wipeonfork_areas": some(200),
        "file_areas": some(1000, 10),
        "shared_pages": some(32_768),
        "files": some(3000, 10),
        "threads": some(60),
    }


def validated_forks(prediction: Prediction, process: ForkedProcess) -> list[ValidatedFork]:
    """Set a prediction beside the forks of its process, state by state (`clonometer.model.turns.HELD_OUT_STATES`).

    Later forks are those of all shares that were rewritten, of which the prediction does not know.
    """
    fork, calls = prediction.fork, process.calls_ns
    pairs: list[tuple[str, CostRange, Sequence[float]]] = []
    for heat, first, unwritten in (("", fork.first, fork.unwritten), ("_hot", fork.first_hot, fork.unwritten_hot)):
        half = later_cost(first, unwritten, _HALF)
        pairs += [
            (f"{state}{heat}", cost, calls.get(f"fork.{state}{heat}", ()))
            for state, cost in (("first", first), ("half_written", half), ("unwritten", unwritten))
        ]
        span = later_cost(first, unwritten, UNKNOWN_SHARE)
        pairs += [(f"later{heat}", span, times) for _, _, times in pairs[-3:]]
    pairs += [
        (f"until_{end}", called.plus(wait), _sums(calls.get(state, ()), process.waits_ns.get(state, ())))
        for end, called, wait, state in (
            ("exit", fork.first, prediction.exit, FORK_FIRST),
            ("exec", fork.unwritten, prediction.exec, FORK_UNWRITTEN),
        )
    ]
    largest: Contributor = prediction.contributors[0]
    return [
        ValidatedFork(state, cost, tuple(map(float, times)), float(np.exp(middle(np.log(times)))), largest.term)
        for state, cost, times in pairs
        if times
    ]


def _sums(calls: Sequence[float], waits: Sequence[float]) -> list[float]:
    return [call + wait for call, wait in zip(calls, waits, strict=True)]


def summarize_validation(forks: Sequence[ValidatedFork]) -> Validation:
    """Summarize errors: all together, by state, and by the largest term.

    Raises
    ------
    ValueError
        If there is no fork.
    """
    if not forks:
        raise ValueError("a validation needs at least one fork")

    def groups(key: str) -> list[ErrorSummary]:
        names = dict.fromkeys(getattr(fork, key) for fork in forks)
        return [_summary(name, [fork for fork in forks if getattr(fork, key) == name]) for name in names]

    return Validation(_summary("all", forks), groups("state"), groups("largest_term"), tuple(forks))


def _summary(group: str, forks: Sequence[ValidatedFork]) -> ErrorSummary:
    errors = np.array([fork.error for fork in forks])
    within = [fork.predicted.low_ns <= call <= fork.predicted.high_ns for fork in forks for call in fork.calls_ns]
    return ErrorSummary(
        group=group,
        processes=len(forks),
        median_error=float(np.median(np.abs(errors))),
        nine_in_ten_error=float(np.quantile(np.abs(errors), 0.9)),
        bias=float(np.median(errors)),
        coverage=float(np.mean(within)),
    )
