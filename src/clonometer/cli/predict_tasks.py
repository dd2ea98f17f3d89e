"""What ``clonometer predict`` does with a process, a profile or all processes, and the model with which it judges."""

from __future__ import annotations

import json
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import rich_click as click

from clonometer.cli.calibrating import calibrate, measure_scales
from clonometer.cli.console import can_write, plain_width, wants_colour
from clonometer.cli.measuring import draw_seed
from clonometer.cli.outputs import write_text
from clonometer.cli.predicting import answer, calibrated_machine, live, read, rough_machine
from clonometer.errors import ClonometerError, InputError, UsageError, VanishedError
from clonometer.host.source import Source
from clonometer.host.target.reader import How, Reading
from clonometer.model.store import default_path, save_calibration
from clonometer.model.types import UNSCALED
from clonometer.predict.copying import WriteRate, rate_of
from clonometer.predict.judge import Machine, Question, judge
from clonometer.predict.profile import profile_from_json, profile_of, without_names
from clonometer.predict.ranking import rank
from clonometer.records import to_json
from clonometer.views.exports.predicted import encode_predicted
from clonometer.views.terminal.predict import render_watched, watched_line

_MOST_PROFILE_BYTES = 16 << 20
_HISTORY = 500
_CLEAR = "\x1b[H\x1b[J"


@dataclass(frozen=True)
class PredictWish:
    """What the options ask for."""

    pid: int | None
    rank_all: bool
    profile: Path | None
    how: str
    write_rate: float | None
    measure_s: float | None
    child_lives_s: float
    forks_every_s: float | None
    watch: bool
    every_s: float
    for_s: float | None
    top: int
    rough: bool
    no_scan: bool
    save_profile: Path | None
    names: bool
    openmetrics: Path | None
    as_json: bool
    force: bool

    def read(self, pid: int) -> Reading:
        """Read a process in the way that was asked for."""
        return read(pid, how=None if self.how == "auto" else cast("How", self.how))


def predict_process(pid: int, machine: Callable[[], Machine], wish: PredictWish) -> dict[str, Any]:
    """Answer for a live process, and write what else was asked for."""
    # What is wrong with the process is said before anything is calibrated.
    reading = wish.read(pid)
    model = machine()
    question = _question(wish, reading)
    document = to_json(answer(reading, model, question))
    if wish.save_profile is not None:
        _save_profile(reading, wish.save_profile, names=wish.names)
    _write_metrics([document], wish.openmetrics)
    return document


def _question(wish: PredictWish, reading: Reading | None = None) -> Question:
    """What is asked; where writes are to be measured, with their rate in the process that was read."""
    rate = None if wish.write_rate is None else WriteRate(wish.write_rate)
    if reading is not None and wish.measure_s is not None:
        rate = _measured_rate(reading, wish.measure_s)
    return Question(rate, wish.child_lives_s, wish.forks_every_s)


def _measured_rate(reading: Reading, seconds: float) -> WriteRate:
    from clonometer.host.target.writes import means_of_this_kernel, measure_writes, what_it_does

    pid = reading.standing.pid
    if reading.areas is None:
        raise UsageError(f"writes of process {pid} cannot be measured: {reading.why}")
    means = means_of_this_kernel()
    click.echo(f"Measuring for {seconds:g} s which pages process {pid} writes to. {what_it_does(means)}", err=True)
    seen = measure_writes(live(), pid, reading.areas, seconds, means=means)
    return WriteRate(rate_of(seen.pages, seen.of_pages, seen.seconds), means, seen.seconds)


def _save_profile(reading: Reading, path: Path, *, names: bool) -> None:
    profile = profile_of(reading, huge_pages_used=True)
    document = to_json(profile if names else without_names(profile))
    write_text(path, json.dumps(document, indent=2, allow_nan=False) + "\n")
    labels = [group["label"] for group in document["groups"]]
    what = "the names of its program and files" if names else "no names and no addresses"
    shown = ", ".join(labels[:6]) + (f" and {len(labels) - 6} more" if len(labels) > 6 else "")
    click.echo(f"wrote {path}: counts of its memory by mapping, threads and open files; {what} ({shown})", err=True)


