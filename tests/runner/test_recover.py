from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fakes.memory_run import write_raw, write_run
from tests.fakes.sample_run import ABSENT, CLOCK, FORK_COLD, FORK_WARM, sample_run

from clonometer.errors import OutputError, RunFileError
from clonometer.protocol import RawWriter
from clonometer.runfile import open_run
from clonometer.runner.recover import recover


def statuses(path: Path) -> dict[str, tuple[str, str | None]]:
    return {entry.cell: (entry.status, entry.reason) for entry in open_run(path).document.cells}


def test_a_killed_run_becomes_a_partial_run_file(tmp_path: Path) -> None:
    raw = write_raw(tmp_path / "run.raw", sample_run(), end=False)
    recovered = recover(raw, tmp_path / "run.parquet")
    assert (recovered.n_processes, recovered.n_blocks, recovered.n_samples, recovered.status) == (3, 7, 31, "partial")
    assert recovered.fault is None
    run = open_run(recovered.path)
    assert (run.document.status, run.document.status_reason) == (
        "partial",
        "the run was killed; recovered from its raw file",
    )
    assert statuses(recovered.path) == {
        CLOCK: ("ok", None),
        FORK_COLD: ("ok", None),
        FORK_WARM: ("ok", None),
        ABSENT: ("missing", "the run was killed before it was measured"),
    }
    ended = datetime(2026, 1, 1, 12, tzinfo=UTC) + timedelta(microseconds=2_900)
    assert datetime.fromisoformat(run.document.ended) == ended
    whole = open_run(write_run(tmp_path / "whole.parquet", sample_run()))
    for cell in whole.cells():
        left, right = run.columns(cell), whole.columns(cell)
        assert all(np.array_equal(left[name], right[name], equal_nan=name == "cost_ns") for name in right)
    assert run.document.processes == whole.document.processes
    assert run.document.blocks == whole.document.blocks
    assert raw.exists()


def test_a_run_that_had_ended_keeps_its_own_ending(tmp_path: Path) -> None:
    recovered = recover(write_raw(tmp_path / "run.raw", sample_run()), tmp_path / "run.parquet")
    assert recovered.status == "complete"
    assert open_run(recovered.path).document == open_run(write_run(tmp_path / "whole.parquet", sample_run())).document


def test_a_cut_anywhere_gives_whole_blocks_only(tmp_path: Path) -> None:
    data = write_raw(tmp_path / "whole.raw", sample_run(2), n_processes=2).read_bytes()
    rows = [1, 2, 4, 2]  # of the blocks, in the order of the file
    allowed = {sum(rows[:n]) for n in range(len(rows) + 1)}
    begin = 16 + 16 + len(json.dumps(sample_run().at_start))
    cut_file, out = tmp_path / "cut.raw", tmp_path / "cut.parquet"
    seen = set()
    for cut in range(begin, len(data) + 1, 61):
        cut_file.write_bytes(data[:cut])
        recovered = recover(cut_file, out, force=True)
        run = open_run(out)
        assert run.n_samples == recovered.n_samples
        assert [entry.rows for entry in run.document.blocks] == rows[: recovered.n_blocks]
        seen.add(recovered.n_samples)
    assert seen == allowed


def test_says_of_the_process_that_was_killed(tmp_path: Path) -> None:
    raw = tmp_path / "run.raw"
    raw.write_bytes(write_raw(tmp_path / "whole.raw", sample_run(), end=False).read_bytes()[:-3])
    recovered = recover(raw, tmp_path / "run.parquet")
    last = open_run(recovered.path).document.processes[-1]
    assert (last.status, last.reason) == ("failed", "the run was killed while this process measured")
    assert recovered.fault is not None
    assert "EXIT" in recovered.fault
    assert recovered.fault in str(open_run(recovered.path).document.status_reason)


def raw_of_one(path: Path, end: dict[str, Any], n_blocks: int = 0) -> Path:
    """A raw file with one process, which ended in a given way."""
    process = sample_run().processes()[0]
    with RawWriter(path, sample_run().at_start) as raw:
        raw.begin_process(process.entry_at_start)
        for block in process.read()[0][:n_blocks]:
            raw.add_block(block)
        raw.end_process({**process.entry, **end})
    return path


@pytest.mark.parametrize(
    ("end", "n_blocks", "cold", "warm"),
    [
        ({"status": "skipped", "reason": "needs 2, has 1"}, 0, "skipped", "skipped"),
        ({"status": "failed", "reason": "needs 2, has 1"}, 0, "failed", "failed"),
        ({"status": "failed", "reason": "needs 2, has 1"}, 1, "ok", "failed"),
    ],
)
def test_says_how_each_cell_ended(end: dict[str, Any], n_blocks: int, cold: str, warm: str, tmp_path: Path) -> None:
    recovered = recover(raw_of_one(tmp_path / "run.raw", end, n_blocks), tmp_path / "run.parquet")
    ends = statuses(recovered.path)
    assert ends[FORK_COLD] == (cold, None if cold == "ok" else "needs 2, has 1")
    assert ends[FORK_WARM] == (warm, "needs 2, has 1")
    assert ends[CLOCK][0] == "missing"


def test_leaves_out_what_was_not_asked_for(tmp_path: Path) -> None:
    raw = raw_of_one(tmp_path / "run.raw", {"cells": [FORK_WARM]}, 3)
    # EXIT says that the process was to measure warm launches only: its cold block belongs to no cell.
    recovered = recover(raw, tmp_path / "run.parquet")
    assert [entry.cell for entry in open_run(recovered.path).document.blocks] == [FORK_WARM, FORK_WARM]


def test_refuses_what_cannot_be_recovered(tmp_path: Path) -> None:
    (tmp_path / "run.raw").write_bytes(b"CLNMTRAW")
    with pytest.raises(RunFileError, match="holds no run"):
        recover(tmp_path / "run.raw", tmp_path / "run.parquet")
    with RawWriter(tmp_path / "other.raw", {"plan": {}}):
        pass
    with pytest.raises(RunFileError, match="metadata is damaged"):
        recover(tmp_path / "other.raw", tmp_path / "run.parquet")
    assert not (tmp_path / "run.parquet").exists()


def test_never_replaces_a_file_unasked(tmp_path: Path) -> None:
    raw = write_raw(tmp_path / "run.raw", sample_run())
    out = tmp_path / "run.parquet"
    out.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        recover(raw, out)
    assert out.read_text() == "mine"
    assert recover(raw, out, force=True).n_samples == 31
