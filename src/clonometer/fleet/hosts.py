"""What a fleet's run asks of those who reach its hosts, and what they tell it."""

from __future__ import annotations

import collections
import os
import select
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from clonometer.runner.far import cut


@dataclass(frozen=True)
class HostConnected:
    """A host can be asked; ``identity`` has ``apart_s`` and ``apart_within_s`` where its clock is known.

    ``machine`` of it is a boot id, which is a host's own word: it may be another's.
    """

    host: str
    identity: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class HostLost:
    """A host cannot be reached, for now."""

    host: str
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", cut(self.reason))


@dataclass(frozen=True)
class HostRefused:
    """A host cannot take part."""

    host: str
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", cut(self.reason))


@dataclass(frozen=True)
class Answered:
    """A host's answer: a line of JSON, then the run file, if there is one."""

    host: str
    round: int
    attempt: int
    answer: bytes


@dataclass(frozen=True)
class LogEvent:
    """Something that the user should know of."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", cut(self.text))


HostEvent = HostConnected | HostLost | HostRefused | Answered | LogEvent


class Hosts(Protocol):
    """Reaches the hosts of a fleet."""

    def begin(self) -> None:
        """Look for hosts; what becomes of that comes as events."""

    def start(self, host: str, request: dict[str, Any]) -> None:
        """Let a host measure a shard; its answer is an event."""

    def stop(self, host: str, shard: str) -> None:
        """Ask a host to end a shard with what it has."""

    def next_event(self, timeout_s: float | None, interrupt_fd: int | None) -> HostEvent | None:
        """Wait for something to happen; None where nothing did, or the user wants to stop."""

    def search_is_over(self) -> bool:
        """Whether no host may come any more but those that are known."""

    def end(self) -> None:
        """Leave the hosts as they were."""


class Mailbox:
    """Events from any thread, waited for together with a descriptor."""

    def __init__(self) -> None:
        self._events: collections.deque[HostEvent] = collections.deque()
        # Has the number of events that were left.
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_SEMAPHORE)

    def post(self, event: HostEvent) -> None:
        """Leave an event."""
        self._events.append(event)
        os.eventfd_write(self._bell, 1)

    @property
    def is_empty(self) -> bool:
        """Whether every event was taken."""
        return not self._events

    def wait(self, timeout_s: float | None, interrupt_fd: int | None) -> HostEvent | None:
        """Take the oldest event, asleep until there is one; None after the time or where the descriptor is readable."""
        watched = [self._bell, *([interrupt_fd] if interrupt_fd is not None else [])]
        ready, _, _ = select.select(watched, [], [], timeout_s)
        if self._bell not in ready:
            return None
        os.eventfd_read(self._bell)
        return self._events.popleft()

    def close(self) -> None:
        """Close it; nobody may post afterwards."""
        os.close(self._bell)
