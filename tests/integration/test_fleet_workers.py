"""A scheduler and workers started by hand, with TLS: of another version, without Clonometer, and a hostile one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.integration.leftovers import nothing_left
from tests.integration.sshd import free_port
from tests.plans import write_small_plan

import clonometer

distributed = pytest.importorskip("distributed")
pytestmark = [pytest.mark.real]
# What a scheduler may send without being asked: a type, and a warning, each of which Dask's client unpickles.
HOSTILE = """
import os, pickle
from tornado.ioloop import PeriodicCallback

class Hostile:
    def __reduce__(self):
        return os.mkdir, (os.environ["MARKER"],)

def dask_setup(scheduler):
    pickled = pickle.dumps(Hostile())
    def send():
        for key in list(scheduler.tasks):
            scheduler.report({"op": "key-in-memory", "key": key, "type": pickled})
        scheduler.log_event("warn", {"message": pickled})
    scheduler.hostile = PeriodicCallback(send, 100)
    scheduler.hostile.start()
"""
OLD = """
import json, platform
print(json.dumps({"version": "0.0.9", "drivers": None, "arch": platform.machine()}))
"""


@dataclass(frozen=True)
class Cluster:
    folder: Path
    address: str
    ours: list[str]
    environ: dict[str, str]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler, and three workers that stand for hosts; all of it by the commands of docs/fleet.md."""
    folder = tmp_path_factory.mktemp("cluster")
    make_certificates(folder)
    (folder / "hostile.py").write_text(HOSTILE)
    write_small_plan(folder / "plan.toml")
    tls = ["--tls-ca-file", "ca.pem", "--tls-cert", "me.pem", "--tls-key", "me.key"]
    address = f"tls://127.0.0.1:{free_port()}"
    started: list[subprocess.Popen[bytes]] = []

    def start(python: str, *words: str, **environ: str) -> None:
        with (folder / "log").open("ab") as log:
            started.append(
                subprocess.Popen(
                    [python, "-m", "distributed.cli." + words[0], *words[1:], *tls, "--no-dashboard"], cwd=folder,
                    stdout=log, stderr=log,
                    env={**os.environ, **trace.environ, "DASK_TEMPORARY_DIRECTORY": str(folder), **environ},
                )
            )  # fmt: skip

    with nothing_left(folder / "tmp") as trace:
        try:
            start(sys.executable, "dask_scheduler", "--host", address.rpartition(":")[0],
                  "--port", address.rpartition(":")[2], "--preload", str(folder / "hostile.py"),
                  MARKER=str(folder / "marker"))  # fmt: skip
            bare = without_clonometer(folder)
            for host, python, path, *more in (
                # As docs/fleet.md starts it: with a nanny, which is let rest too.
                ("same", sys.executable, ""),
                ("old", base_python(), f"{old_version(folder)}:{bare}", "--no-nanny"),
                ("bare", base_python(), str(bare), "--no-nanny"),
            ):
                lock = str(folder / f"lock-{host}")
                start(python, "dask_worker", address, *more,
                      PYTHONPATH=path, CLONOMETER_HOST=host, CLONOMETER_HOST_LOCK=lock)  # fmt: skip
            ours = ["--tls-ca", "ca.pem", "--tls-cert", "me.pem", "--tls-key", "me.key"]
            yield Cluster(folder, address, ours, trace.environ)
        finally:
            # Without its scheduler a worker takes long to end.
            for program in reversed(started):
                program.kill()
                program.wait()


def make_certificates(folder: Path) -> None:
    """One authority, and one certificate that it has signed for all who take part."""
    for command in (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout ca.key -out ca.pem -subj /CN=ca",
        "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout me.key -out me.csr -subj /CN=me",
        "x509 -req -in me.csr -CA ca.pem -CAkey ca.key -out me.pem -days 2",
    ):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)


def base_python() -> str:
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return str(Path(sys.base_prefix, "bin", version))


def without_clonometer(folder: Path) -> Path:
    """All that is installed, by links, but for the package."""
    place = folder / "packages"
    place.mkdir()
    for path in Path(distributed.__file__).parents[1].iterdir():
        if "clonometer" not in path.name and path.suffix != ".pth":
            (place / path.name).symlink_to(path)
    return place


def old_version(folder: Path) -> Path:
    """A package that answers as one of another version does."""
    place = folder / "old"
    (place / "clonometer/fleet").mkdir(parents=True)
    for name in ("clonometer/__init__.py", "clonometer/fleet/__init__.py"):
        (place / name).touch()
    (place / "clonometer/fleet/agent.py").write_text(OLD)
    return place


def run_fleet(cluster: Cluster, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "clonometer.cli.start", "fleet", "run", "--plan", "plan.toml", "--rounds", "1"]
    return subprocess.run(
        [*command, "--out", "out", "--seed", "7", "--json", *words], cwd=cluster.folder, check=False, text=True,
        capture_output=True, env={**os.environ, **cluster.environ}, timeout=120,
    )  # fmt: skip


def test_workers_of_other_versions_are_brought_ours_and_what_is_hostile_is_not_unpickled(cluster: Cluster) -> None:
    # All three are to be there when the first has come: else the run may end with those that are.
    until_s = time.monotonic() + 30
    while (cluster.folder / "log").read_text().count("Registered to:") < 3 and time.monotonic() < until_s:
        time.sleep(0.05)
    ended = run_fleet(cluster, "--scheduler", cluster.address, *cluster.ours)
    assert ended.returncode == 0, ended.stderr
    hosts = {host["host"]: host for host in json.loads(ended.stdout)["hosts"]}
    assert {name: host["state"] for name, host in hosts.items()} == dict.fromkeys(("bare", "old", "same"), "measured")
    assert "old: it has Clonometer 0.0.9; " in ended.stderr
    assert "bare: it has no Clonometer (" in ended.stderr
    assert "same: it" not in ended.stderr
    runs = {path.name.split("-")[1]: clonometer.load(path).document for path in cluster.folder.glob("out/*.parquet")}
    assert {name: metadata.clonometer_version for name, metadata in runs.items()} == dict.fromkeys(
        hosts, clonometer.__version__
    )
    assert not (cluster.folder / "marker").exists()
    # What was brought is removed, and each host is unlocked.
    assert list((cluster.folder / "tmp").glob("clonometer-*")) == []
    assert list(cluster.folder.glob("lock-*")) == []


@pytest.mark.parametrize("who", ["in the open", "strangers"])
def test_without_its_certificates_nobody_is_let_in(cluster: Cluster, who: str, tmp_path: Path) -> None:
    address, options = cluster.address.replace("tls://", "tcp://"), []
    if who == "strangers":
        make_certificates(tmp_path)
        address, options = cluster.address, [
            word.replace("me.", f"{tmp_path}/me.").replace("ca.", f"{tmp_path}/ca.") for word in cluster.ours
        ]  # fmt: skip
    ended = run_fleet(cluster, "--scheduler", address, *options, "--gone", "1s", "--out", "none")
    assert ended.returncode == 4, ended.stderr
    assert "no scheduler answers" in ended.stderr
    assert json.loads(ended.stdout)["hosts"] == []
    assert "Traceback" not in ended.stderr
