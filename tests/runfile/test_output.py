from __future__ import annotations

import os
from pathlib import Path

import pytest

from clonometer.errors import OutputError
from clonometer.runfile import check_output, raw_path


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
