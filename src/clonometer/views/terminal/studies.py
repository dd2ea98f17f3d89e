"""A reproduction on a terminal: each study's figures beside ours, the ledger, what reverses. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.studies.published import Item, Study
from clonometer.studies.types import FigureRow, Reproduction
from clonometer.views.studies import (
    STATUS_WORDS,
    counts_text,
    effect_lines,
    figure_table,
    study_items,
)
from clonometer.views.terminal.table import draw_table
from clonometer.views.terminal.text import clean, paint, rendered, wrap, wrap_each

_STATUS_WIDE = max(map(len, STATUS_WORDS.values()))
_STYLES = {"does_not_hold": "bad", "depends": "warn", "holds": "bold"}


@rendered(least_width=60)
def render_studies(reproduction: Reproduction, *, width: int, colour: bool) -> list[str]:
    """Write a reproduction."""
    drawn: list[str] = []
    for study in reproduction.studies:
        drawn += [*_study(study, reproduction, width, colour), ""]
    if reproduction.flips:
        drawn += [paint("What reverses the contradictions", "bold", colour)]
        for flip in reproduction.flips:
            drawn += ["", *wrap(f"{flip.pairing.title} {'; '.join(flip.pairing.sides)}.", width)]
            drawn += wrap(flip.sentence, width, bullet="- ")
            drawn += wrap_each(effect_lines(flip), width, bullet="  ")
        drawn.append("")
    drawn += wrap(counts_text(reproduction), width)
    drawn += wrap_each(reproduction.notes, width)
    return drawn


def _study(study: Study, reproduction: Reproduction, width: int, colour: bool) -> list[str]:
    figures, claims = study_items(reproduction, study.id)
    drawn = [paint(study.id, "bold", colour), *wrap(f"{study.author}: {study.title}. {study.source}", width), ""]
    rows = [row for item in figures for row in reproduction.rows[item.id]]
    measured = [row for row in rows if row.value is not None]
    if measured:
        drawn += draw_table(figure_table(measured, study), width, colour)
    drawn += wrap_each(_unmeasured(rows), width, bullet="  ")
    drawn.append("")
    for item in claims:
        drawn += _claim(item, reproduction, width, colour)
    return drawn


def _unmeasured(rows: Sequence[FigureRow]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.value is None:
            reasons.setdefault(row.note, []).append(row.id)
    return [f"{', '.join(dict.fromkeys(ids))}: {reason}" for reason, ids in reasons.items()]


def _claim(item: Item, reproduction: Reproduction, width: int, colour: bool) -> list[str]:
    verdict = reproduction.verdicts[item.id]
    status = f"{STATUS_WORDS[verdict.status]:<{_STATUS_WIDE}}"
    head = f"{item.id:<4}{paint(status, _STYLES.get(verdict.status, 'dim'), colour)}  "
    indent = " " * (4 + _STATUS_WIDE + 2)
    text = wrap(item.text, width - len(indent))
    lines = [head + text[0], *(indent + line for line in text[1:])]
    return [*lines, *(indent + line for line in wrap(clean(verdict.reason), width - len(indent)))]
