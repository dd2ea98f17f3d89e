"""What disturbs trust in a run, each kind in a few words: how many of its rows it touches, or what the machine did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clonometer.families import family
from clonometer.results.types import Estimate, Finding, RunWarning

#: Kinds of warnings that rows have, worst first, and the words for them before the number of rows.
_OF_ROWS = {
    "clock.skew": "samples out of order",
    "launches.failed": "failed {samples}",
    "level.drift": "drift",
    "modes.several": "two groups of times",
    "interval.wide": "wide intervals",
    "samples.few": "too few samples",
    "processes.few": "too few processes",
}
#: That others ran: what stands above the answer.
LOAD = "doubt.load"
#: Load for each CPU from which on others surely ran while we began.
_BUSY = 1.0


def say_load(host: Mapping[str, Any]) -> str:
    """Say the load when measuring began, where it kept every CPU busy; else nothing."""
    load, cpus = host.get("load.one_minute"), host.get("cpu.online")
    if isinstance(load, int | float) and isinstance(cpus, int) and load >= _BUSY * cpus:
        return f"load {load:.1f} on {cpus} CPUs"
    return ""


def doubts(host: Mapping[str, Any], cells: Sequence[Estimate], warnings: Sequence[RunWarning]) -> tuple[Finding, ...]:
    """List what disturbs trust: what the whole run met, the load, then what most rows have, each with its words."""
    names = tuple(dict.fromkeys(estimate.cell for estimate in cells)) or ("",)
    of_any_row = {*_OF_ROWS, *(warning.id for estimate in cells for warning in estimate.warnings)}
    listed = [
        Finding(f"doubt.{warning.id}", warning.sentence.removeprefix("the run: "), {"cells": list(names[:1])})
        for warning in warnings
        if warning.id not in of_any_row
    ]
    text, load, cpus = say_load(host), host.get("load.one_minute"), host.get("cpu.online")
    if text:
        listed.append(Finding(LOAD, text, {"load": load, "cpus": cpus, "cells": list(names[:1])}))
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
