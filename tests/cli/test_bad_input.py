"""Whatever a file is: a clear error and exit 2, or an honest answer; no traceback, no NaN, no memory blow-up."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.fakes.memory_run import write_raw, write_run
from tests.fakes.sample_run import sample_run

from clonometer.app.sides import open_side
from clonometer.errors import ClonometerError, RunFileError
from clonometer.records import to_json
from clonometer.results.check.check import check_runs
from clonometer.results.compare.comparison import compare_runs
from clonometer.results.summary import summarize
from clonometer.runfile import open_run
from clonometer.views.documents.check import check_document
from clonometer.views.documents.comparison import comparison_document
from clonometer.views.exports import FORMATS, encode
from clonometer.views.terminal import render_answer
from clonometer.views.terminal.document import render_document

FROZEN = Path(__file__).parents[1] / "data" / "schema1.parquet"
VALUES = [
    None,
    True,
    "x",
    "",
    "\x1b[31m\ud800",
    2**63,
    -1,
    0,
    1e308,
    10**30,
    float("nan"),
    float("inf"),
    [],
    {},
    [1],
    {"a": 1},
]
# What `show` may take, on top of what the process has once everything is imported.
ROOM_BYTES = 600 << 20


def _metadata(path: Path) -> Any:
    return json.loads(pq.ParquetFile(path).metadata.metadata[b"clonometer"])


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _places(inner, (*place, key))


FROZEN_METADATA = _metadata(FROZEN)
# Younger than the frozen file: what each target asked for, which comparisons hold against each other.
FROZEN_METADATA["plan"]["targets"] = [
    {
        "workload": "launch.fork",
        "cells": ["launch.fork[temperature=warm]"],
        "limits": {"warmup": 20},
        "options": {"a": 1},
    }
]
PLACES = list(_places(FROZEN_METADATA))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), wrong=st.sampled_from(VALUES), gone=st.integers(0, 9))
@example(place=("columns", "reaped_ns", "unit"), wrong="x", gone=1)
def test_any_value_anywhere_in_the_metadata(tmp_path: Path, place: tuple[Any, ...], wrong: Any, gone: int) -> None:
    value = copy.deepcopy(FROZEN_METADATA)
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    if gone == 0:
        del holder[place[-1]]
    else:
        holder[place[-1]] = wrong
    path = tmp_path / "run.parquet"
    table = pq.read_table(FROZEN).replace_schema_metadata({"clonometer": json.dumps(value)})
    pq.write_table(table, path)
    try:
        with open_run(path) as run:
            results = summarize(run, "run")
    except RunFileError:
        return
    json.dumps(to_json(results), allow_nan=False)
    for name in FORMATS:
        "".join(encode(name, to_json(results), results.process_medians)).encode()
    for wide in (False, True):
        assert not re.search(r"\b(nan|inf|None)\b", render_answer(results, wide=wide))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), wrong=st.sampled_from(VALUES), against=st.booleans())
def test_any_value_anywhere_when_runs_are_compared_and_checked(
    tmp_path: Path, place: tuple[Any, ...], wrong: Any, against: bool
) -> None:
    value = copy.deepcopy(FROZEN_METADATA)
    holder = value
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = wrong
    path = tmp_path / "run.parquet"
    pq.write_table(pq.read_table(FROZEN).replace_schema_metadata({"clonometer": json.dumps(value)}), path)
    try:
        sides = [open_side(FROZEN), open_side(path)][:: 1 if against else -1]
        compared = compare_runs(sides)
        checked = check_runs(*sides)
    except ClonometerError:
        return
    json.dumps([to_json(compared), to_json(checked)], allow_nan=False)
    assert not re.search(r"\b(nan|inf)\b", render_document(comparison_document, compared, wide=True))
    assert not re.search(r"\b(nan|inf)\b", render_document(check_document, checked, wide=True))


def _varint(number: int) -> bytes:
    zigzag, out = number << 1, bytearray()
    while zigzag >= 0x80:
        out.append(zigzag & 0x7F | 0x80)
        zigzag >>= 7
    return bytes([*out, zigzag])


def _with_rows(data: bytes, before: int, after: int) -> bytes:
    """Declare another number of rows wherever the footer says it: Thrift's compact i64, one field on."""
    length = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - length], data[-8 - length : -8]
    changed = footer.replace(b"\x16" + _varint(before), b"\x16" + _varint(after))
    assert changed != footer
    return body + changed + len(changed).to_bytes(4, "little") + b"PAR1"


