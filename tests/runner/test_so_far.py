"""What a run has measured so far, read while it goes on: the same as its file has at the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from tests.runner.conftest import FakeRun

from clonometer.errors import UsageError
from clonometer.runfile import RunSoFar, open_run


@dataclass
class Reader:
    """Reads all that was measured so far, each time; when the run has ended there is nothing to be read from."""

    names: Sequence[str] = ()
    seen: list[RunSoFar] = field(default_factory=list)
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __call__(self, elapsed_s: float, so_far: Callable[[], RunSoFar]) -> None:
        assert elapsed_s > 0
        run = so_far()
        self.seen.append(run)
        names = [*run.document.columns, *self.names]
        self.columns = {cell: run.columns(cell, names) for cell in run.cells()}


def test_what_is_read_on_the_way_is_what_the_file_has(fake_run: FakeRun) -> None:
    reader = Reader()
    fake_run(watch=reader)
    seen = reader.seen
    assert [len(each.document.processes) for each in seen] == [1, 2, 3, 4]
    assert {each.document.status for each in seen} == {"partial"}
    missing = [entry.reason for entry in seen[0].document.cells if entry.status == "missing"]
    assert set(missing) == {"not measured yet"}
    last = seen[-1]
    with open_run(fake_run.out) as run:
        assert sorted(last.cells()) == sorted(run.cells())
        assert last.document.blocks == run.document.blocks
        for cell in run.cells():
            now, written = reader.columns[cell], run.columns(cell)
            assert set(now) == set(written)
            for name, values in written.items():
                assert now[name].dtype == values.dtype
                np.testing.assert_array_equal(now[name], values)


def test_an_unknown_column_is_refused_as_by_the_file(fake_run: FakeRun) -> None:
    with pytest.raises(UsageError, match="unknown column"):
        fake_run(watch=Reader(["no_such_ns"]))


def test_blocks_that_are_not_sound_are_left_out(fake_run: FakeRun) -> None:
    reader = Reader()
    fake_run("failed_block", watch=reader)
    blocks = reader.seen[-1].document.blocks
    assert {each.status for each in blocks} == {"ok", "failed"}
    sound = {(each.cell, each.process, each.block) for each in blocks if each.status == "ok"}
    for cell, read in reader.columns.items():
        pairs = zip(read["process"].tolist(), read["block"].tolist(), strict=True)
        assert {(cell, *pair) for pair in pairs} <= sound
