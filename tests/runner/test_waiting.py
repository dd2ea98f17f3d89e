"""Signals to a child: to it alone, whoever else has its number since."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from clonometer.runner.waiting import Handle


def test_a_child_that_another_thread_has_waited_for_gets_no_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen(["true"])
    handle = Handle(child)
    sent = []
    monkeypatch.setattr(os, "kill", lambda *words: sent.append(words))
    # As while a thread is in Popen.wait: its lock is taken, the child is reaped, and its status not yet noted.
    with child._waitpid_lock:  # type: ignore[attr-defined]
        os.waitpid(child.pid, 0)
        handle.send(signal.SIGKILL)
    child.wait()
    assert sent == []


@pytest.mark.parametrize("refused", ["nothing", "pidfd_open", "pidfd_send_signal"])
def test_a_child_gets_its_signal_also_where_a_filter_refuses_handles(
    refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*words: object) -> None:
        raise PermissionError

    if refused != "nothing":
        monkeypatch.setattr(os if refused == "pidfd_open" else signal, refused, refuse)
    child = subprocess.Popen(["sleep", "60"])
    Handle(child).terminate()
    assert child.wait(30) == -signal.SIGTERM
