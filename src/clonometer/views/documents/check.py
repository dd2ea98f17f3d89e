"""A check: the verdict, the rows that matter, what the check can see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from clonometer.results.check.types import (
    BLIND_FACTOR,
    Checked,
    CheckedRow,
    count_detectable,
)
from clonometer.units import format_share
from clonometer.verdicts import Gate
from clonometer.views.colours import GREY, HUES
from clonometer.views.comparison import (
    assurance,
    change_text,
    differences_text,
    in_pairs_text,
    known_noise,
    left_out_reasons,
    row_parts,
    same_run_text,
    shifts_text,
    sides_tables,
    stage_text,
)
from clonometer.views.comparison_picture import ratio_point, ratios_panel
from clonometer.views.document import Document, DocumentBlock, Hint, Note, Paragraph, Tone
from clonometer.views.documents.comparison import MOST_DRAWN, row_blocks
from clonometer.views.rows import share_text
from clonometer.views.table import MISSING, Column, Table
from clonometer.words import counted

#: What is sentences of rows that may not alarm, here and of a machine's noise.
FIRST_LAUNCHES = " Cold rows can raise a suspicion but never fail the check."
SHORT_ROWS = 12
SHORT_LEFT_OUT = 3
SHORT_DIFFERENCES = 5
_WORDS = {Gate.FAIL: "regressed", Gate.PASS: "fine", Gate.UNKNOWN: "open"}
_SUSPECT = "suspect"
_STYLES = {"regressed": "bad", _SUSPECT: "warn"}
_TONES: dict[Gate, Tone] = {Gate.FAIL: "bad", Gate.UNKNOWN: "warn"}
_COLOURS = {"regressed": HUES["red"], _SUSPECT: HUES["orange"], "fine": HUES["blue"], "open": GREY}


def check_document(checked: Checked, *, wide: bool = False) -> Document:
    """Make a document of a check, whose verdict a terminal has last.

    ``wide``: every row, not only those that alarm or are suspected.
    """
    title, verdict = f"{checked.run} compared with {checked.baseline}", _verdict(checked)
    flagged = list(checked.flagged)
    shown = list(checked.rows) if wide else flagged[:SHORT_ROWS]
    reasons = left_out_reasons(checked.left_out)
    kept = reasons if wide else reasons[:SHORT_LEFT_OUT]
    hints = [
        *([f"--wide adds {len(flagged) - len(shown)} more such rows"] if len(flagged) > len(shown) else []),
        *([f"--wide adds {len(reasons) - len(kept)} more reasons why cells were left out"] if kept != reasons else []),
    ]
    points = [
        ratio_point(name, row.compared.change, _word(row), f"{name}: {change_text(row.compared)}")
        for row in (*flagged, *(row for row in checked.rows if row not in flagged))[:MOST_DRAWN]
        if row.compared.change.value is not None
        for name in [", ".join((*row_parts(row.compared), stage_text(row.compared)))]
    ]
    panel = ratios_panel("ratios", title, points, "times as long as the baseline", colours=_COLOURS)
    table = row_blocks(checked.rows, flagged, shown, _tables, panel if points else None) if checked.rows else []
    groups: list[list[DocumentBlock]] = [
        [
            Paragraph(title, "bold"),
            Paragraph(same_run_text(checked.same_run)),
            Paragraph(differences_text(checked.differences, None if wide else SHORT_DIFFERENCES)),
            Paragraph(shifts_text(checked.shifts)),
        ],
        [*table, *map(Note, kept), *map(Hint, hints)],
        [
            Paragraph(_counts(checked, wide)),
            Paragraph(verdict, _TONES.get(checked.verdict, "bold")),
            Paragraph(in_pairs_text(checked.in_pairs)),
        ],
    ]
    return Document("check", title, verdict, groups)


def _counts(checked: Checked, wide: bool) -> str:
    counts = Counter(map(_word, checked.rows))
    words = [f"{counts[word]} {word}" for word in ("regressed", _SUSPECT, "fine", "open") if counts[word]]
    sentences = [f"{counted(len(checked.rows), 'row')}: {', '.join(words)}."]
    # The others say it in their verdict.
    if checked.verdict == Gate.FAIL:
        sentences.append(f"{_seen(checked).capitalize()} of them.")
    if checked.n_first:
        sentences.append(FIRST_LAUNCHES.strip())
    sentences.append(known_noise(checked.noise_source, checked.stored, [row.compared for row in checked.rows]))
    if wide:
        sentences.append(assurance(checked.noise_source, checked.n_tests, checked.error_rate, "checks"))
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
        command = f" To decide it: {checked.decided_by}" if checked.decided_by and not checked.in_pairs else ""
        return f"Cannot tell: {'; '.join(checked.reasons)}.{command}"
    total, fine = len(checked.rows), checked.count(Gate.PASS)
    if fine == total:
        return f"No regression of {allowed} or more."
    # Rows that are open may hide one: a gate that passes must not deny it for them.
    return (
        f"No regression detected: {fine} of {total} rows are surely not slower by {allowed}; {_seen(checked)} of them."
    )


def _seen(checked: Checked) -> str:
    """Say which slowdown would be detected in how many rows."""
    change = BLIND_FACTOR * checked.max_regression
    return f"a slowdown of {format_share(change)} would be detected in {count_detectable(checked.rows, change)}"


def _tables(rows: Sequence[CheckedRow]) -> tuple[Table, ...]:
    again = [change_text(row.again) if row.again else MISSING for row in rows]
    further = [
        Column("again", again, optional=True),
        Column("detectable", [share_text(row.detectable) for row in rows], "point", drop=1),
        Column("verdict", [_word(row) for row in rows]),
    ]
    return sides_tables([row.compared for row in rows], further, [_STYLES.get(_word(row)) for row in rows])
