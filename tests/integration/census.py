"""Starting a census in tests, and waiting for what it sees."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.cli.fork_server import fork_server, starts_alike

CLONOMETER = str(Path(sys.executable).with_name("clonometer"))
_PATIENCE_S = 280


def clonometer(
    *words: str, cwd: Path | None = None, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end: of the server that has loaded all, unless more is asked than place and variables."""
    environment = dict(os.environ if env is None else env)
    if not options and starts_alike(environment):
        return fork_server().run(words, cwd or Path.cwd(), environment, _PATIENCE_S)
    return subprocess.run(
        [CLONOMETER, *words], cwd=cwd, env=environment, capture_output=True, text=True, timeout=_PATIENCE_S, **options
    )


def run(*words: str, cwd: Path | None = None, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a census; whoever says more than where gets a process that was started with it."""
    if not options:
        return clonometer("census", *words, cwd=cwd)
    return subprocess.run(
        [CLONOMETER, "census", *words], cwd=cwd, capture_output=True, text=True, timeout=_PATIENCE_S, **options
    )


def taken(*words: str, how: str = "auto") -> dict[str, Any]:
    ended = run("--how", how, "--json", "--", *words)
    assert ended.returncode in (0, 124), ended.stderr
    return json.loads(ended.stdout)


@functools.cache
def can_trace() -> bool:
    return json.loads(run("--json", "--", "true").stdout)["how"] == "tracepoints"


def watched(pid: int | str, attached: Callable[[int], bool], work: Callable[[], object]) -> dict[str, Any]:
    """The answer of a census of a process that runs, and works when the census is attached."""
    words = [CLONOMETER, "census", "--pid", str(pid), "--json"]
    with (
        subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True) as census,
        ended_after(census),
    ):
        until(lambda: attached(census.pid))
        work()
        census.send_signal(signal.SIGTERM)
        answer: dict[str, Any] = json.loads(census.communicate(timeout=60)[0])
        return answer


@contextlib.contextmanager
def ended_after(process: subprocess.Popen[str]) -> Iterator[None]:
    """End it in any case: a test that failed would wait for it as long as it has to watch."""
    try:
        yield
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it did not happen within 30 s"
        time.sleep(0.02)
