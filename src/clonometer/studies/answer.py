"""All that is said of the studies on one machine: figures, ledger and reconciliation, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clonometer.plan.types import Catalogue
from clonometer.studies import claims_advice, claims_bendersky, claims_burian, claims_loop, claims_sharing, claims_sysel  # noqa: F401
from clonometer.studies.curves import curves
from clonometer.studies.figures import figure_rows, figure_verdict
from clonometer.studies.flips import reconcile
from clonometer.studies.judge import CLAIMS, Judge, judge_all
from clonometer.studies.measured import Measurements
from clonometer.studies.pairings import PAIRINGS
from clonometer.studies.published import Item, load_published
from clonometer.studies.steps import item_step, reversal_step
from clonometer.studies.types import ClaimEntry, FigureEntry, Reproduction, Suggestion, Verdict


def answer(
    measured: Measurements,
    studies: Sequence[str],
    *,
    notes: Sequence[str] = (),
    busy: str = "",
    quick: bool = False,
    seed: int = 1,
    catalogue: Catalogue | None = None,
    longer: str = "",
) -> Reproduction:
    """Say all that is known of studies, or of single items where ids are named in their place.

    With a ``catalogue`` answers name a command that decides or reverses them; ``longer`` are the options
    of the one that measures a single item for longer.
    """
    published = load_published()
    alone = published.items_named(studies)
    chosen = tuple(dict.fromkeys(item.study for item in alone)) or published.choose(studies)
    judge = Judge(measured, seed)
    items = alone or published.of(chosen)
    claims = [item.id for item in items if item.id in CLAIMS]
    # The question that was asked is tested alone: what a study is known for, or the only claim.
    verdicts = judge_all(claims, judge, [] if alone else [published.studies[study].headline for study in chosen])
    asked = [pairing for pairing in PAIRINGS if any(side.partition(":")[0] in verdicts for side in pairing.favours)]
    reconciled = () if alone else (reconcile(pairing, judge) for pairing in asked)
    flips = [flip for flip in reconciled if flip is not None]
    if catalogue is not None:
        flips = [replace(flip, next=reversal_step(flip, catalogue)) for flip in flips]

    def step(item: Item, verdict: Verdict) -> Suggestion | None:
        return None if catalogue is None else item_step(item, verdict, flips, catalogue, longer)

    def entry(item: Item) -> FigureEntry | ClaimEntry:
        if item.kind == "figure":
            rows = figure_rows(item, measured, judge)
            verdict = figure_verdict(rows)
            return FigureEntry(item, verdict, rows, step(item, verdict))
        return ClaimEntry(item, verdicts[item.id], CLAIMS[item.id].effect, step(item, verdicts[item.id]))

    return Reproduction(
        studies=tuple(published.studies[study] for study in chosen),
        entries=tuple(map(entry, items)),
        flips=tuple(flips),
        curves=() if alone else tuple(curve for curve in curves(judge) if curve.study in chosen),
        alone=bool(alone),
        notes=tuple(notes),
        host=measured.host,
        started=measured.started,
        quick=quick,
        busy=busy,
    )
