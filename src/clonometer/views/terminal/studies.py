"""A reproduction on a terminal: each study's figures beside ours, the ledger, what reverses. Returned as text."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.grouping import group_by
from clonometer.studies.published import Study
from clonometer.studies.types import DECIDES, ClaimEntry, FigureEntry, FigureRow, Reproduction, Suggestion
from clonometer.verdicts import Status
from clonometer.views.studies import (
    STATUS_WORDS,
    STEP_WORDS,
    busy_text,
    counts_text,
    effect_lines,
    figure_table,
    how_sure,
    outcome_text,
    reversal_text,
    short_claim_table,
    short_contradiction_table,
    short_figure_table,
    why_text,
)
from clonometer.views.terminal.table import draw_stack, draw_table
from clonometer.views.terminal.text import clean, paint, rendered, wrap, wrap_each

_STATUS_WIDE = max(map(len, STATUS_WORDS.values()))
_STYLES = {
    Status.FAILS: "bad",
    Status.DEPENDS: "warn",
    Status.HOLDS: "bold",
    Status.HOLDS_IN_DIRECTION: "bold",
}


@rendered(least_width=40)
def render_studies(reproduction: Reproduction, *, width: int, colour: bool, wide: bool = True) -> list[str]:
    """Write a reproduction: the contradictions, then each study, in a line each or ``wide`` with all evidence."""
    busy = busy_text(reproduction)
    drawn = [*(paint(line, "warn", colour) for line in wrap(busy, width)), ""] if busy else []
    if reproduction.alone:
        for entry in reproduction.entries:
            drawn += [*_alone(entry, reproduction, width, colour, wide=wide), ""]
        return [*drawn[:-1], *wrap_each(reproduction.notes, width)]
    drawn += _contradictions(reproduction, width, colour)
    draw_study = _study if wide else _study_in_short
    for study in reproduction.studies:
        drawn += [*draw_study(study, reproduction, width, colour), ""]
    if wide and reproduction.flips:
        drawn += [paint("What reverses the contradictions", "bold", colour)]
        for flip in reproduction.flips:
            drawn += ["", *wrap(f"{flip.pairing.title} {'; '.join(flip.pairing.sides)}.", width)]
            drawn += wrap(flip.sentence, width, bullet="- ")
            drawn += wrap_each(effect_lines(flip), width, bullet="  ")
        drawn.append("")
    drawn += wrap(counts_text(reproduction), width)
    drawn += wrap_each(reproduction.notes, width)
    if not wide:
        drawn += wrap("--wide shows the evidence of each line, --report FILE.html writes it as a page.", width)
    return drawn


def _alone(
    entry: FigureEntry | ClaimEntry, reproduction: Reproduction, width: int, colour: bool, *, wide: bool
) -> list[str]:
    """One item: what it says, how it came out with its number, why, and the command for more."""
    item, verdict = entry.item, entry.verdict
    drawn = wrap(f"{item.id}, {item.study}: {item.text}", width)
    if isinstance(entry, FigureEntry):
        study = next(study for study in reproduction.studies if study.id == item.study)
        rows = [row for row in entry.values if row.value is not None]
        drawn += draw_table(figure_table(rows, study), width, colour) if rows else []
        drawn += wrap_each(_unmeasured(entry.values), width, bullet="  ")
    else:
        outcome = outcome_text(verdict)
        of = f" ({verdict.effect_is})" if verdict.effect_is and outcome != STATUS_WORDS[verdict.status] else ""
        drawn += [
            paint(line, _STYLES.get(verdict.status, "dim"), colour)
            for line in wrap(f"{outcome[0].upper()}{outcome[1:]}{of}", width)
        ]
        reason = verdict.reason if wide else why_text(entry)
        drawn += wrap(clean(reason), width)
    return [*drawn, *_step(entry.next, width)]


def _step(step: Suggestion | None, width: int) -> list[str]:
    """A command on lines of its own, which a shell takes as one when they are copied."""
    if step is None:
        return []
    *lines, last = wrap(step.command, width - 2, bullet="  ")
    return [*wrap(f"{STEP_WORDS[step.does]}:", width), *(f"{line} \\" for line in lines), last]


def _contradictions(reproduction: Reproduction, width: int, colour: bool) -> list[str]:
    """A row for each contradiction, and below it what reverses it."""
    if not reproduction.flips:
        return []
    [[head, *rows]] = draw_stack(
        [short_contradiction_table(reproduction.flips, reproduction.items)], width, colour
    ).tables
    drawn = [paint("Where the studies contradict each other", "bold", colour), "", head]
    for flip, row in zip(reproduction.flips, rows, strict=True):
        drawn += [row, *wrap(f"{how_sure(flip)}; reversed by {reversal_text(flip)}", width, bullet="  ")]
        drawn += [f"  {line}" for line in _step(flip.next, width - 2)]
    return [*drawn, ""]


def _study_in_short(study: Study, reproduction: Reproduction, width: int, colour: bool) -> list[str]:
    return [
        paint(study.id, "bold", colour),
        *wrap(study.source, width),
        "",
        *draw_table(short_figure_table(reproduction.figures(study.id), study), width, colour),
        "",
        *draw_table(short_claim_table(reproduction.claims(study.id)), width, colour),
    ]


def _study(study: Study, reproduction: Reproduction, width: int, colour: bool) -> list[str]:
    drawn = [paint(study.id, "bold", colour), *wrap(f"{study.author}: {study.title}. {study.source}", width), ""]
    rows = reproduction.rows(study.id)
    measured = [row for row in rows if row.value is not None]
    if measured:
        drawn += draw_table(figure_table(measured, study), width, colour)
    drawn += wrap_each(_unmeasured(rows), width, bullet="  ")
    drawn.append("")
    for claim in reproduction.claims(study.id):
        drawn += _claim(claim, width, colour)
    return drawn


def _unmeasured(rows: Sequence[FigureRow]) -> list[str]:
    reasons = group_by((row.note, row.id) for row in rows if row.value is None)
    return [f"{', '.join(dict.fromkeys(ids))}: {reason}" for reason, ids in reasons.items()]


def _claim(claim: ClaimEntry, width: int, colour: bool) -> list[str]:
    item, verdict = claim.item, claim.verdict
    status = f"{STATUS_WORDS[verdict.status]:<{_STATUS_WIDE}}"
    head = f"{item.id:<4}{paint(status, _STYLES.get(verdict.status, 'dim'), colour)}  "
    indent = " " * (4 + _STATUS_WIDE + 2)
    text = wrap(item.text, width - len(indent))
    lines = [head + text[0], *(indent + line for line in text[1:])]
    lines += [indent + line for line in wrap(clean(verdict.reason), width - len(indent))]
    step = claim.next if claim.next is not None and claim.next.does == DECIDES else None
    return [*lines, *(indent + line for line in _step(step, width - len(indent)))]
