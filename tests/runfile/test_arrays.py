from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from clonometer.runfile.arrays import arrow_array, arrow_texts, changes, column_array, runs_of_cells

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
