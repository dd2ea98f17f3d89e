"""``clonometer predict --validate``: predictions of processes made for it, against their forks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from clonometer.errors import UsageError

if TYPE_CHECKING:
    from clonometer.model.calibration import Calibration
    from clonometer.model.features import Features
    from clonometer.model.validated import Validation

#: A scan of the machine's state serves so many processes: it changes within half a minute.
_PROCESSES_A_SCAN = 5


def print_validation(processes: int, seed: int, *, as_json: bool) -> None:
    """Validate, and print errors and coverage.

    Raises
    ------
    UsageError
        If this machine was not calibrated.
    """
    from clonometer.cli.calibrating import usable_calibration
    from clonometer.cli.console import print_drawn, print_json

    calibration = usable_calibration()
    if calibration is None:
        raise UsageError("this machine was not calibrated", "run 'clonometer calibrate' first")
    result = validate(calibration, processes, seed)
    if as_json:
        from clonometer.records import to_json

        print_json(to_json(result))
        return
    from clonometer.views.terminal.validation import render_validation

    print_drawn(render_validation, result, characters="µ±")


def validate(calibration: Calibration, processes: int, seed: int) -> Validation:
    """Make so many processes, each with a random mixture of what a process may have, and fork them for real."""
    import random

    from clonometer.cli.calibrating import measure_scale
    from clonometer.model.predictor import predict
    from clonometer.model.types import SAME_MOMENT
    from clonometer.model.validation import random_mixture, summarize_validation, validated_forks
    from clonometer.runner.mixtures import fork_mixture

    chance = random.Random(seed)
    forks = []
    scale = SAME_MOMENT
    for number in range(processes):
        if number % _PROCESSES_A_SCAN == 0:
            scale = measure_scale(calibration)
            click.echo(f"{number} of {processes} processes forked", err=True)
        features, times = fork_mixture(random_mixture(chance), _features_of)
        forks += validated_forks(predict(features, calibration, scale=scale), times)
    return summarize_validation(forks)


def _features_of(pid: int) -> Features:
    """Read a process as ``clonometer predict --pid`` does."""
    from clonometer.cli.predicting import read
    from clonometer.predict.profile import profile_of

    return profile_of(read(pid), huge_pages_used=True).features
