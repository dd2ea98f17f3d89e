"""Any local user beside somebody else's census: ``neighbour.py HOW NAME SECONDS``, as that user.

``NAME`` is that of an abstract socket, which every user sees in /proc/net/unix. It prints what it got, as JSON. It
stands alone: whoever runs it may read nothing of this project.
"""

import contextlib
import itertools
import json
import resource
import secrets
import socket
import sys
import time
from pathlib import Path

FALSE_WORDS = "INJECTED_BY_A_NEIGHBOUR"
_LINE_BYTES = 4000
_TIMES = 20
_SECRETS = (b"", b"0" * 32, b"\xff" * 32, b":", b"\0" * 64)


def connected(name: bytes) -> socket.socket:
    """A connection to a census; whatever it answers."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    try:
        connection.connect(name)
    except OSError:
        connection.close()
        raise
    return connection


def victims() -> list[str]:
    """The processes of the victim, by the words that started them."""
    seen = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if b"victim" in (process / "cmdline").read_bytes():
                seen.append(process.name)
    return seen


def call_of(pid: str) -> bytes:
    """What a hook would say of a process that is about to fork."""
    words = ("1bash", time.monotonic_ns(), pid, "process", "fork", f"P\x1f{FALSE_WORDS}\x1f/etc/shadow\x1f1")
    return "\t".join(map(str, words)).encode()


def inject(name: bytes, until_s: float) -> dict[str, int]:
    """Say false things, with secrets that are guessed."""
    sent = 0
    while time.monotonic() < until_s:
        for secret, pid in itertools.product((*_SECRETS, secrets.token_hex(16).encode()), victims() * _TIMES):
            with contextlib.suppress(OSError), connected(name) as connection:
                connection.send(secret + call_of(pid))
                sent += 1
    return {"sent": sent}


def flood(name: bytes, until_s: float) -> dict[str, int]:
    """Say as much as there is time for, in packets of every size."""
    sent = 0
    while time.monotonic() < until_s:
        for size in (1, 31, 33, _LINE_BYTES, 16 * _LINE_BYTES):
            with contextlib.suppress(OSError), connected(name) as connection:
                for _ in range(50):
                    sent += connection.send(b"A" * size)
    return {"sent": sent}


def hold(name: bytes, until_s: float) -> dict[str, int]:
    """Open as many connections as there can be, and say nothing."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    kept: list[socket.socket] = []
    opened = 0
    while time.monotonic() < until_s:
        try:
            kept.append(connected(name))
            opened += 1
        except OSError:
            time.sleep(0.001)
        if len(kept) > most - 100:
            kept.pop(0).close()
    return {"opened": opened}


def _taken(name: bytes, until_s: float) -> socket.socket:
    """A socket of that name, as soon as its owner has gone."""
    while True:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
        try:
            listener.bind(name)
            return listener
        except OSError:
            listener.close()
        if time.monotonic() > until_s:
            sys.exit("the name of the census was never free")
        time.sleep(0.005)


def squat(name: bytes, until_s: float) -> dict[str, int]:
    """Take the name of a census as soon as that has gone, and listen to its hooks."""
    heard = met = 0
    with _taken(name, until_s) as listener:
        listener.listen(64)
        while time.monotonic() < until_s:
            with contextlib.suppress(OSError):
                connection, _ = listener.accept()
                met += 1
                time.sleep(0.01)
                with connection:
                    heard += len(connection.recv(1 << 16))
            time.sleep(0.001)
    return {"met": met, "heard": heard}


def silence(name: bytes, until_s: float) -> dict[str, int]:
    """Take the name of a census, and never answer: whoever waits for that, waits for ever."""
    with _taken(name, until_s) as listener:
        listener.listen(0)
        time.sleep(max(0.0, until_s - time.monotonic()))
    return {"taken": 1}


if __name__ == "__main__":
    ways = {each.__name__: each for each in (inject, flood, hold, squat, silence)}
    done = ways[sys.argv[1]](b"\0" + sys.argv[2].encode(), time.monotonic() + float(sys.argv[3]))
    print(json.dumps(done))
