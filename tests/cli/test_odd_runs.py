"""Runs that are sound files with odd contents, in every command that reads runs: an honest answer, never a NaN.

And runs that are damaged in ways that only some of the commands look at.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from clonometer.cli.ending import run_to_the_end
from clonometer.views.exports import FORMATS

Captured = pytest.CaptureFixture[str]
FROZEN = Path(__file__).parents[1] / "data" / "schema1.parquet"
CELLS = ("launch.fork[temperature=warm]", "launch.pthread[temperature=warm]", "clock.used")
TIMES = ("call_returns_ns", "task_runs_ns", "reaped_ns")
PROCESSES, SAMPLES = 8, 6
CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def write(path: Path, table: pa.Table, metadata: Any) -> Path:
    """Write a run file whose blocks say as many rows as it has."""
    metadata = copy.deepcopy(metadata)
    names = ("cell", "process", "block")
    keys = list(zip(*(table.column(name).to_pylist() for name in names), strict=True))
    for block in metadata["blocks"]:
        block["rows"] = keys.count(tuple(block[name] for name in names))
    pq.write_table(table.replace_schema_metadata({"clonometer": json.dumps(metadata)}), path)
    return path


@pytest.fixture(scope="module")
def small() -> tuple[pa.Table, Any]:
    """Three cells of the frozen run, a few samples of a few processes each."""
    table = pq.read_table(FROZEN)
    metadata = json.loads(pq.ParquetFile(FROZEN).metadata.metadata[b"clonometer"])
    chosen = {
        cell: sorted({block["process"] for block in metadata["blocks"] if block["cell"] == cell}) for cell in CELLS
    }
    chosen = {cell: processes[:PROCESSES] for cell, processes in chosen.items()}
    masks = [pc.and_(pc.equal(table["cell"], cell), pc.is_in(table["process"], pa.array(some, pa.int32())))
           for cell, some in chosen.items()]  # fmt: skip
    table = table.filter(pc.and_(pc.or_(pc.or_(*masks[:2]), masks[2]), pc.less(table["sample"], SAMPLES)))
    metadata["blocks"] = [block for block in metadata["blocks"] if block["process"] in chosen.get(block["cell"], ())]
    for holder in (metadata, metadata["plan"]):
        holder["cells"] = [cell for cell in holder["cells"] if cell["cell"] in CELLS]
    return table, metadata


def columns_set(table: pa.Table, change: Callable[[str, np.random.Generator, int], Any]) -> pa.Table:
    """Give columns other values: ``change(name, random, rows)``, or None to leave one alone. Null stays null."""
    random = np.random.default_rng(5)
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        values = change(name, random, table.num_rows)
        if values is None or name == "cell":
            continue
        wanted = np.broadcast_to(values, table.num_rows).astype(column.type.to_pandas_dtype()).tolist()
        kept = [None if old is None else new for old, new in zip(column.to_pylist(), wanted, strict=True)]
        table = table.set_column(place, table.schema.field(place), pa.array(kept, column.type))
    return table


def times_set(value: float) -> Callable[[pa.Table], pa.Table]:
    """Make every time the same; where a whole number is due, that."""

    def change(name: str, random: np.random.Generator, rows: int) -> Any:
        return int(value) if name in TIMES else value if name == "cost_ns" else None

    return lambda table: columns_set(table, change)


def some_negative(table: pa.Table) -> pa.Table:
    return columns_set(table, lambda name, random, rows: random.integers(-9, 9, rows) if name in TIMES else None)


def at_the_clocks_step(table: pa.Table) -> pa.Table:
    return columns_set(
        table, lambda name, random, rows: np.sort(random.integers(0, 2, rows)) if name in TIMES else None
    )


def no_value(table: pa.Table) -> pa.Table:
    for place in range(4, table.num_columns):
        table = table.set_column(place, table.schema.field(place), pa.nulls(table.num_rows, table.column(place).type))
    return table


def all_failed(table: pa.Table) -> pa.Table:
    return columns_set(table, lambda name, random, rows: 11 if name == "errno" else None)


def strange_places(table: pa.Table) -> pa.Table:
    extremes = {"cpu_before": -1, "cpu_after": 2**31 - 1, "errno": 0, "start_ns": -(2**62)}
    return columns_set(table, lambda name, random, rows: extremes.get(name))


def first_of_each_cell(table: pa.Table) -> pa.Table:
    return pa.concat_tables([table.filter(pc.equal(table["cell"], cell)).slice(0, 1) for cell in CELLS])


def one_process(table: pa.Table) -> pa.Table:
    return table.filter(pc.equal(table["process"], table["process"][0]))


ODD: dict[str, Callable[[pa.Table], pa.Table]] = {
    "no sample": lambda table: table.slice(0, 0),
    "one cell without samples": lambda table: table.filter(pc.not_equal(table["cell"], CELLS[0])),
    "one sample a cell": first_of_each_cell,
    "one process": one_process,
    "constant": times_set(90_000),
    "zero": times_set(0),
    "next to nothing": times_set(1e-300),
    "as long as a number can be": times_set(2**62),
    "negative": times_set(-5),
    "some negative": some_negative,
    "one step of the clock or none": at_the_clocks_step,
    "no value at all": no_value,
    "not a number": lambda table: columns_set(
        table, lambda name, random, rows: float("nan") if name == "cost_ns" else None
    ),
    "every launch failed": all_failed,
    "impossible CPUs": strange_places,
}  # fmt: skip


def commands(odd: str, good: str, folder: Path) -> Iterator[list[str]]:
    """Every command that reads run files."""
    yield ["show", odd]
    yield ["show", odd, "--wide"]
    yield ["show", odd, "--json"]
    yield ["compare", good, odd, "--json"]
    yield ["compare", odd, good, odd, "--plot", str(folder / "compared.svg"), "--force"]
    yield ["compare", odd, "--cells", "launch.fork*", "launch.pthread*"]
    yield ["check", odd, "--baseline", good, "--wide"]
    yield ["check", odd, "--baseline", odd, "--json"]
    yield ["plot", odd, "--kind", "overview", "--out", str(folder / "plot.svg"), "--force"]
    yield ["report", odd, "--out", str(folder / "report.html"), "--force"]
    yield from (["export", odd, "--format", name] for name in FORMATS)
    yield ["export", odd, "--format", "jsonl", "--samples"]


def assert_clear(words: list[str], status: int, out: str, err: str) -> None:
    """An answer without what is no number, or one clear error."""
    assert not CHARACTERS.search(out + err), words
    if status == 2:
        # A picture of nothing is refused after the answer, samples are exported as they are read.
        assert out == "" or words[0] == "export" or "--plot" in words, words
        assert err.startswith("clonometer: "), words
        assert 1 <= len(err.splitlines()) <= 2, err
        return
    assert status in (0, 1, 3), words
    assert not re.search(r"\b(nan|NaN|inf|Infinity|None)\b", out), (words, out)
    if "--json" in words:
        json.loads(out, parse_constant=pytest.fail)


@pytest.mark.parametrize("name", ODD)
def test_odd_samples_in_every_command(name: str, small: tuple[pa.Table, Any], tmp_path: Path, capsys: Captured) -> None:
    table, metadata = small
    good = str(write(tmp_path / "good.parquet", table, metadata))
    odd = str(write(tmp_path / "odd.parquet", ODD[name](table), metadata))
    answers, shown = {}, ""
    for words in commands(odd, good, tmp_path):
        status = run_to_the_end(words)
        out, err = capsys.readouterr()
        assert_clear(words, status, out, err)
        shown = shown or out
        answers[" ".join(words[:1] + words[2:3])] = status
    assert ("no sample: every launch failed: 96 EAGAIN" in shown) == (name == "every launch failed")
    assert shown.count("The instrument itself") <= 1
    # Whatever a run holds, it can be shown and exported.
    assert answers["show"] == answers["export --format"] == 0
