"""All processes of a machine, by what their fork would cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from clonometer.errors import ClonometerError
from clonometer.prediction.answer import Predicted
from clonometer.records import Count, OneOf, version

RANKING_SCHEMA = 1


@dataclass(frozen=True)
class Ranking:
    """The processes of a machine, the one with the dearest fork first."""

    schema = version(RANKING_SCHEMA)

    seen: Annotated[Count, "Processes for which a fork was predicted."]
    unread: Annotated[Count, "Processes that could not be read; kernel threads are not counted."]
    model: Annotated[str, OneOf(("calibration", "quick calibration", "rough"))]
    processes: Sequence[Predicted]


def rank(pids: Iterable[int], judge: Callable[[int], Predicted], *, top: int, model: str) -> Ranking:
    """Predict for each process, and keep those whose first fork would cost most.

    A ClonometerError of ``judge`` is one more process that could not be read.
    """
    answers = []
    unread = 0
    for pid in pids:
        try:
            answers.append(judge(pid))
        except ClonometerError:
            unread += 1
    answers.sort(key=lambda answer: -answer.fork.first_ns.median)
    return Ranking(len(answers), unread, model, answers[:top])