def _rewrite(source: Path, path: Path, **changes: Any) -> Path:
    value = {**_metadata(source), **changes}
    pq.write_table(pq.read_table(source).replace_schema_metadata({"clonometer": json.dumps(value)}), path)
    return path


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Damaged and hostile files, each by its name."""
    folder = tmp_path_factory.mktemp("corpus")
    source = write_run(folder / "source.parquet", sample_run())
    data, size = source.read_bytes(), source.stat().st_size
    rows = pq.ParquetFile(source).metadata.num_rows
    contents = {f"cut at {part}/8": data[: size * part // 8] for part in range(8)}
    footer = data[-8 - int.from_bytes(data[-8:-4], "little") :]
    contents |= {
        f"{part}/4 of the rows, then the end": data[: (size - len(footer)) * part // 4] + footer for part in range(4)
    }
    contents |= {f"footer of {length} bytes": data[:-8] + length.to_bytes(4, "little") + b"PAR1"
                 for length in (0, 1, size, 2**31 - 1, 2**32 - 1)}  # fmt: skip
    contents |= {f"{claim:,} rows": _with_rows(data, rows, claim) for claim in (10**6, 2 * 10**9, 2**62)}
    contents["zeros"] = bytes(100_000)
    contents["magic and zeros"] = b"PAR1" + bytes(100_000) + b"PAR1"
    contents["text"] = b"cell,process\n1,2\n"
    files = {}
    for number, (name, content) in enumerate(contents.items()):
        files[name] = folder / f"{number}.parquet"
        files[name].write_bytes(content)
    files["foreign"] = folder / "foreign.parquet"
    pl.DataFrame({"a": [1, 2]}).write_parquet(files["foreign"])
    files["raw"] = write_raw(folder / "a.raw", sample_run())
    files["folder"] = folder
    files["newer"] = _rewrite(source, folder / "newer.parquet", schema=2)
    blocks = _metadata(source)["blocks"]
    files["many rows by metadata"] = _rewrite(source, folder / "rows.parquet", blocks=[{**blocks[0], "rows": 10**12}])
    for name, text in {
        "nested": "[" * 200_000,
        "nested objects": '{"schema":' * 100_000,
        "long number": '{"schema": ' + "9" * 100_000 + "}",
        "no number": '{"schema": NaN}',
        "infinite": '{"schema": 1e999}',
        "no UTF-8": b"\xff\xfe",
        "steering the terminal": '{"schema": 1, "status": "\\u001b[31m\\u0007\\u009b"}',
        "half a character": '{"schema": 1, "status": "\\ud800"}',
    }.items():
        files[name] = folder / f"{name}.parquet"
        pq.write_table(pq.read_table(source).replace_schema_metadata({"clonometer": text}), files[name])
    kept = pq.ParquetFile(source).metadata.metadata[b"clonometer"]
    table = pq.read_table(source)
    place = table.column_names.index("reaped_ns")
    nested = pa.array([[1]] * table.num_rows)
    for name, column in {"texts": pa.array(["x"] * table.num_rows), "lists": nested}.items():
        files[f"column of {name}"] = folder / f"column {name}.parquet"
        changed = table.set_column(place, "reaped_ns", column).replace_schema_metadata({"clonometer": kept})
        pq.write_table(changed, files[f"column of {name}"])
    files["bomb"] = _bomb(folder / "bomb.parquet", source)
    return files


def _bomb(path: Path, source: Path) -> Path:
    """Few bytes that unpack to 17 million rows in one row group."""
    value = _metadata(source)
    value["blocks"] = [{**value["blocks"][0], "rows": 17_000_000}]
    count = 17_000_000
    zeros = pa.nulls(count, pa.int32()).fill_null(0)
    cells = pa.DictionaryArray.from_arrays(zeros, pa.array([value["blocks"][0]["cell"]]))
    columns: dict[str, Any] = {"cell": cells, "process": zeros, "block": zeros, "sample": zeros}
    for name, entry in value["columns"].items():
        kind = {"i32": pa.int32(), "i64": pa.int64(), "f64": pa.float64()}[entry["type"]]
        columns[name] = pa.nulls(count, kind)
    table = pa.table(columns).replace_schema_metadata({"clonometer": json.dumps(value)})
    pq.write_table(table, path, row_group_size=count, compression="zstd")
    return path


CHILD = """
import contextlib, io, json, re, resource, sys
import numpy, pyarrow.parquet, rich, click
from clonometer.cli.ending import run_to_the_end
from clonometer.views.exports import FORMATS
whole, room, out, paths = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]

