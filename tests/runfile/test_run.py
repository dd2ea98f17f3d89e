from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.fakes.answers import encode_block
from tests.fakes.memory_run import write_raw, write_run
from tests.fakes.sample_run import ABSENT, CLOCK, FORK_COLD, FORK_WARM, sample_run

import clonometer
from clonometer.errors import RunFileError, UsageError
from clonometer.protocol import AnswerReader, preamble
from clonometer.records import to_json
from clonometer.runfile import RunFileWriter, open_run
from clonometer.runfile.arrays import arrow_array, arrow_texts, changes, column_array, runs_of_cells

I32_NULL, I64_NULL = -(2**31), -(2**63)


def rewrite(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """Write the file anew with other metadata."""
    table = pq.read_table(path)
    value = json.loads(pq.ParquetFile(path).metadata.metadata[b"clonometer"])
    change(value)
    pq.write_table(table.replace_schema_metadata({"clonometer": json.dumps(value)}), path)
    return path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run.parquet", sample_run())


def test_gives_metadata_as_it_was_and_typed(path: Path) -> None:
    with open_run(path) as run:
        details = run.document
        content = to_json(details)
        for key in sample_run().metadata.keys() - {"plan", "catalogue"}:
            assert content[key] == sample_run().metadata[key]
        assert (details.status, details.seed, details.command[0]) == ("complete", 7, "clonometer")
        assert details.plan.cells[0].cell == CLOCK
        assert details.plan.cells[1].condition == {"parent_bytes": 0, "placement": "pinned"}
        assert [entry.status for entry in details.cells] == ["ok", "ok", "ok", "skipped"]
        assert [entry.ended_ns for entry in details.processes] == [900_000, 1_900_000, 2_900_000]
        assert details.host["cpu.online"] == 2


def test_gives_the_samples_of_a_cell(path: Path) -> None:
    run = open_run(path)
    assert run.cells() == [CLOCK, FORK_COLD, FORK_WARM]
    sent = [
        block
        for process in sample_run().processes()
        if process.entry["process"] != 1
        for block in process.read()[0]
        if block.index > 0
    ]
    fork = run.columns(FORK_WARM, ["reaped_ns", "cpu_child"])
    assert set(fork) == {"process", "block", "sample", "reaped_ns", "cpu_child"}
    assert fork["process"].tolist() == [0] * 12 + [2] * 12
    assert fork["block"].tolist() == ([1] * 5 + [2] * 7) * 2
    assert fork["reaped_ns"].tolist() == np.concatenate([block.columns["reaped_ns"] for block in sent]).tolist()
    assert fork["reaped_ns"].dtype == np.int64
    assert fork["reaped_ns"].tolist().count(I64_NULL) == 4
    assert fork["cpu_child"].dtype == np.int32
    assert fork["cpu_child"].tolist().count(I32_NULL) == 4
    clock = run.columns(CLOCK)
    assert np.isnan(clock["cost_ns"]).tolist() == [False] * 4 + [True]
    assert set(clock["reaped_ns"].tolist()) == {I64_NULL}
    assert {len(values) for values in run.columns(ABSENT).values()} == {0}
    assert run.columns(ABSENT)["cost_ns"].dtype == np.float64


def test_leaves_out_blocks_that_are_not_ok(tmp_path: Path) -> None:
    answer = preamble() + encode_block(0, "clock.used", None, {"cost_ns": [1.0, 2.0]})
    answer += encode_block(1, "clock.used", None, {"cost_ns": [9.0]}, status="failed", reason="swapped")
    writer = RunFileWriter(tmp_path / "run.parquet")
    for block in AnswerReader().feed(answer):
        writer.add_block(CLOCK, 0, block)
    run = open_run(writer.write(sample_run().metadata))
    assert run.columns(CLOCK)["cost_ns"].tolist() == [1.0, 2.0]
    assert run.samples()["cost_ns"].to_pylist() == [1.0, 2.0, 9.0]


@pytest.mark.parametrize("rows", [1, 2, 5, 1000])
@pytest.mark.parametrize("statistics", [True, False])
def test_cells_are_found_whatever_the_row_groups_and_what_their_footers_tell(
    path: Path, rows: int, statistics: bool
) -> None:
    kept = pq.ParquetFile(path).metadata.metadata[b"clonometer"]
    table = pq.read_table(path).replace_schema_metadata({"clonometer": kept})
    with open_run(path) as run:
        cells = run.cells()
        before = {cell: run.columns(cell)["start_ns"].tolist() for cell in cells}
    pq.write_table(table, path, row_group_size=rows, write_statistics=statistics)
    with open_run(path) as run:
        assert run.cells() == cells
        for cell in cells:
            assert run.columns(cell)["start_ns"].tolist() == before[cell]
            pieces = [piece["start_ns"] for piece in run.pieces(cell, ["start_ns"])]
            assert np.concatenate(pieces).tolist() == before[cell]


def test_a_damaged_row_group_is_said_though_it_is_read_ahead(path: Path) -> None:
    kept = pq.ParquetFile(path).metadata.metadata[b"clonometer"]
    table = pq.read_table(path).replace_schema_metadata({"clonometer": kept})
    pq.write_table(table, path, row_group_size=4, write_page_checksum=True, use_dictionary=["cell"], compression="none")
    footer = pq.ParquetFile(path).metadata
    group = footer.row_group(footer.num_row_groups - 1)
    samples = next(
        column for column in map(group.column, range(group.num_columns)) if column.path_in_schema == "sample"
    )
    data = bytearray(path.read_bytes())
    data[samples.data_page_offset + samples.total_compressed_size - 1] ^= 255
    path.write_bytes(data)
    with open_run(path) as run:
        with pytest.raises(RunFileError, match="is damaged"):
            list(run.pieces(run.cells()[-1], ["sample"]))
        assert list(run.pieces(run.cells()[0], ["sample"]))


def test_names_what_exists(path: Path) -> None:
    run = open_run(path)
    with pytest.raises(UsageError, match="unknown column 'reaped'; did you mean 'reaped_ns'"):
        run.columns(CLOCK, ["reaped"])
    with pytest.raises(UsageError, match="unknown cell"):
        run.columns("launch.what")


def test_load_gives_samples(path: Path) -> None:
    run = clonometer.load(path)
    table = run.samples()
    assert isinstance(table, pa.Table)
    assert table.num_rows == 31
    assert run.document.status == "complete"
    assert repr(run).endswith("run.parquet': 31 samples, complete>")


@pytest.mark.parametrize("missing", [1, 4, 8, 100, 2_000])
def test_refuses_a_truncated_file(path: Path, missing: int) -> None:
    path.write_bytes(path.read_bytes()[:-missing])
    with pytest.raises(RunFileError, match="truncated"):
        open_run(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "is empty"),
        (b"P", "is not a Parquet file"),
        (b"cell,process\na,1\n", "is not a Parquet file"),
        (b"PAR1PAR1", "truncated"),
        (b"PAR1" + b"\xff" * 40 + b"PAR1", "is damaged"),
    ],
)
def test_refuses_what_is_no_parquet_file(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "some.parquet"
    path.write_bytes(data)
    with pytest.raises(RunFileError, match=message):
        open_run(path)


def test_refuses_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="No such file"):
        open_run(tmp_path / "none.parquet")
    with pytest.raises(RunFileError, match="Is a directory"):
        open_run(tmp_path)
    with pytest.raises(RunFileError, match="has a NUL"):
        open_run("a\0b")


