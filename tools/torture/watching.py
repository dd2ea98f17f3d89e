"""Watching: what may not be watched never runs, whoever watches may be killed, and no signal is ever lost.

Watcher and command have one processor. Each case is tried at twenty instants in turn.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from tests.integration import container
from tests.integration.watchers import Sender, Watcher, census_words, on_one_cpu, tracer_words
from tools.torture.sandbox import HELPERS, Command, NotPossibleError, Sandbox, judge, sound_files
from tools.torture.signals import ENDING, handles
from tools.torture.trials import Trial

KIND, FRONT = "watching", "front ends"
INSTANTS = 20
# Between two instants: the programs in C begin within a tenth of a second, and Python within two.
_STEP_S, _FRONT_STEP_S = 0.005, 0.1
_MOST_S = 20.0
_LASTS = ("/bin/sleep", "45")
# How a command is watched, what is refused, and that the answer says so.
_REFUSED = (
    ("census", "ptrace", ("ptrace",)),
    ("census", "tracepoints", ("perf_event_open",)),
    ("census", "auto", ("ptrace", "perf_event_open", "bpf")),
    ("tracer", "ptrace", ("ptrace",)),
    ("tracer", "tracepoints", ("perf_event_open",)),
    ("tracer", "fast", ("bpf",)),
)
_WATCHERS = (("census", "tracepoints"), ("census", "ptrace"), ("tracer", "tracepoints"), ("tracer", "ptrace"))
_FRONT = (
    ("census", "--how", "tracepoints", "--no-advice", "--json", "--", *_LASTS),
    ("census", "--how", "ptrace", "--no-advice", "--json", "--", *_LASTS),
    ("run", "launch.fork", "--budget", "1.5", "--out", "o.parquet"),
)
_WORDS = {"census": census_words, "tracer": tracer_words}


def trials(order: random.Random) -> Iterator[Trial]:
    """Every case with the programs that watch, then again."""
    cases: list[tuple[str, Callable[[int, Sandbox, random.Random], list[str]]]] = []
    for program, how, refused in _REFUSED if container.KNOWN else ():
        cases.append((f"refused/{program}-{how}/{'+'.join(refused)}", partial(_refused, (program, how), refused)))
    for program, how in _WATCHERS:
        cases.append((f"killed/{program}-{how}", partial(_killed, (program, how))))
        cases += [(f"{number.name}/{program}-{how}", partial(_signalled, (program, how), number)) for number in ENDING]
    return _in_turn(KIND, cases)


def front_trials(order: random.Random) -> Iterator[Trial]:
    """Every case with the commands that users type, then again."""
    return _in_turn(
        FRONT,
        [
            (f"{number.name}/{'-'.join(words[:3])}", partial(_typed, words, number))
            for words, number in itertools.product(_FRONT, ENDING)
        ],
    )


def _in_turn(
    kind: str, cases: Sequence[tuple[str, Callable[[int, Sandbox, random.Random], list[str]]]]
) -> Iterator[Trial]:
    for turn in itertools.count():
        for name, attempt in cases:
            yield Trial(kind, f"{name}/{turn}", partial(attempt, turn % INSTANTS))


@cache
def _sender() -> Sender:
    sender = Sender()
    HELPERS.add(sender.pid)
    return sender


def _refused(
    watched: tuple[str, str], refused: tuple[str, ...], instant: int, sandbox: Sandbox, draw: random.Random
) -> list[str]:
    program, how = watched
    if os.geteuid() != 0 and how != "ptrace":
        raise NotPossibleError("only root may listen to tracepoints")

    def before() -> None:
        on_one_cpu()
        container.refuse(refused, errno.EPERM)

    ran = sandbox.folder / "ran"
    watcher = Watcher(_WORDS[program](how, "/bin/mkdir", str(ran)), before)
    answer = watcher.end()
    faults = [] if b"not permitted" in answer or b"perf_event_open" in answer else [f"no reason: {answer[-200:]!r}"]
    return [*faults, *(["what was refused has run"] if ran.exists() else []), *sandbox.leftovers()]


def _wait(instant: int, step_s: float, draw: random.Random) -> None:
    time.sleep((instant + draw.random()) * step_s)


def _killed(watched: tuple[str, str], instant: int, sandbox: Sandbox, draw: random.Random) -> list[str]:
    program, how = watched
    ran = sandbox.folder / "ran"
    watcher = Watcher(_WORDS[program](how, "/bin/mkdir", str(ran)), on_one_cpu)
    _wait(instant, _STEP_S, draw)
    watcher.process.kill()
    answer = watcher.end()
    # A census says that it has begun before it releases its command; the tracer's answer comes in the end.
    unseen = program == "census" and not answer.startswith(b'{"line": "begin"') and ran.exists()
    return [*(["it has run and nobody watched"] if unseen else []), *sandbox.leftovers()]


def _signalled(
    watched: tuple[str, str], number: signal.Signals, instant: int, sandbox: Sandbox, draw: random.Random
) -> list[str]:
    program, how = watched
    watcher = Watcher(_WORDS[program](how, *_LASTS), on_one_cpu)
    _wait(instant, _STEP_S, draw)
    _sender().send(watcher.pid, number)
    began_s = time.monotonic()
    try:
        answer = watcher.end()
    except AssertionError:
        return [f"{number.name} was lost", *sandbox.leftovers()]
    faults = [f"{number.name} was lost"] if time.monotonic() - began_s > _MOST_S else []
    if watcher.process.returncode != -number and program == "census":
        end = json.loads(answer.splitlines()[-1])
        if not end["interrupted"] or end["exit_status"] not in (-1, 128 + number, 128 + signal.SIGTERM):
            faults.append(f"status {watcher.process.returncode}, and the answer says {answer[-900:]!r}")
    return [*faults, *sandbox.leftovers()]


def _typed(
    words: tuple[str, ...], number: signal.Signals, instant: int, sandbox: Sandbox, draw: random.Random
) -> list[str]:
    command = sandbox.start(*words, before=on_one_cpu)
    _wait(instant, _FRONT_STEP_S, draw)
    handled = handles(command.pid)
    _send(command, number)
    ended = command.wait()
    faults = judge(ended, {130, 128 + number} if handled else {-number, 1, 130}, traceback=not handled)
    if ended.seconds > instant * _FRONT_STEP_S + _MOST_S:
        faults.append(f"{number.name} was lost")
    if words[0] == "run":
        return [*faults, *sandbox.leftovers(), *sound_files(sandbox, killed=ended.status < 0)]
    if handled and not ('"interrupted": true' in ended.out or "interrupted" in ended.err):
        faults.append(f"it does not say that it was interrupted: {ended.out[-300:]}{ended.err[-300:]}")
    return [*faults, *sandbox.leftovers()]


def _send(command: Command, number: signal.Signals) -> None:
    if command.running():
        _sender().send(command.pid, number)
        command.sandbox.note(f"{number.name} to the group")
