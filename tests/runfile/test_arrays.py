from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from clonometer.runfile.arrays import changes, column_array, runs_of_cells

KINDS = {"int32": (pa.int32(), -(2**31)), "int64": (pa.int64(), -(2**63)), "float64": (pa.float64(), np.nan)}
FROZEN = Path(__file__).parents[1] / "data" / "schema1.parquet"


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


def test_showing_a_run_loads_no_pandas() -> None:
    code = f"""
import sys
from clonometer.cli.ending import run_to_the_end
assert run_to_the_end(["show", {str(FROZEN)!r}]) == 0
assert "pandas" not in sys.modules
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
