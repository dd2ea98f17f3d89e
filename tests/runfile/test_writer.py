from __future__ import annotations

import os
import random
import resource
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.fakes.answers import encode_block
from tests.fakes.memory_run import write_run
from tests.fakes.sample_run import CLOCK, FORK_COLD, FORK_WARM, sample_run

from clonometer.answers import Block
from clonometer.errors import OutputError, ProtocolError, RunFileError
from clonometer.protocol import AnswerReader, preamble
from clonometer.runfile import RunFileWriter, check_output, open_run, raw_path

KEYS = ["cell", "process", "block", "sample"]


def one_block(columns: dict[str, Any], index: int = 0, **further: Any) -> Block:
    skipped = b"".join(encode_block(before, "x", None, {}) for before in range(index))
    answer = preamble() + skipped + encode_block(index, "x", None, columns, **further)
    return AnswerReader().feed(answer)[-1]


def test_rows_are_sorted_and_have_every_column(tmp_path: Path) -> None:
    table = pq.read_table(write_run(tmp_path / "run.parquet", sample_run()))
    frame = table.to_pandas()
    assert table.num_rows == 2 * (1 + 5 + 7) + 5
    assert list(frame.columns[:4]) == KEYS
    keys = list(frame[KEYS].astype({"cell": str}).itertuples(index=False, name=None))
    assert keys == sorted(keys)
    assert {str(table.schema.field(name).type) for name in KEYS[1:]} == {"int32"}
    assert str(table.schema.field("reaped_ns").type) == "int64"
    assert str(table.schema.field("cost_ns").type) == "double"
    clock, fork = frame[frame.cell == CLOCK], frame[frame.cell == FORK_WARM]
    assert clock.reaped_ns.isna().all()
    assert fork.cost_ns.isna().all()
    assert clock.cost_ns.isna().tolist() == [False] * 4 + [True]
    assert fork.reaped_ns.isna().tolist() == ([False, True, False, False, False] + [False, True] + [False] * 5) * 2
    assert fork["sample"].tolist() == [*range(5), *range(7)] * 2


def test_order_of_adding_does_not_matter(tmp_path: Path) -> None:
    blocks = [
        (cell, process.entry["process"], block)
        for process in sample_run().processes()
        for cell, block in zip(process.cells, process.read()[0], strict=True)
    ]
    random.Random(3).shuffle(blocks)
    writer = RunFileWriter(tmp_path / "shuffled.parquet")
    for cell, process, block in blocks:
        writer.add_block(cell, process, block)
    shuffled = open_run(writer.write(sample_run().metadata))
    straight = open_run(write_run(tmp_path / "straight.parquet", sample_run()))
    columns = list(shuffled.samples().column_names)
    assert shuffled.samples().equals(straight.samples().select(columns))
    assert shuffled.document.blocks == straight.document.blocks


def test_fills_in_blocks_and_columns(tmp_path: Path) -> None:
    run = open_run(write_run(tmp_path / "run.parquet", sample_run()))
    assert [(entry.process, entry.block, entry.cell, entry.rows) for entry in run.document.blocks] == [
        (0, 0, FORK_COLD, 1),
        (0, 1, FORK_WARM, 5),
        (0, 2, FORK_WARM, 7),
        (1, 0, CLOCK, 5),
        (2, 0, FORK_COLD, 1),
        (2, 1, FORK_WARM, 5),
        (2, 2, FORK_WARM, 7),
    ]
    assert run.document.blocks[1].outcomes == {"ok": 4, "EAGAIN": 1}
    assert {name: (column.type, column.unit) for name, column in run.document.columns.items()} == {
        "start_ns": ("i64", "ns"),
        "reaped_ns": ("i64", "ns"),
        "cpu_child": ("i32", "cpu"),
        "errno": ("i32", "errno"),
        "cost_ns": ("f64", "ns"),
    }


