"""`make matrix`: every mechanism once, and every value of each axis on fork and on pthread, one line each.

A line says ok with a figure, unavailable with the reason, or failed. What is measured is small: this asks whether it
works, not what it costs. Everything goes through the ordinary runner. With --huge-pages some are reserved while it
lasts (root only), so that hugetlb can be measured too.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.huge_pages import NotReservedError, reserved

from clonometer.app.results import read_results
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.cell import AxisValue, CatalogueAxis, make_cell
from clonometer.plan.expand import axes_of, meaningless
from clonometer.plan.qualifiers import QUALIFIES
from clonometer.plan.types import Catalogue, Limits, Plan, Target
from clonometer.results.schedule.scheduler import RoundsScheduler
from clonometer.results.types import Estimate, Results
from clonometer.runner.drivers import find_drivers
from clonometer.runner.interfaces import Progress
from clonometer.runner.run import run
from clonometer.views.rows import quantity_text
from clonometer.words import stage_name

MAIN_WORKLOADS = ("launch.fork", "launch.pthread")
LIMITS = Limits(processes=1, samples=5, blocks=1, warmup=2, block_limit_ns=20_000_000)
MIB = 1 << 20
# A value that is not the default, for axes that count or size something: enough to have an effect, and no more.
VALUES: dict[str, AxisValue] = {"nofile": 256, "launch_number": 3, "concurrency": 2, "open_files": 40, "vmas": 40}
SPIN_NS = 20_000
# What else has to be asked for so that a value of an axis means something.
COMPANIONS: dict[str, dict[str, AxisValue]] = {
    "close_files": {"nofile": 256},
    "launchers": {"concurrency": 2},
    "stack_kind": {"stack_bytes": 2 * MIB},
    "sched_class": {},
    **{
        axis: {about.of: about.needs or (4 * MIB if about.of == "parent_bytes" else 2)}
        for axis, about in QUALIFIES.items()
    },
}
# Values of texts for the two main workloads, and for all that have the axis.
MAIN_TEXTS = {"frequency": ("base", "turbo")}
TEXTS = {"program": ("target_static", "target_nolibc", "target_dynamic", "target_cxx", "/bin/true", "/bin/sh:-c:true")}


@dataclass(frozen=True)
class Verdict:
    """How one cell ended: ``ok``, ``unavailable`` or ``failed``, with a figure or the reason."""

    word: str
    cell: str
    text: str


def conditions(catalogue: Catalogue) -> Iterator[tuple[str, dict[str, AxisValue]]]:
    """Every workload once, then every value of each axis of the two main ones, and every kind of program."""
    for name in catalogue.workloads:
        yield name, {}
    for main in MAIN_WORKLOADS:
        for name in catalogue.workloads[main].axes:
            for value in values_of(catalogue.axes[name]):
                yield main, {**COMPANIONS.get(name, {}), name: value}
    for name, texts in TEXTS.items():
        for workload in (candidate for candidate in catalogue.workloads.values() if name in candidate.axes):
            for text in texts:
                yield workload.id, {name: text}


def values_of(axis: CatalogueAxis) -> tuple[AxisValue, ...]:
    """All values of a choice; of a number its default and another."""
    if axis.kind == "choice":
        return axis.values
    if axis.kind == "bytes":
        return (axis.default, 4 * MIB)
    if axis.kind == "count":
        return (axis.default, VALUES.get(axis.name, SPIN_NS if axis.name.endswith("_ns") else 2))
    return (axis.default, *MAIN_TEXTS.get(axis.name, ()))


def make_plan(catalogue: Catalogue) -> Plan:
    """Put all conditions into a plan, each once; combinations that mean nothing are left out."""
    targets: dict[str, Target] = {}
    for workload_id, asked in conditions(catalogue):
        workload = catalogue.workloads[workload_id]
        axes = axes_of(workload, catalogue)
        wanted = [
            warmth for warmth in workload.temperatures or (None,) if meaningless(_full(asked, axes), warmth) is None
        ]
        cells = tuple(make_cell(workload_id, asked, warmth, axes) for warmth in wanted)
        if cells:
            text = make_cell(workload_id, asked, None, axes).text
            targets.setdefault(text, Target(workload_id, cells[0].condition, cells, LIMITS))
    return Plan("matrix", "Every mechanism, and every value of each axis", 1.0, tuple(targets.values()))


def _full(asked: dict[str, AxisValue], axes: dict[str, CatalogueAxis]) -> dict[str, AxisValue]:
    return {axis.name: asked.get(axis.name, axis.default) for axis in axes.values()}


class Dots(Progress):
    """Shows that it lives: a dot for each driver that has ended."""

    def process_ended(self, target: Target, process: int, status: str, reason: str | None) -> None:
        """Print a dot."""
        sys.stderr.write(".")
        sys.stderr.flush()


def judge(plan: Plan, results: Results) -> list[Verdict]:
    """Say of each target how it ended; launches that all failed are a failure, whatever the driver says."""
    statuses = {status.cell: status for status in results.cell_outcomes}
    rows: dict[str, list[Estimate]] = {}
    for row in results.cells:
        rows.setdefault(row.cell, []).append(row)
    verdicts = []
    for target in plan.targets:
        ends = [statuses[cell.text] for cell in target.cells]
        name = target.cells[-1].text
        bad = next((end for end in ends if end.status in ("failed", "missing")), None)
        skipped = next((end for end in ends if end.status == "skipped"), None)
        if bad is not None:
            verdicts.append(Verdict("failed", name, bad.reason or bad.status))
        elif skipped is not None:
            verdicts.append(Verdict("unavailable", name, skipped.reason or "no reason was given"))
        else:
            verdicts.append(_measured(name, [row for cell in target.cells for row in rows.get(cell.text, [])]))
    return verdicts


def _measured(name: str, rows: list[Estimate]) -> Verdict:
    """Judge a cell that its driver called ok by its samples."""
    if not rows:
        return Verdict("failed", name, "no sample")
    failed = {key: count for row in rows[:1] for key, count in row.outcomes.items() if key != "ok" and count}
    good = [row for row in rows if row.n_samples]
    if not good:
        return Verdict("failed", name, f"no launch succeeded: {failed}")
    last = good[-1]
    note = f" ({', '.join(f'{count} {key}' for key, count in failed.items())})" if failed else ""
    return Verdict("ok", name, f"{stage_name(last.stage, last.quantity)} {quantity_text(last)}{note}")


def main() -> int:
    """Measure, with huge pages where that is asked for; the status to end with."""
    reader = argparse.ArgumentParser(prog="make matrix", description=__doc__.splitlines()[0] if __doc__ else None)
    reader.add_argument("--huge-pages", action="store_true", help="reserve some huge pages while it lasts")
    if not reader.parse_args().huge_pages:
        return measure_all()
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(reserved())
        except NotReservedError as error:
            print(f"without huge pages: {error}", file=sys.stderr)
        return measure_all()


def measure_all() -> int:
    """Measure, print a line for each cell, and the count of each verdict; 1 if any failed, 130 if interrupted."""
    drivers = find_drivers()
    catalogue = read_catalogue(drivers.descriptions)
    plan = make_plan(catalogue)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "matrix.parquet"
        outcome = run(
            plan,
            catalogue,
            drivers,
            out=out,
            seed=1,
            scheduler=RoundsScheduler(1, None),
            progress=Dots() if sys.stderr.isatty() else None,
            command=["make", "matrix"],
        )
        if sys.stderr.isatty():
            print(file=sys.stderr)
        if outcome.path is None:
            print("interrupted", file=sys.stderr)
            return 130
        verdicts = judge(plan, read_results(outcome.path))
    for verdict in verdicts:
        print(f"{verdict.word:<12} {verdict.cell}: {verdict.text}")
    counts = {word: sum(verdict.word == word for verdict in verdicts) for word in ("ok", "unavailable", "failed")}
    print(", ".join(f"{word} {count}" for word, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
