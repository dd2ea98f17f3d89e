from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from tests.fakes.documents import PROCESS, made_document

from clonometer.records import to_json
from clonometer.results.peers.comparison import compare_peers
from clonometer.results.peers.configurations import CONFIGURATIONS
from clonometer.results.peers.rows import spread

NULL = np.iinfo(np.int64).min
FORK = "launch.fork[linkage=dynamic_now,placement=free,temperature=warm]"


class MadeRun:
    """A run in memory: for each cell a list of (process, block, start, value, errno)."""

    def __init__(self, cells, column="reaped_ns"):
        self._cells, self._column = cells, column
        names = ("start_ns", "call_returns_ns", "task_runs_ns", "reaped_ns", "answered_ns", "cost_ns", "errno")
        self.document = made_document(
            columns={key: {"type": "i64", "unit": "ns"} for key in names},
            processes=[{**PROCESS, "process": number, "started_ns": number * 1000} for number in range(20)],
        )

    def cells(self):
        return list(self._cells)

    def columns(self, cell, names):
        process, block, start, value, errno = (np.array(column) for column in zip(*self._cells[cell], strict=True))
        known = {"process": process, "block": block, "start_ns": start, "errno": errno}
        values = value.astype(np.int64)
        return {name: known.get(name, values) for name in names}


def row_of(rows, id_):
    return next(row for row in rows if row.configuration.id == id_)


def processes(*times, gap=10):
    """Each process has two blocks of three samples of its time; starts lie `gap` apart."""
    return [
        (number, block, 1_000_000 * block + gap * place, time, 0)
        for number, time in enumerate(times)
        for block in range(2)
        for place in range(3)
    ]


def test_every_configuration_is_named_once_and_knows_its_statistic():
    ids = [configuration.id for configuration in CONFIGURATIONS]
    assert len(ids) == len(set(ids))
    assert {configuration.statistic for configuration in CONFIGURATIONS} <= {"mean", "median", "best batch", "rate"}


def test_a_rate_is_the_distance_of_starts_within_blocks():
    run = MadeRun({FORK: processes(*[50] * 12, gap=400)})
    row = row_of(compare_peers(run, {}, {}, seed=1), "stress-ng.fork")
    assert (row.ours.value, row.ours.n, row.change.value) == (400.0, 12, None)


@pytest.mark.parametrize(("id_", "value"), [("libmicro.fork", 20.0), ("osbench.fork", 15.0), ("bendersky.fork", 37.5)])
def test_statistics_of_a_process(id_, value):
    # Two blocks: 10 and 20, then 20 and 100: median 20, best block 15, mean 37.5.
    rows = [(0, 0, 0, 10, 0), (0, 0, 1, 20, 0), (0, 1, 0, 20, 0), (0, 1, 1, 100, 0)]
    cell = next(configuration.cell for configuration in CONFIGURATIONS if configuration.id == id_)
    assert row_of(compare_peers(MadeRun({cell: rows}), {}, {}, seed=1), id_).ours.value == value


def test_failed_launches_and_nulls_are_left_out():
    rows = [(0, 0, 0, 10, 0), (0, 0, 5, 9999, 11), (0, 0, 7, NULL, 0), (0, 0, 9, 30, 0)]
    cell = next(configuration.cell for configuration in CONFIGURATIONS if configuration.id == "perf.fork")
    assert row_of(compare_peers(MadeRun({cell: rows}), {}, {}, seed=1), "perf.fork").ours.value == 20.0


def figures(*values):
    return [(1000.0 * number, float(value)) for number, value in enumerate(values)]


def test_a_ratio_far_from_one_has_its_reason():
    run = MadeRun({FORK: processes(*range(95, 107), gap=100)})
    row = row_of(compare_peers(run, {"stress-ng.fork": figures(*range(290, 302))}, {}, seed=1), "stress-ng.fork")
    assert row.change.value == pytest.approx(2.955, abs=0.01)
    assert row.change.low <= row.change.value <= row.change.high
    assert (row.alike, row.status, row.peer.n) == (False, "measured", 12)
    assert "large program" in row.reason


def test_a_ratio_near_one_needs_none_and_a_wide_one_cannot_be_told():
    run = MadeRun({FORK: processes(*[100] * 12, gap=100)})
    near = row_of(compare_peers(run, {"stress-ng.fork": figures(*[104] * 12)}, {}, seed=1), "stress-ng.fork")
    assert (near.alike, near.reason) == (True, None)
    wide = row_of(compare_peers(run, {"stress-ng.fork": figures(50, 90, 400, 110)}, {}, seed=1), "stress-ng.fork")
    assert wide.alike is None
    assert wide.change.low < 1 < wide.change.high


def test_absent_figures_say_why():
    rows = compare_peers(
        MadeRun({}), {}, {"lmbench.fork": ("not installed", None), "perf.fork": ("failed", "it ended")}, seed=1
    )
    assert (row_of(rows, "lmbench.fork").status, row_of(rows, "lmbench.fork").reason) == ("not installed", None)
    assert (row_of(rows, "perf.fork").status, row_of(rows, "perf.fork").reason) == ("failed", "it ended")
    assert row_of(rows, "unixbench.spawn").status == "not run"
    assert all(row.ours.value is None for row in rows)
    assert spread(rows, "fork") is None


def test_a_figure_without_our_own_is_kept():
    row = row_of(compare_peers(MadeRun({}), {"perf.pipe": figures(5, 6)}, {}, seed=1), "perf.pipe")
    assert (row.peer.value, row.change.value, row.reason) == (5.5, None, "Clonometer's cell was not measured")


def test_the_spread_of_a_word():
    cells = {FORK: processes(*[100] * 12, gap=700), "launch.fork[temperature=warm]": processes(*[60] * 12)}
    least, most = spread(compare_peers(MadeRun(cells), {}, {}, seed=1), "fork")
    assert (least.configuration.id, most.configuration.id) == ("clonometer.fork", "stress-ng.fork")


def test_rows_are_written_as_the_schema_says():
    schema = json.loads((Path(__file__).parents[3] / "docs/schemas/peers.schema.json").read_text(encoding="utf-8"))
    of_row = Draft202012Validator({"$ref": "#/$defs/peer_row", "$defs": schema["$defs"]})
    run = MadeRun({FORK: processes(*[100] * 12, gap=100)})
    for row in compare_peers(run, {"stress-ng.fork": figures(*[104] * 12)}, {}, seed=1):
        written = to_json(row)
        of_row.validate(written)
        assert list(written) == schema["$defs"]["peer_row"]["required"]