def test_row_groups_are_large_and_cells_can_be_skipped(tmp_path: Path) -> None:
    rows = 50_000
    writer = RunFileWriter(tmp_path / "large.parquet")
    texts = [f"launch.fork[parent_bytes={at}]" for at in range(6)]
    for at, cell in enumerate(texts):
        writer.add_block(cell, at, one_block({"reaped_ns": np.arange(rows) + at}))
    writer.add_block("launch.fork[parent_bytes=9]", 9, one_block({"reaped_ns": np.arange(200_001)}))
    path = writer.write(sample_run().metadata)
    parquet = pq.ParquetFile(path)
    groups = [parquet.metadata.row_group(at) for at in range(parquet.num_row_groups)]
    sizes = [group.num_rows for group in groups]
    assert all(65_536 <= size < 2 * 65_536 for size in sizes[:-1])
    assert groups[0].column(0).statistics.min == texts[0]
    assert groups[0].column(0).statistics.max == texts[1]
    assert groups[0].column(4).compression == "ZSTD"
    run = open_run(path)
    for at, cell in enumerate(texts):
        assert run.columns(cell, ["reaped_ns"])["reaped_ns"].tolist() == list(range(at, rows + at))
    last = run.columns("launch.fork[parent_bytes=9]")
    assert last["sample"].tolist() == list(range(200_001))
    assert np.array_equal(last["sample"], last["reaped_ns"])


def test_reads_blocks_again_instead_of_holding_them(tmp_path: Path) -> None:
    block = one_block({"reaped_ns": [1, 2, 3]})
    asked = []

    def load() -> Block:
        asked.append(1)
        return block

    writer = RunFileWriter(tmp_path / "run.parquet")
    writer.add_block("x", 0, block, load)
    assert not asked
    writer.write(sample_run().metadata)
    assert asked == [1]


def test_refuses_blocks_that_do_not_fit(tmp_path: Path) -> None:
    writer = RunFileWriter(tmp_path / "run.parquet")
    writer.add_block("x", 0, one_block({"cost_ns": [1.0]}))
    with pytest.raises(ProtocolError, match="arrived twice"):
        writer.add_block("x", 0, one_block({"cost_ns": [1.0]}))
    with pytest.raises(ProtocolError, match="'cost_ns' is i64 in ns here, f64 in ns"):
        writer.add_block("x", 1, one_block({"other": [1], "cost_ns": [1]}))
    with pytest.raises(ProtocolError, match="'cost_ns' is f64 in us here"):
        writer.add_block("x", 1, one_block({"cost_ns": [1.0]}, units={"cost_ns": "us"}))
    assert (writer.n_blocks, writer.n_samples) == (1, 1)
    assert list(open_run(writer.write(sample_run().metadata)).document.columns) == ["cost_ns"]


def test_a_run_without_samples_can_be_written(tmp_path: Path) -> None:
    run = open_run(RunFileWriter(tmp_path / "run.parquet").write({**sample_run().metadata, "status": "failed"}))
    assert (run.n_samples, run.cells(), run.document.status) == (0, [], "failed")
    assert run.columns(FORK_WARM)["process"].tolist() == []


def test_never_replaces_a_file_unasked(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists"):
        RunFileWriter(path).write(sample_run().metadata)
    assert path.read_text() == "mine"
    RunFileWriter(path, force=True).write(sample_run().metadata)
    assert open_run(path).n_samples == 0
    assert [path.name for path in tmp_path.iterdir()] == ["run.parquet"]


def test_refuses_metadata_of_another_shape(tmp_path: Path) -> None:
    writer = RunFileWriter(tmp_path / "run.parquet")
    with pytest.raises(RunFileError, match=r"metadata is damaged: seed is null, not a whole number"):
        writer.write({**sample_run().metadata, "seed": None})
    with pytest.raises(RunFileError, match="cannot be written as JSON"):
        writer.write({**sample_run().metadata, "host": {"load": float("nan")}})
    assert not list(tmp_path.iterdir())


def test_leaves_nothing_behind_when_there_is_no_room(tmp_path: Path) -> None:
    writer = RunFileWriter(tmp_path / "run.parquet")
    writer.add_block("x", 0, one_block({"reaped_ns": np.random.default_rng(1).integers(0, 1 << 60, 20_000)}))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(OutputError, match="may grow no further"):
            writer.write(sample_run().metadata)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())
    assert open_run(writer.write(sample_run().metadata)).n_samples == 20_000


