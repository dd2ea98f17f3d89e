"""A reproduction as Markdown: tables of figures, the ledger, the reconciliation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from clonometer.studies.types import Reproduction
from clonometer.views.exports.pipes import pipe_table
from clonometer.views.studies import (
    STATUS_WORDS,
    condition_rows,
    counts_text,
    effect_lines,
    ours_text,
    published_text,
    ratio_text,
    study_items,
)
from clonometer.views.table import Column, Table


def studies_markdown(reproduction: Reproduction) -> str:
    """Write a reproduction as GitHub-flavoured Markdown.

    Parameters
    ----------
    reproduction
        The answer.
    """
    lines = ["# The studies, reproduced and reconciled", "", counts_text(reproduction), ""]
    for study in reproduction.studies:
        figures, claims = study_items(reproduction, study.id)
        lines += [f"## {study.id}", "", f"{study.author}: *{study.title}*. {study.source}. {study.method}", ""]
        rows = [
            (row.id, row.published.what, published_text(row.published), ours_text(row), ratio_text(row), row.note)
            for item in figures
            for row in reproduction.rows[item.id]
        ]
        lines += _table(("id", "figure", f"published {study.year or ''}".strip(), "here", "ratio", "note"), rows)
        lines += _table(
            ("id", "claim", "here", "evidence"),
            [
                (
                    item.id,
                    item.text,
                    STATUS_WORDS[reproduction.verdicts[item.id].status],
                    reproduction.verdicts[item.id].reason,
                )
                for item in claims
            ],
        )
    for flip in reproduction.flips:
        lines += [f"## {flip.pairing.title}", "", f"{'; '.join(flip.pairing.sides)}.", "", flip.sentence, ""]
        lines += [f"- {line}" for line in effect_lines(flip)] + [""]
        lines += _table(("condition", "stage", "ratio"), condition_rows(flip))
    return "\n".join([*lines, *(f"{note}\n" for note in reproduction.notes)]).rstrip("\n") + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    columns = zip(head, *rows, strict=True)
    return [line.rstrip("\n") for line in pipe_table(Table([Column(name, texts) for name, *texts in columns]))] + [""]
