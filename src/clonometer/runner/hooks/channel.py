"""The socket on which hooks tell a census of calls: who may speak on it, and how much.

Its name is abstract: there is no file, and it goes with the process that listens. Every user of the machine can find
it; only what was started with the variable knows the secret. Whose call it is, the kernel says.
"""

from __future__ import annotations

import os
import secrets
import select
import socket
import struct
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

#: Of one line, as hooks write it (core/hooks/call.h).
_LINE_BYTES = 4000
_SECRET_BYTES = 16
#: Connections that wait to be accepted. The kernel may allow fewer (net.core.somaxconn).
_BACKLOG = 4096
#: Connections that have said nothing yet: a hook speaks as soon as it has connected.
_MOST_SILENT = 64
#: Lines that wait to be read, with what each takes besides.
_WAITING_BYTES, _BYTES_PER_LINE = 16 << 20, 200
#: What a packet says after the secret, of the thread that tells it.
_FIRST_THREAD = "1"
_CREDENTIALS = struct.Struct("iii")


class CensusStream(Protocol):
    """What a census answers on."""

    def fileno(self) -> int:
        """The descriptor."""

    def read(self, most_bytes: int, /) -> bytes:
        """Read what is there, at least a byte; nothing at its end."""


class Channel:
    """Where hooks write to.

    Attributes
    ----------
    left_out
        Lines that had no room.
    """

    def __init__(self) -> None:
        self._secret = secrets.token_hex(_SECRET_BYTES).encode()
        self._most_bytes = len(self._secret) + len(_FIRST_THREAD) + _LINE_BYTES
        self._name = f"clonometer-calls-{secrets.token_hex(_SECRET_BYTES)}"
        self._lines: deque[tuple[str, int, int]] = deque()
        self._waiting_bytes = 0
        self._silent: deque[socket.socket] = deque()
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        try:
            self._listener.bind(f"\0{self._name}")
            self._listener.listen(_BACKLOG)
        except OSError:
            self._listener.close()
            raise
        self.left_out = 0

    @property
    def address(self) -> str:
        """What a hook must know, as core/hooks/call.c reads it."""
        return f"{self._name}:{self._secret.decode()}:{os.geteuid()}:{_filter_mode()}"

    def beside(self, answer: CensusStream) -> _Beside:
        """Read an answer, and receive meanwhile."""
        return _Beside(answer, self)

    def wait(self, answer: CensusStream) -> None:
        """Receive until there is an answer, and all that was sent before it."""
        poll = select.poll()
        poll.register(answer, select.POLLIN)
        poll.register(self._listener, select.POLLIN)
        answered = False
        while not answered:
            answered = any(number == answer.fileno() for number, _ in poll.poll())
            self._receive()

    def read(self) -> Iterator[tuple[str, int, int]]:
        """Give the lines that were received since the last time, each with the process and the user who sent it."""
        while self._lines:
            text, pid, user = self._lines.popleft()
            self._waiting_bytes -= len(text) + _BYTES_PER_LINE
            yield text, pid, user

    def close(self) -> None:
        """Listen no more."""
        for connection in (self._listener, *self._silent):
            connection.close()

    def _receive(self) -> None:
        """Take what has come until now, in the order of the connections; what comes meanwhile is for the next time."""
        silent, self._silent = self._silent, deque()
        for connection in silent:
            self._listen_to(connection)
        for _ in range(_BACKLOG):
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError:  # It has ended meanwhile, or there is no descriptor left but for those who say nothing.
                if not self._silent:
                    return
                self._silent.popleft().close()
                continue
            self._listen_to(connection)

    def _listen_to(self, connection: socket.socket) -> None:
        try:
            packet = connection.recv(self._most_bytes + 1, socket.MSG_DONTWAIT)
        except BlockingIOError:
            self._silent.append(connection)
            if len(self._silent) > _MOST_SILENT:
                self._silent.popleft().close()
            return
        except OSError:
            packet = b""
        with connection:
            if packet.startswith(self._secret) and len(packet) <= self._most_bytes:
                pid, user, _ = _CREDENTIALS.unpack(
                    connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
                )
                self._keep(packet[len(self._secret) :].decode("utf-8", "replace"), pid, user)

    def _keep(self, words: str, pid: int, user: int) -> None:
        text = words[1:]
        if words[:1] == _FIRST_THREAD:
            # In a PID namespace of its own it has another number than we know.
            runtime, time_ns, _, *rest = text.split("\t", 3)
            text = "\t".join((runtime, time_ns, str(pid), *rest))
        if self._waiting_bytes + len(text) + _BYTES_PER_LINE > _WAITING_BYTES:
            self.left_out += 1
            return
        self._lines.append((text, pid, user))
        self._waiting_bytes += len(text) + _BYTES_PER_LINE


class _Beside:
    """An answer that is read while a channel receives."""

    def __init__(self, answer: CensusStream, channel: Channel) -> None:
        self._answer, self._channel = answer, channel

    def read(self, most_bytes: int) -> bytes:
        """Read what is there, once there is some; all that hooks sent before it was received then."""
        self._channel.wait(self._answer)
        return self._answer.read(most_bytes)


def _filter_mode() -> int:
    """Which filter of system calls this process has (prctl, PR_GET_SECCOMP); -1: the kernel knows none."""
    try:
        return int(Path("/proc/self/status").read_text().split("\nSeccomp:", 1)[1].split("\n", 1)[0])
    except (OSError, IndexError):
        return -1
