"""Calibrations for commands that need them: made, found again, and scaled to the machine's state of the moment."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from clonometer.app.live import features_of_process, live
from clonometer.app.measuring import briefly_measured, find_catalogue
from clonometer.app.seeds import draw_seed
from clonometer.errors import DriverError, OutputError
from clonometer.host.cpu import last_level_cache_bytes
from clonometer.host.facts import collect
from clonometer.host.memory import free_bytes
from clonometer.host.occupancy import measure_stretches
from clonometer.model.calibration import Calibration
from clonometer.model.conditions import FULL, QUICK, REFERENCE, MakerCounts, affordable
from clonometer.model.making import ForkedProcess, make_calibration
from clonometer.model.reference import scales_by
from clonometer.model.store import default_path, machine_of, save_calibration
from clonometer.model.stretch import StretchAt, stretches_of
from clonometer.model.turns import STATES, ForkState, take_turns
from clonometer.model.types import Scales
from clonometer.plan.planfile import load_plan
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.runner.made import MadeProcess, cache_emptier

__all__ = ["calibrate"]

FULL_S, QUICK_S = 110.0, 18.0
#: The rest of the time measures posix_spawn, vfork and copying on write.
_FORKS_PART = 0.8
#: Each condition is made so often, since processes of one condition differ by where their memory lies.
_PASSES = 5
_SCAN_S = 3.0
_SAY_EVERY_S = 10.0


def calibrate(
    *, quick: bool = False, budget_s: float | None = None, seed: int | None = None, progress: Progress = SILENT
) -> tuple[Calibration, int]:
    """Fork processes of all conditions in turn, measure the plan ``calibrate``, and fit to both.

    Parameters
    ----------
    quick
        Measure fewer conditions: 20 s.
    budget_s
        Time to measure; by default that of the plan.
    seed
        Fixes the order of measuring; by default it is drawn.
    progress
        Watches.

    Returns
    -------
    calibration, exit_status
        The status is that of the run.

    Raises
    ------
    InputError
        If too little could be measured.
    KeyboardInterrupt
        The user has had enough.
    """
    seed = draw_seed(seed)
    seconds = budget_s or (QUICK_S if quick else FULL_S)
    forked, lacks = _fork_conditions(
        quick=quick, seconds=seconds * _FORKS_PART, seed=seed, is_named=budget_s is not None, progress=progress
    )
    drivers, catalogue = find_catalogue(progress)
    plan = load_plan("calibrate-quick" if quick else "calibrate", catalogue)
    plan = replace(plan, budget_seconds=seconds * (1 - _FORKS_PART))
    with briefly_measured(plan, catalogue, drivers, seed=seed, progress=progress) as (run, outcome):
        machine = machine_of(collect())
        made = make_calibration(
            forked, run, made_at=int(time.time()), quick=quick, machine=machine, lacks=lacks, seed=seed
        )
    return made, outcome.exit_status


def calibrate_first(progress: Progress) -> Calibration:
    """Calibrate quickly for a command that needs a calibration and has none, and keep it for the next.

    Raises
    ------
    ClonometerError
        If it cannot be measured.
    KeyboardInterrupt
        The user has had enough.
    """
    progress.say("clonometer: this machine was not calibrated: a quick calibration takes 20 s")
    made, _ = calibrate(quick=True, progress=progress)
    try:
        path = default_path()
        save_calibration(made, path)
    except OutputError as error:
        progress.say(f"clonometer: the calibration is not kept: {error.message}")
    else:
        progress.say(f"clonometer: wrote {path}")
    return made


def _fork_conditions(
    *, quick: bool, seconds: float, seed: int, is_named: bool, progress: Progress
) -> tuple[list[ForkedProcess], dict[str, str]]:
    conditions, lacks = affordable(QUICK if quick else FULL, free_bytes(live()))
    chance = random.Random(seed)
    forked: list[ForkedProcess] = []
    say = _Remarks(seconds, progress)
    begin_s = time.monotonic()
    for number in range(1, _PASSES + 1):
        # A pass takes what it takes, since each condition has a turn in each state. The first is needed; the others
        # make it exact, and only who named a budget does without.
        if forked and is_named and time.monotonic() - begin_s >= seconds:
            break
        with _maker_processes(conditions, chance) as (processes, refused):
            lacks |= refused
            # Making them takes of their time.
            left_s = begin_s + seconds * number / _PASSES - time.monotonic()
            forked += _forked_in_turn(processes, STATES, left_s, chance, say)
    return forked, lacks


@contextmanager
def _maker_processes(
    conditions: Mapping[str, MakerCounts], chance: random.Random
) -> Iterator[tuple[dict[str, MadeProcess], dict[str, str]]]:
    """Make a process of each condition, in random order: which memory each gets is a matter of that order.

    Yields
    ------
    processes, refused
        Those that were made; for the others the reason.
    """
    processes, refused = {}, {}
    with ExitStack() as stack:
        for name in chance.sample(list(conditions), len(conditions)):
            try:
                processes[name] = stack.enter_context(MadeProcess(conditions[name]))
            except DriverError as error:
                refused[name] = error.message
        yield processes, refused


def _forked_in_turn(
    processes: Mapping[str, MadeProcess],
    states: Mapping[str, ForkState],
    seconds: float,
    chance: random.Random,
    say: _Remarks | None = None,
) -> list[ForkedProcess]:
    forked = unforked_processes(processes)
    turns = take_turns(
        processes, states, seconds=seconds, chance=chance, clock=time.monotonic, empty_caches=cache_emptier_of_here()
    )
    for turn in turns:
        forked[turn.process].add(turn)
        if say is not None:
            say.maybe()
    return list(forked.values())


def cache_emptier_of_here() -> Callable[[], None]:
    """Make what empties this machine's caches."""
    return cache_emptier(last_level_cache_bytes(live()))


def unforked_processes(processes: Mapping[str, MadeProcess]) -> dict[str, ForkedProcess]:
    """Read what each process has, before its forks are added."""
    return {name: ForkedProcess(name, features_of_process(process.pid)) for name, process in processes.items()}


class _Remarks:
    """Says how far the forks are, every ten seconds."""

    def __init__(self, seconds: float, progress: Progress) -> None:
        self._seconds, self._progress = seconds, progress
        self._begin_s = self._said_s = time.monotonic()

    def maybe(self) -> None:
        """Say it if it is time."""
        now_s = time.monotonic()
        if now_s - self._said_s >= _SAY_EVERY_S:
            self._said_s = now_s
            left_s = max(0.0, self._seconds - (now_s - self._begin_s))
            left = f"about {left_s:.0f} s left" if left_s >= 1 else "each has its turn, which takes longer than planned"
            self._progress.say(f"processes fork one after the other: {left}")


@contextmanager
def reference_processes(chance: random.Random) -> Iterator[dict[str, MadeProcess]]:
    """Make the processes whose forks tell how fast the machine is now."""
    with _maker_processes(REFERENCE, chance) as (processes, _):
        yield processes


def measure_busyness() -> list[StretchAt]:
    """Work for a second or so, and see how much longer that takes than its CPU time."""
    return stretches_of(measure_stretches())


def measure_scales(calibration: Calibration) -> Scales:
    """Have a few processes fork in turn for 3 s, and compare them with what the calibration predicts for them.

    Raises
    ------
    InputError
        If none could be made.
    """
    chance = random.Random()
    with reference_processes(chance) as processes:
        return scales_by(_forked_in_turn(processes, STATES, _SCAN_S, chance), calibration)
