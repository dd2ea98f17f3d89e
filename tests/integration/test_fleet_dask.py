"""A fleet of network namespaces with Dask's own scheduler and workers: killed, full, slow, restarted."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.integration.leftovers import Trace, nothing_left
from tests.integration.namespaces import (
    HEAD_ADDRESS,
    Network,
    await_measuring,
    measuring,
    network,
    stop_measuring,
    why_no_namespaces,
)
from tests.plans import write_small_plan

import clonometer
from clonometer.runner.drivers import bin_folder

pytest.importorskip("distributed")
pytestmark = pytest.mark.real
WHY_NOT = why_no_namespaces()


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[tuple[Network, Trace]]:
    if WHY_NOT is not None:
        pytest.skip(WHY_NOT)
    write_small_plan(tmp_path / "plan.toml", budget_s=1.5, processes=40, samples=400, blocks=3)
    with nothing_left(tmp_path / "tmp") as trace, network(tmp_path, ("a", "b", "full", "slow")) as net:
        net.start_scheduler(trace.environ)
        yield net, trace


def run_fleet(net: Network, trace: Trace, *words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "clonometer.cli.start", "fleet", "run", "--plan", "plan.toml", "--out", "out"]
    address = f"tcp://{HEAD_ADDRESS}:8786"
    options = ["--scheduler", address, "--trust-network", "--seed", "7", "--rounds", "2", "--json", *words]
    net.programs["run"] = subprocess.Popen(
        net.command("head", *command, *options), cwd=net.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, **trace.environ},
    )  # fmt: skip
    return net.programs["run"]


def ended(run: subprocess.Popen[bytes]) -> tuple[int, dict[str, Any], str]:
    out, err = run.communicate(timeout=120)
    return run.returncode, {host["host"]: host for host in json.loads(out)["hosts"]} if out else {}, err.decode()


def test_a_killed_a_full_and_a_slow_host(fleet: tuple[Network, Trace]) -> None:
    net, trace = fleet
    full = net.folder / "tmp-full"
    full.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(full)], check=True)
    try:
        # Another build of the drivers: what is here is brought there.
        other = net.folder / "other"
        other.mkdir()
        (other / "probe-static").symlink_to(bin_folder() / "probe-musl")
        for host in ("a", "b", "full", "slow"):
            net.start_worker(host, {**trace.environ, **({"CLONOMETER_BIN": str(other)} if host == "a" else {})})
        run = run_fleet(net, trace, "--late", "5", "--retries", "1")
        await_measuring("b")
        net.kill("b")
        stop_measuring("slow")
        net.start_worker("b", trace.environ)
        status, hosts, err = ended(run)
    finally:
        net.end()
        net.programs.clear()
        subprocess.run(["umount", str(full)], check=True)
    assert status == 4, err
    assert (hosts["a"]["state"], hosts["a"]["retries"]) == ("measured", 0), err
    assert "different build" in err
    assert (hosts["b"]["state"], hosts["b"]["retries"]) == ("measured", 1), err
    assert hosts["full"]["state"] == "none"
    assert "no room on disk" in hosts["full"]["reason"]
    # It had measured nothing when it was asked to end, or something: then that is kept.
    assert "slow: takes too long: asked to stop with what it has" in err
    assert hosts["slow"]["rounds"]["1"] == "partial" or hosts["slow"]["retries"] == 1, err
    runs = {path.name.split("-", 1)[1]: clonometer.load(path) for path in (net.folder / "out").glob("*.parquet")}
    assert set(runs) >= {"a-1.parquet", "a-2.parquet", "b-1.parquet", "b-2.parquet", "slow-1.parquet"}
    # Nothing is left on any host, of the killed worker neither.
    for host in ("a", "b", "slow"):
        left = [path.name for path in (net.folder / f"tmp-{host}").iterdir()]
        assert [name for name in left if name.startswith("clonometer")] == []
        assert not (net.folder / f"lock-{host}").exists()


def test_the_scheduler_is_restarted_and_ctrl_c_keeps_what_arrived(fleet: tuple[Network, Trace]) -> None:
    net, trace = fleet
    net.start_worker("a", trace.environ)
    run = run_fleet(net, trace)
    await_measuring("a")
    net.kill("scheduler")
    # Without their scheduler workers end; who runs them starts them again.
    net.programs.pop("a").wait(timeout=30)
    net.start_scheduler(trace.environ)
    net.start_worker("a", trace.environ)
    until_s = time.monotonic() + 60
    while not list((net.folder / "out").glob("*.parquet")) and time.monotonic() < until_s:
        time.sleep(0.05)
    await_measuring("a")
    with contextlib.suppress(ProcessLookupError):
        run.send_signal(signal.SIGINT)
    status, hosts, err = ended(run)
    assert status == 130, err
    assert hosts["a"]["rounds"]["1"] == "complete", err
    assert "lost" in err
    assert measuring("a") == []
