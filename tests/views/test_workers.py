from __future__ import annotations

import pytest

from clonometer.results.workers.types import WorkerRow, WorkersOfCell, WorkersOfRun
from clonometer.views.documents.workers import DETAILED_CELLS, workers_document
from clonometer.views.terminal.document import render_document

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


def workers_lines(cells: list[WorkersOfCell], width: int) -> list[str]:
    run = WorkersOfRun("run.parquet", tuple(cells))
    return render_document(workers_document, run, width=width).splitlines()


def of(cell: str, workers: int) -> WorkersOfCell:
    values = [
        {name: 1_234_567.0 * (number + 1) if unit == "ns" else 3.0 for name, unit in UNITS.items()}
        for number in range(workers)
    ]
    values[0]["run_queue_wait_ns"] = None
    return WorkersOfCell(cell, 1200, UNITS, tuple(WorkerRow(number, cells) for number, cells in enumerate(values)))


def test_each_worker_of_few_cells_has_a_line() -> None:
    lines = workers_lines([of("work.factor[workers=3]", 3)], 80)
    assert lines[0] == "work.factor[workers=3]: 1,200 executions"
    assert " ".join(lines[1].split()) == ("worker begins, ms ends, ms CPU, ms waits, ms sleeps pushed faults moves")
    assert lines[2].split() == ["0", *["1.23"] * 3, "-", *["3.00"] * 4]
    assert [line.split()[0] for line in lines[2:5]] == ["0", "1", "2"]


def test_many_cells_have_a_line_each_named_by_what_differs() -> None:
    cells = [of(f"work.factor[numbers=20,workers={count}]", count) for count in range(2, DETAILED_CELLS + 3)]
    lines = workers_lines(cells, 120)
    assert "--only" in lines[0]
    assert [line.split()[0] for line in lines[2 : len(cells) + 2]] == [f"workers={n}" for n in range(2, len(cells) + 2)]
    # The median worker of three.
    assert "2.47" in lines[3]


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("count", [1, DETAILED_CELLS + 1])
def test_no_line_is_wider_than_the_terminal(width: int, count: int) -> None:
    cells = [of(f"work.factor[task_kind=process,workers={number}]", 2) for number in range(count)]
    assert max(map(len, workers_lines(cells, width))) <= width
