"""The socket on which hooks tell a census of calls, and what a program has in its environment."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clonometer.runner import hooks
from clonometer.runner.hooks import Hooks, hooks_set
from clonometer.runner.hooks.channel import Channel

LINE = "python\t5\t77\tprocess\tos.fork\tPm\x1ff\x1f/a.py\x1f1"


@pytest.fixture
def channel() -> Iterator[Channel]:
    opened = Channel()
    yield opened
    opened.close()


def connect(channel: Channel) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_NONBLOCK)
    connection.connect("\0" + channel.address.split(":")[0])
    return connection


def send(channel: Channel, text: str, *, first: bool = False, secret: str | None = None) -> None:
    known = channel.address.split(":")[1] if secret is None else secret
    with connect(channel) as connection:
        connection.send(f"{known}{int(first)}{text}".encode())


def received(channel: Channel) -> list[tuple[str, int, int]]:
    """All that had come before an answer."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as answer:
        os.write(writing, b"answer")
        os.close(writing)
        assert channel.beside(answer).read(100) == b"answer"
        return list(channel.read())


def test_a_line_comes_with_what_the_kernel_says_of_its_sender(channel: Channel) -> None:
    send(channel, LINE)
    # A first thread has the number by which we know its process, whatever it says.
    send(channel, LINE, first=True)
    ours = LINE.replace("77", str(os.getpid()))
    assert received(channel) == [(LINE, os.getpid(), os.geteuid()), (ours, os.getpid(), os.geteuid())]


def test_who_does_not_know_the_secret_is_not_heard_and_fills_nothing(channel: Channel) -> None:
    silent = [connect(channel) for _ in range(200)]
    for secret in ("", "0" * 32, channel.address.split(":")[1][:-1] + "x"):
        send(channel, LINE, secret=secret)
    assert received(channel) == []
    send(channel, LINE)
    assert len(received(channel)) == 1
    # Of those that connect and say nothing a few may still; the oldest have been sent away.
    assert silent[0].recv(1) == b""
    with pytest.raises(BlockingIOError):
        silent[-1].recv(1)
    for connection in silent:
        connection.close()


def test_a_line_that_comes_after_its_connection_is_read(channel: Channel) -> None:
    with connect(channel) as slow:
        assert received(channel) == []
        slow.send(f"{channel.address.split(':')[1]}0{LINE}".encode())
        assert [text for text, _, _ in received(channel)] == [LINE]


def test_what_waits_to_be_read_is_bounded_in_bytes(channel: Channel) -> None:
    long = f"{LINE}{'x' * (4000 - len(LINE))}"
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb", buffering=0) as answer:
        listening = threading.Thread(target=channel.wait, args=(answer,))
        listening.start()
        for _ in range(10_000):
            while True:
                try:
                    send(channel, long)
                    break
                except BlockingIOError:
                    continue
        os.close(writing)
        listening.join()
    waiting = sum(len(text) for text, _, _ in channel.read())
    assert 15 << 20 < waiting <= 16 << 20
    assert channel.left_out + waiting // 4000 == 10_000
    # One that is too long is none.
    send(channel, long + "x")
    assert received(channel) == []


@pytest.mark.parametrize("folder", ["with:colon", "with blank", "with;semicolon"])
def test_a_name_that_a_variable_would_split_is_in_none(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channel: Channel
) -> None:
    """Everybody may read the files, and their folder has a name that is no single word of a list."""
    place = Path("/tmp") / f"{tmp_path.name}-{os.getpid()}-{folder}"
    place.symlink_to(Path(hooks.__file__).parent)
    try:
        for name in [name for name in vars(hooks) if isinstance(vars(hooks)[name], Path)]:
            moved = place / vars(hooks)[name].relative_to(Path(hooks.__file__).parent)
            monkeypatch.setattr(hooks, name, moved)
        loaded = [(place / file.relative_to(Path(hooks.__file__).parent), *rest) for file, *rest in hooks._LOADED]
        monkeypatch.setattr(hooks, "_LOADED", loaded)
        library = hooks.library_of_hooks()
        if library is None:
            pytest.skip("the library was not built for every user")
        environment = Hooks(channel, library).environment({})
    finally:
        place.unlink()
    assert set(environment) == {"CLONOMETER_CALLS", "CLONOMETER_LIBRARY"}


@pytest.mark.parametrize(
    ("command", "options"),
    [
        (["node", "--permission", "a.js"], ""),
        (["bash", "-c", "exec node --experimental-permission a.js"], ""),
        (["node", "a.js"], "--permission"),
    ],
)
def test_node_with_permissions_is_left_alone(command: list[str], options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODE_OPTIONS", options)
    with hooks_set(wanted=True, command=command) as set_hooks:
        environment: dict[str, Any] = set_hooks.environment({"NODE_OPTIONS": options})
        if not set_hooks.are_set:
            pytest.skip("the library was not built for every user")
    assert environment["NODE_OPTIONS"] == options
    assert "RUBYOPT" in environment
