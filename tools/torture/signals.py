"""Signals: workloads x signals x whom x moment, and commands that measure by themselves."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

from tests import catalogue
from tools.torture.sandbox import Command, Sandbox, descendants, judge, sound_files, stat_of
from tools.torture.trials import Trial

KIND = "signals"
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
WHOM = ("command", "twice", "group", "driver", "child", "remover", "nobody but a hangup that is ignored")
MOMENTS = ("start-up", "measuring", "any", "writing", "answer")
# One or two of each family, and all that keep something outside themselves.
WORKLOADS = (
    "launch.fork", "launch.pthread", "launch.fork_exec", "launch.vfork", "launch.clone3_into_cgroup",
    "launch.fork launchers=processes concurrency=2", "launch.fork parent_bytes=64MiB parent_threads=4",
    "flags.vm", "wake.futex", "teardown.zombies", "switch.pipe", "ipc.shared_memory", "cow.parent", "work.factor",
    "work.factor task_kind=process output=shared_append", "contend.open", "contend.fault task_kind=process",
    "isolate.worker", "isolate.pool", "footprint.process", "footprint.process accounting=cgroup", "footprint.thread",
    "clock.across_cpus", "memcpy.private", "namespaces.all",
)  # fmt: skip
KEEPERS = ("contend.open", "work.factor", "launch.clone3_into_cgroup", "footprint.process accounting=cgroup")
COMMANDS = (
    ("explain", "launch.fork", "--processes", "3"),
    ("census", "--", "/bin/sh", "-c", "for i in 1 2 3 4 5 6 7 8; do /bin/true; sleep 0.05; done"),
    ("noise", "--only", "launch.fork*", "--rounds", "1"),
    ("demo", "cow"),
    ("reproduce", "loop-10000", "--quick"),
    ("doctor",),
    ("doctor", "--self-test"),
    ("list",),
    ("explain", "launch.fork", "--vs", "launch.pthread", "--processes", "2", "--html", "e.html"),
    ("explain", "work.factor", "--processes", "2"),
    ("ab", "launch.fork", "--a", "linkage=static", "--b", "linkage=dynamic_lazy", "--budget", "2"),
    ("calibrate", "--budget", "2", "--out", "calibration.json"),
    ("predict", "--pid", "{PID}", "--rough"),
    ("predict", "--all", "--rough", "--no-scan"),
    ("predict", "--validate", "2", "--rough"),
    ("peers", "--budget", "2"),
    ("fleet", "run", "{FOLDER}", "--local", "1", "--only", "launch.fork*", "--budget", "1"),
    ("fleet", "show", "{DATA}"),
    ("history", "{DATA}"),
    ("publish", "{RUN}", "--anonymous", "--yes", "--out", "p.json"),
    ("gallery", "{DATA}", "--out", "site"),
    ("show", "{RUN}"),
    ("report", "{RUN}", "--out", "r.html"),
    ("plot", "{RUN}", "--out", "p.svg"),
    ("export", "{RUN}", "--format", "csv", "--out", "c.csv"),
    ("compare", "{RUN}", "{RUN}"),
    ("check", "{RUN}", "--baseline", "{RUN}"),
)
# What commands that only read are given; a process to look at; where a fleet's files go.
_DATA = catalogue.PATH.parent
_PLACES = {
    "{RUN}": str(_DATA / "schema1.parquet"),
    "{DATA}": str(_DATA),
    "{FOLDER}": "fleet",
    "{PID}": str(os.getpid()),
}
# Longer than Python and its libraries take to load, on a busy machine too.
_START_UP_S = 0.6
_PATIENCE_S = 30.0
_AT_ONCE_S = 0.3


def trials(order: random.Random) -> Iterator[Trial]:
    """Every combination that means something, shuffled; then again, since each draws its own delays."""
    every = [
        (workload, number, whom, moment)
        for workload, number, whom, moment in itertools.product(WORKLOADS, (*ENDING, signal.SIGKILL), WHOM, MOMENTS)
        if _means_something(workload, whom, moment)
    ]
    commands = list(itertools.product(COMMANDS, ENDING, ("command", "group", "twice")))
    for turn in itertools.count():
        order.shuffle(every)
        order.shuffle(commands)
        for index, (workload, number, whom, moment) in enumerate(every):
            yield _of_run(workload, number, whom, moment, turn)
            if index % 2 == 1:
                yield _of_command(*commands[index // 2 % len(commands)], turn + index // 2 // len(commands))


def _means_something(workload: str, whom: str, moment: str) -> bool:
    if whom == "remover" and workload not in KEEPERS:
        return False
    return whom not in ("driver", "child", "remover") or moment == "measuring"


def _of_run(workload: str, number: signal.Signals, whom: str, moment: str, turn: int) -> Trial:
    def attempt(sandbox: Sandbox, draw: random.Random) -> list[str]:
        name, *settings = workload.split()
        words = ["run", name, *(word for setting in settings for word in ("--set", setting))]
        before = _ignore_hangups if whom.startswith("nobody") else None
        command = sandbox.start(*words, "--budget", "1.5", "--out", "o.parquet", before=before)
        _await(command, moment, draw, sandbox.folder)
        sent = _send(command, number, whom, draw)
        ended = command.wait()
        if whom.startswith("nobody"):
            allowed = {0, 4}
        elif whom in ("driver", "child", "remover"):
            # A driver that has gone before its time is a failed cell, and so is a child that did not end as it should.
            allowed = {0} if whom == "remover" else {0, 4}
        else:
            allowed = _allowed(sent, number, ended.seconds, {0, 4})
        # Before its own handlers are in place, Python has answers of its own.
        faults = judge(ended, allowed, traceback=not sent.handled)
        return [*faults, *sandbox.leftovers(), *sound_files(sandbox, killed=ended.status < 0)]

    return Trial(KIND, f"{workload.replace(' ', '+')}/{number.name}/{whom}/{moment}/{turn}", attempt)


def _of_command(words: tuple[str, ...], number: signal.Signals, whom: str, turn: int) -> Trial:
    def attempt(sandbox: Sandbox, draw: random.Random) -> list[str]:
        command = sandbox.start(*(_PLACES.get(word, word) for word in words))
        _await(command, "start-up" if draw.random() < 0.3 else "any", draw, sandbox.folder)
        sent = _send(command, number, whom, draw)
        ended = command.wait()
        allowed = _allowed(sent, number, ended.seconds, {0, 2, 3, 4})
        if words[0] == "census":
            # It passes on what became of its command: a signal to the group ends that too, and a SIGINT that the
            # terminal did not send to the group leaves it alone.
            allowed |= {128 + number, -number} | ({0} if number == signal.SIGINT and whom != "group" else set())
        return [*judge(ended, allowed, traceback=not sent.handled), *sandbox.leftovers()]

    return Trial(KIND, f"{'+'.join(words)[:60]}/{number.name}/{whom}/any/{turn}", attempt)


class _Sent:
    """What was known of the command when the signal was sent."""

    def __init__(self, handled: bool, at_s: float) -> None:
        self.handled = handled
        self.at_s = at_s


def _allowed(sent: _Sent, number: signal.Signals, ended_s: float, ordinary: set[int]) -> set[int]:
    if number == signal.SIGKILL:
        return {-signal.SIGKILL, *(ordinary if ended_s - sent.at_s < _AT_ONCE_S else ())}
    if not sent.handled:
        return {-number, 1, 130, *ordinary}
    # It may have been past the last moment at which anything could still be interrupted.
    return {130, *(ordinary if ended_s - sent.at_s < _AT_ONCE_S else ())}


def handles(pid: int) -> bool:
    """Whether the command has its own handlers in place: Python has none for SIGTERM."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("SigCgt:"):
                return bool(int(line.split()[1], 16) >> (signal.SIGTERM - 1) & 1)
    return False


