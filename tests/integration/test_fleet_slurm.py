"""A fleet over a real Slurm of one node: Debian's slurm-wlm and munge, started in a folder and ended with it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.census import CLONOMETER

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
_PATH = f"{os.environ['PATH']}:/usr/sbin"
_CONFIGURATION = """\
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
ReturnToService=2
EnforcePartLimits=ALL
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=test Nodes={host} Default=YES MaxTime=INFINITE State=UP
PartitionName=brief Nodes={host} MaxTime=1 State=UP
"""


def free_ports() -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which Slurm's programs find a cluster of this machine."""
    missing = [name for name in _PROGRAMS if shutil.which(name, path=_PATH) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"needs root and Slurm (apt-get install slurm-wlm munge): no {', '.join(missing) or 'root'}")
    if importlib.util.find_spec("dask_jobqueue") is None:
        pytest.skip("dask-jobqueue is not installed")
    # Munge refuses a socket that lies in a folder which others may write to, or cannot enter.
    folder = Path(subprocess.run(["mktemp", "-d", "/run/slurm-XXXXXX"], capture_output=True, text=True).stdout.strip())
    folder.chmod(0o755)
    for name in ("state", "spool"):
        (folder / name).mkdir()
    host = socket.gethostname().partition(".")[0]
    (folder / "slurm.conf").write_text(
        _CONFIGURATION.format(folder=folder, host=host, cpus=os.cpu_count(), ports=free_ports())
    )
    (folder / "key").write_bytes(os.urandom(1024))
    (folder / "key").chmod(0o600)
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "PATH": _PATH}
    files = {
        "key-file": "key",
        "socket": "munge.socket",
        "log-file": "munge.log",
        "pid-file": "munge.pid",
        "seed-file": "seed",
    }
    munged = ["munged", "--force", *(f"--{option}={folder / name}" for option, name in files.items())]
    try:
        for words in (munged, ["slurmctld"], ["slurmd"]):
            subprocess.run(words, env=environment, check=True, capture_output=True, timeout=60)
        until_idle(environment)
        yield {**environment, "CLONOMETER_HOST_LOCK": str(folder / "host.lock")}
    finally:
        for name in ("slurmd.pid", "slurmctld.pid", "munge.pid"):
            end(folder / name)
        shutil.rmtree(folder, ignore_errors=True)


def until_idle(environment: dict[str, str]) -> None:
    for _ in range(120):
        ended = subprocess.run(
            ["sinfo", "-h", "-p", "test", "-o", "%t"], env=environment, capture_output=True, text=True
        )
        if ended.stdout.strip() == "idle":
            return
        time.sleep(0.5)
    raise AssertionError(f"Slurm did not start: {ended.stdout}{ended.stderr}")


def end(pid_file: Path) -> None:
    """End a daemon of ours, and wait until it has gone."""
    try:
        pid = int(pid_file.read_text())
    except (OSError, ValueError):
        return
    os.kill(pid, signal.SIGTERM)
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)


def run_fleet(slurm: dict[str, str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    words = ("--plan", "quick", "--only", "launch.pthread*", "--rounds", "1", "--json", "--out", str(folder), *words)
    command = [CLONOMETER, "fleet", "run", *words]
    return subprocess.run(command, env=slurm, cwd=folder.parent, capture_output=True, text=True, timeout=120)


def keys_left() -> list[Path]:
    return list(Path.home().glob(".clonometer-slurm-*"))


def test_each_node_of_a_partition_measures(slurm: dict[str, str], tmp_path: Path) -> None:
    before = keys_left()
    ended = run_fleet(slurm, tmp_path / "fleet", "--slurm", "test", "--budget", "2s")
    assert ended.returncode == 0, ended.stderr
    (host,) = json.loads(ended.stdout)["hosts"]
    assert host["rounds"] == {"1": "complete"}
    assert len(list((tmp_path / "fleet").glob("*.parquet"))) == 1
    # Neither keys nor jobs are left behind.
    assert set(keys_left()) <= set(before)
    jobs = subprocess.run(["squeue", "-h"], env=slurm, capture_output=True, text=True).stdout
    assert not jobs.strip() or " CG " in jobs


def test_says_what_slurm_refuses(slurm: dict[str, str], tmp_path: Path) -> None:
    unknown = run_fleet(slurm, tmp_path / "fleet", "--slurm", "nowhere")
    assert unknown.returncode != 0
    assert "nowhere" in unknown.stderr
    # A limit of time that the partition does not allow is no reason to wait for an hour.
    refused = run_fleet(slurm, tmp_path / "fleet", "--slurm", "brief", "--budget", "1h")
    assert refused.returncode != 0
    assert "Slurm refuses the job" in refused.stderr + refused.stdout


@pytest.mark.parametrize("partition", ["", ":", "short:", "short:0", "short:-1", "short:²", "short:99999"])
def test_refuses_what_is_no_partition(partition: str) -> None:
    from clonometer.errors import UsageError
    from clonometer.fleet.slurm import partition_of

    with pytest.raises(UsageError):
        partition_of(partition)
