"""How far predictions of processes made for it lie from their forks, and how often the interval holds them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from clonometer.model.fitting import middle
from clonometer.model.types import Contributor, Prediction
from clonometer.model.validated import ErrorSummary, ValidatedFork, Validation

_LEAST_PAGES, _MOST_PAGES = 256, 160_000


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


def validated_forks(prediction: Prediction, times: Mapping[str, Sequence[float]]) -> list[ValidatedFork]:
    """Set a prediction beside the forks of its process, state by state (`clonometer.model.turns.STATES`)."""
    largest: Contributor = prediction.contributors[0]
    validated = []
    for state, calls in times.items():
        name = state.removeprefix("fork.")
        usual_ns = float(np.exp(middle(np.log(calls))))
        validated.append(
            ValidatedFork(name, getattr(prediction.fork, name), tuple(map(float, calls)), usual_ns, largest.term)
        )
    return validated


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
