"""Arranges estimates as the rows of a table: a row a mechanism and stage, its temperatures side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from clonometer.families import END
from clonometer.families import family as family_of
from clonometer.grouping import group_by
from clonometer.results.cell_outcomes import CellOutcome
from clonometer.results.types import Estimate, Results
from clonometer.units import (
    Figures,
    approximate_bytes,
    bytes_unit,
    format_figure,
    format_share,
    shown_unit,
    supported_decimals,
    table_unit,
)
from clonometer.views.labels import condition_phrases, cpu_name, family_place, shown_axes
from clonometer.views.table import DRIFTS, MISSING
from clonometer.words import STAGE_ORDER, counted, mechanism_name, stage_explanation, stage_name, stage_place

_BYTE_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
TEMPERATURES = ("warm", "cold", None)
_NULL_IS_UNLIMITED = {"cgroup.cpu_quota_cpus", "cgroup.memory_max_bytes", "cgroup.pids_max"}
_Row = TypeVar("_Row")


@dataclass(frozen=True)
class EstimateRow:
    """One mechanism under one condition, one stage and one observed placement; an estimate a temperature."""

    workload: str
    mechanism: str
    phrases: tuple[str, ...]
    stage: str
    family: str
    distance: int
    rankable: bool
    estimates: dict[str | None, Estimate] = field(default_factory=dict)

    @property
    def group(self) -> tuple[str, tuple[str, ...]]:
        """What the rows of one mechanism under one condition have in common."""
        return (self.workload, self.phrases)

    @property
    def is_instrument(self) -> bool:
        """Whether it is what measuring itself costs."""
        return family_of(self.family).instrument

    @property
    def label(self) -> str:
        """The mechanism with its condition."""
        return ", ".join(self.label_parts())

    def label_parts(self, without: Sequence[str] = ()) -> tuple[str, ...]:
        """The same in phrases, but for those that are said elsewhere."""
        return (self.mechanism, *(phrase for phrase in self.phrases if phrase not in without))

    @property
    def any_estimate(self) -> Estimate:
        """One of the estimates, for what they share."""
        return next(iter(self.estimates.values()))


def make_rows(cells: Iterable[Estimate]) -> list[EstimateRow]:
    """Arrange estimates as rows: by family, then mechanisms as planned, then stages in order of time."""
    rows: dict[tuple[object, ...], EstimateRow] = {}
    groups: dict[tuple[object, ...], int] = {}
    for estimate in cells:
        phrases = condition_phrases(estimate.cell, estimate.condition, estimate.placement)
        key = (estimate.workload, phrases, estimate.stage, estimate.quantity)
        if key not in rows:
            groups.setdefault((estimate.workload, phrases), len(groups))
            rows[key] = EstimateRow(
                estimate.workload,
                mechanism_name(estimate.workload),
                phrases,
                stage_name(estimate.stage, estimate.quantity),
                estimate.family,
                len(shown_axes(estimate.cell)),
                estimate.rankable,
            )
        rows[key].estimates[estimate.temperature] = estimate
    return sorted(
        rows.values(),
        key=lambda row: (family_place(row.family), groups[row.group], stage_place(row.any_estimate.stage)),
    )


def shared_phrases(rows: Sequence[EstimateRow]) -> tuple[str, ...]:
    """What is true of all rows of a table, which its heading says once for them; nothing of a single row."""
    first = rows[0].phrases if len(rows) > 1 else ()
    return tuple(phrase for phrase in first if all(phrase in row.phrases for row in rows))


def pick_rows(rows: Sequence[EstimateRow], room: int) -> list[EstimateRow]:
    """Choose the rows of the short table.

    Details are left out wherever something else was measured. All others, if they fit in ``room`` rows. Otherwise each
    workload's plainest condition (the fewest axes off their default), then further conditions, whole mechanisms at a
    time, while there is room. What the instrument itself costs is left out wherever something else was measured.
    """
    launches = [row for row in rows if not row.is_instrument] or list(rows)
    launches = [row for row in launches if not row.any_estimate.detail] or launches
    if len(launches) <= room:
        return launches
    nearest: dict[str, int] = {}
    for row in launches:
        nearest[row.workload] = min(row.distance, nearest.get(row.workload, row.distance))
    chosen = {row.group for row in launches if row.distance == nearest[row.workload]}
    taken = sum(row.group in chosen for row in launches)
    for group in dict.fromkeys(row.group for row in sorted(launches, key=lambda row: row.distance)):
        size = sum(row.group == group for row in launches)
        if group not in chosen and taken + size <= room:
            chosen.add(group)
            taken += size
    return [row for row in launches if row.group in chosen]


def first_ranked(rows: Sequence[_Row], rank: Callable[[_Row], Any], room: int) -> list[_Row]:
    """Choose the rows that rank first, as many as there is ``room`` for, in the order that they have."""
    ranked = sorted(range(len(rows)), key=lambda place: rank(rows[place]))
    return [rows[place] for place in sorted(ranked[:room])]


def is_part(stage: str | None) -> bool:
    """Whether a stage is before the end of a launch, which contains it; None is what has no stages."""
    return stage not in (END, None)


def families(rows: Sequence[EstimateRow]) -> dict[str, list[EstimateRow]]:
    """Split rows by family, in the order of the tables."""
    return group_by((row.family, row) for row in rows)


def temperatures(rows: Iterable[EstimateRow]) -> list[str | None]:
    """The temperatures that occur in rows, warm first."""
    measured = {warmth for row in rows for warmth in row.estimates}
    return [warmth for warmth in TEMPERATURES if warmth in measured]


def rows_unit(rows: Iterable[EstimateRow]) -> str:
    """The unit that suits all medians of the rows: of sizes, if the first of them is one."""
    estimates = [estimate for row in rows for estimate in row.estimates.values()]
    if estimates and estimates[0].unit == "bytes":
        return bytes_unit(estimate.value for estimate in estimates)
    medians = (estimate.median_ns for estimate in estimates)
    return table_unit(None if median is None else abs(median) for median in medians)


def floor_costs(rows: Sequence[EstimateRow]) -> list[tuple[EstimateRow, Estimate]]:
    """What the instrument itself costs: one figure of each workload, the one that its finding tells.

    That is the last stage of the plainest condition, which contains the others, and warm launches where there are any.
    """
    last: dict[str, EstimateRow] = {}
    for row in rows:
        before = last.get(row.workload)
        if row.is_instrument and (before is None or row.distance <= before.distance):
            last[row.workload] = row
    return [
        (row, next(row.estimates[warmth] for warmth in (None, *TEMPERATURES) if warmth in row.estimates))
        for row in last.values()
    ]


def row_unit(row: EstimateRow, launches_unit: str) -> str:
    """The unit of a row: stages of launches share one in each family, anything else has its own."""
    return launches_unit if row.any_estimate.stage else rows_unit([row])


def launches_unit(rows: Sequence[EstimateRow]) -> str:
    """The unit that suits the stages among rows; of all of them where there is no stage."""
    return rows_unit([row for row in rows if row.any_estimate.stage] or rows)


def quantity_label(row: EstimateRow) -> str:
    """What a row's figures are: the stage, or the quantity with its unit, if it has one."""
    estimate = row.any_estimate
    if estimate.stage:
        return row.stage
    timed = estimate.value is None and estimate.unit != "count"
    unit = rows_unit([row]) if timed or estimate.unit == "bytes" else value_unit(estimate)
    return f"{row.stage}, {unit}" if unit else row.stage


