"""Signals to a child: to it alone, whoever else has its number since."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time

import pytest

from clonometer.runner.waiting import Handle


def test_a_child_that_another_thread_waits_for_gets_no_signal_after_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    child = subprocess.Popen(["true"])
    handle, reaped, sent = Handle(child), threading.Event(), []

    def wait_slowly() -> int:
        os.waitpid(child.pid, 0)
        reaped.set()
        # Its number is free, and its status not yet noted.
        time.sleep(0.3)
        child.returncode = 0
        return 0

    monkeypatch.setattr(child, "wait", wait_slowly)
    monkeypatch.setattr(os, "kill", lambda *words: sent.append(words))
    thread = threading.Thread(target=handle.wait)
    thread.start()
    assert reaped.wait(30)
    handle.send(signal.SIGKILL)
    thread.join()
    assert sent == []


def test_a_child_gets_its_signal() -> None:
    handle = Handle(subprocess.Popen(["sleep", "60"]))
    handle.terminate()
    assert handle.wait() == -signal.SIGTERM
    handle.terminate()
