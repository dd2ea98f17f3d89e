"""Folders behind URLs: what arrives there is whole and there once, and is read like a folder of this machine."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import pytest

from clonometer.dataset.folders import FOLDER
from clonometer.dataset.load import load
from clonometer.errors import InputError, OutputError, UsageError
from clonometer.fleet.store import open_store
from clonometer.urls import path_or_url

fsspec = pytest.importorskip("fsspec")
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402 (where it is there)


class Bucket(MemoryFileSystem):  # type: ignore[misc]
    """As an object store: no folders, names of keys for what is known of a file, and no mode for what is written."""

    protocol = "bucket"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        known = super().info(path, **options)
        known["LastModified"] = known.pop("created", None)
        return dict(known)

    def pipe_file(self, path: str, value: bytes) -> None:
        self.last_written = path
        with self.open(path, "wb") as file:
            file.write(value)


class Broken(Bucket):
    """As a service that answers no longer, with an error of its own kind."""

    protocol = "broken"

    def cat_file(self, path: str, *_: Any, **__: Any) -> bytes:
        raise RuntimeError("no credentials")

    isdir = pipe_file = cat_file


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    for kind in (Bucket, Broken):
        fsspec.register_implementation(kind.protocol, kind, clobber=True)
    yield
    for kind in (MemoryFileSystem, Bucket):
        kind.store.clear()
        kind.pseudo_dirs[:] = [""]


@pytest.mark.parametrize("url", ["memory://fleet/runs", "bucket://fleet/runs"])
def test_what_arrives_at_a_url_is_read_there_as_a_folder(url: str, fleet: Path, tmp_path: Path) -> None:
    store = open_store(url)
    # Summaries that other tests made of it are no runs.
    runs = sorted(path for path in fleet.rglob("*.parquet") if FOLDER not in path.parts)
    for path in runs[:6]:
        assert store.put(f"{path.parent.name}-{path.name}", path.read_bytes())
    store.write("fleet-0.json", b"{}")
    store.write("damaged.parquet", b"PAR1")
    seen = load(path_or_url(f"{url}/"))
    assert (seen.reading.n_runs, seen.reading.n_hosts, len(seen.reading.damaged)) == (6, 3, 1)
    assert seen.reading.damaged[0].path == "damaged.parquet"
    assert seen.reading.folder == url
    # Each file was written now, after its run had ended.
    assert seen.reading.clocks_apart == []
    # Nothing is read twice, and nothing of ours lies there.
    system, root = fsspec.core.url_to_fs(url)
    system.cat_file = system.get_file = None
    try:
        again = load(url)
    finally:
        del system.cat_file, system.get_file
    assert again.rows["value"].tolist() == seen.rows["value"].tolist()
    assert sorted(name.rpartition("/")[2] for name in system.find(root)) == [
        "damaged.parquet", "fleet-0.json", *(f"host{host}-run{run}.parquet" for host in range(3) for run in range(2)),
    ]  # fmt: skip


@pytest.mark.parametrize("url", ["memory://fleet/runs", "bucket://fleet/runs", "file://{}/runs"])
def test_a_file_that_is_whole_stays_and_a_damaged_one_is_replaced(url: str, fleet: Path, tmp_path: Path) -> None:
    content = (fleet / "host0/run0.parquet").read_bytes()
    store = open_store(url.format(tmp_path))
    store.write("a.parquet", content[:-100])
    assert store.status_of("a.parquet") is None
    assert store.put("a.parquet", content)
    assert store.status_of("a.parquet") == "complete"
    assert not store.put("a.parquet", content[:-100])
    assert store.status_of("a.parquet") == "complete"


def test_where_files_grow_one_gets_its_name_when_it_is_whole(fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody knows of a bucket of this kind that it writes whole files."""
    store = open_store("bucket://fleet")

    def break_off(self: Any, path: str, value: bytes) -> None:
        with self.open(path, "wb") as file:
            file.write(value[:10])
        raise OSError("the line broke")

    with monkeypatch.context() as broken:
        broken.setattr(Bucket, "pipe_file", break_off)
        assert store.put("a.parquet", b"content")
        with pytest.raises(OutputError, match=r"the line broke; 2 files .* kept in"):
            store.write("fleet-0.json", b"{}")
    system, root = fsspec.core.url_to_fs("bucket://fleet")
    assert system.find(root) == []
    assert store.put("a.parquet", b"content")
    assert [name.rpartition("/")[2] for name in system.find(root)] == ["a.parquet"]


def test_what_cannot_be_reached_is_said_in_a_line() -> None:
    with pytest.raises(InputError, match="not a folder, or does not exist"):
        load("memory://nowhere")
    with pytest.raises(InputError, match="cannot read broken://fleet: no credentials"):
        load("broken://fleet")
    with pytest.raises(OutputError, match="no credentials"):
        open_store("broken://fleet").write("a", b"")
    with pytest.raises(UsageError, match="Protocol not known"):
        load("nosuchkind://fleet")


def test_a_copy_at_a_url_by_an_older_clock_is_counted(fleet: Path) -> None:
    store = open_store("bucket://fleet")
    store.put("late.parquet", (fleet / "host0/run0.parquet").read_bytes())
    system, _ = fsspec.core.url_to_fs("bucket://fleet")
    (stored,) = (file for path, file in system.store.items() if path.endswith("late.parquet"))
    stored.created = datetime(2020, 1, 1, tzinfo=UTC)
    assert [file.path for file in load("bucket://fleet").reading.clocks_apart] == ["late.parquet"]
    assert isinstance(stored, io.BytesIO)
