"""Resources: full and read-only disks, limits of every kind, values beyond all measure."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import resource
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from tools.torture.sandbox import COMMAND, NotPossibleError, Sandbox, judge, sound_files
from tools.torture.trials import MEASURES, Trial
from tools.torture.users import become_user, installed

from clonometer.plan.catalogue import read_catalogue
from clonometer.runner.drivers import find_drivers

KIND = "resources"
SOME = ("launch.fork", "launch.pthread", "contend.open", "work.factor", "footprint.process")
KIB, MIB = 1 << 10, 1 << 20
# Python itself and the libraries need some; below that nobody of ours has been asked yet.
LIMITS = (
    ("NOFILE", (24, 40, 64)),
    ("NPROC", (1, 8, 20)),
    ("AS", (400 * MIB, 1 << 30, 8 << 30)),
    ("FSIZE", (0, KIB, 20 * KIB, MIB)),
    ("STACK", (256 * KIB, MIB, 1 << 30)),
    ("CPU", (1, 2)),
    ("MEMLOCK", (0, 64 * KIB)),
    ("DATA", (64 * MIB, 256 * MIB)),
    ("CORE", (0,)),
    ("SIGPENDING", (0, 16)),
    ("MSGQUEUE", (0,)),
)
ABSURD = (
    "0", "1", "-1", "4097", "100001", str(1 << 31), str(1 << 32), str(1 << 53), str(1 << 62), str((1 << 63) - 1),
    str(1 << 63), "99999999999999999999", "1e999", "7EiB", "nan", "",
)  # fmt: skip
# Beyond the budget: starting, the fewest launches of the cells that could not be broken off, and the answer.
LATE_S = 45.0
# Thousands of workers keep their starter from the CPU: for half a minute where there are two and nobody else.
CROWDED_S = 180.0


def trials(order: random.Random) -> Iterator[Trial]:
    """Every limit and every absurd value once, shuffled."""
    every = [*_disks(), *_limits(), *_values(), *_budgets()]
    for turn in itertools.count():
        order.shuffle(every)
        for name, attempt in every:
            yield Trial(KIND, f"{name}/{turn}", attempt)


Attempt = Callable[[Sandbox, random.Random], list[str]]


def measured(
    sandbox: Sandbox,
    *words: str,
    before: Callable[[], object] | None = None,
    bound_s: float = 90.0,
    allowed: frozenset[int] | set[int] = MEASURES,
    user: bool = False,
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """Measure, and say what does not hold afterwards."""
    command, more = installed(sandbox.root.parent) if user else (COMMAND, {})
    more = {**more, **(environment or {})}
    words = ("run", *words, "--out", "o.parquet")
    ended = sandbox.run(*words, before=before, bound_s=bound_s, command=command, environment=more)
    # With no room the samples stay in o.raw, as the message says.
    return [*judge(ended, allowed), *sandbox.leftovers(), *sound_files(sandbox, killed=ended.status < 0)]


@contextlib.contextmanager
def _mounted(place: Path, options: str) -> Iterator[None]:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], capture_output=True, check=False)
    if mounted.returncode != 0:
        raise NotPossibleError(f"nothing can be mounted: {mounted.stderr.decode().strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", place], capture_output=True, check=False)


def _on_disk(options: str, where: str, sandbox: Sandbox, draw: random.Random) -> list[str]:
    place = sandbox.folder if where == "work" else sandbox.temporary
    with _mounted(place, options):
        return measured(sandbox, *draw.sample(SOME, 2), "--budget", draw.choice(("1", "4")))


def _disks() -> Iterator[tuple[str, Attempt]]:
    for where, options in itertools.product(
        ("work", "tmp"), ("size=4k", "size=100k", "size=1m", "ro", "nr_inodes=2", "mode=0")
    ):
        yield f"disk/{where}/{options}", partial(_on_disk, options, where)
    yield "disk/no-tmp", lambda sandbox, draw: _without_tmp(sandbox)


def _without_tmp(sandbox: Sandbox) -> list[str]:
    words = ("contend.open", "work.factor", "--budget", "1")
    return measured(sandbox, *words, environment={"TMPDIR": "/nonexistent/folder"})


def _limited(name: str, value: int, sandbox: Sandbox, draw: random.Random) -> list[str]:
    number = getattr(resource, f"RLIMIT_{name}")

    def limit() -> None:
        hard = resource.getrlimit(number)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(number, (most, most))
        if name == "NPROC":
            become_user()  # Root's tasks are not counted.

    # The kernel itself ends who has used up its time; where no stack can grow, it ends them by SIGSEGV.
    ended_by_kernel = {"CPU": {-signal.SIGXCPU, -signal.SIGKILL}}.get(name, set())
    allowed = MEASURES | ended_by_kernel
    words = (*draw.sample(SOME, 2), "--budget", "1")
    return measured(sandbox, *words, before=limit, allowed=allowed, user=name == "NPROC")


def _limits() -> Iterator[tuple[str, Attempt]]:
    for name, values in LIMITS:
        for value in values:
            yield f"limit/{name}={value}", partial(_limited, name, value)
    yield (
        "limit/one-cpu",
        lambda sandbox, draw: measured(
            sandbox, *SOME, "--budget", "2", before=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        ),
    )
    yield (
        "limit/nice",
        lambda sandbox, draw: measured(sandbox, *SOME, "--budget", "2", before=lambda: os.nice(19)),
    )


def _valued(workload: str, axis: str, value: str, sandbox: Sandbox, draw: random.Random) -> list[str]:
    bound_s = CROWDED_S if axis == "workers" else LATE_S
    return measured(sandbox, workload, "--set", f"{axis}={value}", "--budget", "1", bound_s=bound_s)


def _values() -> Iterator[tuple[str, Attempt]]:
    """Each number of each workload's first, so that every axis comes once, under each absurd value."""
    catalogue = read_catalogue(find_drivers().descriptions)
    met: set[str] = set()
    for workload in catalogue.workloads.values():
        for axis in workload.axes:
            if axis not in met and catalogue.axes[axis].kind in ("count", "bytes"):
                met.add(axis)
                for value in ABSURD:
                    yield f"value/{workload.id}/{axis}={value or 'empty'}", partial(_valued, workload.id, axis, value)


def _as_user(words: tuple[str, ...], sandbox: Sandbox, draw: random.Random) -> list[str]:
    return measured(sandbox, *words, before=become_user, bound_s=LATE_S, user=True)


def _plan_of_all(sandbox: Sandbox, draw: random.Random) -> list[str]:
    sizes = ", ".join(f"{number * 4096}" for number in range(489))
    (sandbox.folder / "plan.toml").write_text(
        f'schema = 1\nbudget_seconds = 60\n[[cells]]\nworkloads = ["*"]\n[cells.set]\nparent_bytes = [{sizes}]\n'
    )
    return measured(sandbox, "--plan", "plan.toml", "--budget", "0.3", bound_s=LATE_S)


def _budgets() -> Iterator[tuple[str, Attempt]]:
    yield "budget/footprint.process", partial(_as_user, ("footprint.process", "--budget", "2"))
    yield "budget/footprint.thread", partial(_as_user, ("footprint.thread", "--budget", "2"))
    yield "budget/plan-of-all", _plan_of_all
