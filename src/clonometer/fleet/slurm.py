"""Dask workers as jobs of Slurm, one per whole node, under a scheduler of this process that speaks TLS alone.

dask-jobqueue writes the job scripts and hands them to sbatch. Keys are made for the run: they lie in a folder of the
user's home that nobody else may enter, which the nodes must share, as homes on clusters are.
"""

from __future__ import annotations

import math
import shutil
import subprocess  # noqa: TID251 (asks Slurm about a partition: nothing is measured)
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clonometer.errors import UnavailableError, UsageError
from clonometer.fleet.nodes import MOST_NODES, name_and_count

_LONGEST_S = 60.0
_MEMORY = "1GB"


def check_slurm() -> None:
    """Refuse to begin where Slurm, or what speaks with it, is missing.

    Raises
    ------
    UsageError
        With the package that is missing.
    """
    try:
        import cryptography  # noqa: F401
        import dask_jobqueue  # noqa: F401
    except ImportError as error:
        raise UsageError(f"dask-jobqueue is missing: {error}", "pip install 'clonometer[slurm]'") from None
    for program in ("sbatch", "sinfo"):
        if shutil.which(program) is None:
            raise UsageError(f"there is no {program} here", "run it where you submit jobs of Slurm")


def partition_of(text: str) -> tuple[str, int]:
    """A partition and how many nodes of it are wanted, 0 for all, from ``NAME`` or ``NAME:N``.

    Raises
    ------
    UsageError
        If it is neither.

    Examples
    --------
    >>> partition_of("short"), partition_of("short:3")
    (('short', 0), ('short', 3))
    """
    return name_and_count(text, "partition of Slurm", "--slurm")


def nodes_of(partition: str) -> int:
    """How many nodes a partition has that can take jobs, drained and lost ones left out.

    Raises
    ------
    UnavailableError
        If Slurm does not answer, there is no such partition, or no node of it can take jobs.
    """
    ended = _ask(["sinfo", "--noheader", f"--partition={partition}", "--format=%D %t"])
    if ended.returncode != 0:
        raise UnavailableError(f"Slurm does not answer: {ended.stderr.strip()[:300]}")
    count = count_nodes(ended.stdout)
    if not count:
        raise UnavailableError(f"no node of the partition {partition!r} can take jobs", "sinfo shows the partitions")
    return count


def count_nodes(text: str) -> int:
    r"""Count the nodes in lines of a number and a state, as sinfo writes them.

    Examples
    --------
    >>> count_nodes("3 idle\n2 mix\n1 down*\n4 drain\n")
    5
    """
    able = ("idle", "mix", "alloc", "comp")
    lines = [line.split() for line in text.splitlines()]
    return sum(
        int(words[0]) for words in lines if len(words) == 2 and words[1].startswith(able) and "*" not in words[1]
    )


def slurm_cluster(partition: str, nodes: int, lasts_s: float) -> tuple[Any, Path]:
    """Submit a job per node, each with one worker; gives the cluster, and the folder of its keys, to be removed.

    Parameters
    ----------
    partition
        Where jobs are submitted.
    nodes
        How many.
    lasts_s
        The jobs' limit of time.
    """
    import distributed
    from dask_jobqueue.slurm import SLURMCluster

    secure: Any = distributed.Security
    make: Any = SLURMCluster
    keys = Path(tempfile.mkdtemp(prefix=".clonometer-slurm-", dir=Path.home()))
    cluster = make(
        queue=partition,
        cores=1,
        processes=1,
        memory=_MEMORY,
        walltime=walltime(lasts_s),
        # A node that somebody else uses at the same time measures that, too.
        job_directives_skip=["--mem"],
        job_extra_directives=["--exclusive", "--nodes=1", f"--output={keys}/%j.log"],
        protocol="tls://",
        security=secure.temporary(),
        shared_temp_directory=str(keys),
        scheduler_options={"dashboard": False, "dashboard_address": None},
        silence_logs=50,
    )
    try:
        _try_submission(cluster.job_script())
    except UnavailableError:
        cluster.close()
        shutil.rmtree(keys, ignore_errors=True)
        raise
    cluster.scale(jobs=min(nodes, MOST_NODES))
    return cluster, keys


def _try_submission(script: str) -> None:
    """Ask Slurm whether it would take a job: what becomes of a real submission nobody would see."""
    ended = _ask(["sbatch", "--test-only"], script)
    if ended.returncode != 0:
        raise UnavailableError(f"Slurm refuses the job: {ended.stderr.strip()[:500]}")


def _ask(words: Sequence[str], script: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run one of Slurm's programs, which ends soon or is taken for silent."""
    try:
        return subprocess.run(words, input=script, capture_output=True, text=True, timeout=_LONGEST_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UnavailableError(f"Slurm does not answer: {error}") from error


def walltime(lasts_s: float) -> str:
    """A limit of time as Slurm reads it, rounded up to minutes.

    Examples
    --------
    >>> walltime(61), walltime(90_000)
    ('0-00:02:00', '1-01:00:00')
    """
    minutes = math.ceil(lasts_s / 60)
    return f"{minutes // 1440}-{minutes // 60 % 24:02}:{minutes % 60:02}:00"