def median_text(estimate: Estimate | None, unit: str) -> Figures:
    """Write an estimate's median and interval in ``unit``; for an interval that it lacks a dash, or why it does.

    What lies below the resolution is written as ``< x``; what was not measured as a dash. Sizes are written in
    ``unit`` where that is one of bytes, else in what suits them; what is neither time nor size in its own unit,
    whatever ``unit`` is.
    """
    if estimate is None:
        return Figures(MISSING)
    is_size = estimate.unit == "bytes" and unit in _BYTE_UNITS
    written = estimate.figures(unit if estimate.value is None or is_size else None)
    if written is None:
        return Figures(MISSING)
    if written.low or written.value.startswith("<"):
        return written
    return written._replace(low=MISSING if estimate.drift is None else DRIFTS)


def plain_figure(time_ns: float | None, unit: str) -> str:
    """Write a single duration in ``unit`` to three digits, or a dash."""
    return "-" if time_ns is None else format_figure(time_ns, supported_decimals(abs(time_ns), None, None, unit), unit)


def share_text(share: float | None) -> str:
    """Write a share as a percentage, or a dash."""
    return "-" if share is None else format_share(share)


def quantity_text(estimate: Estimate) -> str:
    """Write an estimate that stands alone, with its own unit; a dash where there is none."""
    written = estimate.figures()
    return MISSING if written is None else written.short


def value_unit(estimate: Estimate) -> str:
    """The unit in which an estimate that is no time is written; empty for counts."""
    return "" if estimate.value is None else shown_unit(estimate.value, estimate.unit)