def test_says_how_to_go_on_with_a_raw_file(tmp_path: Path) -> None:
    with pytest.raises(RunFileError, match="unfinished run") as caught:
        open_run(write_raw(tmp_path / "a.raw", sample_run()))
    assert caught.value.hint == f"clonometer recover {tmp_path / 'a.raw'}"


def test_refuses_a_name_that_is_not_utf8(path: Path) -> None:
    renamed = path.rename(path.with_name(os.fsdecode(b"a\xff.parquet")))
    with pytest.raises(RunFileError, match="its name is not UTF-8"):
        open_run(renamed)


@pytest.mark.parametrize("text", ["\ud800", "\x1b[31mred", "\x07", "a\x9bb", "\b", "\r"])
def test_texts_that_cannot_be_printed_are_made_printable(path: Path, text: str) -> None:
    def change(metadata: dict[str, Any]) -> None:
        metadata["host"] |= {"cpu.model": text, text: "\t\n\u00b5\U0001f600"}

    with open_run(rewrite(path, change)) as run:
        host = run.document.host
    shown = re.sub(r"[\ud800\x1b\x07\x9b\b\r]", "?", text)
    assert (host["cpu.model"], host[shown]) == (shown, "\t\n\u00b5\U0001f600")
    assert text not in host


def test_refuses_a_foreign_parquet_file(path: Path) -> None:
    pl.read_parquet(path).write_parquet(path)
    with pytest.raises(RunFileError, match="not a Clonometer run"):
        open_run(path)


