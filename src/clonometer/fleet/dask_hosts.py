"""Hosts as Dask workers: of each machine one worker at a time is asked, which is quiet while it measures.

What a worker runs is the text of `clonometer.fleet.errand`, with texts and bytes for its arguments: a function's
bytecode would not fit another Python, and its name would need Clonometer there. What comes back is bytes, and nothing
is unpickled here.
"""

from __future__ import annotations

import inspect
import ipaddress
import json
import platform
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from clonometer._version import __version__
from clonometer.errors import UnavailableError, UsageError
from clonometer.fleet import errand
from clonometer.fleet.hosts import Answered, Event, HostCame, HostGone, HostRefused, Mailbox, Remark
from clonometer.fleet.package import drivers_digest, packed
from clonometer.fleet.shards import safe_name

_EXPRESSION = "(lambda space: (exec(text, space), space[name](*words))[1])({})"
_RESOURCE = "clonometer"
# Only the scheduler is asked, which measures nothing.
_LOOK_EVERY_S = 2.0
_CONNECT_TIMEOUT_S = 10.0
_ERRAND_TIMEOUT_S = 900.0
_MOST_UNSOUND = 3
_GREETED_AT_ONCE = 16
_OPEN = ("tcp", "ws", "ucx")


@dataclass(frozen=True)
class Access:
    """How a scheduler is reached.

    ``address`` None: ``local`` workers in this process, which listen to nobody. ``patience_s`` is how long a scheduler
    or its first worker is waited for.
    """

    address: str | None = None
    local: int = 0
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    trust_network: bool = False
    patience_s: float = 120.0

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
        if self.address is None:
            return
        kind, separated, rest = self.address.rpartition("://")
        if (not separated or kind in _OPEN) and not _is_loopback(rest) and not self.trust_network:
            raise UsageError(
                f"{self.address} is not encrypted: whoever can reach it runs programs as you do, there and here",
                "use tls:// with --tls-ca, --tls-cert and --tls-key, or say --trust-network",
            )

    def connect(self, folder: str, ended: threading.Event) -> Any:
        """Connect to the scheduler, or make one of this process, which keeps its files in ``folder``; until ``ended``.

        Raises
        ------
        UnavailableError
            If it cannot be reached in time.
        """
        import dask
        import distributed

        dask.config.set(_QUIET)
        connect: Any = distributed.Client
        # Whatever else a stranger may send is no answer.
        plain = {"deserializers": ["dask", "msgpack", "error"], "set_as_default": False}
        if self.address is None:
            return connect(_local_cluster(self.local, folder), **plain)
        security: Any = None
        if self.ca_file or self.cert_file or self.address.startswith("tls://"):
            secure: Any = distributed.Security
            security = secure(
                tls_ca_file=self.ca_file, tls_client_cert=self.cert_file, tls_client_key=self.key_file,
                require_encryption=True,
            )  # fmt: skip
        until_s = time.monotonic() + self.patience_s
        while True:
            try:
                return connect(self.address, security=security, timeout=_CONNECT_TIMEOUT_S, **plain)
            except (OSError, TimeoutError) as error:
                if ended.wait(_LOOK_EVERY_S) or time.monotonic() >= until_s:
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


def _local_cluster(workers: int, folder: str) -> Any:
    import distributed

    cluster: Any = distributed.LocalCluster
    return cluster(
        n_workers=workers, threads_per_worker=1, processes=False, protocol="inproc://", dashboard_address=None,
        silence_logs=50, memory_limit=0, local_directory=folder,
    )  # fmt: skip