def predict_profile(path: Path, machine: Machine, wish: PredictWish) -> dict[str, Any]:
    """Answer for a saved profile."""
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(_MOST_PROFILE_BYTES))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{path} is no profile: it is not JSON", "'clonometer predict --save-profile' writes one"
        ) from error
    document = to_json(judge(profile_from_json(content, str(path)), machine, _question(wish)))
    _write_metrics([document], wish.openmetrics)
    return document


def predict_all(machine: Machine, wish: PredictWish) -> dict[str, Any]:
    """Rank all processes but this one."""
    question = _question(wish)
    machine_now = live()
    pids = [int(name) for name in machine_now.names("/proc") if name.isdigit()]
    pids = [pid for pid in pids if pid != os.getpid() and not _is_of_kernel(machine_now, pid)]
    ranking = rank(pids, lambda pid: answer(wish.read(pid), machine, question), top=wish.top, model=machine.name)
    document = to_json(ranking)
    _write_metrics(document["processes"], wish.openmetrics)
    return document


def _is_of_kernel(source: Source, pid: int) -> bool:
    # Only a process has memory: what has none never forks. So it is with zombies.
    return source.text_or(f"/proc/{pid}/statm", "").startswith("0 ")


def watch_process(pid: int, machine: Callable[[], Machine], wish: PredictWish) -> None:
    """Answer again and again, until the process ends, the time is over or the user has seen enough."""
    reading = wish.read(pid)
    model, question = machine(), _question(wish, reading)
    started, began = reading.standing.started_ticks, time.monotonic()
    history: deque[float] = deque(maxlen=_HISTORY)
    try:
        while True:
            watched_s = time.monotonic() - began
            document = to_json(answer(reading, model, question)) | {"watched_s": round(watched_s, 3)}
            history.append(document["fork"]["first_ns"]["median"])
            _write_metrics([document], wish.openmetrics)
            _show(document, list(history), as_json=wish.as_json)
            if wish.for_s is not None and watched_s + wish.every_s > wish.for_s:
                return
            time.sleep(wish.every_s)
            reading = wish.read(pid)
            if reading.standing.started_ticks != started:
                raise VanishedError(f"process {pid} has ended, and another has its number now")
    except (UsageError, VanishedError) as error:
        if not history:
            raise
        click.echo(f"clonometer: {error.message}: this was its last answer", err=True)
    except KeyboardInterrupt:
        # To see enough is no failure.
        if not history:
            raise


def _show(document: Mapping[str, Any], history_ns: list[float], *, as_json: bool) -> None:
    if as_json:
        # A line for each turn, as programs read that follow.
        click.echo(json.dumps(document, allow_nan=False))
    elif not sys.stdout.isatty():
        click.echo(watched_line(document))
    else:
        plain = not can_write(sys.stdout, "µ▁█")
        colour = wants_colour(sys.stdout)
        drawn = render_watched(document, history_ns, width=plain_width(), colour=colour, ascii_only=plain, plain=plain)
        click.echo(f"{_CLEAR}{drawn}", nl=False, color=True)
    sys.stdout.flush()


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
    machine = calibrated_machine()
    if machine is None:
        return _made_if_wanted() or rough_machine()
    return _scaled(machine) if scan else machine


def _scaled(machine: Machine) -> Machine:
    try:
        return replace(machine, scales=measure_scales(machine.calibration))
    except ClonometerError as error:
        click.echo(f"clonometer: how fast the machine is now was not measured: {error.message}", err=True)
        return machine


def _made_if_wanted() -> Machine | None:
    """Offer a quick calibration; None where nobody can answer, or the answer is no."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    question = "This machine was not calibrated. Calibrate it now, in 20 s? (No: a rough answer.)"
    if not click.confirm(question, default=True, err=True):
        return None
    made, _ = calibrate(quick=True, budget_s=None, seed=draw_seed())
    save_calibration(made, default_path())
    return Machine(made, is_rough=False, scales=UNSCALED)
