"""All that is said of the studies on one machine: figures, ledger and reconciliation, from what was measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonometer.studies import claims_bendersky, claims_burian, claims_loop, claims_sharing, claims_sysel
from clonometer.studies.curves import curves
from clonometer.studies.figures import figure_rows, figure_verdict
from clonometer.studies.flips import reconcile
from clonometer.studies.judge import Claim, Judge, judge_all
from clonometer.studies.measured import Measurements
from clonometer.studies.pairings import PAIRINGS
from clonometer.studies.published import Item, load_published
from clonometer.studies.types import FigureRow, Reconciliation, Reproduction, Verdict
from clonometer.studies.verdicts import NOT_MEASURABLE

CLAIMS: Mapping[str, Claim] = {
    **claims_sysel.CLAIMS,
    **claims_bendersky.CLAIMS,
    **claims_burian.CLAIMS,
    **claims_loop.CLAIMS,
    **claims_sharing.CLAIMS,
}
SCHEMA = 1


def answer(
    measured: Measurements, studies: Sequence[str], *, notes: Sequence[str] = (), quick: bool = False, seed: int = 1
) -> Reproduction:
    """Say all that is known of the studies.

    Parameters
    ----------
    measured
        What was measured.
    studies
        Ids of studies; all where there is none.
    notes, quick
        Kept in the answer.
    seed
        Of the intervals.
    """
    published = load_published()
    chosen = published.choose(studies)
    items = published.of(chosen)
    judge = Judge(measured, seed)
    rows = {item.id: figure_rows(item, measured, judge) for item in items if item.kind == "figure"}
    judged = judge_all(CLAIMS, measured, seed)
    verdicts = {}
    for item in items:
        if item.kind == "figure":
            verdicts[item.id] = figure_verdict(item.id, rows[item.id])
        else:
            verdicts[item.id] = judged.get(item.id, _unknown(item.id))
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
        quick=quick,
    )


def _unknown(id_: str) -> Verdict:
    return Verdict(id_, NOT_MEASURABLE, "This version has no workload that measures it.")


def to_json(reproduction: Reproduction) -> dict[str, Any]:
    """Gather what ``reproduce --json`` prints: an entry for each item, then the reconciliation."""
    return {
        "schema": SCHEMA,
        "quick": reproduction.quick,
        "notes": list(reproduction.notes),
        "studies": [
            {"id": study.id, "author": study.author, "title": study.title, "year": study.year, "machine": study.machine}
            for study in reproduction.studies
        ],
        "items": [_item(item, reproduction) for item in reproduction.items],
        "reconciliation": [_flip(flip) for flip in reproduction.flips],
    }


def _item(item: Item, reproduction: Reproduction) -> dict[str, Any]:
    verdict = reproduction.verdicts[item.id]
    entry: dict[str, Any] = {
        "id": item.id,
        "study": item.study,
        "kind": item.kind,
        "text": item.text,
        "status": verdict.status,
        "effect": verdict.effect,
        "effect_is": verdict.effect_is,
        "interval": None if verdict.interval is None else list(verdict.interval),
        "evidence": list(verdict.evidence),
        "reason": verdict.reason,
    }
    if item.kind == "figure":
        entry["values"] = [_row(row) for row in reproduction.rows[item.id]]
    else:
        claim = CLAIMS.get(item.id)
        entry["least_effect"] = None if claim is None else claim.effect
    return entry


def _row(row: FigureRow) -> dict[str, Any]:
    published = row.published
    return {
        "what": published.what,
        "unit": published.unit,
        "published": published.value,
        "published_low": published.low,
        "published_high": published.high,
        "value": row.value,
        "low": row.low,
        "high": row.high,
        "ratio": row.ratio,
        "note": row.note,
        "cells": list(row.cells),
    }


def _flip(flip: Reconciliation) -> dict[str, Any]:
    return {
        "id": flip.pairing.id,
        "title": flip.pairing.title,
        "sides": list(flip.pairing.sides),
        "sentence": flip.sentence,
        "evidence": list(flip.evidence),
        "reversed_by": [_pair(pair) for pair in flip.reversed_by],
        "tried": [_pair(pair) for pair in flip.pairs],
        "untried": list(flip.untried),
        "effects": {
            quantity: [
                {"design": effect.design, "factors": list(effect.factors), "times": effect.value,
                 "interval": [effect.low, effect.high]}
                for effect in effects
            ]
            for quantity, effects in flip.effects.items()
        },
    }  # fmt: skip


def _pair(pair: Any) -> dict[str, Any]:
    return {
        "condition": dict(pair.condition),
        "quantity": pair.quantity,
        "ratio": pair.value,
        "interval": [pair.low, pair.high],
        "cells": list(pair.cells),
    }
