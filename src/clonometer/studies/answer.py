"""All that is said of the studies on one machine: figures, ledger and reconciliation, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from clonometer.records import Mark, Only, to_json, version
from clonometer.studies import claims_bendersky, claims_burian, claims_loop, claims_sharing, claims_sysel  # noqa: F401
from clonometer.studies.curves import curves
from clonometer.studies.figures import figure_rows, figure_verdict
from clonometer.studies.flips import reconcile
from clonometer.studies.judge import CLAIMS, Judge, judge_all
from clonometer.studies.measured import Measurements
from clonometer.studies.pairings import PAIRINGS
from clonometer.studies.published import Item, Study, load_published
from clonometer.studies.types import NOT_MEASURABLE, FigureRow, Reconciliation, Reproduction, Verdict

SCHEMA = 1
_UNKNOWN = Verdict(NOT_MEASURABLE, "This version has no workload that measures it.")
_OF_ITEM = Only("item", ("id", "study", "kind", "text"))
_OF_FIGURE = Only("verdict", ("status", "effect", "effect_is", "interval", "evidence", "reason"))
_OF_CLAIM = Only("judged", ("status", "direction", "size", "effect", "effect_is", "interval", "evidence", "reason"))
_OF_STUDY = Only("study", ("id", "author", "title", "year", "machine"))


def answer(
    measured: Measurements, studies: Sequence[str], *, notes: Sequence[str] = (), quick: bool = False, seed: int = 1
) -> Reproduction:
    """Say all that is known of the studies."""
    published = load_published()
    chosen = published.choose(studies)
    items = published.of(chosen)
    judge = Judge(measured, seed)
    rows = {item.id: figure_rows(item, measured, judge) for item in items if item.kind == "figure"}
    judged = judge_all(CLAIMS, judge)
    verdicts = {}
    for item in items:
        if item.kind == "figure":
            verdicts[item.id] = figure_verdict(rows[item.id])
        else:
            verdicts[item.id] = judged.get(item.id, _UNKNOWN)
    reconciled = (reconcile(pairing, judge) for pairing in PAIRINGS)
    return Reproduction(
        studies=tuple(published.studies[study] for study in chosen),
        items=items,
        rows=rows,
        verdicts=verdicts,
        flips=tuple(flip for flip in reconciled if flip is not None),
        curves=tuple(curve for curve in curves(measured, judge) if curve.study in chosen),
        notes=tuple(notes),
        host=measured.host,
        started=measured.started,
        quick=quick,
    )


@dataclass(frozen=True)
class FigureEntry:
    """A figure of a study: what is said of it, and its numbers beside ours."""

    item: Annotated[Item, Mark.MERGED, _OF_ITEM]
    verdict: Annotated[Verdict, Mark.MERGED, _OF_FIGURE]
    values: Sequence[FigureRow]


@dataclass(frozen=True)
class ClaimEntry:
    """A claim or question of a study, and what is said of it."""

    item: Annotated[Item, Mark.MERGED, _OF_ITEM]
    verdict: Annotated[Verdict, Mark.MERGED, _OF_CLAIM]
    least_effect: Annotated[str | None, "What counts as an effect; None where nothing tests it."]


@dataclass(frozen=True)
class WrittenReproduction:
    """The studies on one machine: an entry for each figure, claim and question, then what reverses contradictions."""

    schema = version(SCHEMA)

    quick: bool
    notes: Sequence[str]
    studies: Sequence[Annotated[Study, _OF_STUDY]]
    items: Sequence[FigureEntry | ClaimEntry]
    reconciliation: Sequence[Reconciliation]


def answer_to_json(reproduction: Reproduction) -> dict[str, Any]:
    """Gather what ``reproduce --json`` prints (docs/schemas/reproduce.schema.json)."""
    entries = [_entry(item, reproduction) for item in reproduction.items]
    return to_json(
        WrittenReproduction(reproduction.quick, reproduction.notes, reproduction.studies, entries, reproduction.flips)
    )


def _entry(item: Item, reproduction: Reproduction) -> FigureEntry | ClaimEntry:
    verdict = reproduction.verdicts[item.id]
    if item.kind == "figure":
        return FigureEntry(item, verdict, reproduction.rows[item.id])
    claim = CLAIMS.get(item.id)
    return ClaimEntry(item, verdict, None if claim is None else claim.effect)