def test_what_cannot_be_read_again_is_no_run_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_half(writer: RunFileWriter, file: BinaryIO, text: bytes) -> None:
        file.write(b"PAR1" + text)

    monkeypatch.setattr(RunFileWriter, "_write_parquet", write_half)
    with pytest.raises(RunFileError):
        write_run(tmp_path / "run.parquet", sample_run())
    assert not list(tmp_path.iterdir())


def test_says_when_the_folder_is_gone(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot write"):
        RunFileWriter(tmp_path / "none" / "run.parquet").write(sample_run().metadata)


def test_the_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        path = write_run(tmp_path / "run.parquet", sample_run())
    finally:
        os.umask(before)
    assert path.stat().st_mode & 0o777 == 0o640


def test_pandas_polars_and_duckdb_read_it_as_it_is(tmp_path: Path) -> None:
    import duckdb  # when a process ends that has loaded it, it says at length what it has left behind

    path = write_run(tmp_path / "run.parquet", sample_run())
    run = open_run(path)
    expected = {}
    for cell in run.cells():
        reaped = run.columns(cell, ["reaped_ns"])["reaped_ns"]
        valid = reaped[reaped != -(2**63)]
        expected[cell] = (len(reaped), int(valid.sum()))
    with_pandas = pd.read_parquet(path).groupby("cell", observed=True).reaped_ns.agg(["size", "sum"])
    assert {cell: (int(row["size"]), int(row["sum"])) for cell, row in with_pandas.iterrows()} == expected
    grouped = pl.read_parquet(path).group_by("cell").agg(pl.len(), pl.col("reaped_ns").sum())
    assert {str(cell): (rows, total) for cell, rows, total in grouped.iter_rows()} == expected
    query = "select cell, count(*), coalesce(sum(reaped_ns), 0) from read_parquet(?) group by cell"
    with_duckdb = duckdb.execute(query, [str(path)]).fetchall()
    assert {cell: (rows, int(total)) for cell, rows, total in with_duckdb} == expected


def test_accepts_a_new_file_and_leaves_nothing(tmp_path: Path) -> None:
    assert check_output(tmp_path / "run.parquet") == tmp_path / "run.parquet"
    assert not list(tmp_path.iterdir())


def test_an_existing_file_needs_force(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    path.write_text("mine")
    with pytest.raises(OutputError, match="exists") as caught:
        check_output(path)
    assert caught.value.hint is not None
    assert caught.value.hint == "name another file, or move this one"
    assert check_output(path, force=True) == path
    assert path.read_text() == "mine"


def test_refuses_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="its name is not UTF-8"):
        check_output(tmp_path / os.fsdecode(b"a\xff.parquet"))


@pytest.mark.parametrize("force", [False, True])
def test_refuses_what_cannot_be_written(tmp_path: Path, force: bool) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="is a folder"):
        check_output(tmp_path, force)
    with pytest.raises(OutputError, match="none does not exist") as caught:
        check_output(tmp_path / "none" / "run.parquet", force)
    assert caught.value.hint == f"mkdir -p {tmp_path / 'none'}"
    with pytest.raises(OutputError, match="is not a folder"):
        check_output(tmp_path / "file" / "run.parquet", force)
    with pytest.raises(OutputError, match="not a regular file"):
        check_output("/dev/null", force)
    with pytest.raises(OutputError, match="cannot write"):
        check_output("a\0b", force)
    with pytest.raises(OutputError, match="cannot write"):
        check_output(tmp_path / ("x" * 300), force)
    with pytest.raises(OutputError, match="cannot write in /proc"):
        check_output("/proc/run.parquet", force)


def test_raw_path_stands_beside_the_run_file() -> None:
    assert raw_path("a/run.parquet") == Path("a/run.raw")
    assert raw_path("a/run") == Path("a/run.raw")
    with pytest.raises(OutputError, match="unfinished runs"):
        raw_path("a/run.raw")
