"""Hosts over SSH, on which nothing is installed: an agent of this machine copies, measures and removes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from clonometer.errors import ClonometerError, InputError
from clonometer.fleet import remote_worker
from clonometer.fleet.hosts import Answered, HostConnected, HostEvent, HostLost, HostRefused, Mailbox
from clonometer.fleet.shards import safe_name
from clonometer.inputs import InputKind, read_text
from clonometer.runner.far import ask_identity, check_destination

_HOSTS = InputKind("a file of hosts", 1 << 20, "one per line, such as web1 or alice@web2")
_ASKING_AT_ONCE = 32
_ATTEMPTS = 3
_PAUSE_S = 3.0
# For copying and describing, beside the time that is measured.
_BESIDE_S = 600.0


@dataclass(frozen=True)
class Destination:
    """A host as ``ssh`` reaches it, and the name that it has here."""

    destination: str
    name: str


def read_hosts(path: Path) -> list[Destination]:
    """Read a file of hosts: one a line as ``ssh`` takes it, then a name for it if it is to have another; # comments.

    Raises
    ------
    InputError
        If it cannot be read or names none.
    UsageError
        If a line holds no host.
    """
    lines = read_text(path, _HOSTS).splitlines()
    hosts: list[Destination] = []
    for line in lines:
        words = line.partition("#")[0].split()
        if words:
            name = safe_name(words[-1].removeprefix("ssh://"), {host.name for host in hosts})
            hosts.append(Destination(check_destination(words[0]), name))
    if not hosts:
        raise InputError(f"{path} names no host", "one per line, such as web1 or alice@web2")
    return hosts


class SshHosts:
    """Reaches hosts by ``ssh``.

    ``config`` is a configuration file for ``ssh -F`` (None: the user's); ``shard_s`` says how long a shard is measured
    at most, ``patience_s`` how long one answer is waited for. ``drivers`` has folders of drivers for other instruction
    sets, by the name of each (`uname -m`).
    """

    def __init__(
        self,
        destinations: Sequence[Destination],
        config: str | None,
        shard_s: float,
        drivers: Mapping[str, str],
        patience_s: float,
    ) -> None:
        self._destinations = {host.name: host.destination for host in destinations}
        self._config = config
        self._most_s = shard_s + _BESIDE_S
        # Nobody waits for one answer longer than for all that a round takes.
        self._patience_s = min(patience_s, shard_s)
        self._drivers = dict(drivers)
        self._mail = Mailbox()
        self._unasked = set(self._destinations)
        self._few = threading.Semaphore(_ASKING_AT_ONCE)
        self._running: list[threading.Thread] = []
        self._shards: set[str] = set()
        self._ended = threading.Event()

    def begin(self) -> None:
        """Ask every host who it is."""
        for name in self._destinations:
            self._in_thread(partial(self._ask, name))

    def start(self, host: str, request: dict[str, Any]) -> None:
        """Let an agent here measure the host."""
        over = {
            "destination": self._destinations[host], "config": self._config, "most_s": self._most_s,
            "patience_s": self._patience_s, "drivers": self._drivers,
        }  # fmt: skip
        text = json.dumps({**request, "over": over})
        described = request["fleet"]

        self._shards.add(request["id"])

        def measure() -> None:
            try:
                answer = remote_worker.measure(text)
            except Exception as error:
                answer = remote_worker.no_answer("failed", f"its agent cannot be asked: {error}")
            self._shards.discard(request["id"])
            self._mail.post(Answered(host, described["round"], described["attempt"], answer))

        self._in_thread(measure)

    def stop(self, host: str, shard: str) -> None:
        """End the input of the agent."""
        remote_worker.stop(shard)

    def next_event(self, timeout_s: float | None, interrupt_fd: int | None) -> HostEvent | None:
        """Wait for something to happen."""
        event = self._mail.wait(timeout_s, interrupt_fd)
        if isinstance(event, HostConnected | HostRefused):
            self._unasked.discard(event.host)
        return event

    def search_is_over(self) -> bool:
        """Whether every host has answered who it is, or has not."""
        return not self._unasked

    def end(self) -> None:
        """End the agents that still run, and wait until they have removed what they left on hosts."""
        self._ended.set()
        for shard in list(self._shards):
            remote_worker.stop(shard)
        for thread in self._running:
            thread.join()
        self._mail.close()

    def _in_thread(self, work: Callable[[], None]) -> None:
        self._running = [thread for thread in self._running if thread.is_alive()]
        thread = threading.Thread(target=work, daemon=True)
        self._running.append(thread)
        thread.start()

    def _ask(self, name: str) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                with self._few:
                    identity = ask_identity(self._destinations[name], self._config, self._patience_s)
                break
            except ClonometerError as error:
                reason = f"cannot be reached: {error.message}"
            except Exception as error:
                # Nobody would ever hear of this host again, and the others would wait for it.
                reason = f"cannot be asked: {error}"
            if attempt == 1:
                self._mail.post(HostLost(name, reason))
            if attempt == _ATTEMPTS or self._ended.wait(_PAUSE_S):
                self._mail.post(HostRefused(name, reason))
                return
        self._mail.post(HostConnected(name, identity))
