"""`make torture`: what befalls a command in the field, tried at random, and what must hold afterwards.

After every trial: the exit status is a promised one that fits, no traceback, no task, temporary file or control group
is left, the run file can be read or recovered, nothing hangs, and memory stays bounded. The order and every delay
follow from the seed; a failure names the command that tries the same again.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.dispositions import hear_signals
from tools.torture import (
    company,
    differential,
    groups,
    inputs,
    mutations,
    neighbours,
    numbers,
    privileges,
    resources,
    signals,
    strangers,
    watching,
)
from tools.torture.sandbox import NotPossibleError, become_subreaper, sandbox
from tools.torture.trials import Trial, Trials

CLASSES: dict[str, Trials] = {
    **{module.KIND: module.trials for module in (signals, resources, groups, privileges, company, mutations)},
    **{module.KIND: module.trials for module in (inputs, strangers, watching, numbers, differential, neighbours)},
    watching.FRONT: watching.front_trials,
}
DEFAULT_SECONDS = 600.0
# Mutations take a tenth of the time of the others, and are the more.
SHARE = {
    "signals": 0.25,
    "resources": 0.15,
    "groups": 0.1,
    "privileges": 0.2,
    "company": 0.1,
    "mutations": 0.1,
    "inputs": 0.1,
    "strangers": 0.1,
    "watching": 0.1,
    "front ends": 0.1,
    "numbers": 0.05,
    "differential": 0.35,
    "neighbours": 0.05,
}
# What one trial of a class takes where that is much: without that share of the time it would leave none to others.
DEAR_S = {"numbers": numbers.SECONDS}
_ROW = "{:<12} {:>7} {:>7} {:>13}"


class Book:
    """What was tried, what held, and what did not."""

    def __init__(self, seed: int, twice: bool) -> None:
        self._seed = seed
        self._twice = twice
        self._tried: Counter[str] = Counter()
        self._held: Counter[str] = Counter()
        self._left_out: dict[str, Counter[str]] = {}
        self.failed = 0

    def attempt(self, trial: Trial, base: Path) -> None:
        """Try it and keep how it ended; a failure is printed at once."""
        try:
            held = self._held_once(trial, base) or (self._twice and self._held_once(trial, base))
        except NotPossibleError as error:
            self._left_out.setdefault(trial.kind, Counter())[str(error)] += 1
            return
        self._tried[trial.kind] += 1
        self._held[trial.kind] += held
        self.failed += not held

    def _held_once(self, trial: Trial, base: Path) -> bool:
        draw = random.Random(f"{self._seed}/{trial.kind}/{trial.name}")
        try:
            with sandbox(base) as place:
                faults = trial.attempt(place, draw)
                done = list(place.done)
        except NotPossibleError:
            raise
        except Exception:
            faults, done = [f"the trial itself: {traceback.format_exc()}"], []
        if faults:
            print(f"FAILED  {trial.kind}: {trial.name}")
            print(*(f"        {line}" for line in (*faults, *done)), sep="\n")
            print(
                f"        again: make torture TORTURE_ARGS=\"--seed {self._seed} --trial '{trial.kind}:{trial.name}'\""
            )
            sys.stdout.flush()
        return not faults

    def table(self, kinds: list[str]) -> None:
        """Print the counts."""
        print(_ROW.format("class", "tried", "held", "not possible"))
        for kind in kinds:
            missing = self._left_out.get(kind, Counter())
            print(_ROW.format(kind, self._tried[kind], self._held[kind], missing.total()))
        for kind, missing in self._left_out.items():
            print(*(f"not possible here: {kind}: {reason} ({count})" for reason, count in missing.items()), sep="\n")
        print(_ROW.format("all", self._tried.total(), self._held.total(), ""), f" seed {self._seed}")


def in_turn(kinds: list[str], seed: int, seconds: float) -> Iterator[Trial]:
    """Give the trials of all classes, each its share of the time."""
    queues = {kind: CLASSES[kind](random.Random(f"{seed}/{kind}")) for kind in kinds}
    spent = dict.fromkeys(kinds, 0.0)
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        kind = min(kinds, key=lambda candidate: spent[candidate] / SHARE[candidate])
        began_s = time.monotonic()
        yield next(queues[kind])
        spent[kind] += time.monotonic() - began_s


def so_often(kinds: list[str], seed: int, tries: int) -> Iterator[Trial]:
    """Give each trial of some classes so often: their names end with the turn."""
    for kind in kinds:
        every = CLASSES[kind](random.Random(f"{seed}/{kind}"))
        yield from itertools.takewhile(lambda trial: int(trial.name.rpartition("/")[2]) < tries, every)


def find(name: str, seed: int) -> Trial:
    """The trial of that name; names of mutations are drawn, and all that is needed to make them."""
    kind, _, rest = name.partition(":")
    if kind not in CLASSES:
        sys.exit(f"no class {kind!r}: {', '.join(CLASSES)}")
    if kind in (mutations.KIND, inputs.KIND):
        # Each kind of damage comes soon, and the rest of the name is the draw.
        several = zip(CLASSES[kind](random.Random(0)), range(100), strict=False)
        made = {trial.name.split("/")[0]: trial for trial, _ in several}
        return Trial(kind, rest, made[rest.split("/")[0]].attempt)
    for trial, _ in zip(CLASSES[kind](random.Random(f"{seed}/{kind}")), range(100_000), strict=False):
        if trial.name == rest:
            return trial
    sys.exit(f"no trial {name!r} with this seed")


def main() -> int:
    """Try for as long as was asked; 1 if anything did not hold."""
    reader = argparse.ArgumentParser(prog="make torture", description=(__doc__ or "").splitlines()[0])
    reader.add_argument("--seconds", type=float, default=DEFAULT_SECONDS, help="how long (default: %(default)g)")
    reader.add_argument("--tries", type=int, help="each case so often, however long that takes; with --only")
    reader.add_argument("--only", action="append", choices=sorted(CLASSES), help="a class; repeatable")
    reader.add_argument("--seed", type=int, default=None, help="fixes the order and every delay")
    reader.add_argument("--trial", action="append", metavar="CLASS:NAME", help="this one alone, as a failure names it")
    reader.add_argument("--most", type=int, default=sys.maxsize, help="so many trials at most")
    reader.add_argument("--twice", action="store_true", help="what fails is tried again, and fails if it does so twice")
    reader.add_argument("--verbose", action="store_true", help="name each trial before it is made")
    asked = reader.parse_args()
    seed = random.randrange(1 << 31) if asked.seed is None else asked.seed
    become_subreaper()
    hear_signals()
    book = Book(seed, asked.twice)
    affordable = [kind for kind in CLASSES if asked.seconds * SHARE[kind] >= DEAR_S.get(kind, 0.0)]
    kinds = sorted(asked.only or affordable)
    if asked.trial:
        trials: Iterator[Trial] = (find(name, seed) for name in asked.trial)
    elif asked.tries:
        trials = so_often(kinds, seed, asked.tries)
    else:
        trials = in_turn(kinds, seed, asked.seconds)
    with tempfile.TemporaryDirectory(prefix="torture-") as folder, contextlib.suppress(KeyboardInterrupt):
        base = Path(folder)
        base.chmod(0o755)
        for trial in itertools.islice(trials, asked.most):
            if asked.verbose:
                print(f"{trial.kind}:{trial.name}", flush=True)
            book.attempt(trial, base)
    book.table(kinds if not asked.trial else sorted({name.partition(":")[0] for name in asked.trial}))
    return 1 if book.failed else 0


if __name__ == "__main__":
    sys.exit(main())
