"""What a page needs to answer again for other values: the costs of each draw, and what memory adds to a fork.

``advise.js`` simulates the same requests as `clonometer.advice.queueing`, and a test of the page compares both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from clonometer.advice.basis import AdviceBasis
from clonometer.advice.costs import BUSY_HZ, FORK_MEMORY, SLOW_HZ, Costs, costs_of, unfit
from clonometer.advice.curves import AXES, CurveAxis
from clonometer.advice.designs import ServerDesign
from clonometer.advice.drawing import DRAWS, deviations, draws
from clonometer.advice.predicting import MOST_UTILISATION
from clonometer.advice.terms import TermSpan
from clonometer.advice.wish import QUANTILES, Wish
from clonometer.advice.wording import LEAST_DIFFERENCE


def explorable(
    wish: Wish, basis: AdviceBasis, designs: Sequence[ServerDesign], order: str, *, seed: int, requests: int
) -> dict[str, Any]:
    """Give the model of an answer as plain values: that of the designs whose terms were measured."""
    spans = basis.spans(wish)
    values = draws(spans, DRAWS, seed)
    drawn = deviations(spans, DRAWS, seed)
    middle = {name: span.value for name, span in spans.items()}
    limit = wish.limit
    return {
        "wish": {axis.of: getattr(wish, axis.of) for axis in _moved(basis)},
        "sliders": [_slider(axis, wish) for axis in _moved(basis)],
        "written_bytes": wish.written_bytes,
        "cpus": wish.cpus,
        "workers": wish.workers,
        "slice_ns": basis.slice_ns,
        "rates": [SLOW_HZ, BUSY_HZ],
        "order": order,
        "limit": None if limit is None else {"share": QUANTILES[limit.quantile], "ns": limit.ns, "text": limit.text},
        "seed": seed,
        "requests": requests,
        "most_utilisation": MOST_UTILISATION,
        "least_difference": LEAST_DIFFERENCE,
        "memory": [
            {"bytes": point.memory_bytes, "call": _ends(point.call_ns), "exit": _ends(point.exit_ns)}
            for point in basis.memory
        ],
        "deviations": [[each.get(name, 0.0) for name in FORK_MEMORY] for each in drawn],
        "designs": [_design(design, wish, values, middle) for design in designs],
    }


def _moved(basis: AdviceBasis) -> list[CurveAxis]:
    """What a reader may change: data are left as stated, and memory where its cost is not known."""
    moved = [axis for axis in AXES if axis.of != "response_bytes"]
    return [axis for axis in moved if basis.memory or axis.of != "memory_bytes"]


def _slider(axis: CurveAxis, wish: Wish) -> dict[str, Any]:
    """Between which values it may be moved: the stated one is among them, and no request writes more than there is."""
    stated = float(getattr(wish, axis.of))
    low = max(axis.low, wish.written_bytes) if axis.of == "memory_bytes" else axis.low
    return {
        "name": axis.of,
        "label": f"{axis.title[0].upper()}{axis.title[1:]}",
        "unit": axis.of.rpartition("_")[2],
        "low": min(low, stated) if stated else low,
        "high": max(axis.high, stated),
        "stated": stated,
    }


def _design(
    design: ServerDesign, wish: Wish, values: Sequence[Mapping[str, float]], middle: Mapping[str, float]
) -> dict[str, Any]:
    slow, busy = (
        [costs_of(design, replace(wish, memory_bytes=0, rate_hz=rate_hz), each) for each in values]
        for rate_hz in (SLOW_HZ, BUSY_HZ)
    )
    return {
        "id": design.id,
        "name": design.name,
        "title": design.title,
        "shape": design.shape,
        "accepts": design.has_acceptor,
        "processes": design.is_of_processes,
        "copies": design.launch == "fork" and wish.connections == "per_request",
        "hands": design.launch == "spawn",
        "crash": design.crash,
        "unfit": unfit(design, wish),
        "task_bytes": middle.get("process_bytes" if design.is_of_processes else "thread_bytes"),
        "slow": [_figures(each, wish) for each in slow],
        "busy": [_figures(each, wish) for each in busy],
    }


def _figures(costs: Costs, wish: Wish) -> dict[str, float]:
    """What a request costs by who pays, at one of the rates that were measured."""
    before_ns, then_ns = costs.worker_around(wish)
    return {
        "acceptor": costs.at("acceptor"),
        "worker": before_ns,
        "then": then_ns,
        "block": costs.wait_ns(wish),
        "after": costs.at("after"),
        "path": costs.path_ns,
    }


def _ends(span: TermSpan) -> list[float]:
    return [span.value, span.low, span.high]
