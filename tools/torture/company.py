"""Company: many commands at once, and a wall clock that somebody sets while they measure."""

from __future__ import annotations

import itertools
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from tools.torture.sandbox import BOUND_S, Command, NotPossibleError, Sandbox, judge
from tools.torture.trials import MEASURES, Trial

from clonometer.runner.environment import PASS_VARIABLE

KIND = "company"
MANY = 20
# Each of so many has a small part of two processors.
_MANY_BOUND_S = 3 * BOUND_S
# Seconds by which the clock is set, forwards and back, each time that it has been read so often.
STEPS = (3600, -3600, 86400 * 400, -86400 * 400)
_READINGS = 40
_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    static long readings;
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(clock, now);
    if (clock == CLOCK_REALTIME && ++readings / READINGS % 2) now->tv_sec += STEP;
    return status;
}
"""
_COMMANDS = (
    ("run", "launch.fork", "launch.pthread", "--budget", "1", "--out", "o.parquet"),
    ("ab", "launch.fork", "--b", "linkage=dynamic_lazy", "--budget", "2"),
    ("noise", "--only", "launch.fork*", "--rounds", "1"),
    ("census", "--", "/bin/sh", "-c", "/bin/true; sleep 0.2; /bin/true"),
    ("explain", "launch.fork", "--processes", "2"),
)

Attempt = Callable[[Sandbox, random.Random], list[str]]


def trials(order: random.Random) -> Iterator[Trial]:
    """Every kind of company once, shuffled."""
    every: list[tuple[str, Attempt]] = [("runs-at-once", _runs_at_once), ("calibrations-at-once", _calibrations)]
    every += [
        (f"clock/{step}/{words[0]}", partial(_with_clock, step, words))
        for step, words in itertools.product(STEPS, _COMMANDS)
    ]
    for turn in itertools.count():
        order.shuffle(every)
        for name, attempt in every:
            yield Trial(KIND, f"{name}/{turn}", attempt)


def _ended(commands: list[Command], allowed: frozenset[int]) -> list[str]:
    return [fault for command in commands for fault in judge(command.wait(_MANY_BOUND_S), allowed)]


def _runs_at_once(sandbox: Sandbox, draw: random.Random) -> list[str]:
    """Twenty runs in one folder, half of them to one name: nobody's file is lost or mixed up with another's."""
    names = ["o.parquet" if number % 2 else f"o{number}.parquet" for number in range(MANY)]
    commands = [sandbox.start("run", "launch.fork", "--budget", "0.5", "--out", name) for name in names]
    faults = [*_ended(commands, MEASURES), *sandbox.leftovers()]
    for name in sorted(set(names)):
        if not (sandbox.folder / name).exists():
            faults.append(f"{name} is not there")
            continue
        faults += [f"show {name}: {fault}" for fault in judge(sandbox.run("show", name), {0})]
    if strange := {path.name for path in sandbox.folder.iterdir()} - set(names):
        faults.append(f"beside them: {sorted(strange)}")
    return faults


def _calibrations(sandbox: Sandbox, draw: random.Random) -> list[str]:
    """Two calibrations to the one place that both have by default: one of them is there in the end, and whole."""
    commands = [sandbox.start("calibrate", "--quick", "--budget", "3") for _ in range(2)]
    faults = [*_ended(commands, MEASURES), *sandbox.leftovers()]
    predicted = sandbox.run("predict", "--pid", str(os.getpid()), "--no-scan", "--json")
    return [*faults, *(f"predict: {fault}" for fault in judge(predicted, {0, 3}))]


def _with_clock(step: int, words: tuple[str, ...], sandbox: Sandbox, draw: random.Random) -> list[str]:
    library = _clock_library(sandbox.root, step)
    # Drivers get no variable of ours that is not named.
    ended = sandbox.run(*words, environment={"LD_PRELOAD": str(library), PASS_VARIABLE: "LD_PRELOAD"})
    faults = [*judge(ended, MEASURES | {3}), *sandbox.leftovers()]
    if (sandbox.folder / "o.parquet").exists():
        faults += [f"show: {fault}" for fault in judge(sandbox.run("show", "o.parquet"), {0})]
    return faults


def _clock_library(folder: Path, step: int) -> Path:
    compiler = shutil.which("gcc")
    if compiler is None:
        raise NotPossibleError("no gcc to build a clock with")
    source, library = folder / "clock.c", folder / "clock.so"
    source.write_text(_CLOCK)
    words = [compiler, "-shared", "-fPIC", "-O1", f"-DSTEP={step}L", f"-DREADINGS={_READINGS}"]
    built = subprocess.run([*words, "-o", library, source, "-ldl"], capture_output=True, text=True, check=False)
    if built.returncode != 0:
        raise NotPossibleError(f"a clock cannot be built: {built.stderr.strip()[:100]}")
    return library