def commands(path):
    yield from (["show", path], ["show", path, "--json"], ["show", path, "--workers"])
    yield from (["compare", path, whole], ["compare", path, "--cells", "*", "*"], ["check", path, "--baseline", path])
    yield from (["report", path, "--out", out], ["plot", path, "--kind", "overview", "--out", out + ".svg"])
    yield from (["export", path, "--format", name] for name in FORMATS)
    yield from (["export", path, "--format", name, "--samples"] for name in ("csv", "jsonl"))

with contextlib.redirect_stdout(io.StringIO()):
    assert run_to_the_end(["show", whole, "--json"]) == 0
size = int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024
resource.setrlimit(resource.RLIMIT_AS, (size + room, size + room))
for path in paths:
    for words in commands(path):
        out_text, err_text = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out_text), contextlib.redirect_stderr(err_text):
            try:
                status = run_to_the_end(words)
            except BaseException as error:
                status = repr(error)
        print(json.dumps([words, status, out_text.getvalue(), err_text.getvalue()]), flush=True)
# Not ru_maxrss, which keeps what this process's parent had when it forked.
print(json.dumps(["peak", int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1))]))
"""


def test_hostile_files_in_a_process_with_little_memory(corpus: dict[str, Path], tmp_path: Path) -> None:
    names = {str(path): name for name, path in corpus.items()}
    command = [sys.executable, "-c", CHILD, str(FROZEN), str(ROOM_BYTES), str(tmp_path / "out"), *names]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=200)
    assert ended.returncode == 0, ended.stderr[-2000:]
    *answers, (_, peak_kib) = [json.loads(line) for line in ended.stdout.splitlines()]
    assert len(answers) == (10 + len(FORMATS)) * len(corpus)
    for words, status, out, err in answers:
        name = (names[words[1]], *words[:1], *words[2:])
        assert (name, status, out) == (name, 2, "")
        assert err.startswith("clonometer: "), name
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", err), name
        assert 1 <= len(err.splitlines()) <= 2, name
        assert len(err) < 600, name
        assert "Traceback" not in err, name
    assert peak_kib < ROOM_BYTES / 1024


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("cut at 4/8", "is truncated: its end is missing"),
        ("foreign", "is a Parquet file but not a Clonometer run"),
        ("newer", "schema 2, this Clonometer reads up to 1"),
        ("raw", "is the raw file of an unfinished run"),
        ("bomb", "has 17,000,000 rows, more than 16,777,216"),
        ("column of texts", "'reaped_ns' has the type string, not int64"),
        ("no number", "metadata cannot be read: it is not JSON: NaN is not a valid JSON number"),
        ("many rows by metadata", "31 samples, 1,000,000,000,000 by its metadata"),
    ],
)
def test_the_error_says_what_is_wrong(corpus: dict[str, Path], name: str, words: str) -> None:
    with pytest.raises(ClonometerError) as caught:
        open_run(corpus[name])
    assert words in caught.value.message


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 20_000), at=st.integers(0, 20_000), bits=st.integers(1, 255))
def test_damage_ends_in_an_error_or_the_same_answer(tmp_path: Path, cut: int, at: int, bits: int) -> None:
    data = bytearray(FROZEN.read_bytes())
    data[len(data) - 1 - at % len(data)] ^= bits
    path = tmp_path / "run.parquet"
    path.write_bytes(data if cut % 2 else data[: len(data) - cut])
    try:
        with open_run(path) as run:
            results = summarize(run, "run")
    except ClonometerError:
        return
    json.dumps(to_json(results), allow_nan=False)
