"""``clonometer predict --validate``: predictions of processes made for it, against their forks."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from clonometer.app.calibrating import cache_emptier_of_here, reference_processes, unforked_processes
from clonometer.app.predicting import usable_calibration
from clonometer.app.seeds import draw_seed
from clonometer.app.shown import shown_as
from clonometer.errors import UsageError
from clonometer.model.calibration import Calibration
from clonometer.model.conditions import MakerCounts
from clonometer.model.making import ForkedProcess
from clonometer.model.predictor import predict
from clonometer.model.reference import scales_by
from clonometer.model.turns import HELD_OUT_STATES, STATES, ask
from clonometer.model.validated import Validation
from clonometer.model.validation import random_mixture, summarize_validation, validated_forks
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.runner.made import MadeProcess

__all__ = ["validate"]

_SAY_EVERY = 5
#: So many turns of a process in each state; in each that was calibrated beside those of so many references.
_ROUNDS, _BESIDE = 18, 2
_VALIDATED = "the process"


@shown_as("validation", "validation_document")
def validate(
    processes: int, *, calibration: Calibration | None = None, seed: int | None = None, progress: Progress = SILENT
) -> Validation:
    """Create this number of processes, each with a random mixture of memory, files and threads, and fork them for real.

    Each forks in turn with the processes of the reference scan, so that prediction and forks are of one moment: a
    shared host changes its speed by a third from second to second. Without a ``calibration`` it is this user's.

    Raises
    ------
    UsageError
        If this machine has not been calibrated.
    """
    calibration = usable_calibration() if calibration is None else calibration
    if calibration is None:
        raise UsageError("this machine has not been calibrated", "run 'clonometer calibrate' first")
    seed = draw_seed(seed)
    chance = random.Random(seed)
    empty_caches = cache_emptier_of_here()
    forks = []
    for number in range(processes):
        if number % _SAY_EVERY == 0:
            progress.say(f"{number} of {processes} processes forked")
        # New ones each time: processes of one condition differ by where their memory lies.
        with reference_processes(chance) as references:
            process, others = _fork_beside(references, random_mixture(chance), chance, empty_caches)
        prediction = predict(process.features, calibration, scales=scales_by(others, calibration))
        forks += validated_forks(prediction, process)
    return summarize_validation(forks)


def _fork_beside(
    references: Mapping[str, MadeProcess],
    wanted: MakerCounts,
    chance: random.Random,
    empty_caches: Callable[[], None],
) -> tuple[ForkedProcess, list[ForkedProcess]]:
    """Make one process and have it fork in turn with some of the references."""
    with MadeProcess(wanted) as made:
        processes = {_VALIDATED: made, **references}
        forked = unforked_processes(processes)
        for _ in range(_ROUNDS):
            for state in HELD_OUT_STATES:
                beside = chance.sample(list(references), min(_BESIDE, len(references))) if state in STATES else []
                among = [_VALIDATED, *beside]
                for name in chance.sample(among, len(among)):
                    forked[name].add(ask(processes[name], name, state, empty_caches))
    return forked.pop(_VALIDATED), list(forked.values())
