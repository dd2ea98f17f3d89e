"""How a Dask scheduler is reached: by its address, or as one of this process that listens to nobody."""

from __future__ import annotations

import contextlib
import ipaddress
import shutil
import threading
import time
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clonometer.errors import UnavailableError, UsageError
from clonometer.fleet.slurm import check_slurm, nodes_of, partition_of, slurm_cluster

LOOK_EVERY_S = 2.0
CONNECT_TIMEOUT_S = 10.0
_NOWHERE = "127.0.0.1:0"
_OPEN = ("tcp", "ws", "ucx")


@dataclass(frozen=True)
class Access:
    """How a scheduler is reached.

    ``address`` None: ``local`` workers in this process, which listen to nobody, or jobs of at most ``lasts_s`` in the
    partition ``slurm``. ``patience_s`` is how long a scheduler or its first worker is waited for.
    """

    address: str | None = None
    local: int = 0
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    trust_network: bool = False
    patience_s: float = 120.0
    slurm: str | None = None
    lasts_s: float = 0.0

    @property
    def is_of_others(self) -> bool:
        """Whether the scheduler is another process, whose messages are a stranger's."""
        return self.address is not None

    def check(self) -> None:
        """Refuse what cannot be meant.

        Raises
        ------
        UsageError
            If Dask is missing, or a scheduler of another machine would be spoken to in the open.
        """
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            raise UsageError(f"Dask is missing: {error}", "pip install 'clonometer[fleet]'") from None
        if self.slurm is not None:
            check_slurm()
            partition_of(self.slurm)
        if self.address is None:
            return
        kind, separated, rest = self.address.rpartition("://")
        if (not separated or kind in _OPEN) and not _is_loopback(rest) and not self.trust_network:
            raise UsageError(
                f"{self.address} is not encrypted: anybody who can reach it can run programs as you, there and here",
                "use tls:// with --tls-ca, --tls-cert and --tls-key, or pass --trust-network",
            )

    def connect(self, folder: str, ended: threading.Event) -> Any:
        """Connect to the scheduler, or make one of this process, which keeps its files in ``folder``; until ``ended``.

        Raises
        ------
        UnavailableError
            If it cannot be reached in time.
        """
        import distributed

        connect: Any = distributed.Client
        # Whatever else a stranger may send is no answer.
        plain = {"deserializers": ["dask", "msgpack", "error"], "set_as_default": False}
        if self.slurm is not None:
            partition, nodes = partition_of(self.slurm)
            cluster, keys = slurm_cluster(partition, nodes or nodes_of(partition), self.lasts_s)
            # They are read once, as a job begins, which may be hours from now.
            weakref.finalize(cluster, shutil.rmtree, keys, ignore_errors=True)
            return connect(cluster, **plain)
        if self.address is None:
            return connect(local_cluster(self.local, folder), **plain)
        security: Any = None
        if self.ca_file or self.cert_file or self.address.startswith("tls://"):
            secure: Any = distributed.Security
            security = secure(
                tls_ca_file=self.ca_file, tls_client_cert=self.cert_file, tls_client_key=self.key_file,
                require_encryption=True,
            )  # fmt: skip
        until_s = time.monotonic() + self.patience_s
        timeout_s = min(CONNECT_TIMEOUT_S, self.patience_s)
        while True:
            try:
                return connect(self.address, security=security, timeout=timeout_s, **plain)
            except (OSError, TimeoutError) as error:
                if ended.wait(LOOK_EVERY_S) or time.monotonic() >= until_s:
                    raise UnavailableError(f"no scheduler answers at {self.address}: {error}") from None


def _is_loopback(address: str) -> bool:
    """Whether ``HOST:PORT`` is on this machine."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


# For workers of this process: nothing that goes by the clock more often than once an hour, where that can be had.
_QUIET: Mapping[str, Any] = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1h",
    "distributed.admin.tick.limit": "2h",
    "distributed.admin.system-monitor.interval": "1h",
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.terminate": False,
}


def quiet_dask() -> contextlib.AbstractContextManager[object]:
    """Let Dask do as little by the clock as it can; on leaving, its configuration is as it was."""
    import dask

    made: contextlib.AbstractContextManager[object] = dask.config.set(_QUIET)
    return made


def local_cluster(workers: int, folder: str) -> Any:
    """Make a scheduler and workers of this process, which listen to nobody.

    Each begins with a server of pages about itself, on all interfaces if nothing is said, and has no setting to go
    without: it is bound to the loopback, and stopped.
    """
    import distributed

    make: Any = distributed.LocalCluster
    cluster = make(
        n_workers=workers, threads_per_worker=1, processes=False, protocol="inproc://",
        dashboard_address=_NOWHERE, worker_dashboard_address=_NOWHERE, silence_logs=50, memory_limit=0,
        local_directory=folder,
    )  # fmt: skip

    async def stop_listening() -> None:
        for server in (cluster.scheduler, *cluster.workers.values()):
            server.http_server.stop()

    cluster.sync(stop_listening)
    return cluster
