"""Arranges comparisons for every view: labels, texts of figures and of verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clonometer.results.compare.types import (
    SAME,
    UNDECIDED,
    VERDICTS,
    Compared,
    ComparedPair,
    ComparedRow,
    Difference,
    LeftOut,
)
from clonometer.units import bytes_unit, format_share, ratio_figures
from clonometer.views.labels import condition_phrases
from clonometer.views.rows import fact_text
from clonometer.words import mechanism_name, stage_name

_KEYS = {
    "host.name_hash": "machine",
    "cpu.model": "CPU",
    "cpu.microcode": "microcode",
    "kernel.release": "kernel",
    "effective_mhz": "effective MHz",
    "thp.enabled": "THP",
    "libc.version": "libc",
    "mitigations.summary": "mitigations",
    "clonometer_version": "Clonometer",
    "status": "how the run ended",
}
# Said whatever else differs: what was measured otherwise, and what moves launches most.
_ALWAYS = (
    "option.",
    "host.name_hash",
    "cpu.model",
    "kernel.release",
    "cpu.microcode",
    "mitigations.",
    "effective_mhz",
    "thp.enabled",
    "libc.version",
)
_COMMON = {"cold": "cold rows", "warm": "warm rows", "all": "all rows"}


@dataclass(frozen=True)
class ComparisonText:
    """One row as texts: what it is, its figures, its verdict."""

    label_parts: tuple[str, ...]
    stage: str
    ratio: str
    low: str
    high: str
    verdict: str
    row: ComparedRow

    @property
    def label(self) -> str:
        """What is compared, and under which condition."""
        return ", ".join(self.label_parts)

    @property
    def interval(self) -> str:
        """The interval, or a dash."""
        return f"{self.low} – {self.high}" if self.high else "-"


def comparison_text(row: ComparedRow) -> ComparisonText:
    """Write a row; what does not exist is a dash."""
    stage = stage_name(row.other.stage, row.other.quantity)
    if not row.is_time and row.other.unit != "count":
        stage = f"{stage}, {sizes_unit(row) or row.other.unit}"
    if row.ratio is None:
        return ComparisonText(_label_parts(row), stage, "-", "", "", verdict_text(row), row)
    if row.low is None or row.high is None:
        return ComparisonText(_label_parts(row), stage, f"{row.ratio:.3g}", "", "", verdict_text(row), row)
    return ComparisonText(
        _label_parts(row), stage, *ratio_figures(row.ratio, row.low, row.high), verdict_text(row), row
    )


def sizes_unit(row: ComparedRow) -> str:
    """The unit in which both sides of a row of sizes are written; empty where it has none."""
    return bytes_unit([row.base.value, row.other.value]) if row.other.unit == "bytes" else ""


def verdict_text(row: ComparedRow) -> str:
    """Say a verdict; sameness never without how near, and a change never without whether all else changed as much."""
    if row.like_rest:
        return f"{row.verdict}, like all"
    return f"same within {format_share(row.within)}" if row.verdict == SAME and row.within else row.verdict


def _label_parts(row: ComparedRow) -> tuple[str, ...]:
    other, base = row.other, row.base
    names = [mechanism_name(estimate.workload) for estimate in (other, base)]
    phrases = [condition_phrases(estimate.cell, estimate.condition, estimate.placement) for estimate in (other, base)]
    warmths = [(estimate.temperature,) if estimate.temperature else () for estimate in (other, base)]
    if other.cell == base.cell:
        return (names[0], *phrases[0], *warmths[0])
    conditions = [(*phrases[place], *warmths[place]) for place in (0, 1)]
    shared = [phrase for phrase in conditions[0] if phrase in conditions[1]]
    sides = [
        ", ".join([*([name] if names[0] != names[1] else []), *(phrase for phrase in parts if phrase not in shared)])
        for name, parts in zip(names, conditions, strict=True)
    ]
    against = " / ".join(side or "default" for side in sides)
    return (*([names[0]] if names[0] == names[1] else []), against, *shared)


def pick(lines: Sequence[ComparisonText], room: int) -> list[ComparisonText]:
    """Choose at most ``room`` lines: changes first, the greatest ones, those like all after them, then others.

    The order of the plan is kept.
    """
    if len(lines) <= room:
        return list(lines)

    def rank(line: ComparisonText) -> tuple[int, float]:
        ratio = line.row.ratio or 1.0
        changed = line.row.verdict not in (SAME, UNDECIDED)
        whole = line.row.other.stage in ("reaped", None)
        group = 1 if line.row.like_rest else 0 if changed else 2 if whole else 3
        return (group, -max(ratio, 1 / ratio) if changed else 0.0)

    chosen = sorted(range(len(lines)), key=lambda place: rank(lines[place]))[:room]
    return [lines[place] for place in sorted(chosen)]


def summary(compared: Compared) -> str:
    """Say all verdicts in one line, and what they are corrected for."""
    counts = compared.counts
    total = sum(counts.values())
    effect = format_share(compared.minimum_effect)
    like = {verdict: sum(row.like_rest for row in _rows(compared) if row.verdict == verdict) for verdict in VERDICTS}
    words = [
        f"{counts[verdict]} {f'same within {effect}' if verdict == SAME else verdict}"
        f"{f' ({like[verdict]} like all)' if like[verdict] else ''}"
        for verdict in VERDICTS
        if counts[verdict]
    ]
    sentence = (
        f"{total} {'rows' if total != 1 else 'row'}: {', '.join(words)}. Corrected for {compared.n_tests} tests: "
        f"chance between processes reports a change in at most {format_share(compared.error_rate)} of comparisons"
    )
    if all(row.base.cell != row.other.cell for row in _rows(compared)):
        return f"{sentence}."
    return f"{sentence}; changes between moments do so more often (clonometer noise)."


def _rows(compared: Compared) -> list[ComparedRow]:
    return [row for pair in compared.pairs for row in pair.rows]


def common_text(pair: ComparedPair) -> str:
    """Say what all rows of two runs changed by together, or that it is not known; empty within one run."""
    if not pair.rows or any(row.base.cell != row.other.cell for row in pair.rows):
        return ""
    rest = [shift for shift in pair.shifts if shift.of != "control"]
    control = next((shift for shift in pair.shifts if shift.of == "control"), None)
    apart = f"; clocks and empty loops {_times(control.ratio)}" if control else ""
    if not rest:
        return f"Too few kinds of process to know whether the machine itself changed{apart}."
    parts = [
        f"{_COMMON[shift.of]} took {_times(shift.ratio)} times as long ({shift.kinds} kinds of process, "
        f"{_times(shift.least)} to {_times(shift.most)})"
        for shift in rest
    ]
    sentence = f"What they have in common: {', '.join(parts)}{apart}."
    if any(row.like_rest for row in pair.rows):
        return f"{sentence} Rows 'like all' changed no more than that: the machine, or what all share."
    return sentence


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if 0.1 <= ratio < 10 else f"{ratio:.3g}"


def reasons(pair: ComparedPair) -> list[str]:
    """Say what was left out or not tested, the same reason once."""
    untested = [LeftOut(row.other.cell, row.reason) for row in pair.rows if row.reason is not None]
    return left_out_reasons([*pair.left_out, *dict.fromkeys(untested)])


def left_out_reasons(left_out: Sequence[LeftOut]) -> list[str]:
    """Say what was left out, the same reason once."""
    cells_of: dict[str, list[str]] = {}
    for omitted in left_out:
        cells_of.setdefault(omitted.reason, []).append(omitted.cell)
    return [
        f"{reason} ({cells[0]}{f' and {len(cells) - 1} more' if len(cells) > 1 else ''})"
        for reason, cells in cells_of.items()
    ]


def differences_text(differences: Sequence[Difference], most: int | None = None) -> str:
    """Say in what two runs differ; where there is more than ``most``, how many more.

    Kernel, microcode, mitigations, frequency, huge pages, C library and options are said even if they are more.
    """
    if not differences:
        return "The runs differ in no fact that is known of their hosts."
    keys = list(dict.fromkeys(difference.key for difference in differences))
    kept = set(keys if most is None else _kept(keys, most))
    changes_of: dict[str, list[str]] = {key: [] for key in keys if key in kept}
    for difference in differences:
        if difference.key in changes_of:
            changes_of[difference.key].append(
                f"{_fact(difference.key, difference.base)} → {_fact(difference.key, difference.other)}"
            )
    parts = [f"{_key_text(key)}: {', '.join(changes)}" for key, changes in changes_of.items()]
    more = len(keys) - len(changes_of)
    return f"The runs differ in {'; '.join(parts)}{f'; and {more} more' if more else ''}."


def _kept(keys: Sequence[str], most: int) -> list[str]:
    """Keep what is always said, and of the others what there is room for, in their order."""
    # Another kernel changes a dozen mitigations: their sum is enough, or one by its name where that is the same.
    mitigations = [key for key in keys if key.startswith("mitigations.")]
    always = [key for key in keys if key.startswith(_ALWAYS) and key not in mitigations[1:]]
    others = [key for key in keys if key not in always and key not in mitigations]
    return always + others[: max(0, most - len(always))]


def _key_text(key: str) -> str:
    if key.startswith("limit.of_plan."):
        return f"the plan's {key.removeprefix('limit.of_plan.')}"
    return _KEYS.get(key, key.replace("option.", "the option ", 1) if key.startswith("option.") else key)


def _fact(key: str, value: object) -> str:
    if value is None and key.startswith(("option.", "limit.of_plan.")):
        return "not set"
    text = fact_text(key, value)
    return text if len(text) <= 60 else f"{text[:59]}…"
