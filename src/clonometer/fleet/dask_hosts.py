"""Hosts as Dask workers: of each machine one worker at a time is asked; all of them rest meanwhile.

A machine is where workers of one network address say one boot id: messages to the address reach nobody else. Another
address with the same boot id is a host by itself, measured in turn: a container, or a worker that lies.

What a worker runs is the text of `clonometer.fleet.remote_worker`, with texts and bytes for its arguments: a function's
bytecode would not fit another Python, and its name would need Clonometer there. What comes back is bytes, and nothing
is unpickled here (`clonometer.fleet.unpickling`).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from clonometer._version import __version__
from clonometer.errors import UnavailableError
from clonometer.fleet import remote_worker
from clonometer.fleet.dask_access import CONNECT_TIMEOUT_S, LOOK_EVERY_S, Access, quiet_dask
from clonometer.fleet.handshake import clock_of, what_is_brought
from clonometer.fleet.hosts import Answered, HostConnected, HostEvent, HostLost, HostRefused, LogEvent, Mailbox
from clonometer.fleet.package import drivers_digest, packed
from clonometer.fleet.shards import safe_name
from clonometer.inputs import parse_json

_EXPRESSION = "(lambda space: (exec(text, space), space[name](*words))[1])({})"
_RESOURCE = "clonometer"
_CALL_TIMEOUT_S = 900.0
_MOST_UNSOUND = 3
_GREETED_AT_ONCE = 16
_LONGEST_MACHINE = 100


class DaskHosts:
    """Reaches hosts by the workers of a Dask scheduler.

    ``bring``: whether hosts with another version, or none, are brought this one for as long as the run lasts.
    """

    def __init__(self, access: Access, *, bring: bool = True) -> None:
        self._access = access
        self._bring = bring
        self._mail = Mailbox()
        self._client: Any = None
        # Dask leaves a folder where it kept something.
        self._folder = tempfile.TemporaryDirectory(prefix="clonometer-")
        self._text = inspect.getsource(remote_worker)
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._hosts: dict[str, _Machine] = {}
        self._workers: dict[str, str] = {}
        self._began_s = time.monotonic()
        self._watch = threading.Thread(target=self._watch_workers, daemon=True)
        self._archive: bytes | None = None
        self._any_connected = False
        self._is_unreachable = False
        self._meeting = 0
        self._greeters = ThreadPoolExecutor(_GREETED_AT_ONCE)
        self._unsound: dict[str, int] = {}
        self._until_the_end = ExitStack()

    def begin(self) -> None:
        """Connect, and look for workers from now on, while whoever waits can be interrupted."""
        self._until_the_end.enter_context(quiet_dask())
        if self._access.is_of_others:
            from clonometer.fleet.unpickling import nothing_unpickled

            self._until_the_end.enter_context(nothing_unpickled())
        self._watch.start()

    def start(self, host: str, request: dict[str, Any]) -> None:
        """Let the worker of a host measure a shard."""
        machine = self._hosts[host]
        described = request["fleet"]
        try:
            future = self._client.submit(
                eval, _EXPRESSION, self._words("measure", json.dumps(request), machine.folder),
                workers=[machine.worker], allow_other_workers=False, resources={_RESOURCE: 1}, key=request["id"],
                pure=False, retries=0,
            )  # fmt: skip
        except Exception as error:
            self._mail.post(HostLost(host, str(error)))
            return
        machine.future = future
        future.add_done_callback(lambda done: self._collect(host, described, done))

    def stop(self, host: str, shard: str) -> None:
        """Ask the worker to end a shard with what it has."""
        work = partial(self._run, self._hosts[host].worker, "stop", shard)
        threading.Thread(target=self._try, args=(work,), daemon=True).start()

    def next_event(self, timeout_s: float | None, interrupt_fd: int | None) -> HostEvent | None:
        """Wait for something to happen."""
        if not self._any_connected:
            timeout_s = LOOK_EVERY_S if timeout_s is None else min(timeout_s, LOOK_EVERY_S)
        event = self._mail.wait(timeout_s, interrupt_fd)
        self._any_connected |= isinstance(event, HostConnected | HostRefused)
        return event

    def search_is_over(self) -> bool:
        """Whether a worker has come, or none has for too long."""
        if self._meeting or not self._mail.is_empty:
            return False
        if self._client is None:
            return self._is_unreachable
        return self._any_connected or time.monotonic() > self._began_s + self._access.patience_s

    def end(self) -> None:
        """Remove what was brought, wake the workers, and let the scheduler go."""
        self._ended.set()
        if self._watch.is_alive():
            self._watch.join(CONNECT_TIMEOUT_S)
        self._greeters.shutdown(cancel_futures=True)
        for machine in self._hosts.values():
            if machine.folder and machine.worker:
                self._try(partial(self._run, machine.worker, "remove", machine.folder))
        if self._client is not None:
            self._try(partial(self._of_all, "wake", self._workers))
            cluster = self._client.cluster
            self._try(self._client.close)
            if cluster is not None:
                self._try(cluster.close)
        self._folder.cleanup()
        self._until_the_end.close()

    def _words(self, name: str, *words: Any) -> dict[str, Any]:
        return {"text": self._text, "name": name, "words": list(words)}

    def _run(self, worker: str, name: str, *words: Any) -> dict[str, Any]:
        """Call a function of `remote_worker` at once, whatever the worker does; gives what its JSON says."""
        answers = self._client.run(eval, _EXPRESSION, self._words(name, *words), workers=[worker])
        answer = parse_json(answers[worker])
        if not isinstance(answer, dict):
            raise ValueError("no JSON object")
        return answer

    def _of_all(self, name: str, workers: Iterable[str]) -> None:
        """Call a function in workers and in the nannies that watch over them; who does not answer is passed over."""
        known = self._client.scheduler_info(n_workers=-1)["workers"]
        present = [worker for worker in workers if worker in known]
        watched = [worker for worker in present if known[worker].get("nanny")]
        for asked, nanny in ((present, False), (watched, True)):
            if asked:
                self._client.run(eval, _EXPRESSION, self._words(name), workers=asked, nanny=nanny, on_error="ignore")

    def _do(self, worker: str, name: str, *words: Any) -> dict[str, Any]:
        """Call a function in the worker's turn, which knows then that it is a worker's."""
        words_of_task = self._words(name, *words)
        task = self._client.submit(eval, _EXPRESSION, words_of_task, workers=[worker], pure=False)
        answer = parse_json(task.result(timeout=_CALL_TIMEOUT_S))
        return dict(answer)

    def _watch_workers(self) -> None:
        """Connect; then see workers come and go, and the scheduler too."""
        self._connect()
        while self._client is not None and not self._ended.wait(0.2 if not self._workers else LOOK_EVERY_S):
            try:
                present = set(self._client.scheduler_info(n_workers=-1)["workers"])
            except Exception as error:
                self._lose(set(self._workers), f"the scheduler is lost: {error}")
                self._try(self._client.close)
                self._connect()
                continue
            self._lose(set(self._workers) - present, "its worker has disappeared")
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
            machine.worker, machine.folder = "", ""
            self._mail.post(HostLost(name, reason))
            spare = next((other for other, host in self._workers.items() if host == name), None)
            if spare is not None:
                # Looked at anew: it may be another Python.
                del self._workers[spare]

    def _connect(self) -> None:
        while not self._ended.is_set():
            try:
                self._client = self._access.connect(self._folder.name, self._ended)
            except UnavailableError as error:
                self._warn(error)
                self._is_unreachable = True
                if self._client is None:
                    return
            else:
                return

    def _say(self, text: str) -> None:
        self._mail.post(LogEvent(text))

    def _warn(self, error: UnavailableError) -> None:
        """Say what cannot be had, and the next step."""
        self._say(error.message)
        if error.hint:
            self._say(f"  {error.hint}")

    def _meet(self, worker: str) -> None:
        """Look what a worker's host is and has, bring what it lacks, and say that the host is there."""
        machine = None
        try:
            before_s = time.time()
            known = self._run(worker, "look")
            clock = clock_of(known, before_s, time.time())
            machine, is_first = self._machine_of(worker, known)
            # Those who stand by too: they share its CPUs.
            self._of_all("rest", [worker])
            if is_first:
                machine.folder = self._equip(worker, known)
                self._do(worker, "offer", _RESOURCE)
                self._mail.post(HostConnected(machine.name, {**clock, "machine": machine.boot_id}))
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
            address, boot_id = address_of(worker), str(known["machine"])[:_LONGEST_MACHINE]
            machine = next((m for m in self._hosts.values() if (m.address, m.boot_id) == (address, boot_id)), None)
            if machine is None:
                name = safe_name(str(known["name"]), set(self._hosts))
                machine = self._hosts[name] = _Machine(name, address, boot_id)
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
        self._mail.post(HostRefused(name, f"its worker gives no valid answer: {reason}"))

    def _equip(self, worker: str, known: Mapping[str, Any]) -> str:
        """Where the package to use is on a host: empty for what is installed. UnavailableError if it cannot be used."""
        lacks = what_is_brought(known, drivers_digest(), bring=self._bring)
        if lacks is None:
            return ""
        self._archive = self._archive or packed()
        answer = self._do(worker, "bring", self._archive, hashlib.sha256(self._archive).hexdigest(), "")
        if answer["folder"] is None:
            raise UnavailableError(f"{lacks}, and {__version__} cannot be sent there: {answer['why']}")
        now = self._run(worker, "look", answer["folder"])
        if now["version"] != __version__:
            self._run(worker, "remove", answer["folder"])
            raise UnavailableError(f"{lacks}, and what was sent does not start there: {now['why']}")
        self._mail.post(LogEvent(f"{known['name']}: {lacks}; {__version__} was sent for this run"))
        return str(answer["folder"])

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

    def _try(self, work: Callable[[], Any]) -> None:
        try:
            work()
        except Exception as error:
            if not self._ended.is_set():
                self._mail.post(LogEvent(str(error)))


def address_of(worker: str) -> str:
    """The network address of a worker, without its port or, for one of this process, its number.

    Examples
    --------
    >>> address_of("tls://10.0.0.7:41111"), address_of("tls://[fe80::1]:9"), address_of("inproc://10.0.0.7/21/4")
    ('10.0.0.7', '[fe80::1]', '10.0.0.7')
    """
    address = worker.partition("://")[2].partition("/")[0]
    return re.sub(r":[0-9]+\Z", "", address)


@dataclass
class _Machine:
    """A host: its worker that is asked, empty while there is none, and where the package was brought."""

    name: str
    address: str
    boot_id: str
    worker: str = ""
    folder: str = ""
    future: Any = None
