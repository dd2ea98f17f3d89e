"""A fleet on an object store: a server of S3 in this process, of which we know what it refuses and when it is away."""

from __future__ import annotations

import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.plans import write_small_plan

import clonometer
from clonometer.app.folder import load_folder
from clonometer.errors import ClonometerError, InputError, OutputError, UnfinishedError
from clonometer.fleet.dask_access import _QUIET
from clonometer.fleet.store import open_store

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


class S3:
    """The server, which can go away and come back at the same address with what it has."""

    def __init__(self) -> None:
        self.port = 0
        self.start()

    def start(self) -> None:
        # Slow to import: not by those who only collect tests.
        from moto.server import ThreadedMotoServer

        self._server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self._server.start()
        _, self.port = self._server.get_host_and_port()

    def stop(self) -> None:
        self._server.stop()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def allow(self, calls: int | None) -> None:
        """Let so many calls pass before keys are looked at, which nobody has; None: all."""
        count = "inf" if calls is None else str(calls)
        asked = urllib.request.Request(
            f"{self.address}/moto-api/reset-auth", count.encode(), {"Content-Type": "text/plain"}
        )
        urllib.request.urlopen(asked, timeout=10).close()


@pytest.fixture(scope="module")
def server() -> Iterator[S3]:
    for name in ("distributed", "s3fs", "moto"):
        pytest.importorskip(name)
    server = S3()
    yield server
    server.stop()


@pytest.fixture
def s3(server: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3]:
    import s3fs

    for name, value in {
        "AWS_ENDPOINT_URL": server.address,
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_SHARED_CREDENTIALS_FILE": str(tmp_path / "none"),
        "AWS_CONFIG_FILE": str(tmp_path / "none"),
        # Who is away is asked twice here, and not for eight seconds.
        "AWS_MAX_ATTEMPTS": "1",
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "CLONOMETER_HOST_LOCK": str(tmp_path / "host.lock"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem()
    if not system.exists("bench"):
        system.mkdir("bench")
    yield server
    s3fs.S3FileSystem.clear_instance_cache()


def names(folder: str) -> list[str]:
    import s3fs

    system = s3fs.S3FileSystem(skip_instance_cache=True)
    return sorted(path.rpartition("/")[2] for path in system.find(folder))


def kept(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "data").rglob("*") if path.is_file())


@pytest.mark.real
def test_a_fleet_is_measured_into_a_bucket_and_read_there(s3: S3, tmp_path: Path) -> None:
    write_small_plan(tmp_path / "plan.toml", processes=2, samples=20, budget_s=0.3)
    configuration = pytest.importorskip("dask.config")
    before = {name: configuration.get(name) for name in _QUIET}
    assert before != _QUIET
    url = "s3://bench/real"
    plan = str(tmp_path / "plan.toml")
    answer = clonometer.run_fleet(clonometer.Machines(local=1), plan=plan, out=url, rounds=1, seed=7)
    assert (answer.status, [host.rounds for host in answer.hosts]) == ("complete", [{"1": "complete"}])
    assert {name: configuration.get(name) for name in _QUIET} == before
    host = answer.hosts[0].host
    files = [f"fleet-{answer.fleet}.json", f"{answer.fleet}-{host}-1.parquet"]
    # Nothing beside: no trial, no half of a file.
    assert names("bench/real") == sorted(files)
    seen = load_folder(url)
    assert (seen.reading.n_runs, seen.reading.n_hosts, seen.reading.damaged) == (1, 1, [])
    assert clonometer.show_fleet(seen, by="all").groups[0].n_hosts == 1


def test_what_arrives_while_the_server_is_away_is_kept_and_delivered(s3: S3, fleet: Path, tmp_path: Path) -> None:
    content = (fleet / "host0/run0.parquet").read_bytes()
    warned: list[str] = []
    store = open_store("s3://bench/away", warned.append)
    assert store.put("a.parquet", content)
    # The server itself refuses a name that is taken.
    assert not store.put("a.parquet", content[:-9])
    s3.stop()
    try:
        assert store.put("b.parquet", content)
        assert store.status_of("a.parquet") is None
        with pytest.raises(UnfinishedError, match="2 files for s3://bench/away are kept in") as raised:
            store.write("fleet-0.json", b"{}")
        with pytest.raises(OutputError, match="cannot write to s3://bench/away") as refused:
            open_store("s3://bench/away")
    finally:
        s3.start()
    assert "b.parquet" in warned[0]
    assert "AWS_ENDPOINT_URL" in (refused.value.hint or "")
    assert "the same command" in (raised.value.hint or "")
    assert kept(tmp_path) == ["b.parquet", "fleet-0.json"]
    # Whoever writes there next brings what was kept.
    assert open_store("s3://bench/away").status_of("b.parquet") == "complete"
    assert names("bench/away") == ["a.parquet", "b.parquet", "fleet-0.json"]
    assert kept(tmp_path) == []


def test_a_server_that_goes_while_files_are_read_costs_no_file_that_was_read(
    s3: S3, fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import s3fs

    store = open_store("s3://bench/read")
    for number in range(2):
        store.put(f"{number}.parquet", (fleet / f"host{number}/run0.parquet").read_bytes())
    get, read = s3fs.S3FileSystem._get_file, []

    async def get_file(self: Any, path: str, *words: Any, **more: Any) -> Any:
        read.append(path.rpartition("/")[2])
        if away and path.endswith("1.parquet"):
            raise OSError("Connection was closed")
        return await get(self, path, *words, **more)

    monkeypatch.setattr(s3fs.S3FileSystem, "_get_file", get_file)
    s3fs.S3FileSystem.clear_instance_cache()
    away = True
    with pytest.raises(InputError, match=r"cannot read s3://bench/read/1.parquet: Connection was closed"):
        load_folder("s3://bench/read")
    away = False
    seen = load_folder("s3://bench/read")
    assert len(clonometer.compare_fleet(seen, by="host").groups) == 2
    assert read == ["0.parquet", "1.parquet", "1.parquet"]


def failure(work: Any, url: str) -> tuple[str, str]:
    with pytest.raises(ClonometerError) as raised:
        work(url)
    return raised.value.message, raised.value.hint or ""


@pytest.mark.parametrize("work", [open_store, load_folder])
def test_says_what_is_wrong_before_anything_is_measured(s3: S3, work: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import s3fs

    message, hint = failure(work, "s3://bnech/fleet")
    assert "s3://bnech/fleet" in message
    assert "does not exist" in message
    # A name that is mistyped makes no bucket.
    assert not s3fs.S3FileSystem(skip_instance_cache=True).exists("bnech")
    s3.allow(0)
    try:
        message, hint = failure(work, "s3://bench/fleet")
    finally:
        s3.allow(None)
    assert "s3://bench/fleet" in message
    assert "AWS_PROFILE" in hint
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    s3fs.S3FileSystem.clear_instance_cache()
    message, hint = failure(work, "s3://bench/fleet")
    assert "credentials" in message
    assert "AWS_ACCESS_KEY_ID" in hint
