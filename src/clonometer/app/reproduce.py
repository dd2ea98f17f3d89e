"""``reproduce``: the published studies, measured again here, judged and reconciled."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from clonometer.app.live import live
from clonometer.app.measuring import find_catalogue
from clonometer.app.run_cache import RunCache, observe_demos
from clonometer.app.shown import shown_as
from clonometer.errors import UsageError
from clonometer.host.facts import collect
from clonometer.host.memory import free_bytes
from clonometer.results.machine_state import say_load
from clonometer.runner.interfaces import SILENT, Progress
from clonometer.studies.answer import answer
from clonometer.studies.explained import EXPLANATIONS
from clonometer.studies.measured import merge
from clonometer.studies.needs import needs_of, restricted
from clonometer.studies.parts import load_part, plans_for, say_shrunk
from clonometer.studies.published import load_published
from clonometer.studies.types import Reproduction

__all__ = ["reproduce"]


@shown_as("studies", "studies_document")
def reproduce(
    studies: Iterable[str] = (),
    *,
    quick: bool = False,
    out: str | os.PathLike[str],
    budget_s: float | None = None,
    seed: int = 1,
    force: bool = False,
    progress: Progress = SILENT,
) -> Reproduction:
    """Repeat the published studies on this machine, and say which of their claims hold here.

    What the folder has is not measured again, so that the same call resumes one that was interrupted. Call it from the
    main thread, as `clonometer.run`.

    Parameters
    ----------
    studies
        Names of studies, by default of all; or ids of single claims and figures, such as ``S12``: only what these need
        is measured, in a folder of their own (`folder_of`).
    quick
        Fewer processes and less memory: 3 minutes instead of 20.
    out
        The folder where run files are kept.
    budget_s
        Of single claims: measure this many seconds longer, beyond what is kept.
    seed
        Fixes the order.
    force
        Measure again what the folder has.
    progress
        Watches.

    Raises
    ------
    UsageError
        If something of that name does not exist, or the folder has runs of another machine.
    OutputError
        If the folder cannot be made, or a file of it cannot be written.
    DriverError
        If no driver can be used.
    KeyboardInterrupt
        The user has had enough; what was measured is kept.
    """
    names, are_claims = _chosen(studies)
    if budget_s is not None and not are_claims:
        raise UsageError("--budget applies to single claims, such as clonometer reproduce S12 --budget 2m")
    drivers, catalogue = find_catalogue(progress)
    available = free_bytes(live())
    items = load_published().items_named(names)
    of_studies = tuple(dict.fromkeys(item.study for item in items)) or names
    loaded = [load_part(name, catalogue, quick=quick, available_bytes=available) for name in plans_for(of_studies)]
    plans = [plan for plan, _ in loaded]
    explanations = {name for name, wanted in EXPLANATIONS.items() if wanted.study in of_studies}
    observes = True
    if items:
        needs = [needs_of(item, plans, collect()) for item in items]
        plans = restricted(plans, needs)
        explanations = {name for each in needs for name in each.explained}
        observes = any(each.observed for each in needs)
    notes = tuple(dict.fromkeys(note for _, shrunk in loaded for note in say_shrunk(shrunk)))
    cache = RunCache(folder_of(names, Path(out)), force=force, progress=progress)
    began = time.monotonic()
    share_s = None if budget_s is None or not plans else budget_s / len(plans)
    parts = [cache.measure(plan, catalogue, drivers, seed, share_s) for plan in plans]
    took_s = time.monotonic() - began
    explained = {
        name: cache.explain(name, EXPLANATIONS[name], catalogue, drivers, quick=quick) for name in sorted(explanations)
    }
    return answer(
        merge(parts, observe_demos(progress) if observes else None, explained),
        names,
        notes=() if items else notes,
        # Of the first plan: what came later also ran beside our own.
        busy=say_load(parts[0].host) if parts else "",
        quick=quick,
        seed=seed,
        catalogue=catalogue,
        longer=_longer(budget_s or took_s, quick=quick) if items else "",
    )


def folder_of(studies: Iterable[str], out: Path) -> Path:
    """Where in ``out`` the run files are: claims have a folder of their own.

    Raises
    ------
    UsageError
        If something of that name does not exist.
    """
    names, are_claims = _chosen(studies)
    return out / "-".join(names) if are_claims else out


def _chosen(studies: Iterable[str]) -> tuple[Sequence[str], bool]:
    """The ids of the claims that are asked for, or the names of the studies; and whether they are claims."""
    published, asked = load_published(), tuple(studies)
    items = published.items_named(asked)
    return tuple(item.id for item in items) or published.choose(asked), bool(items)


def _longer(took_s: float, *, quick: bool) -> str:
    """The options of what measures a single claim for so long that its intervals are half as wide: four times."""
    seconds = max(60, 30 * math.ceil(4 * took_s / 30))
    return f"{'--quick ' if quick else ''}--budget {seconds}s"
