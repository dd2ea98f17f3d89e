"""Files that name hosts, versions that differ, folders that run files come to, and the lock of a host."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.memory_run import write_run
from tests.fakes.sample_run import sample_run

from clonometer._version import __version__
from clonometer.errors import InputError, OutputError, RunFileError, UnavailableError, UsageError
from clonometer.fleet import remote_worker
from clonometer.fleet.dask_access import Access
from clonometer.fleet.handshake import what_is_brought
from clonometer.fleet.hosts import LogEvent, Mailbox
from clonometer.fleet.package import drivers_digest, packed
from clonometer.fleet.shards import part_of
from clonometer.fleet.ssh_hosts import read_hosts
from clonometer.fleet.store import check_run, open_store
from clonometer.runner.far import FarDriver
from clonometer.runner.process import ANSWER_FD

REPOSITORY = Path(__file__).parents[2]


def test_a_file_of_hosts(tmp_path: Path) -> None:
    file = tmp_path / "hosts"
    file.write_text("# ours\nweb1\nalice@web1  # again\n\nssh://bob@db:2222 database\nweb1\n")
    hosts = [(host.destination, host.name) for host in read_hosts(file)]
    assert hosts == [
        ("web1", "web1"),
        ("alice@web1", "alice_web1"),
        ("ssh://bob@db:2222", "database"),
        ("web1", "web1-2"),
    ]


@pytest.mark.parametrize("text", ["", "# nobody\n", "-oProxyCommand=evil\n"])
def test_a_file_without_hosts_or_with_an_option_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "hosts"
    file.write_text(text)
    with pytest.raises((InputError, UsageError)):
        read_hosts(file)


def test_words_for_a_host_over_ssh_are_quoted_for_the_shell_there() -> None:
    driver = FarDriver("probe", ("ssh", "web1", "/tmp/x/start", "probe"), {})
    assert driver.command("--fd", ANSWER_FD, "program=/bin/a b;rm") == [
        "ssh", "web1", "/tmp/x/start", "probe", "--fd", "3", "'program=/bin/a b;rm'",
    ]  # fmt: skip


def known(**more: Any) -> dict[str, Any]:
    import platform

    usual = {"version": __version__, "drivers": "abc", "arch": platform.machine(), "python": [3, 12], "why": None}
    return {**usual, **more}


def test_a_host_with_the_same_is_left_as_it_is_and_another_is_brought_ours() -> None:
    assert what_is_brought(known(), "abc", bring=True) is None
    assert "different build" in str(what_is_brought(known(drivers="def"), "abc", bring=True))
    assert "has Clonometer 0.0.9" in str(what_is_brought(known(version="0.0.9"), "abc", bring=True))
    assert what_is_brought(known(drivers="def", arch="riscv64"), "abc", bring=True) is None


@pytest.mark.parametrize(
    ("host", "words"),
    [
        (known(version="0.0.9", arch="riscv64"), "it is riscv64"),
        (known(version=None, why="No module named 'clonometer'", python=[3, 9]), "3.9 is older than 3.11"),
    ],
)
def test_a_host_that_cannot_be_brought_ours_is_refused_with_the_reason(host: dict[str, Any], words: str) -> None:
    with pytest.raises(UnavailableError, match=words):
        what_is_brought(host, "abc", bring=True)


def test_nothing_is_brought_where_that_was_asked() -> None:
    with pytest.raises(UnavailableError, match="--no-bring"):
        what_is_brought(known(version="0.0.9"), "abc", bring=False)


@pytest.mark.parametrize("address", ["tcp://10.0.0.5:8786", "head:8786", "ws://head:1", "tcp://127.0.0.1.evil:1"])
def test_a_scheduler_elsewhere_is_spoken_to_in_the_open_only_if_that_is_asked(address: str) -> None:
    pytest.importorskip("distributed")
    with pytest.raises(UsageError, match="not encrypted"):
        Access(address).check()
    Access(address, trust_network=True).check()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:8786", "tls://head:8786", "localhost:8786", "tcp://[::1]:8786"])
def test_a_scheduler_here_or_behind_tls_needs_no_more(address: str) -> None:
    pytest.importorskip("distributed")
    Access(address).check()


@pytest.mark.parametrize("kind", ["local", "memory"])
def test_a_folder_keeps_the_first_of_a_name(tmp_path: Path, kind: str) -> None:
    pytest.importorskip("fsspec")
    write_run(tmp_path / "sample.parquet", sample_run())
    content = (tmp_path / "sample.parquet").read_bytes()
    store = open_store(str(tmp_path / "new" / "folder") if kind == "local" else "memory://fleet/folder")
    assert store.status_of("a.parquet") is None
    assert store.put("a.parquet", content)
    assert not store.put("a.parquet", b"another")
    assert store.status_of("a.parquet") == check_run(content) == "complete"
    if kind == "local":
        assert [path.name for path in (tmp_path / "new" / "folder").iterdir()] == ["a.parquet"]


def test_what_is_no_run_file_or_no_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFileError):
        check_run(b"PAR1 rubbish PAR1")
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        open_store(str(tmp_path / "file"))
    with pytest.raises(UsageError):
        open_store("nosuchkind://somewhere")


def test_a_host_is_locked_for_all_who_come_and_nothing_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = tmp_path / "lock"
    monkeypatch.setenv(remote_worker.LOCK_VARIABLE, str(lock))
    held, _ = remote_worker.lock_host("fleet 1")
    assert held is not None
    ask = "from clonometer.fleet.remote_worker import lock_host; print(lock_host('fleet 2'))"
    other = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True)
    assert other.stdout.startswith("(None, 'another fleet measures on this host: fleet 1, process ")
    remote_worker.unlock_host(held)
    assert list(tmp_path.iterdir()) == []
    # What somebody who was killed has left does not lock; a link is not followed.
    lock.write_text("of a killed fleet")
    again, _ = remote_worker.lock_host("fleet 3")
    assert again is not None
    assert "fleet 3" in lock.read_text()
    remote_worker.unlock_host(again)
    (tmp_path / "precious").write_text("as it was")
    lock.symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"):
        remote_worker.lock_host("fleet 4")
    assert (tmp_path / "precious").read_text() == "as it was"


def test_an_agent_that_was_killed_is_said_with_the_name_of_the_signal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    answer = json.loads(remote_worker.measure(json.dumps({"over": "a round", "id": "1", "label": "fleet"})))
    assert answer == {"status": "failed", "reason": "the agent was killed by SIGKILL"}


def test_the_package_is_brought_whole_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = packed()
    names = zipfile.ZipFile(io.BytesIO(archive)).namelist()
    assert "clonometer/fleet/agent.py" in names
    assert "clonometer/plan/plans/quick.toml" in names
    brought = bring(archive, tmp_path)
    assert brought["why"] is None
    looked = json.loads(remote_worker.look(brought["folder"]))
    assert (looked["version"], looked["drivers"]) == (__version__, drivers_digest())
    remote_worker.remove(brought["folder"])
    assert list(tmp_path.iterdir()) == []
    assert "zip" in bring(b"no zip", tmp_path)["why"]
    assert list(tmp_path.iterdir()) == []


def bring(archive: bytes, folder: Path, sent: bytes | None = None) -> dict[str, Any]:
    digest = hashlib.sha256(archive if sent is None else sent).hexdigest()
    return dict(json.loads(remote_worker.bring(archive, digest, str(folder))))


def test_what_comes_otherwise_than_it_was_sent_is_not_unpacked(tmp_path: Path) -> None:
    archive = packed()
    damaged = archive.replace(b"clonometer/fleet/agent.py", b"clonometer/fleet/agenT.py")
    assert damaged != archive
    assert bring(damaged, tmp_path, archive) == {
        "folder": None, "why": f"what arrived is not what was sent: {len(archive):,} bytes",
    }  # fmt: skip
    assert list(tmp_path.iterdir()) == []


def test_the_lock_that_is_brought_is_the_project_s() -> None:
    lock = (Path(remote_worker.__file__).parent / "needed.txt").read_text()
    assert [line.partition("==")[0] for line in lock.splitlines() if "==" in line] == list(remote_worker.NEEDED)
    whole = (REPOSITORY / "requirements" / "run.txt").read_text()
    assert all(part in whole for part in lock.split("    # via -r run.in"))


def test_a_package_with_another_hash_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index has a numpy of the version that is locked, and another content."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    for line in (Path(remote_worker.__file__).parent / "needed.txt").read_text().splitlines():
        name, separator, rest = line.partition("==")
        if separator:
            write_wheel(shelf, name, rest.split()[0])
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setattr(remote_worker, "_has", lambda name: False)
    folder = tmp_path / "folder"
    folder.mkdir()
    brought = bring(packed(), folder)
    assert brought["folder"] is None
    assert list(folder.iterdir()) == []
    assert "Got" in brought["why"] or "hash" in brought["why"].lower(), brought["why"]


def write_wheel(folder: Path, name: str, version: str) -> None:
    about = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.py", "raise SystemExit('a stranger runs')")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def test_a_round_has_its_share_of_budget_and_processes() -> None:
    from tests.fleet.simulated import PLAN

    part = part_of(PLAN, 5)
    assert (part.budget_seconds, part.targets[0].limits.processes) == (12.0, 3)


def test_events_of_many_threads_all_come() -> None:
    mail = Mailbox()
    threads = [
        threading.Thread(target=lambda n=n: [mail.post(LogEvent(f"{n}-{m}")) for m in range(50)]) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    events, until_s = set(), time.monotonic() + 20
    # A wait may end early, with nothing: whoever posts rings again.
    while len(events) < 400 and time.monotonic() < until_s:
        if isinstance(event := mail.wait(5.0, None), LogEvent):
            events.add(event.text)
    assert len(events) == 400
    assert mail.wait(0.0, None) is None
    for thread in threads:
        thread.join()
    mail.close()
