"""Control groups, of either version: too small from the start, full while something measures, and killed whole."""

from __future__ import annotations

import contextlib
import itertools
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tools.torture.resources import MIB, SOME, Attempt, measured
from tools.torture.sandbox import Command, NotPossibleError, Sandbox, judge, sound_files
from tools.torture.trials import MEASURES, Trial

KIND = "groups"
# What limits a controller, in version 2 and in version 1.
_FILES = {"memory": ("memory.max", "memory.limit_in_bytes"), "pids": ("pids.max",)}
_SMALL = (*(("memory", mib * MIB) for mib in (96, 160, 300)), *(("pids", most) for most in (2, 6, 16, 40)))
# By which of its processes the kernel frees memory: rather by what measures, or by the largest.
_SCORES = {"ours": "500", "largest": "0"}
_GREED = f"""
import time
taken = b"x" * {420 * MIB}
time.sleep(0.2)
"""
_TIMES = 4
# For the command and the greedy, not for a driver with its parent's memory besides.
_ROOM_BYTES = 560 * MIB
_KILLED = -9
_PATIENCE_S = 30.0
# None of these keeps a folder or a group, which nobody is left to remove after all of a group were killed.
_KEEPS_NOTHING = ("launch.fork", "launch.pthread", "launch.fork_exec", "wake.futex", "cow.parent")


def trials(order: random.Random) -> Iterator[Trial]:
    """Every kind of group once, shuffled."""
    every: list[tuple[str, Attempt]] = [(f"small/{name}={most}", partial(_small, name, most)) for name, most in _SMALL]
    every += [(f"greedy/{score}/{number}", partial(_greedy, score)) for score in _SCORES for number in range(2)]
    every += [(f"full/{workload}", partial(_full, workload)) for workload in SOME]
    every += [(f"killed/{workload}", partial(_killed, workload)) for workload in _KEEPS_NOTHING]
    for turn in itertools.count():
        order.shuffle(every)
        for name, attempt in every:
            yield Trial(KIND, f"{name}/{turn}", attempt)


def _file(sandbox: Sandbox, controller: str) -> Path:
    groups = [sandbox.groups[name] for name in (controller, "cgroup2") if name in sandbox.groups]
    for path in (group / name for group in groups for name in _FILES[controller]):
        if path.exists():
            return path
    raise NotPossibleError(f"no control group with {controller} can be made")


def _small(controller: str, most: int, sandbox: Sandbox, draw: random.Random) -> list[str]:
    _file(sandbox, controller).write_text(str(most))
    # Who takes more memory than there is may be ended by the kernel, the command as well as a driver.
    allowed = MEASURES | ({_KILLED} if controller == "memory" else set())
    return measured(sandbox, *draw.sample(SOME, 2), "--budget", "1", allowed=allowed)


def _greedy(score: str, sandbox: Sandbox, draw: random.Random) -> list[str]:
    """A neighbour in the group takes what memory there is while a driver measures."""
    _file(sandbox, "memory").write_text(str(_ROOM_BYTES))

    def strike() -> None:
        words = [sys.executable, "-S", "-c", _GREED]
        for _ in range(_TIMES):
            subprocess.run(words, preexec_fn=sandbox.enter_groups, capture_output=True, check=False)

    def offer() -> None:
        Path("/proc/self/oom_score_adj").write_text(_SCORES[score])

    words = ("launch.fork", "--set", "parent_bytes=256MiB")
    return _struck(sandbox, draw, strike, *words, before=offer, allowed=MEASURES | {_KILLED})


def _full(workload: str, sandbox: Sandbox, draw: random.Random) -> list[str]:
    """From a moment on no task more can be made in the group."""
    most = _file(sandbox, "pids")

    def strike() -> None:
        most.write_text((most.parent / "pids.current").read_text())
        time.sleep(draw.random() * 2)
        most.write_text("max")

    return _struck(sandbox, draw, strike, workload, allowed=MEASURES)


def _killed(workload: str, sandbox: Sandbox, draw: random.Random) -> list[str]:
    """All of a group are killed at once, as by memory.oom.group of version 2."""
    group = sandbox.groups.get("cgroup2")
    if group is None or not (group / "cgroup.kill").exists():
        raise NotPossibleError("no group of version 2 with cgroup.kill can be made")
    return _struck(sandbox, draw, lambda: (group / "cgroup.kill").write_text("1"), workload, allowed={_KILLED})


def _struck(
    sandbox: Sandbox,
    draw: random.Random,
    strike: Callable[[], object],
    *words: str,
    allowed: frozenset[int] | set[int],
    before: Callable[[], object] | None = None,
) -> list[str]:
    """Measure, and let something befall the group at a moment at which a driver is there."""
    command = sandbox.start("run", *words, "--budget", "3", "--out", "o.parquet", before=before)
    _await_measuring(command, sandbox.folder)
    time.sleep(draw.random())
    met = command.running()
    if met:
        with contextlib.suppress(OSError):
            strike()
    ended = command.wait()
    faults = judge(ended, allowed if met else MEASURES)
    return [*faults, *sandbox.leftovers(), *sound_files(sandbox, killed=ended.status < 0)]


def _await_measuring(command: Command, folder: Path) -> None:
    end_s = time.monotonic() + _PATIENCE_S
    while not (command.drivers() and (folder / "o.raw").exists()) and command.running() and time.monotonic() < end_s:
        time.sleep(0.005)
