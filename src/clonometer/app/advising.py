"""The terms of this machine for ``advise``: measured when they are missing, kept, and read again."""

from __future__ import annotations

import gzip
import math
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from clonometer.advice.basis import AdviceBasis
from clonometer.advice.costs import BUSY, lacking
from clonometer.advice.designs import DESIGNS
from clonometer.advice.measured import IN_C, lacks_of, launches_of, terms_of
from clonometer.advice.store import NAME, merged, read_terms, save_terms
from clonometer.advice.terms import MemoryPoint, Terms, TermSpan
from clonometer.advice.wish import KEPT, ServerMachine, Wish
from clonometer.app.calibrating import calibrate_first
from clonometer.app.measuring import briefly_measured, find_catalogue
from clonometer.app.predicting import usable_calibration
from clonometer.errors import InputError, OutputError, UsageError
from clonometer.host.facts import collect
from clonometer.model import calibration as names
from clonometer.model.calibration import Calibration
from clonometer.model.features import PAGES_OF_HUGE, SMALL_PAGE_BYTES, Features
from clonometer.model.predictor import cost_of
from clonometer.model.store import default_path, machine_of
from clonometer.plan.adhoc import apply_settings, plan_from_arguments
from clonometer.plan.planfile import load_plan
from clonometer.plan.types import Plan
from clonometer.results.machine_state import say_load
from clonometer.runner.interfaces import SILENT, Progress

PLAN = "advise"
#: What the memory of a parent is calculated for; between these on a line.
_SIZES = (0, 1 << 20, 16 << 20, 256 << 20, 1 << 30, 4 << 30, 64 << 30)
#: The scheduler's slice in its sources (kernel/sched/fair.c), times 1 + log2 of the CPUs; it ends at a tick.
_SLICE_NS, _MOST_CPUS_OF_SLICE = 700_000.0, 8
_USUAL_HZ = 250
_C = "c"
_LANGUAGE_S = 15.0


def machine_here() -> ServerMachine:
    """Say what this process may use here."""
    total = collect().get("memory.total_bytes")
    return ServerMachine(len(os.sched_getaffinity(0)), total if isinstance(total, int) else None)


def basis_for(
    wish: Wish, *, seed: int, anew: bool = False, rate_hz: int | None = None, progress: Progress = SILENT
) -> AdviceBasis:
    """Give what an answer rests on; what was not measured yet is measured and kept.

    ``rate_hz`` replaces the rate at which designs are measured: servers that hardly sleep find their caches warm.

    Raises
    ------
    DriverError
        If no driver can be used.
    KeyboardInterrupt
        The user has had enough.
    """
    terms = _terms(wish, seed=seed, anew=anew, rate_hz=rate_hz, progress=progress)
    memory = _memory(progress, needed=wish.memory_bytes > 0)
    slice_ns, note = _slice()
    return AdviceBasis(terms, memory, slice_ns, [note] if note else [])


def _terms(wish: Wish, *, seed: int, anew: bool, rate_hz: int | None, progress: Progress) -> Terms:
    machine = machine_of(collect())
    path = default_path().with_name(NAME)
    kept = None if anew else _kept(path, progress)
    if kept is not None and dict(kept.machine) != machine:
        kept = None
    # First what takes less, and may be misspelt.
    if wish.language != _C and not (kept and _has_language(kept, wish.language)):
        progress.say(f"clonometer: what {wish.language} takes more than C is measured first, once (15 s)")
        kept = merged(kept, _of_language(wish.language, machine, seed, progress), machine)
        _keep(kept, path, progress)
    if kept is None or not _has_designs(kept, wish):
        progress.say("clonometer: what servers cost here is measured first, once (about a minute)")
        kept = merged(kept, _of_designs(wish, machine, seed, rate_hz, progress), machine)
        _keep(kept, path, progress)
    return kept


def _keep(terms: Terms, path: Path, progress: Progress) -> None:
    try:
        save_terms(terms, path)
    except OutputError as error:
        progress.say(f"clonometer: the terms are not kept: {error.message}")


def _kept(path: Path, progress: Progress) -> Terms | None:
    try:
        return read_terms(path)
    except InputError as error:
        progress.say(f"clonometer: {error.message}")
        return None


def _has_designs(terms: Terms, wish: Wish) -> bool:
    """Whether no design lacks a term that was not already tried in vain."""
    bare = replace(wish, memory_bytes=0, written_bytes=0, language=_C)
    return all(not lacking(design, bare, terms.terms) or design.workload in terms.lacks for design in DESIGNS)


def _has_language(terms: Terms, language: str) -> bool:
    return any(name.startswith(f"{language}.") for name in terms.terms)


