"""Arrays ready to plot: distributions of launch times, and launch time against the parent's memory."""

from __future__ import annotations

from clonometer.results.evidence import STAGES, Book, Evidence
from clonometer.results.findings.wording import linkage, mechanism
from clonometer.results.types import EcdfSeries, MemorySeries
from clonometer.stats.ecdf import thin_ecdf

_PLOTTED_FAMILIES = ("same_image", "new_program")
_PLOTTED_AXES = frozenset(("placement", "linkage"))
_PLACES = {"same_cpu": "same CPU", "other_cpu": "other CPU"}


def ecdf_series(book: Book) -> tuple[EcdfSeries, ...]:
    """Distributions of every launch without extra memory: all stages, placements and linkages.

    Times are rounded to whole ns and fractions to 5 digits, so that a report stays small.

    Returns
    -------
    tuple of EcdfSeries
        In the order of the plan; empty where nothing was launched.
    """
    found = []
    for row in book.rows:
        estimate = row.estimate
        changes = book.changes(estimate)
        if estimate.family not in _PLOTTED_FAMILIES or estimate.stage is None or set(changes) - _PLOTTED_AXES:
            continue
        x, fraction = thin_ecdf(row.group.values.round())
        found.append(
            EcdfSeries(
                label=_label(row, changes),
                cell=estimate.cell,
                workload=estimate.workload,
                family=estimate.family,
                stage=estimate.stage,
                placement=estimate.placement,
                temperature=estimate.temperature,
                x_ns=tuple(x.tolist()),
                fraction=tuple(round(one, 5) for one in fraction.tolist()),
            )
        )
    return tuple(found)


def _label(row: Evidence, changes: dict[str, int | str]) -> str:
    words = [mechanism(row.estimate.workload)]
    if "linkage" in changes:
        words.append(linkage(changes["linkage"]))
    if "placement" in changes:
        words += [str(changes["placement"]), *filter(None, [_PLACES.get(row.estimate.placement or "")])]
    return ", ".join(words)


def memory_series(book: Book) -> tuple[MemorySeries, ...]:
    """Warm launch time against the parent's memory, for each workload, stage and state of pages.

    Where a workload has no warm cells its cold ones stand in. Other axes are at their defaults. A series has
    at least two sizes.
    """
    found = []
    with_memory = (row.estimate for row in book.rows if "parent_bytes" in row.estimate.condition)
    for workload in dict.fromkeys(estimate.workload for estimate in with_memory):
        for stage in STAGES:
            for pages, points in _by_pages(book, workload, stage).items():
                if len({point.estimate.condition["parent_bytes"] for point in points}) < 2:
                    continue
                found.append(_memory_series(workload, stage, pages, points))
    return tuple(found)


def _memory_series(workload: str, stage: str, pages: str, points: list[Evidence]) -> MemorySeries:
    points = sorted(points, key=lambda point: int(point.estimate.condition["parent_bytes"]))
    rows = [point.estimate for point in points]
    return MemorySeries(
        workload=workload,
        label=mechanism(workload) + ("" if pages == "rewritten" else f", {pages} pages"),
        stage=stage,
        pages=pages,
        parent_bytes=tuple(int(row.condition["parent_bytes"]) for row in rows),
        median_ns=tuple(row.median_ns or 0.0 for row in rows),
        low_ns=tuple(row.median_low_ns or 0.0 for row in rows),
        high_ns=tuple(row.median_high_ns or 0.0 for row in rows),
    )


def _by_pages(book: Book, workload: str, stage: str) -> dict[str, list[Evidence]]:
    temperatures = {row.estimate.temperature for row in book.rows if row.estimate.workload == workload}
    temperature = next((one for one in ("warm", "cold", None) if one in temperatures), None)
    groups: dict[str, list[Evidence]] = {}
    for row in book.rows:
        estimate = row.estimate
        changes = book.changes(estimate)
        if (estimate.workload, estimate.stage, estimate.temperature) != (workload, stage, temperature):
            continue
        if set(changes) - {"parent_bytes", "pages"} or "parent_bytes" not in estimate.condition:
            continue
        if book.main(workload, changes, temperature, stage) is row:
            groups.setdefault(str(estimate.condition.get("pages", "rewritten")), []).append(row)
    return groups
