"""Arranges comparisons for every view: labels, texts of figures and of verdicts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from pathlib import PurePath

from clonometer.grouping import group_by
from clonometer.results.ab.command_types import CommandRow
from clonometer.results.ab.types import AbRow
from clonometer.results.compare.types import (
    BOOT,
    BY_COMMANDS,
    CommonShift,
    Compared,
    ComparedPair,
    ComparedRow,
    Difference,
    InPairs,
)
from clonometer.results.compare.variance import NoiseSource, StoredRuns
from clonometer.results.types import LeftOut
from clonometer.units import bytes_unit, format_share, table_unit
from clonometer.verdicts import Direction, Word
from clonometer.views.changes import change_words, range_words
from clonometer.views.labels import label_parts
from clonometer.views.rows import fact_text, first_ranked, is_part, median_text
from clonometer.views.table import INTERVAL_HEADING, MISSING, Column, Table, label_column
from clonometer.words import counted, language_name, span_words, stage_name

#: The heading of the first side's medians.
BEFORE = "before"
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
# Of workloads of languages.
_OF_LAUNCHES = {"launch_path": "how {} launches", "tasks_per_launch": "tasks per launch of {}"}
# Said whatever else differs: what was measured otherwise, and what moves launches most.
_ALWAYS = (
    "option.",
    "runtime.",
    "launch_path.",
    "host.name_hash",
    "cpu.model",
    "kernel.release",
    "cpu.microcode",
    "mitigations.",
    "effective_mhz",
    "thp.enabled",
    "libc.version",
)
#: Before the word of a difference that is not sure; and of a row that has no ratio.
_LIKELY, _NO_RATIO = "likely ", "without a ratio"
_COMMON = {"cold": "cold rows", "warm": "warm rows", "all": "all rows"}


def stage_text(row: ComparedRow) -> str:
    """Name the stage or quantity that is compared, with the unit of what is no time."""
    stage = stage_name(row.other.stage, row.other.quantity)
    return stage if row.is_time or row.other.unit == "count" else f"{stage}, {sizes_unit(row) or row.other.unit}"


def change_text(row: ComparedRow) -> str:
    """Say what changed: surely, like all, not at all, or that nobody can tell."""
    if row.verdict == Direction.EQUAL:
        return f"same within {format_share(row.within)}" if row.within else "same"
    interval = row.change.interval
    if row.change.value is None or interval is None:
        return MISSING
    if row.common_shift:
        return f"as all others: {range_words(*interval)}"
    likely = _LIKELY if row.change.word == Word.LIKELY else ""
    if not likely and interval[0] <= 1 <= interval[1]:
        return range_words(*interval)
    return f"{likely}{change_words(row.change, is_time=row.is_time)}"


def sides_tables(
    rows: Sequence[ComparedRow], further: Sequence[Column], row_styles: Sequence[str | None]
) -> tuple[Table, ...]:
    """Comparisons as a table: what is compared, both sides in one unit, the change, and ``further`` columns.

    And the same for where both medians have no room in it: long labels are wrapped, and no median has its interval.
    And for where even then there is none: two columns, of which the second stands below the first.
    """
    unit = table_unit([estimate.median_ns for row in rows for estimate in (row.base, row.other)])
    before, after = (
        [median_text(side, sizes_unit(row) or unit) for row, side in zip(rows, sides, strict=True)]
        for sides in ([row.base for row in rows], [row.other for row in rows])
    )
    medians = [
        Column(head, [text.value for text in texts], "point", drop=5)
        for head, texts in ((BEFORE, before), ("after", after))
    ]
    ends = [
        Column(INTERVAL_HEADING, [text.interval for text in texts], "range", drop=drop)
        for texts, drop in ((before, 3), (after, 4))
    ]
    label = label_column(map(row_parts, rows))
    wrapped_label = Column("", _without_repeats([", ".join(row_parts(row)) for row in rows]), least=12)
    until = Column("until", list(map(stage_text, rows)))
    last = [Column("change", list(map(change_text, rows))), *further]
    title = f"Medians in {unit}."
    names = [f"{', '.join(row_parts(row))}, {stage_text(row)}" for row in rows]
    changes = [
        f"{first.value} → {second.value}: {change_text(row)}"
        for row, first, second in zip(rows, before, after, strict=True)
    ]
    below = [Column("row", names), Column(f"{BEFORE} → after: change", changes)]
    return (
        Table([label, until, medians[0], ends[0], medians[1], ends[1], *last], title, row_styles=row_styles),
        Table([wrapped_label, until, *medians, *last], title, row_styles=row_styles),
        Table(below, title, row_styles=row_styles),
    )


def _without_repeats(labels: Sequence[str]) -> list[str]:
    """Say a label once for the rows that share it."""
    return ["" if index and label == labels[index - 1] else label for index, label in enumerate(labels)]


def sizes_unit(row: ComparedRow) -> str:
    """The unit in which both sides of a row of sizes are written; empty where it has none."""
    return bytes_unit([row.base.value, row.other.value]) if row.other.unit == "bytes" else ""


def row_parts(row: ComparedRow) -> tuple[str, ...]:
    """What is compared and under which condition, in phrases."""
    other, base = label_parts(row.other), label_parts(row.base)
    if row.other.cell == row.base.cell:
        return other
    shared = [part for part in other if part in base]
    sides = [", ".join(part for part in parts if part not in shared) for parts in (other, base)]
    against = " / ".join(side or "default" for side in sides)
    # A mechanism that both have stands before them, what else they share behind.
    before = 1 if other[0] == base[0] else 0
    return (*shared[:before], against, *shared[before:])


def pick(rows: Sequence[ComparedRow], room: int) -> list[ComparedRow]:
    """Choose at most ``room`` rows: changes first, the greatest ones, those like all after them, then others.

    The order of the plan is kept.
    """

    def rank(row: ComparedRow) -> tuple[int, float]:
        stated = is_stated(row)
        group = 0 if stated else 1 if row.common_shift else 3 if is_part(row.other.stage) else 2
        return (group, -row.change.size if stated else 0.0)

    return first_ranked(rows, rank, room)


def is_stated(row: ComparedRow) -> bool:
    """Whether it is surely or likely a difference."""
    return row.verdict.is_change or row.change.word == Word.LIKELY


def summary(compared: Compared) -> str:
    """Say all verdicts in one line, and how the noise is known."""
    rows = [row for pair in compared.pairs for row in pair.rows]
    if not rows:
        return "No row could be compared."
    like = sum(row.common_shift for row in rows)
    words = counts_of_verdicts(rows)
    if like:
        words.append(f"{like} of these moved with all others, so suspect the machine, not the row")
    known = known_noise(compared.noise_source, compared.stored, rows)
    return " ".join(text for text in (f"{counted(len(rows), 'row')}: {', '.join(words)}.", known) if text)


def counts_of_verdicts(rows: Sequence[ComparedRow] | Sequence[AbRow] | Sequence[CommandRow]) -> list[str]:
    """Say how many rows have each verdict: sure ones before likely ones of a kind."""
    words = Counter(map(verdict_word, rows))
    order = ("slower", "faster", "higher", "lower", "the same", "open", _NO_RATIO)
    places = {word: (order.index(word.removeprefix(_LIKELY)), word.startswith(_LIKELY)) for word in words}
    return [f"{words[word]} {word}" for word in sorted(words, key=places.__getitem__)]


def row_style(row: ComparedRow | AbRow | CommandRow) -> str | None:
    """How a row with a difference stands out."""
    if not row.verdict.is_change:
        return None
    return "bad" if row.is_time and row.verdict == Direction.MORE else "bold"


def verdict_word(row: ComparedRow | AbRow | CommandRow) -> str:
    """What the verdict of a row is called."""
    if row.change.value is None and row.verdict == Direction.UNKNOWN:
        return _NO_RATIO
    if row.change.word == Word.LIKELY:
        return f"{_LIKELY}{Direction.of((row.change.value or 1.0) - 1).word(is_time=row.is_time)}"
    return row.verdict.word(is_time=row.is_time)


def assurance(source: NoiseSource, tests: int, error_rate: float, what: str) -> str:
    """Say how often a verdict is wrong, and under which assumption; empty where there are no verdicts.

    ``source`` says from what it is known how far runs are apart, ``what`` what such answers are, in the
    plural.
    """
    rate = f"At most {format_share(error_rate)} of {what} of {counted(tests, 'row')} have a false verdict"
    return f"{rate}{_ASSUMPTIONS.get(source, '')}."


def known_noise(source: NoiseSource, stored: StoredRuns | None, rows: Sequence[ComparedRow]) -> str:
    """Say from which stored runs it is known how far runs are apart, or that it is not, and what it is taken for."""
    left_out = "" if stored is None else ", ".join(f"{count} {why}" for why, count in stored.left_out.items())
    if stored is not None and stored.files:
        without = f"; not counted: {left_out}" if left_out else ""
        folders = ", ".join(dict.fromkeys(str(PurePath(file).parent) for file in stored.files))
        where = "" if folders == "." else f" in {folders}"
        boots = f"{counted(stored.boots, 'boot')}, " if stored.boots else ""
        over = span_words(stored.span_s)
        return f"Noise between runs: from {len(stored.files)} other runs{where} ({boots}over {over}{without})."
    if source != NoiseSource.UNKNOWN:
        return ""
    beside = f" The other runs in their folder do not show it: {left_out}." if left_out else ""
    bounds = [row.between for row in rows if row.between is not None and not row.base.is_first_launch]
    least = "at least " if bounds and max(bounds) > min(bounds) else ""
    bound = f", and is taken to be {least}{format_share(min(bounds))}, as these two show" if bounds else ""
    return (
        f"The noise between runs was never measured{bound}.{beside} 'clonometer noise --json' measures it for --noise; "
        "three more runs in the same folder show it too."
    )


# From what it is known how far runs are apart -> under which assumption verdicts are that sure.
_ASSUMPTIONS = {
    NoiseSource.UNKNOWN: ", if runs differ by no more than these two show",
    NoiseSource.GIVEN: ", if runs of this machine differ by as much as --noise says",
    NoiseSource.MEASURED: ", if runs differ by as much as the rounds of 'clonometer noise' did",
    NoiseSource.STORED_RUNS: ", if runs differ by as much as the stored ones did",
    NoiseSource.THESE_RUNS: ": the runs of each side show the noise between runs",
    NoiseSource.THESE_HOSTS: ": the hosts of each group show how much hosts differ",
}


def in_pairs_text(decided: InPairs | None) -> str:
    """Say which command decides what is open, and how long it takes; empty where none does."""
    if decided is None:
        return ""
    what = ", where DO makes the difference and UNDO takes it back" if BY_COMMANDS[1] in decided.command else ""
    return f"To decide it in pairs, in {math.ceil(decided.at_most_s)} s at most{what}: {decided.command}"


def is_within_run(pair: ComparedPair) -> bool:
    """Whether cells of one run are compared with each other."""
    return any(row.base.cell != row.other.cell for row in pair.rows)


def shifts_text(shifts: Sequence[CommonShift]) -> str:
    """Say what all conditions changed by together; that nobody can know it where there is one alone."""
    parts = [
        f"{_COMMON[shift.of]} took {_times(shift.ratio)} times as long in the second run ({shift.kinds} conditions, "
        f"{_times(shift.least)} to {_times(shift.most)})"
        for shift in shifts
        if shift.of != "control"
    ]
    control = next((shift for shift in shifts if shift.of == "control"), None)
    apart = f"; clocks and empty loops {_times(control.ratio)}" if control else ""
    if not parts:
        return f"One condition alone cannot show whether the machine itself was slower{apart}."
    return f"Overall: {', '.join(parts)}{apart}."


def same_run_text(same_run: bool) -> str:
    """Say that both sides hold one run, where they do."""
    return "Both sides are the same run: there is nothing to compare." if same_run else ""


def _times(ratio: float) -> str:
    return f"{ratio:.2f}" if 0.1 <= ratio < 10 else f"{ratio:.3g}"


def reasons(pair: ComparedPair) -> list[str]:
    """Say what was left out or not tested, the same reason once."""
    untested = [LeftOut(row.other.cell, row.reason) for row in pair.rows if row.reason is not None]
    return left_out_reasons([*pair.left_out, *dict.fromkeys(untested)])


def left_out_reasons(left_out: Sequence[LeftOut]) -> list[str]:
    """Say what was left out, the same reason once."""
    cells_of = group_by((omitted.reason, omitted.cell) for omitted in left_out)
    return [
        f"{reason} ({cells[0]}{f' and {len(cells) - 1} more' if len(cells) > 1 else ''})"
        for reason, cells in cells_of.items()
    ]


def differences_text(differences: Sequence[Difference], most: int | None = None) -> str:
    """Say in what two runs differ; where there is more than ``most``, how many more.

    Kernel, microcode, mitigations, frequency, huge pages, C library and options are said even if they are more.
    """
    is_another_boot = any(difference.key == BOOT for difference in differences)
    keys = list(dict.fromkeys(difference.key for difference in differences if difference.key != BOOT))
    if not keys:
        boot = " The machine was rebooted between them." if is_another_boot else ""
        return f"Same machine and settings, as far as they were recorded.{boot}"
    kept = set(keys if most is None else _named_keys(keys, most))
    hidden = [key for key in keys if key not in kept]
    # The words that hide one are as long as it is, and it may be what explains the rows.
    if len(hidden) == 1 and not hidden[0].startswith("mitigations."):
        kept.update(hidden)
    changes_of: dict[str, list[str]] = {key: [] for key in keys if key in kept}
    for difference in differences:
        if difference.key in changes_of:
            changes_of[difference.key].append(
                f"{_fact(difference.key, difference.base)} → {_fact(difference.key, difference.other)}"
            )
    parts = [f"{_key_text(key)}: {', '.join(changes)}" for key, changes in changes_of.items()]
    more = len(keys) - len(changes_of)
    boot = "; another boot" if is_another_boot else ""
    return f"The runs differ in {'; '.join(parts)}{f'; and {more} more' if more else ''}{boot}."


def _named_keys(keys: Sequence[str], most: int) -> list[str]:
    """Keep what is always said, and of the others what there is room for, in their order."""
    # Another kernel changes a dozen mitigations: their sum is enough, or one by its name where that is the same.
    mitigations = [key for key in keys if key.startswith("mitigations.")]
    always = [key for key in keys if key.startswith(_ALWAYS) and key not in mitigations[1:]]
    others = [key for key in keys if key not in always and key not in mitigations]
    return always + others[: max(0, most - len(always))]


def _key_text(key: str) -> str:
    if key.startswith("limit.of_plan."):
        return f"the plan's {key.removeprefix('limit.of_plan.')}"
    first, _, rest = key.partition(".")
    if first == "runtime":
        language, _, what = rest.partition(".")
        return f"{what.replace('_', ' ')} of {language_name(language)}"
    if first in _OF_LAUNCHES:
        return _OF_LAUNCHES[first].format(rest)
    return _KEYS.get(key, key.replace("option.", "the option ", 1) if key.startswith("option.") else key)


def _fact(key: str, value: object) -> str:
    if value is None and key.startswith(("option.", "limit.of_plan.")):
        return "not set"
    text = fact_text(key, value)
    return text if len(text) <= 60 else f"{text[:59]}…"
