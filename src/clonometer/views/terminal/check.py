"""A check on a terminal: the verdict, the rows that matter, what the check can see. Returned as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from clonometer.results.check.types import (
    BLIND_FACTOR,
    Checked,
    CheckedRow,
    count_detectable,
)
from clonometer.results.compare.moments import UNKNOWN
from clonometer.units import format_share
from clonometer.verdicts import Gate
from clonometer.views.comparison import (
    BEFORE,
    assurance,
    change_text,
    differences_text,
    known_noise,
    left_out_reasons,
    same_run_text,
    shifts_text,
    sides_tables,
)
from clonometer.views.rows import share_text
from clonometer.views.table import MISSING, Column, Table
from clonometer.views.terminal.table import draw_with
from clonometer.views.terminal.text import painted, rendered, wrap, wrap_each
from clonometer.words import counted

#: What is sentences of rows that may not alarm, here and of a machine's noise.
FIRST_LAUNCHES = " Cold rows can raise a suspicion but never fail the check."
SHORT_ROWS = 12
SHORT_LEFT_OUT = 3
SHORT_DIFFERENCES = 5
_WORDS = {Gate.FAIL: "regressed", Gate.PASS: "fine", Gate.UNKNOWN: "cannot tell"}
_SUSPECT = "suspect"
_STYLES = {"regressed": "bad", _SUSPECT: "warn"}


@rendered(least_width=40)
def render_check(checked: Checked, *, width: int, colour: bool, wide: bool = False) -> list[str]:
    """Write a check, its verdict last; ``wide``: every row, not only those that alarm or are suspected."""
    drawn = painted(wrap(f"{checked.run} against {checked.baseline}", width), "bold", colour)
    drawn += wrap(same_run_text(checked.same_run), width)
    drawn += wrap(differences_text(checked.differences, None if wide else SHORT_DIFFERENCES), width)
    drawn += wrap(shifts_text(checked.shifts), width)
    shown = list(checked.rows) if wide else list(checked.flagged)[:SHORT_ROWS]
    if shown:
        drawn += ["", *draw_with(BEFORE, _tables(shown), width, colour)]
    hidden = len(checked.flagged) - len(shown)
    if not wide and hidden > 0:
        drawn.append(f"--wide adds {hidden} more such rows")
    reasons = left_out_reasons(checked.left_out)
    kept = reasons if wide else reasons[:SHORT_LEFT_OUT]
    drawn += wrap_each(kept, width, bullet="! ")
    if len(kept) < len(reasons):
        drawn.append(f"--wide adds {len(reasons) - len(kept)} more reasons why cells are left out")
    drawn.append("")
    drawn += wrap(_counts(checked, wide), width)
    style = {Gate.FAIL: "bad", Gate.UNKNOWN: "warn"}.get(checked.verdict, "bold")
    drawn += painted(wrap(_verdict(checked), width), style, colour)
    return drawn


def _counts(checked: Checked, wide: bool) -> str:
    counts = Counter(map(_word, checked.rows))
    words = [f"{counts[word]} {word}" for word in ("regressed", _SUSPECT, "fine", "cannot tell") if counts[word]]
    sentences = [f"{counted(len(checked.rows), 'row')}: {', '.join(words)}."]
    if checked.moments != UNKNOWN:
        change = BLIND_FACTOR * checked.max_regression
        seen = count_detectable(checked.rows, change)
        sentences.append(f"A slow-down of {format_share(change)} would be found in {seen} of them.")
    if checked.n_first:
        sentences.append(FIRST_LAUNCHES.strip())
    sentences.append(known_noise(checked.moments, checked.stored))
    if wide:
        sentences.append(assurance(checked.moments, checked.n_tests, checked.error_rate, "checks"))
    return " ".join(text for text in sentences if text)


def _word(row: CheckedRow) -> str:
    return _SUSPECT if row.suspect else _WORDS[row.verdict]


def _verdict(checked: Checked) -> str:
    allowed = format_share(checked.max_regression)
    if checked.verdict == Gate.FAIL:
        again = ", measured again" if checked.rerun else ""
        count = checked.count(Gate.FAIL)
        return f"Regression: {count} row{' is' if count == 1 else 's are'} slower by {allowed} or more{again}."
    if checked.verdict == Gate.UNKNOWN:
        command = f" To decide it: {checked.decided_by}" if checked.decided_by else ""
        return f"Cannot tell: {'; '.join(checked.reasons)}.{command}"
    return f"No regression of {allowed} or more."


def _tables(rows: Sequence[CheckedRow]) -> tuple[Table, ...]:
    again = [change_text(row.again) if row.again else MISSING for row in rows]
    further = [
        Column("again", again, optional=True),
        Column("detectable", [share_text(row.detectable) for row in rows], "point", drop=1),
        Column("verdict", [_word(row) for row in rows]),
    ]
    return sides_tables([row.compared for row in rows], further, [_STYLES.get(_word(row)) for row in rows])
