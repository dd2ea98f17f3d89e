"""What disturbs trust in a run, each kind in a few words: how many of its rows it touches, or what the machine did."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.families import family
from clonometer.results.types import Estimate, Finding, MachineState, RunWarning

#: Kinds of warnings that rows have, worst first, and the words for them before the number of rows.
_OF_ROWS = {
    "clock.skew": "samples out of order",
    "launches.failed": "failed {samples}",
    "level.drift": "drift",
    "interval.wide": "wide intervals",
    "samples.few": "too few samples",
    "processes.few": "too few processes",
}
#: In what state the machine was: what stands above the answer.
MACHINE = "doubt.machine"


def doubts(
    machine: MachineState | None, cells: Sequence[Estimate], warnings: Sequence[RunWarning]
) -> tuple[Finding, ...]:
    """List what disturbs trust: what the whole run met, the machine's state, then what most rows have."""
    names = tuple(dict.fromkeys(estimate.cell for estimate in cells)) or ("",)
    of_any_row = {*_OF_ROWS, *(warning.id for estimate in cells for warning in estimate.warnings)}
    listed = [
        Finding(f"doubt.{warning.id}", warning.sentence.removeprefix("the run: "), {"cells": list(names[:1])})
        for warning in warnings
        if warning.id not in of_any_row
    ]
    if machine is not None and not machine.is_quiet:
        listed.append(Finding(MACHINE, machine.sentence, {"word": machine.word, "cells": list(names[:1])}))
    of_rows = []
    judged = [estimate for estimate in cells if estimate.n_samples and not estimate.detail]
    for name, words in _OF_ROWS.items():
        touched = [estimate for estimate in judged if any(warning.id == name for warning in estimate.warnings)]
        if touched:
            samples = dict.fromkeys(family(estimate.family).samples for estimate in touched)
            named = words.format(samples=" and ".join(samples))
            numbers = {
                "rows": len(touched),
                "of_rows": len(judged),
                "cells": list(dict.fromkeys(estimate.cell for estimate in touched)),
            }
            count = "all" if len(touched) == len(judged) else f"{len(touched)} of {len(judged)}"
            of_rows.append(Finding(f"doubt.{name}", f"{named} in {count} rows", numbers, f"{named} in {len(touched)}"))
    of_rows.sort(key=lambda doubt: -int(doubt.numbers["rows"]))
    return (*listed, *of_rows)