def test_accepts_cells_that_another_program_stored_as_text(path: Path) -> None:
    before = open_run(path).columns(FORK_WARM)
    table = pq.read_table(path)
    kept = pq.ParquetFile(path).metadata.metadata[b"clonometer"]
    table = table.set_column(0, "cell", table.column("cell").cast(pa.string()))
    pq.write_table(table.replace_schema_metadata({"clonometer": kept}), path)
    after = open_run(path).columns(FORK_WARM)
    assert all(np.array_equal(before[name], after[name], equal_nan=name == "cost_ns") for name in before)


def _drop(name: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.drop_columns([name])


def _cast(name: str, kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.set_column(table.column_names.index(name), name, table.column(name).cast(kind))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_drop("cell"), "the column 'cell' is missing"),
        (_drop("reaped_ns"), "the column 'reaped_ns' is missing"),
        (_cast("process", pa.int64()), "'process' has the type int64, not int32"),
        (_cast("reaped_ns", pa.float64()), "'reaped_ns' has the type double, not int64"),
        (lambda table: table.slice(3), "is damaged: 28 samples, 31 by its metadata"),
    ],
)
def test_refuses_other_columns(path: Path, change: Callable[[pa.Table], pa.Table], message: str) -> None:
    kept = pq.ParquetFile(path).metadata.metadata[b"clonometer"]
    table = change(pq.read_table(path))
    pq.write_table(table.replace_schema_metadata({"clonometer": kept}), path)
    with pytest.raises(RunFileError, match=message):
        open_run(path)


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), 1e300])
def test_refuses_samples_that_cannot_be_added_up(path: Path, value: float) -> None:
    kept = pq.ParquetFile(path).metadata.metadata[b"clonometer"]
    table = pq.read_table(path)
    place = table.column_names.index("cost_ns")
    costs = [None if cost is None else value for cost in table.column(place).to_pylist()]
    table = table.set_column(place, "cost_ns", pa.array(costs, pa.float64()))
    pq.write_table(table.replace_schema_metadata({"clonometer": kept}), path)
    with open_run(path) as run:
        assert len(run.columns(FORK_WARM, ["reaped_ns"])["reaped_ns"]) > 0
        for read in (lambda: run.columns(CLOCK), lambda: list(run.pieces(CLOCK, ["cost_ns"]))):
            with pytest.raises(
                RunFileError, match=r"the column 'cost_ns' has the value .*, which is impossible for any quantity"
            ):
                read()


def test_refuses_a_newer_schema(path: Path) -> None:
    rewrite(path, lambda value: value.update(schema=2))
    with pytest.raises(RunFileError, match="schema 2, this Clonometer reads up to 1") as caught:
        open_run(path)
    assert caught.value.hint == "update Clonometer"


KEYS = ["schema", "status", "started", "ended", "clonometer_version", "seed", "command", "plan", "catalogue"]

KEYS += ["clock", "host", "processes", "blocks", "cells", "columns"]


# Where such a value would be of the right shape.
FINE = [
    ("clonometer_version", "x"),
    ("seed", -1),
    ("catalogue", {"a": 1}),
    ("clock", {"a": 1}),
    ("host", {"a": 1}),
]

WRONG = [None, True, "x", [1], [[]], {"a": 1}, -1]


@pytest.mark.parametrize(
    ("key", "wrong"), [(key, wrong) for key in KEYS for wrong in WRONG if (key, wrong) not in FINE]
)
def test_refuses_metadata_of_another_shape(path: Path, key: str, wrong: object) -> None:
    rewrite(path, lambda value: value.update({key: wrong}))
    with pytest.raises(RunFileError, match="metadata"):
        open_run(path)


