"""What a run of the plan brings to a fit: for each condition what its parent had, and how long its calls took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clonometer.model.features import HUGE_PAGE_BYTES, PAGES_OF_HUGE, SMALL_PAGE_BYTES, Features, add_features
from clonometer.results.rows.groups import failed_launches
from clonometer.results.rows.source import RunSource, null_mask
from clonometer.stats.quantiles import Floats


@dataclass(frozen=True)
class MeasuredCondition:
    """One condition of a run, with every axis.

    ``features`` are what the parent had, None where the model has no terms for that; ``columns`` have for each quantity
    in ns, and for each process, its samples, without null.
    """

    cell: str
    workload: str
    condition: Mapping[str, Any]
    features: Features | None
    columns: Mapping[str, tuple[Floats, ...]]


def read_conditions(run: RunSource) -> list[MeasuredCondition]:
    """Read the conditions of a run that have samples, in the order of the plan."""
    base = base_of([block.facts for block in run.document.blocks])
    cells = set(run.cells())
    return [
        MeasuredCondition(
            cell=entry.cell,
            workload=entry.workload,
            condition=entry.condition,
            features=features_of(entry.condition, base),
            columns=_columns(run, entry.cell),
        )
        for entry in run.document.plan.cells
        if entry.cell in cells
    ]


def _columns(run: RunSource, cell: str) -> dict[str, tuple[Floats, ...]]:
    names = [name for name, column in run.document.columns.items() if column.unit == "ns"]
    columns = run.columns(cell, ["process", *names, "errno"])
    process, sound = columns["process"], ~failed_launches(columns)
    read = {}
    for name in names:
        if name not in columns:
            continue
        valid = sound & ~null_mask(columns[name])
        values = columns[name][valid].astype(np.float64)
        owners = process[valid]
        read[name] = tuple(values[owners == owner] for owner in np.unique(owners))
    return {name: groups for name, groups in read.items() if groups}


def base_of(facts: Sequence[Mapping[str, Any]]) -> Features:
    """What the measuring process has by itself: the least that any block saw, by its facts."""

    def least(key: str) -> int:
        return min((entry[key] for entry in facts if entry.get(key, -1) >= 0), default=0)

    areas = least("anon_areas")
    pages = least("anon_bytes") // SMALL_PAGE_BYTES
    return Features(
        anon_areas=areas,
        anon_pages=pages,
        anon_tables=min(areas, pages),
        file_areas=max(0, least("vmas") - areas),
        open_files=least("open_files"),
        threads=1,
    )


def features_of(condition: Mapping[str, Any], base: Features) -> Features | None:
    """Say what a parent of this condition has; None where the model has no terms for it.

    The condition has every axis of a launch; ``base`` is what a parent has without any.
    """
    if "parent_bytes" not in condition:
        return None
    with_memory = _with_memory(base, condition["page_kind"], condition["parent_bytes"])
    with_areas = with_memory and _with_areas(with_memory, condition["vma_kind"], condition["vmas"])
    return with_areas and replace(
        with_areas,
        open_files=base.open_files + condition["open_files"],
        threads=base.threads + condition["parent_threads"],
        # A stack each, with written pages, beside an area that guards it.
        anon_areas=with_areas.anon_areas + condition["parent_threads"],
        anon_pages=with_areas.anon_pages + condition["parent_threads"],
        empty_areas=with_areas.empty_areas + condition["parent_threads"],
    )


def _with_memory(base: Features, kind: str, length: int) -> Features | None:
    small, huge = length // SMALL_PAGE_BYTES, -(-length // HUGE_PAGE_BYTES)
    match kind:
        case _ if length == 0:
            return base
        case "4k":
            more = Features(anon_areas=1, anon_pages=small, anon_tables=huge)
        case "sparse":
            more = Features(anon_areas=1, anon_pages=huge, anon_tables=huge)
        case "thp":
            more = Features(anon_areas=1, huge_pages=huge)
        case "hugetlb":
            more = Features(anon_areas=1, hugetlb_pages=huge, hugetlb_page_bytes=HUGE_PAGE_BYTES)
        case _:
            return None
    return _sum(base, more)


def _with_areas(base: Features, kind: str, count: int) -> Features:
    tables = -(-count // PAGES_OF_HUGE)
    match kind:
        case _ if count == 0:
            return base
        case "touched":
            more = Features(anon_areas=count, anon_pages=count, anon_tables=tables)
        case "dontfork":
            more = Features(dontfork_areas=count, dontfork_pages=count)
        case "wipeonfork":
            more = Features(wipeonfork_areas=count, wipeonfork_pages=count)
        case "file":
            more = Features(shared_areas=count, shared_pages=count)
        case _:
            more = Features(empty_areas=count)
    return _sum(base, more)


def _sum(base: Features, more: Features) -> Features:
    return replace(add_features([base, more]), threads=base.threads, open_files=base.open_files)