def _of_designs(wish: Wish, machine: dict[str, str], seed: int, rate_hz: int | None, progress: Progress) -> Terms:
    busy = say_load(collect())
    drivers, catalogue = find_catalogue(progress)
    plan: Plan = load_plan(PLAN, catalogue)
    settings = [f"connections={wish.connections}", f"transport={wish.transport}"]
    # What all designs can have, and a task that stays with its connection too.
    settings += ["clients=1"] if wish.connections == KEPT else []
    settings += [] if rate_hz is None else [f"rate_hz={rate_hz}"]
    plan = replace(apply_settings(plan, settings, catalogue), name=PLAN)
    with briefly_measured(plan, catalogue, drivers, seed=seed, progress=progress) as (run, _):
        terms, lacks = terms_of(run), lacks_of(run)
    if rate_hz is not None:
        terms |= {name.removeprefix(BUSY): term for name, term in terms.items() if name.startswith(BUSY)}
    return Terms(int(time.time()), machine, terms, lacks, busy)


def _of_language(language: str, machine: dict[str, str], seed: int, progress: Progress) -> Terms:
    """What launches, hand-overs and connections cost more in a language than in C, both measured in turn."""
    busy, names = say_load(collect()), launches_of(language)
    drivers, catalogue = find_catalogue(progress, names)
    measurable = [name for name in names if name in catalogue.workloads and catalogue.workloads[name].available]
    if not measurable:
        languages = sorted({name.partition(".")[0] for name in catalogue.workloads if name.endswith(".os_thread")})
        raise UsageError(
            f"nothing of the language {language!r} can be measured here",
            f"c, or one of {', '.join(languages)}" if languages else "'clonometer drivers' says why",
        )
    plan = plan_from_arguments([*measurable, *IN_C], [], catalogue, budget_seconds=_LANGUAGE_S)
    with briefly_measured(plan, catalogue, drivers, seed=seed, progress=progress) as (run, _):
        terms = {name: term for name, term in terms_of(run).items() if name.startswith(f"{language}.")}
    return Terms(int(time.time()), machine, terms, {}, busy)


def _memory(progress: Progress, *, needed: bool) -> Sequence[MemoryPoint]:
    """What a parent's memory adds to a fork and to its child's end, by the calibration of ``predict``."""
    try:
        calibration = usable_calibration()
    except InputError as error:
        progress.say(f"clonometer: {error.message}")
        calibration = None
    if calibration is None and not needed:
        return ()
    if calibration is None:
        calibration = calibrate_first(progress)
    return [_memory_point(size_bytes, calibration) for size_bytes in _SIZES]


def _memory_point(size_bytes: int, calibration: Calibration) -> MemoryPoint:
    pages = size_bytes // SMALL_PAGE_BYTES
    tables = -(-pages // PAGES_OF_HUGE)
    more = Features(anon_areas=2, anon_pages=pages + 1, anon_tables=tables + 1, threads=1)
    less = Features(anon_areas=1, anon_pages=1, anon_tables=1, threads=1)
    return MemoryPoint(size_bytes, *(_added(more, less, calibration, models) for models in (_CALLS, (names.EXIT,))))


#: A server that forks for its requests has caches between hot and cold, and does not rewrite its memory in between.
_CALLS = (names.FORK_UNWRITTEN_HOT, names.FORK_UNWRITTEN)


def _added(more: Features, less: Features, calibration: Calibration, models: Sequence[str]) -> TermSpan:
    """What one process costs above another by several models: between them, and as far off as these fit."""
    ends = []
    for name in models:
        model = calibration.models[name]
        added_ns = max(0.0, cost_of(more, model).median_ns - cost_of(less, model).median_ns)
        ratio = math.exp(1.96 * model.misfit)
        ends += [added_ns / ratio, added_ns, added_ns * ratio]
    middle = sum(ends[1::3]) / len(models)
    return TermSpan(middle, min(ends), max(ends))


def _slice() -> tuple[float, str | None]:
    """How long a task runs while others wait: the scheduler's slice, which ends at a tick of the clock."""
    cpus = min(os.cpu_count() or 1, _MOST_CPUS_OF_SLICE)
    wanted_ns = _SLICE_NS * (1 + int(math.log2(cpus)))
    hz = _ticks_hz()
    tick_ns = 1e9 / (hz or _USUAL_HZ)
    note = None if hz else f"The kernel does not say its tick here: {_USUAL_HZ} a second were taken."
    return math.ceil(wanted_ns / tick_ns) * tick_ns, note


def _ticks_hz() -> int | None:
    """The kernel's ticks a second, by its configuration; None where that cannot be read."""
    with suppress(OSError, EOFError, ValueError):
        for line in gzip.decompress(Path("/proc/config.gz").read_bytes()).decode("ascii", "replace").splitlines():
            if line.startswith("CONFIG_HZ="):
                return int(line.removeprefix("CONFIG_HZ="))
    return None
