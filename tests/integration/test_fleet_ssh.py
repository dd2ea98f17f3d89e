"""Hosts over SSH, by a real sshd on the loopback, as an ordinary user: nothing is installed, nothing stays."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.leftovers import gone, nothing_left
from tests.integration.sshd import UID, Server, loopback_sshd, why_no_sshd
from tests.plans import write_small_plan

import clonometer
from clonometer.runner.drivers import bin_folder
from clonometer.runner.far import FarError, FarHost

pytestmark = [pytest.mark.real, pytest.mark.skipif(why_no_sshd() is not None, reason=str(why_no_sshd()))]


@pytest.fixture(scope="module")
def lock() -> Iterator[Path]:
    """In a folder that every user may enter; pytest closes all of its own to others when another run begins."""
    with tempfile.TemporaryDirectory(prefix="locks-", dir="/tmp") as name:
        Path(name).chmod(0o1777)
        yield Path(name, "lock")


@pytest.fixture(scope="module")
def full(lock: Path) -> Iterator[Path]:
    """A disk with little room; sshd has mounts of its own, and sees what was mounted before it began."""
    place = lock.parent / "full"
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,mode=1777", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture(scope="module")
def server(lock: Path, full: Path) -> Iterator[Server]:
    with loopback_sshd(environment=f"CLONOMETER_HOST_LOCK={lock}") as running:
        yield running


@pytest.fixture(autouse=True)
def nothing_stays(server: Server, lock: Path, tmp_path: Path) -> Iterator[None]:
    with nothing_left(tmp_path / "tmp"):
        yield
        assert gone(lambda: tasks_of_user() - {server.process.pid})
        assert not lock.exists()


def tasks_of_user() -> set[int]:
    tasks = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if entry.stat().st_uid == UID:
                tasks.add(int(entry.name))
    return tasks


def start_fleet(
    folder: Path, server: Server, hosts: str, *words: str, budget: float = 1, processes: int = 4
) -> subprocess.Popen[str]:
    (folder / "hosts").write_text(hosts)
    write_small_plan(folder / "plan.toml", budget_s=budget, processes=processes)
    options = ["--plan", "plan.toml", "--hosts", "hosts", "--ssh-config", str(server.config), "--out", "out", "--json"]
    return subprocess.Popen(
        [sys.executable, "-m", "clonometer.cli.start", "fleet", "run", *options, "--rounds", "1", *words],
        cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
    )  # fmt: skip


def ended(run: subprocess.Popen[str]) -> tuple[int, dict[str, Any], str]:
    out, err = run.communicate(timeout=120)
    return run.returncode, {host["host"]: host for host in json.loads(out)["hosts"]}, err


def measuring() -> list[int]:
    pids = []
    for pid in tasks_of_user():
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words[0].endswith(b"/probe-static") and words[1] == b"--fd":
                pids.append(pid)
    return pids


def await_measuring() -> None:
    limit_s = time.monotonic() + 30
    while not measuring():
        assert time.monotonic() < limit_s, "nothing measures"
        time.sleep(0.02)


def test_two_names_of_a_host_are_measured_in_turn_and_another_user_s_facts_are_kept(
    tmp_path: Path, server: Server
) -> None:
    run = start_fleet(tmp_path, server, "web1\nfleetuser@web2 # a twin\n")
    status, hosts, err = ended(run)
    assert status == 0, err
    assert [host["state"] for host in hosts.values()] == ["measured", "measured"], err
    # Had both measured at once, one would have met the other's lock.
    assert [host["retries"] for host in hosts.values()] == [0, 0]
    assert "another fleet" not in err
    assert {"web1", "fleetuser_web2"} > {host["same_as"] for host in hosts.values()} - {None} != set()
    file, _ = (tmp_path / "out").glob("*.parquet")
    metadata = clonometer.load(file).document
    assert (metadata.host["user.root"], metadata.host["libc.name"]) == (False, "glibc")
    assert metadata.host["kernel.release"] == os.uname().release
    assert (metadata.fleet or {})["locked"] == "yes"
    assert metadata.status == "complete"


def test_a_second_fleet_waits_and_says_so(tmp_path: Path, server: Server, lock: Path) -> None:
    lock.touch()
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        lock.chmod(0o644)
        status, hosts, err = ended(start_fleet(tmp_path, server, "web1\n", "--wait", "1s"))
        assert (status, hosts["web1"]["state"]) == (4, "none"), err
        assert "another fleet measures on this host" in hosts["web1"]["reason"]
    lock.unlink()


def test_a_broken_line_is_mended_and_who_cannot_be_reached_is_given_up(tmp_path: Path, server: Server) -> None:
    config = server.config.parent / "more"
    config.write_text(f"Host away\n  HostName 127.0.0.1\n  Port 1\n{server.config.read_text()}")
    run = start_fleet(tmp_path, server, "web1\naway\n", "--ssh-config", str(config), budget=2)
    await_measuring()
    for pid in tasks_of_user():
        with contextlib.suppress(OSError):
            if b"sshd" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
    status, hosts, err = ended(run)
    assert (status, hosts["away"]["state"], hosts["web1"]["state"]) == (4, "none", "measured"), err
    assert "refused" in hosts["away"]["reason"]
    assert hosts["web1"]["retries"] == 1, err


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path, server: Server) -> None:
    run = start_fleet(tmp_path, server, "web1\n", budget=60, processes=500)
    await_measuring()
    # Some of its 500 short blocks are measured by then, and not all.
    time.sleep(2)
    run.send_signal(signal.SIGINT)
    status, hosts, err = ended(run)
    assert status == 130, err
    assert hosts["web1"]["rounds"] == {"1": "partial"}, err
    (file,) = (tmp_path / "out").glob("*.parquet")
    assert clonometer.load(file).document.status_reason.startswith("interrupted after")


def test_a_full_disk_there_is_said(server: Server, full: Path) -> None:
    host = FarHost("web1", server.config.parent / "control", config=str(server.config), label="a test", most_s=60)
    with server.with_environment(TMPDIR=full):
        with pytest.raises(FarError, match="No space left on device") as caught, host:
            pass
        assert caught.value.status == "failed"
        assert gone(lambda: list(full.iterdir()))


def test_a_bare_host_of_another_instruction_set_gets_its_drivers(tmp_path: Path, server: Server, lock: Path) -> None:
    """It has no Python and no compiler, only what docs/fleet.md says that it needs."""
    tools, drivers = lock.parent / "tools", tmp_path / "drivers"
    drivers.mkdir()
    tools.mkdir()
    for name in ("sh", "cat", "chmod", "mkdir", "rm", "rmdir", "date", "flock"):
        (tools / name).symlink_to(str(shutil.which(name)))
    (tools / "uname").write_text("#!/bin/sh\necho riscv64\n")
    (tools / "uname").chmod(0o755)
    with server.with_environment(PATH=tools):
        status, hosts, err = ended(start_fleet(tmp_path, server, "board\n"))
        assert (status, hosts["board"]["state"]) == (4, "none"), err
        assert "it is riscv64" in hosts["board"]["reason"]
        assert "--drivers riscv64=FOLDER" in hosts["board"]["reason"]
        shutil.copy(bin_folder() / "probe-static", drivers)
        status, hosts, err = ended(start_fleet(tmp_path, server, "board\n", "--drivers", "riscv64=drivers"))
    assert (status, hosts["board"]["state"]) == (0, "measured"), err
    (file,) = (tmp_path / "out").glob("*.parquet")
    metadata = clonometer.load(file).document
    assert {process.driver for process in metadata.processes} == {"probe-static"}
    assert (metadata.fleet or {})["locked"] == "yes"
