"""All that is said of the studies on one machine: figures, ledger and reconciliation, from what was measured."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.studies import claims_advice, claims_bendersky, claims_burian, claims_loop, claims_sharing, claims_sysel  # noqa: F401
from clonometer.studies.curves import curves
from clonometer.studies.figures import figure_rows, figure_verdict
from clonometer.studies.flips import reconcile
from clonometer.studies.judge import CLAIMS, Judge, judge_all
from clonometer.studies.measured import Measurements
from clonometer.studies.pairings import PAIRINGS
from clonometer.studies.published import Item, load_published
from clonometer.studies.types import ClaimEntry, FigureEntry, Reproduction


def answer(
    measured: Measurements,
    studies: Sequence[str],
    *,
    notes: Sequence[str] = (),
    busy: str = "",
    quick: bool = False,
    seed: int = 1,
) -> Reproduction:
    """Say all that is known of the studies."""
    published = load_published()
    chosen = published.choose(studies)
    judge = Judge(measured, seed)
    verdicts = judge_all(CLAIMS, judge)

    def entry(item: Item) -> FigureEntry | ClaimEntry:
        if item.kind == "figure":
            rows = figure_rows(item, measured, judge)
            return FigureEntry(item, figure_verdict(rows), rows)
        return ClaimEntry(item, verdicts[item.id], CLAIMS[item.id].effect)

    reconciled = (reconcile(pairing, judge) for pairing in PAIRINGS)
    return Reproduction(
        studies=tuple(published.studies[study] for study in chosen),
        entries=tuple(map(entry, published.of(chosen))),
        flips=tuple(flip for flip in reconciled if flip is not None),
        curves=tuple(curve for curve in curves(judge) if curve.study in chosen),
        notes=tuple(notes),
        host=measured.host,
        started=measured.started,
        quick=quick,
        busy=busy,
    )