class DaskHosts:
    """Reaches hosts by the workers of a Dask scheduler.

    Parameters
    ----------
    access
        How the scheduler is reached.
    bring
        Whether hosts with another version, or none, are brought this one for as long as the run lasts.
    """

    def __init__(self, access: Access, *, bring: bool = True) -> None:
        self._access = access
        self._bring = bring
        self._mail = Mailbox()
        self._client: Any = None
        # Dask leaves a folder where it kept something.
        self._folder = tempfile.TemporaryDirectory(prefix="clonometer-")
        self._text = inspect.getsource(errand)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._hosts: dict[str, _Machine] = {}
        self._workers: dict[str, str] = {}
        self._began_s = time.monotonic()
        self._watch = threading.Thread(target=self._watch_workers, daemon=True)
        self._archive: bytes | None = None
        self._any_came = False
        self._meeting = 0
        self._greeters = ThreadPoolExecutor(_GREETED_AT_ONCE)
        self._unsound: dict[str, int] = {}

    def begin(self) -> None:
        """Connect, and look for workers from now on, while whoever waits can be interrupted."""
        self._watch.start()

    def start(self, host: str, request: dict[str, Any]) -> None:
        """Let the worker of a host measure a shard."""
        machine = self._hosts[host]
        described = request["fleet"]
        try:
            future = self._client.submit(
                eval, _EXPRESSION, self._words("measure", json.dumps(request), machine.place),
                workers=[machine.worker], allow_other_workers=False, resources={_RESOURCE: 1}, key=request["id"],
                pure=False, retries=0,
            )  # fmt: skip
        except Exception as error:
            self._mail.post(HostGone(host, str(error)))
            return
        machine.future = future
        future.add_done_callback(lambda done: self._collect(host, described, done))

    def stop(self, host: str, shard: str) -> None:
        """Ask the worker to end a shard with what it has."""
        self._in_thread(lambda: self._run(self._hosts[host].worker, "stop", shard))

    def next_event(self, timeout_s: float | None, interrupt_fd: int | None) -> Event | None:
        """Wait for something to happen."""
        if not self._any_came:
            timeout_s = _LOOK_EVERY_S if timeout_s is None else min(timeout_s, _LOOK_EVERY_S)
        event = self._mail.wait(timeout_s, interrupt_fd)
        self._any_came |= isinstance(event, HostCame | HostRefused)
        return event

    def search_is_over(self) -> bool:
        """Whether a worker has come, or none has for too long."""
        if self._meeting or not self._mail.is_empty:
            return False
        return self._any_came or time.monotonic() > self._began_s + self._access.patience_s

    def end(self) -> None:
        """Remove what was brought, and let the scheduler go."""
        self._ended.set()
        if self._watch.is_alive():
            self._watch.join(_CONNECT_TIMEOUT_S)
        self._greeters.shutdown(cancel_futures=True)
        for machine in self._hosts.values():
            if machine.place and machine.worker:
                self._try(partial(self._run, machine.worker, "remove", machine.place))
        if self._client is not None:
            cluster = self._client.cluster
            self._try(self._client.close)
            if cluster is not None:
                self._try(cluster.close)
        self._folder.cleanup()

    def _words(self, name: str, *words: Any) -> dict[str, Any]:
        return {"text": self._text, "name": name, "words": list(words)}

    def _run(self, worker: str, name: str, *words: Any) -> dict[str, Any]:
        """Run an errand at once, whatever the worker does; gives what its JSON says."""
        answers = self._client.run(eval, _EXPRESSION, self._words(name, *words), workers=[worker])
        answer = json.loads(answers[worker])
        if not isinstance(answer, dict):
            raise ValueError("no JSON object")
        return answer

    def _do(self, worker: str, name: str, *words: Any) -> dict[str, Any]:
        """Run an errand in the worker's turn, which knows then that it is a worker's."""
        words_of_task = self._words(name, *words)
        task = self._client.submit(eval, _EXPRESSION, words_of_task, workers=[worker], pure=False)
        answer = json.loads(task.result(timeout=_ERRAND_TIMEOUT_S))
        return dict(answer)

    def _watch_workers(self) -> None:
        """Connect; then see workers come and go, and the scheduler too."""
        self._connect()
        while not self._ended.wait(0.2 if not self._workers else _LOOK_EVERY_S):
            try:
                present = set(self._client.scheduler_info(n_workers=-1)["workers"])
            except Exception as error:
                self._lose(set(self._workers), f"the scheduler is lost: {error}")
                self._reconnect()
                continue
            self._lose(set(self._workers) - present, "its worker has gone")
            for worker in sorted(present - set(self._workers)):
                self._workers[worker] = ""
                with self._lock:
                    self._meeting += 1
                self._greeters.submit(self._meet, worker)

    def _lose(self, workers: set[str], reason: str) -> None:
        for worker in workers:
            name = self._workers.pop(worker, "")
            machine = self._hosts.get(name)
            if machine is None or machine.worker != worker:
                continue
            machine.worker, machine.place = "", ""
            self._mail.post(HostGone(name, reason))
            spare = next((other for other, host in self._workers.items() if host == name), None)
            if spare is not None:
                # Looked at anew: it may be another Python.
                del self._workers[spare]

    def _reconnect(self) -> None:
        self._try(self._client.close)
        self._connect()

    def _connect(self) -> None:
        while not self._ended.is_set():
            try:
                self._client = self._access.connect(self._folder.name, self._ended)
            except UnavailableError as error:
                self._mail.post(Remark(error.message))
            else:
                return

    def _meet(self, worker: str) -> None:
        """Look what a worker's host is and has, bring what it lacks, and say that the host is there."""
        machine = None
        try:
            before_s = time.time()
            known = self._run(worker, "look")
            clock = clock_of(known, before_s, time.time())
            machine, is_first = self._machine_of(worker, known)
            if is_first:
                machine.place = self._equip(worker, known)
                self._do(worker, "offer", _RESOURCE)
                self._mail.post(HostCame(machine.name, clock))
        except UnavailableError as error:
            self._mail.post(HostRefused(self._workers[worker], error.message))
        except Exception as error:
            self._note_unsound(worker, machine, f"{type(error).__name__}: {error}")
        finally:
            with self._lock:
                self._meeting -= 1

    def _machine_of(self, worker: str, known: Mapping[str, Any]) -> tuple[_Machine, bool]:
        """The machine of a worker, and whether this worker is the one that is asked there."""
        with self._lock:
            machine = next((m for m in self._hosts.values() if m.id == known["machine"]), None)
            if machine is None:
                name = safe_name(str(known["name"]), set(self._hosts))
                machine = self._hosts[name] = _Machine(name, str(known["machine"]))
            self._workers[worker] = machine.name
            is_first = not machine.worker
            if is_first:
                machine.worker = worker
            return machine, is_first

    def _note_unsound(self, worker: str, machine: _Machine | None, reason: str) -> None:
        """Ask a worker again with the next look, unless that has been in vain."""
        if machine is not None and machine.worker == worker:
            machine.worker = ""
        self._unsound[worker] = self._unsound.get(worker, 0) + 1
        if self._unsound[worker] < _MOST_UNSOUND:
            self._workers.pop(worker, None)
            return
        name = machine.name if machine is not None else worker
        self._mail.post(HostRefused(name, f"its worker gives no sound answer: {reason}"))

    def _equip(self, worker: str, known: Mapping[str, Any]) -> str:
        """Where the package to use is on a host: empty for what is installed. UnavailableError if it cannot be used."""
        lacks = what_is_brought(known, drivers_digest(), bring=self._bring)
        if lacks is None:
            return ""
        self._archive = self._archive or packed()
        answer = self._do(worker, "bring", self._archive, "")
        if answer["place"] is None:
            raise UnavailableError(f"{lacks}, and {__version__} cannot be brought there: {answer['why']}")
        now = self._run(worker, "look", answer["place"])
        if now["version"] != __version__:
            self._run(worker, "remove", answer["place"])
            raise UnavailableError(f"{lacks}, and what was brought does not start there: {now['why']}")
        self._mail.post(Remark(f"{known['name']}: {lacks}; {__version__} was brought for this run"))
        return str(answer["place"])

    def _collect(self, host: str, described: Mapping[str, Any], future: Any) -> None:
        if future.status == "finished":
            try:
                answer = future.result(timeout=60)
            except Exception as error:
                answer = json.dumps({"status": "lost", "reason": f"its answer is lost: {error}"}).encode()
        elif future.status in ("cancelled", "lost"):
            return
        else:
            # Nothing that was pickled there is looked into.
            answer = json.dumps({"status": "failed", "reason": "the worker could not run what it was asked"}).encode()
        if not isinstance(answer, bytes):
            answer = b""
        if not self._ended.is_set():
            self._mail.post(Answered(host, described["round"], described["attempt"], answer))

    def _in_thread(self, work: Callable[[], Any]) -> None:
        threading.Thread(target=lambda: self._try(work), daemon=True).start()

    def _try(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except Exception as error:
            if not self._ended.is_set():
                self._mail.post(Remark(str(error)))


def clock_of(known: Mapping[str, Any], before_s: float, after_s: float) -> dict[str, float]:
    """How far a host's clock is apart, from the times that it noted and ours around them, as NTP reckons (RFC 5905).

    Examples
    --------
    >>> clock_of({"began": 105.0, "ended": 107.0}, 1.0, 4.0)
    {'apart_s': 103.5, 'apart_within_s': 0.5}
    """
    began_s, ended_s = float(known["began"]), float(known["ended"])
    return {
        "apart_s": ((began_s - before_s) + (ended_s - after_s)) / 2,
        "apart_within_s": ((after_s - before_s) - (ended_s - began_s)) / 2,
    }


def what_is_brought(known: Mapping[str, Any], drivers: str, *, bring: bool) -> str | None:
    """Say what a host lacks that is to be brought there; None where what it has is the same as here.

    Parameters
    ----------
    known
        What the host said of itself (`clonometer.fleet.errand.look`).
    drivers
        The digest of the drivers here: hosts are compared as measured by the same programs.
    bring
        Whether anything may be brought.

    Raises
    ------
    UnavailableError
        If the host cannot take part, with the reason.
    """
    same_version = known["version"] == __version__
    if same_version and known["drivers"] == drivers:
        return None
    if same_version:
        lacks = f"its drivers of Clonometer {__version__} are another build"
    elif known["version"]:
        lacks = f"it has Clonometer {known['version']}"
    else:
        lacks = f"it has no Clonometer ({known['why']})"
    if known["arch"] != platform.machine():
        if same_version:
            # Built there: machines of two kinds cannot be measured by the same program in any case.
            return None
        raise UnavailableError(f"{lacks}; it is {known['arch']}, this one was built for {platform.machine()}")
    if not bring:
        raise UnavailableError(f"{lacks}, and with --no-bring {__version__} is not brought there")
    if tuple(known["python"]) < errand.OLDEST_PYTHON:
        raise UnavailableError(f"{lacks}, and its Python {'.'.join(map(str, known['python']))} is older than 3.11")
    return lacks


@dataclass
class _Machine:
    """A host: its worker that is asked, empty while there is none, and where the package was brought."""

    name: str
    id: str
    worker: str = ""
    place: str = ""
    future: Any = None
