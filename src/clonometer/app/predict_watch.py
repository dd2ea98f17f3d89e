"""``predict --watch``: what a fork would cost a process, again and again while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable

from clonometer.app.live import read
from clonometer.app.predict import announce_reading
from clonometer.app.predicting import answer, identified, runtime_of
from clonometer.errors import UsageError, VanishedError
from clonometer.host.target.reader import How, Reading
from clonometer.prediction.answer import Predicted
from clonometer.prediction.judge import Machine, Question
from clonometer.runner.interfaces import SILENT, Progress


def watch(
    pid: int,
    machine: Callable[[], Machine],
    question: Callable[[Reading], Question],
    *,
    how: How | None = None,
    every_s: float = 2.0,
    for_s: float | None = None,
    seen: Callable[[Predicted, float], None],
    progress: Progress = SILENT,
) -> None:
    """Predict what a fork would cost a process until it ends, the time is over or the user has seen enough.

    Parameters
    ----------
    pid
        Of the process.
    machine, question
        Asked for once, after the process could be read: what is wrong with it is said before anything is measured.
    how
        The way in which it is read; by default the closest that is allowed.
    every_s, for_s
        How often, and for how long, in seconds.
    seen
        Is handed each answer, and for how many seconds the process has been watched.
    progress
        Is told that the process has ended.

    Raises
    ------
    UsageError, VanishedError
        If there is no such process, or it ended, before the first answer.
    """
    announce_reading(pid, how=how, progress=progress)
    reading = read(pid, how=how)
    model, asked = machine(), question(reading)
    started, began_s = reading.status.started_ticks, time.monotonic()
    # Of its runtime files are read, which do not change while it runs.
    identity = runtime_of(pid)
    answers = 0
    try:
        while True:
            watched_s = time.monotonic() - began_s
            predicted = answer(reading, model, asked)
            seen(predicted if identity is None else identified(predicted, identity), watched_s)
            answers += 1
            if for_s is not None and watched_s + every_s > for_s:
                return
            time.sleep(every_s)
            reading = read(pid, how=how)
            if reading.status.started_ticks != started:
                raise VanishedError(f"process {pid} has ended, and its number was reused")
    except (UsageError, VanishedError) as error:
        if not answers:
            raise
        progress.say(f"clonometer: {error.message}: this was its last answer")
    except KeyboardInterrupt:
        # To see enough is no failure.
        if not answers:
            raise