def host_phrases(results: Results) -> list[str]:
    """Say in short on what machine the run was made."""
    host = results.host
    kernel = str(host.get("kernel.release") or "?").split("-")[0]
    hypervisor = host.get("virt.hypervisor") or "none"
    count = host.get("cpu.online")
    phrases = [
        cpu_name(str(host["cpu.model"])) if host.get("cpu.model") else "unknown CPU",
        counted(count, "CPU") if count else "",
        f"Linux {kernel}",
        "no hypervisor" if hypervisor == "none" else str(hypervisor),
        effective_frequency(results),
        f"THP {host['thp.enabled']}" if host.get("thp.enabled") else "",
        str(host.get("mitigations.summary") or ""),
    ]
    return [phrase for phrase in phrases if phrase]


def effective_frequency(results: Results) -> str:
    """Say the effective frequency of the CPUs: one number where the cells agree to 1%, else the range."""
    frequencies_mhz = sorted(estimate.effective_mhz for estimate in results.cells if estimate.effective_mhz)
    if not frequencies_mhz:
        return ""
    if frequencies_mhz[-1] <= frequencies_mhz[0] * 1.01:
        return f"{frequencies_mhz[len(frequencies_mhz) // 2]:.0f} MHz"
    return f"{frequencies_mhz[0]:.0f} to {frequencies_mhz[-1]:.0f} MHz"


def explained_stages(results: Results) -> list[tuple[str, str]]:
    """The stages of a run that need to be explained: the name of each, and what it is."""
    measured = {estimate.stage for estimate in results.cells}
    explained = [stage for stage in STAGE_ORDER if stage in measured and stage_explanation(stage)]
    return [(stage_name(stage), stage_explanation(stage)) for stage in explained]


def failures(results: Results) -> list[tuple[str, list[CellOutcome]]]:
    """The cells that gave no result, those with the same status and reason together.

    What was measured without one sample that counts is among them: a table of dashes does not say why.
    """
    grouped: dict[tuple[str, str], list[CellOutcome]] = {}
    rows = group_by((estimate.cell, estimate) for estimate in results.cells)
    for status in results.cell_outcomes:
        reason = _why_no_sample(rows.get(status.cell, [])) if status.status == "ok" else status.reason
        if status.status != "ok" or reason:
            named = "no sample" if status.status == "ok" else status.status
            grouped.setdefault((named, reason or "no reason was given"), []).append(status)
    return [(f"{status}: {reason}", cells) for (status, reason), cells in grouped.items()]


def _why_no_sample(rows: Sequence[Estimate]) -> str | None:
    """Why no row of a cell has a sample; None where one has, and where nothing is known of the cell."""
    if not rows or any(estimate.n_samples for estimate in rows):
        return None
    outcomes = rows[0].outcomes
    failed = [f"{count} {name}" for name, count in sorted(outcomes.items()) if name != "ok" and count]
    if failed and not outcomes.get("ok"):
        return f"every launch failed: {', '.join(failed)}"
    return "in each, a stage came before the call or after reaping" if rows[0].clock_skew else "every value is missing"


_ENDED = {
    "target": "with intervals as narrow as requested",
    "budget": "when the budget was spent",
    "processes": "with the requested number of processes",
}


def what_ended(results: Results, most: int = 3) -> str:
    """Say why the measuring of cells ended; empty where that is not known."""
    ended = [status for status in results.cell_outcomes if status.status == "ok" and status.stopped_by is not None]
    grouped = group_by((status.stopped_by, status.cell) for status in ended)
    whole = sum(map(len, grouped.values()))
    parts = []
    for reason, words in _ENDED.items():
        cells = grouped.get(reason)
        if cells:
            named = "" if len(cells) > most or len(cells) == whole else f" ({', '.join(cells)})"
            parts.append(f"{len(cells)} {words}{named}")
    return f"Of {counted(whole, 'cell')} ended: {'; '.join(parts)}." if parts else ""


def fact_text(key: str, value: object) -> str:
    """Write a host fact for reading."""
    if value is None:
        return "unlimited" if key in _NULL_IS_UNLIMITED or key.startswith("limit.") else "not known"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return _count_text(key, value)
    if isinstance(value, dict):
        return "; ".join(f"{name}: {inner}" for name, inner in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(item) for item in value) or "none"
    return str(value)


def _count_text(key: str, value: int) -> str:
    if key.endswith("_bytes"):
        return approximate_bytes(value)
    return f"{value:,}" if abs(value) >= 10_000 else str(value)
