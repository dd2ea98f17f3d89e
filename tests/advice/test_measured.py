"""Terms from a run, and the proof of an answer by a run, of chosen numbers."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from clonometer.advice.advising import advise
from clonometer.advice.measured import lacks_of, middle_span, terms_of
from clonometer.advice.proving import prove
from clonometer.advice.wish import Wish
from clonometer.errors import InputError
from clonometer.run_document import PlanCell
from tests.advice.synthetic import basis

NULL = np.iinfo(np.int64).min
AXES = {"request_bytes": 128, "response_bytes": 1024}
SERVER = {**AXES, "connections": "per_request", "transport": "tcp", "arrival_seed": 0}


class ChosenRun:
    """A run of cells with the samples of each process, by quantity."""

    def __init__(self, cells, reasons=(), blocks=()):
        self._samples = {cell: samples for cell, _, samples in cells}
        planned = [PlanCell(cell, cell.partition("[")[0], condition, None) for cell, condition, _ in cells]
        planned += [PlanCell(cell, cell.partition("[")[0], {}, None) for cell, _ in reasons]
        axes = {name: SimpleNamespace(default=default) for name, default in AXES.items()}
        names = {name for _, _, samples in cells for name in samples}
        self.document = SimpleNamespace(
            plan=SimpleNamespace(cells=planned, workload_of={each.cell: each.workload for each in planned}),
            catalogue=SimpleNamespace(axes=axes),
            columns=dict.fromkeys(names),
            cells=[SimpleNamespace(cell=cell, reason=reason) for cell, reason in reasons],
            blocks=[
                SimpleNamespace(cell=cell, process=process, rows=rows, facts=facts)
                for cell, process, rows, facts in blocks
            ],
        )

    def cells(self):
        return list(self._samples)

    def columns(self, cell, names):
        samples = self._samples[cell]
        rows = [(process, value) for process, values in enumerate(next(iter(samples.values()))) for value in values]
        columns = {"process": np.array([process for process, _ in rows], dtype=np.int32)}
        for name, by_process in samples.items():
            columns[name] = np.array([value for values in by_process for value in values])
        return {name: columns[name] for name in names if name in columns}


def server(design, *, cpu_ns, latency_ns, **condition):
    about = {**SERVER, **condition}
    text = ",".join(f"{name}={value}" for name, value in condition.items())
    # As in a run: what is of a whole period stands in the row of its first request.
    samples = {
        "latency_ns": [[latency_ns, latency_ns + 20, latency_ns + 10], [latency_ns] * 3],
        "server_cpu_each_ns": [[cpu_ns, np.nan, np.nan], [cpu_ns + 100, np.nan, np.nan]],
    }
    return f"serve.{design}[{text}]" if text else f"serve.{design}", about, samples


def test_terms_come_from_the_cells_that_measure_them():
    run = ChosenRun(
        [
            server("inline", cpu_ns=20_000.0, latency_ns=30_000.0),
            server("inline", cpu_ns=20_000.0 + 0.25 * 4096, latency_ns=40_000.0, response_bytes=1024 + 4096),
            server("inline", cpu_ns=24_000.0, latency_ns=464_000.0, block_ns=400_000),
            server("fork", cpu_ns=140_000.0, latency_ns=200_000.0),
            ("teardown.exit", {"child_bytes": 0}, {"teardown_ns": [[30_000], [32_000]]}),
            ("teardown.exit[child_bytes=40KiB]", {"child_bytes": 40_960}, {"teardown_ns": [[34_000], [36_000]]}),
            ("cow.parent", {}, {"write_each_ns": [[1600]]}),
            ("wake.thread_condvar", {}, {"answered_ns": [[8000]]}),
            ("connection.tcp", {}, {"closed_ns": [[14_000]]}),
            ("python.connection", {}, {"result_ns": [[20_000]]}),
            ("python.fork", {}, {"result_ns": [[290_000]]}),
            ("python.exchange_thread", {}, {"result_ns": [[90_000]]}),
            ("python.thread_pool", {}, {"result_ns": [[40_000]]}),
            ("launch.fork", {}, {"call_returns_ns": [[50_000]], "task_runs_ns": [[60_000]], "reaped_ns": [[90_000]]}),
            ("launch.posix_spawn", {}, {"call_returns_ns": [[2]], "image_runs_ns": [[3]], "reaped_ns": [[4]]}),
            ("cow.child", {}, {"write_each_ns": [[1400, 1500, 1450]], "again_each_ns": [[20, 20, 20]]}),
            ("footprint.process", {}, {"whole_each_bytes": [[-5000]]}),
            ("footprint.thread", {}, {"whole_each_bytes": [[50_000]]}),
        ],
        reasons=[("serve.spawn", "no programs here")],
    )
    values = {name: term.span.value for name, term in terms_of(run).items()}
    assert values["cpu.inline.per_request.tcp"] == 20_050.0
    assert values["latency.inline.per_request.tcp"] == 30_002.5
    assert values["cpu_above.fork.per_request.tcp"] == 120_000.0
    assert values["latency_above.fork.per_request.tcp"] == 170_000.0
    assert values["byte_out"] == pytest.approx(0.25)
    assert (values["call.fork"], values["runs.fork"], values["whole.fork"]) == (50_000, 60_000, 90_000)
    assert values["runs.spawn"] == 3
    assert (values["copied_page"], values["written_page"]) == (1450, 20)
    # A machine on which others free memory meanwhile says nothing of a process.
    assert "process_bytes" not in values
    assert values["thread_bytes"] == 50_000
    assert (values["cpu.wait"], values["latency.wait"]) == (
        4_000.0,
        pytest.approx(64_000.0 - 30_000.0 - 4_000.0, abs=10),
    )
    assert (values["freed_page"], values["parent_page"]) == (400.0, 1600)
    # A pool that a language has is what its servers hand over by.
    assert values["python.hand_over"] == 32_000
    assert values["python.connection"] == 6_000
    assert values["python.fork"] == 200_000
    assert lacks_of(run) == {"serve.spawn": "no programs here"}


def test_what_a_language_takes_more_to_launch_is_cpu_time_where_drivers_count_it():
    """Else whoever uses the CPU meanwhile counts too, and the more the longer a launch takes."""
    c = {"call_returns_ns": [[50_000]], "task_runs_ns": [[60_000]], "reaped_ns": [[90_000]]}
    cells = [("launch.fork", {}, c), ("python.fork", {}, {"result_ns": [[2_900_000]]})]
    blocks = [
        ("launch.fork", 0, 100, {"cpu_ns": 4_000_000, "children_cpu_ns": 3_000_000}),
        ("launch.fork", 0, 0, {"cpu_ns": 4_000_000, "children_cpu_ns": 3_000_000}),
        ("python.fork", 0, 20, {"cpu_ns": 9_000_000, "children_cpu_ns": 20_000_000}),
        ("python.fork", 1, 10, {"cpu_ns": 4_500_000, "children_cpu_ns": 10_000_000}),
    ]
    assert terms_of(ChosenRun(cells, blocks=blocks))["python.fork"].span.value == 1_450_000 - 70_000
    uncounted = [*blocks[:2], ("python.fork", 0, 20, {"cpu_ns": 9_000_000, "children_cpu_ns": None})]
    assert terms_of(ChosenRun(cells, blocks=uncounted))["python.fork"].span.value == 2_900_000 - 90_000


def test_a_disturbed_process_moves_the_middle_of_several_little():
    quiet = middle_span(dict(enumerate([10.0, 11.0, 12.0, 11.0, 10.0, 12.0])))
    disturbed = middle_span(dict(enumerate([10.0, 11.0, 12.0, 11.0, 10.0, 900.0])))
    assert quiet.value == disturbed.value == 11.0
    assert (quiet.low, quiet.high) == (10.0, 12.0)
    assert disturbed.high > quiet.high
    assert middle_span({1: 10.0}).high == 20.0
    assert middle_span({1: -10.0}).low == -20.0


def proven(first, second, *, isolation="memory", work_ns=0.0):
    answer = advise(Wish(rate_hz=50, work_ns=work_ns, isolation=isolation), basis(), requests=200)
    best = [design.id for design in answer.designs if design.rank in (1, 2)]
    cells = [
        server(design, cpu_ns=1e5, latency_ns=latency_ns + 10 * seed, arrival_seed=seed)
        for design, latency_ns in zip(best, (first, second), strict=True)
        for seed in range(1, 7)
    ]
    return best, prove(answer, ChosenRun(cells), 1).proof


def test_who_won_is_said_beside_who_was_predicted():
    best, proof = proven(200_000.0, 500_000.0)
    assert (proof.faster, proof.agrees) == (best[0], True)
    assert proof.ratio.value == pytest.approx(2.5, rel=0.01)
    assert "as predicted" in proof.sentence
    best, proof = proven(500_000.0, 200_000.0)
    assert (proof.faster, proof.agrees) == (best[1], False)
    assert "not predicted" in proof.sentence
    _, proof = proven(200_000.0, 200_500.0)
    assert (proof.faster, proof.agrees) == (None, False)
    _, proof = proven(2_000_000.0, 2_001_000.0, isolation="none", work_ns=2e6)
    assert (proof.faster, proof.agrees) == (None, True)


def test_a_design_that_did_not_run_is_named():
    answer = advise(Wish(rate_hz=50, isolation="memory"), basis(), requests=200)
    run = ChosenRun([server("fork", cpu_ns=1.0, latency_ns=1.0, arrival_seed=1)], [("serve.spawn[x=1]", "no programs")])
    with pytest.raises(InputError, match=r"serve\.spawn was not measured: no programs"):
        prove(answer, run, 1)