def _ignore_hangups() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _await(command: Command, moment: str, draw: random.Random, folder: Path) -> None:
    """Wait until the moment has come, or the command has ended."""
    ready = {
        "start-up": lambda: True,
        "any": lambda: True,
        "measuring": lambda: bool(command.drivers()) and (folder / "o.raw").exists(),
        # Whatever name the file has while it is written.
        "writing": lambda: any(path.name != "o.raw" for path in folder.iterdir()),
        "answer": (folder / "o.parquet").exists,
    }[moment]
    end_s = time.monotonic() + _PATIENCE_S
    while not ready() and command.running() and time.monotonic() < end_s:
        time.sleep(0.0005)
    longest_s = {"start-up": _START_UP_S, "any": 3.0, "measuring": 1.0, "writing": 0.01, "answer": 0.5}[moment]
    end_s = time.monotonic() + draw.random() * longest_s
    while command.running() and time.monotonic() < end_s:
        time.sleep(0.0005)


def _send(command: Command, number: signal.Signals, whom: str, draw: random.Random) -> _Sent:
    """Send it to whom it is meant for, at most twice; where nobody is met, to nobody."""
    sent = _Sent(handles(command.pid), command.seconds())
    if not command.running():
        return sent
    if whom.startswith("nobody"):
        number = signal.SIGHUP
    with contextlib.suppress(ProcessLookupError):
        if whom == "group":
            os.killpg(command.pid, number)
        elif whom in ("driver", "child", "remover"):
            pid = _meet(command, whom, draw)
            if pid is not None:
                os.kill(pid, number)
        else:
            os.kill(command.pid, number)
            if whom == "twice":
                time.sleep(draw.random() * 0.05)
                os.kill(command.pid, number)
    command.sandbox.note(f"{number.name} to the {whom}, handlers {'in place' if sent.handled else 'not in place'}")
    return sent


def _meet(command: Command, whom: str, draw: random.Random) -> int | None:
    """A process of this kind: of those that live shortly few are ever met."""
    end_s = time.monotonic() + 2.0
    while command.running() and time.monotonic() < end_s:
        drivers = command.drivers()
        below = [pid for driver in drivers for pid in (descendants(driver) if whom != "driver" else [driver])]
        removers = {pid for pid in below if stat_of(pid)[0] == "clonometer-remo"}
        candidates = sorted(removers if whom == "remover" else set(below) - removers)
        if candidates:
            return draw.choice(candidates)
    return None
