"""What ``clonometer predict`` does with a process, a profile or all processes, and the model with which it judges."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import rich_click as click

from clonometer.app.calibrating import calibrate_first, measure_busyness
from clonometer.app.live import read
from clonometer.app.predict import announce_reading, machine_now, measured_rate, predict_saved, ranked
from clonometer.app.predicting import answer, rough_machine, with_paths
from clonometer.cli.progress import make_progress
from clonometer.files import write_text
from clonometer.host.target.reader import How, Reading
from clonometer.model.types import UNSCALED
from clonometer.prediction.copying import WriteRate
from clonometer.prediction.judge import Machine, Question
from clonometer.prediction.profile import profile_of, without_names
from clonometer.records import to_json
from clonometer.views.exports.predicted import encode_predicted


@dataclass(frozen=True)
class PredictRequest:
    """What the options ask for."""

    pid: int | None
    rank_all: bool
    profile: Path | None
    how: str
    write_rate: float | None
    measure_s: float | None
    child_lives_s: float
    forks_every_s: float | None
    top: int
    rough: bool
    no_scan: bool
    save_profile: Path | None
    names: bool
    openmetrics: Path | None
    as_json: bool
    force: bool

    def manner(self) -> How | None:
        """How a process is to be read; None: the closest that is allowed."""
        return None if self.how == "auto" else cast("How", self.how)

    def read(self, pid: int) -> Reading:
        """Read a process in the way that was asked for."""
        return read(pid, how=self.manner())


def predict_process(pid: int, machine: Callable[[], Machine], request: PredictRequest) -> dict[str, Any]:
    """Answer for a live process, and write what else was asked for."""
    # What is wrong with the process is said before anything is calibrated.
    announce_reading(pid, how=request.manner(), progress=make_progress())
    reading = request.read(pid)
    model = machine()
    question = _question(request, reading)
    document = to_json(with_paths(answer(reading, model, question)))
    if request.save_profile is not None:
        _save_profile(reading, request.save_profile, names=request.names)
    _write_metrics([document], request.openmetrics)
    return document


def _question(request: PredictRequest, reading: Reading | None = None) -> Question:
    """What is asked; where writes are to be measured, with their rate in the process that was read."""
    rate = None if request.write_rate is None else WriteRate(request.write_rate)
    if reading is not None and request.measure_s is not None:
        rate = measured_rate(reading, request.measure_s, make_progress())
    return Question(rate, request.child_lives_s, request.forks_every_s)


def _save_profile(reading: Reading, path: Path, *, names: bool) -> None:
    profile = profile_of(reading, huge_pages_used=True)
    document = to_json(profile if names else without_names(profile))
    write_text(path, json.dumps(document, indent=2, allow_nan=False) + "\n")
    labels = [group["label"] for group in document["groups"]]
    what = "with the names of its program and files" if names else "no names and no addresses"
    shown = ", ".join(labels[:6]) + (f" and {len(labels) - 6} more" if len(labels) > 6 else "")
    click.echo(f"wrote {path}: counts of its memory by mapping, threads and open files; {what} ({shown})", err=True)


def predict_profile(path: Path, machine: Machine, request: PredictRequest) -> dict[str, Any]:
    """Answer for a saved profile."""
    document = to_json(predict_saved(path, machine, _question(request)))
    _write_metrics([document], request.openmetrics)
    return document


def predict_all(machine: Machine, request: PredictRequest) -> dict[str, Any]:
    """Rank all processes but this one."""
    document = to_json(ranked(machine, _question(request), how=request.manner(), top=request.top))
    _write_metrics(document["processes"], request.openmetrics)
    return document


def _write_metrics(documents: list[dict[str, Any]], path: Path | None) -> None:
    if path is None:
        return
    write_text(path, "".join(encode_predicted(documents)))


def find_machine(*, rough: bool, scan: bool) -> Machine:
    """The machine's calibration, scaled by a scan of now; without one a quick one is offered where somebody can answer.

    ``rough``: use the rough model in any case. ``scan``: measure for 3 s how fast the machine is now.

    Raises
    ------
    InputError
        If the calibration is damaged or of another machine.
    """
    if rough:
        return rough_machine()
    return machine_now(scan=scan, progress=make_progress()) or _made_if_wanted() or rough_machine()


def _made_if_wanted() -> Machine | None:
    """Offer a quick calibration; None where nobody can answer, or the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    question = "This machine was not calibrated. Calibrate it now, in 20 s? (No gives a rough answer.)"
    if not click.confirm(question, default=True, err=True):
        return None
    made = calibrate_first(make_progress())
    return Machine(made, is_rough=False, scales=UNSCALED, stretches=measure_busyness())