@pytest.mark.parametrize("text", [b"{", b"[]", b"\xff", b"[" * 100_000, b"3"])
def test_refuses_metadata_that_is_no_object(path: Path, text: bytes) -> None:
    pq.write_table(pq.read_table(path).replace_schema_metadata({"clonometer": text}), path)
    with pytest.raises(RunFileError, match="metadata"):
        open_run(path)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damage_gives_run_file_errors_only(path: Path, data: st.DataObject) -> None:
    whole = path.with_name("whole.parquet")
    if not whole.exists():
        whole.write_bytes(path.read_bytes())
    damaged = bytearray(whole.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(damaged)
    try:
        run = open_run(path)
        for cell in run.cells():
            run.columns(cell)
        run.samples()
    except (RunFileError, UsageError):
        return


def test_a_flipped_bit_never_changes_a_sample(path: Path) -> None:
    data = path.read_bytes()
    sent = open_run(path).samples()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    noticed = 0
    for at in range(4, footer, 2):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
        try:
            samples = open_run(path).samples()
        except RunFileError:
            noticed += 1
        else:
            assert samples.equals(sent)
    assert noticed > (footer - 4) / 4


KINDS = {"int32": (pa.int32(), -(2**31)), "int64": (pa.int64(), -(2**63)), "float64": (pa.float64(), np.nan)}
ROOT = Path(__file__).parents[2]
FROZEN = ROOT / "tests" / "data" / "schema1.parquet"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cuts", [[0], [0, 3], [0, 3, 3, 11], [5]])
def test_numbers_and_nulls_are_those_of_arrow(kind: str, cuts: list[int]) -> None:
    arrow, null = KINDS[kind]
    values = [None if place % 3 == 1 else place * 7 - 20 for place in range(23)]
    whole = pa.array(values, arrow)
    chunks = [whole.slice(start, stop - start) for start, stop in zip(cuts, [*cuts[1:], len(values)], strict=True)]
    array = column_array("a", pa.chunked_array(chunks, arrow))
    wanted = [null if value is None else value for value in values[cuts[0] :]]
    assert array.dtype == np.dtype(kind)
    np.testing.assert_array_equal(array, np.array(wanted, kind))
    full = column_array("a", pa.chunked_array([whole.drop_null().slice(2)], arrow))
    np.testing.assert_array_equal(full, np.array([value for value in values if value is not None][2:], kind))


@pytest.mark.parametrize("kind", KINDS)
def test_of_nothing_the_type_is_kept(kind: str) -> None:
    for chunks in ([], [pa.array([], KINDS[kind][0])]):
        array = column_array("a", pa.chunked_array(chunks, KINDS[kind][0]))
        assert (array.size, array.dtype) == (0, np.dtype(kind))


def test_runs_of_cells_are_found_in_every_chunk() -> None:
    texts = ["a", "a", "b", "b", "b", "a"]
    plain = pa.chunked_array([texts[:3], texts[3:5], [], texts[5:]], pa.string())
    for cells in (plain, pa.chunked_array([chunk.dictionary_encode() for chunk in plain.chunks])):
        assert list(runs_of_cells(cells)) == [("a", 0, 2), ("b", 2, 3), ("b", 3, 5), ("a", 5, 6)]


def test_changes_of_many_values() -> None:
    random = np.random.default_rng(3)
    codes = random.integers(0, 2, 1000)
    edges = changes(codes)
    assert (edges[0], edges[-1]) == (0, 1000)
    assert all((codes[start:stop] == codes[start]).all() for start, stop in pairwise(edges))
    assert all(codes[edge] != codes[edge - 1] for edge in edges[1:-1])


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
def test_an_array_goes_to_arrow_and_back_with_its_nulls(dtype: str) -> None:
    values = np.arange(21, dtype=dtype)[::2]
    null = values % 3 == 0
    array = arrow_array(values, null)
    assert array.to_pylist() == [None if value % 3 == 0 else value for value in values.tolist()]
    array.validate(full=True)
    assert arrow_array(values[:0]).to_pylist() == []
    back = column_array("column", pa.chunked_array([arrow_array(values)]))
    assert back.dtype == dtype
    assert back.tolist() == values.tolist()


def test_texts_go_to_arrow_as_they_are() -> None:
    texts = ["launch.fork[temperature=warm]", "", "µ"]
    array = arrow_texts(texts)
    array.validate(full=True)
    assert (array.to_pylist(), array.type) == (texts, pa.string())
    assert arrow_texts([]).to_pylist() == []


WRITE = """
from pathlib import Path
from tests.fakes.memory_run import write_run
from tests.fakes.sample_run import sample_run
write_run(Path({path!r}), sample_run())
"""

SHOW = f"""
from clonometer.cli.ending import run_to_the_end
assert run_to_the_end(["show", {str(FROZEN)!r}]) == 0
"""


@pytest.mark.parametrize("code", [WRITE, SHOW], ids=["writing", "showing"])
def test_no_pandas_is_loaded_by(code: str, tmp_path: Path) -> None:
    words = code.format(path=str(tmp_path / "run.parquet")) + "import sys\nassert 'pandas' not in sys.modules"
    ended = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 0, ended.stderr
