"""Answers made by hand, with an entry of every kind: what samples of documents show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.model.synthetic import calibration, model
from tests.views.sample_results import sample_results

from clonometer.model.calibration import Calibration, Residual
from clonometer.results.change import Change
from clonometer.results.noise.types import AgainstItself, LayoutRow, Layouts, Noise, NoiseRow
from clonometer.results.peers.configurations import CONFIGURATIONS
from clonometer.results.peers.rows import PeerFigure, PeerInstallation, PeerRow, PeersAnswer
from clonometer.results.workers.types import WorkerRow, WorkersOfCell, WorkersOfRun
from clonometer.verdicts import Direction
from clonometer.views.documents.workers import DETAILED_CELLS


def noise(**fields: Any) -> Noise:
    rows = [
        NoiseRow(row, 0.012, 0.004 if place % 2 else None, 0.071 if place % 3 else None)
        for place, row in enumerate(cell for cell in sample_results().cells if cell.median_ns)
    ]
    checks = AgainstItself(20, 1, 0.001, 0.25, ("launch.fork[temperature=warm] reaped",))
    return replace(
        Noise(
            plan="quick",
            rounds=20,
            max_regression=0.05,
            error_rate=0.01,
            n_tests=len(rows),
            interleaved=checks,
            in_a_row=AgainstItself(19, 0, 0.0, 0.18, ()),
            rows=rows,
        ),
        **fields,
    )


def of_layouts(known: Layouts, **fields: Any) -> Noise:
    """Noise of which only the layouts are shown."""
    return noise(layouts=known, rows=[], **fields)


def layouts(*ends: tuple[float | None, float | None, float | None], draws: bool | None = True) -> Layouts:
    times = [cell for cell in sample_results().cells if cell.median_ns][: len(ends)]
    why = ["few pairs" if each[0] is None else None for each in ends]
    every = zip(times, ends, why, strict=True)
    rows = [LayoutRow(row, 75, 74, 0.021, 0.0125, *each, reason) for row, each, reason in every]
    return Layouts(None, draws, rows)


def peers_answer(rows, programs=()):
    missing = [PeerInstallation(each.name, list(each.figures), False, each.install) for each in programs]
    return PeersAnswer("complete", rows, missing)


OURS, THEIRS = PeerFigure(50_000.0, 49_000.0, 51_000.0, 12), PeerFigure(150_000.0, 148_000.0, 152_000.0, 12)
ALONE = Change(base=OURS, other=PeerFigure())


RATIO = Change(base=OURS, other=THEIRS, value=3.0, low=2.9, high=3.1, direction=Direction.MORE)


def peers_rows():
    made = [PeerRow(configuration, "not run", ALONE) for configuration in CONFIGURATIONS]
    different = replace(made[8], status="measured", reason=made[8].configuration.why, change=RATIO)
    unsure = replace(RATIO, low=0.9, direction=Direction.UNKNOWN)
    unclear = replace(different, configuration=CONFIGURATIONS[9], change=unsure)
    equal = replace(RATIO, direction=Direction.EQUAL)
    alike = replace(different, configuration=CONFIGURATIONS[20], change=equal, reason=None)
    nothing = Change(base=PeerFigure(), other=PeerFigure())
    failed = replace(made[7], status="failed", reason="it ended with status 1", change=nothing)
    return [*made[:6], replace(made[6], status="not installed"), failed, different, unclear, *made[10:20], alike]


UNITS = {
    "worker_begins_ns": "ns",
    "worker_ends_ns": "ns",
    "worker_works_ns": "ns",
    "worker_cpu_ns": "ns",
    "run_queue_wait_ns": "ns",
    "voluntary_switches": "count",
    "involuntary_switches": "count",
    "minor_faults": "count",
    "major_faults": "count",
    "migrations": "count",
    "divisions": "count",
}


def workers_of(cell: str, workers: int) -> WorkersOfCell:
    values = [
        {name: 1_234_567.0 * (number + 1) if unit == "ns" else 3.0 for name, unit in UNITS.items()}
        for number in range(workers)
    ]
    values[0]["run_queue_wait_ns"] = None
    return WorkersOfCell(cell, 1200, UNITS, tuple(WorkerRow(number, cells) for number, cells in enumerate(values)))


def peers_few() -> PeersAnswer:
    """Five figures of our own, four of which are others than the first."""
    made = [
        replace(row, change=replace(ALONE, base=replace(OURS, value=(number + 1) * 10_000.0)))
        for number, row in enumerate(peers_rows()[:5])
    ]
    return peers_answer(made)


def missed() -> Calibration:
    """A calibration that misses conditions.

    A scattered page has one price with cold caches, and prices at other amounts elsewhere; vfork copies nothing.
    """
    made = calibration(lacks={"cell": "no huge pages are free"})
    residuals = (Residual("launch.fork[vmas=9]", 100.0, 125.0), Residual("launch.fork", 100.0, 100.0))
    linear = model().each_ns[:-2]
    changed = {
        "fork.first": replace(model(misfit=0.12), residuals=residuals),
        "fork.unwritten_hot": replace(model(), knots=(1e6, 2e6, 3e6), each_ns=(*linear, 44.0, 45.0, 46.0), draws_ns=()),
        "fork.unwritten": replace(model(), knots=(1e6,), each_ns=(*linear, 33.0), draws_ns=()),
        "vfork": replace(model(), flat=("small pages", "page tables")),
    }
    return replace(made, models={**made.models, **changed})


def workers_of_many() -> WorkersOfRun:
    """One cell more than are shown with a line for each worker, and some."""
    names = [f"work.factor[numbers=20,workers={count}]" for count in range(2, DETAILED_CELLS + 3)]
    return WorkersOfRun("run.parquet", tuple(workers_of(name, count) for count, name in enumerate(names, 2)))
