"""A reproduction as Markdown: tables of figures, the ledger, the reconciliation."""

from __future__ import annotations

from clonometer.studies.types import Reproduction
from clonometer.views.exports.markdown import pipe_table
from clonometer.views.studies import (
    busy_text,
    claim_table,
    condition_table,
    contradiction_table,
    counts_text,
    effect_lines,
    figure_table,
)
from clonometer.views.table import Table


def studies_markdown(reproduction: Reproduction) -> str:
    """Write a reproduction as GitHub-flavoured Markdown."""
    lines = ["# The studies, reproduced and reconciled", "", *_busy(reproduction), counts_text(reproduction), ""]
    if reproduction.flips:
        lines += ["## The contradictions", "", *_lines(contradiction_table(reproduction.flips, reproduction.items))]
    for study in reproduction.studies:
        lines += [f"## {study.id}", "", f"{study.author}: *{study.title}*. {study.source}. {study.method}", ""]
        lines += _lines(figure_table(reproduction.rows(study.id), study))
        lines += _lines(claim_table(reproduction.claims(study.id)))
    for flip in reproduction.flips:
        lines += [f"## {flip.pairing.title}", "", f"{'; '.join(flip.pairing.sides)}.", "", flip.sentence, ""]
        lines += [f"- {line}" for line in effect_lines(flip)] + [""]
        lines += _lines(condition_table(flip))
    return "\n".join([*lines, *(f"{note}\n" for note in reproduction.notes)]).rstrip("\n") + "\n"


def _busy(reproduction: Reproduction) -> list[str]:
    return [f"**{busy_text(reproduction)}**", ""] if reproduction.busy else []


def _lines(table: Table) -> list[str]:
    return ["".join(pipe_table(table))]
