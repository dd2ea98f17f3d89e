"""Waits for the lock of a runtime, further interpreters, and what a free-threaded Python says of itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests import probe
from tests.probe import present

from clonometer.runner.languages.toolchains import find_languages

pytestmark = pytest.mark.real

FOLDERS = {language.name: language.folder for language in find_languages()}
MONOTONIC = ("clock=monotonic",)
#: What newer versions have, put into this one before the driver starts.
FAKE = """
import concurrent.futures as futures, sys, sysconfig
sys._is_gil_enabled = lambda: False
sysconfig.get_config_vars()["Py_GIL_DISABLED"] = 1
futures.InterpreterPoolExecutor = futures.ThreadPoolExecutor
"""


def python_driver(python: str = sys.executable) -> tuple[str, ...]:
    return python, "-B", str(FOLDERS["python"] / "driver.py"), "python"


def ruby_driver() -> tuple[str, ...]:
    ruby = shutil.which("ruby")
    if ruby is None:
        pytest.skip("there is no ruby here: the package ruby brings it")
    version = subprocess.run([ruby, "-e", "print RUBY_VERSION"], capture_output=True, text=True).stdout
    if version < "3.1":
        pytest.skip(f"the driver needs Ruby 3.1 or later; this is {version}")
    return ruby, str(FOLDERS["ruby"] / "driver.rb"), "ruby"


def newer_python() -> str:
    """A Python whose interpreters have a GIL of their own; the test is skipped where there is none."""
    names = [f"python3.{minor}" for minor in range(20, 11, -1)]
    candidates = [path for path in map(shutil.which, names) if path]
    candidates += [str(path) for path in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3"), reverse=True)]
    for path in candidates:
        asked = [path, "-c", "import sys; sys.exit(sys.version_info < (3, 12))"]
        if subprocess.run(asked, capture_output=True).returncode == 0:
            return path
    pytest.skip("there is no Python 3.12 or later here")


def ask(driver: Sequence[str], workload: str, *words: str) -> probe.Answer:
    cell = (f"workload={workload}", "placement=free", "samples=12", "blocks=1", "warmup=1")
    return probe.ask(*cell, *words, command=driver, clock=MONOTONIC)


def waits(driver: Sequence[str], workload: str) -> np.ndarray:
    answer = ask(driver, workload, "busy_threads=1")
    assert (answer.done.status, answer.stderr) == ("ok", "")
    waits_ns = present(answer.blocks[0], "lock_wait_ns")
    assert len(waits_ns) == answer.blocks[0].rows
    return waits_ns


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="with one CPU all wait for that")
@pytest.mark.parametrize(
    ("language", "waiting", "others"),
    [("python", ["os_thread", "thread_pool"], ["process_pool"]), ("ruby", ["os_thread"], ["worker"])],
)
def test_threads_wait_for_a_thread_that_computes_and_others_do_not(
    language: str, waiting: list[str], others: list[str]
) -> None:
    driver = python_driver() if language == "python" else ruby_driver()
    without = max(float(np.median(waits(driver, f"{language}.{word}"))) for word in others)
    for word in waiting:
        assert np.quantile(waits(driver, f"{language}.{word}"), 0.75) > without


@pytest.mark.parametrize("word", ["os_thread", "thread_pool", "process_pool"])
def test_without_busy_threads_no_wait_is_measured(word: str) -> None:
    block = ask(python_driver(), f"python.{word}").blocks[0]
    assert len(present(block, "lock_wait_ns")) == 0


def test_too_many_busy_threads_are_skipped_with_the_limit() -> None:
    answer = ask(python_driver(), "python.os_thread", "busy_threads=65")
    assert (answer.done.status, answer.done.reason) == ("skipped", "busy_threads=65: at most 64")


def test_a_new_interpreter_runs_and_does_not_wait_for_the_lock_of_the_first() -> None:
    driver = python_driver(newer_python())
    block = ask(driver, "python.interpreter", "samples=4").blocks[0]
    assert (block.columns["errno"] == 0).all()
    assert (block.columns["call_returns_ns"] <= block.columns["task_runs_ns"]).all()
    assert (block.columns["task_runs_ns"] <= block.columns["result_ns"]).all()
    assert len(present(ask(driver, "python.interpreter", "samples=4", "busy_threads=1").blocks[0], "lock_wait_ns"))


def test_an_old_python_says_which_version_has_interpreters() -> None:
    if sys.version_info >= (3, 12):
        pytest.skip("this Python has them")
    answer = ask(python_driver(), "python.interpreter")
    assert (answer.done.status, answer.exit_status) == ("skipped", 0)
    assert "3.12" in str(answer.done.reason)
    assert "3.14" in str(ask(python_driver(), "python.interpreter_pool").done.reason)


def described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake: str) -> dict[str, Any]:
    (tmp_path / "sitecustomize.py").write_text(fake)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    words = [*python_driver(), "--describe"]
    return dict(json.loads(subprocess.run(words, capture_output=True, text=True, timeout=60).stdout))


def test_the_runtime_says_whether_the_gil_is_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No free-threaded build is at hand: what one says is imitated."""
    runtime = described(tmp_path, monkeypatch, FAKE)["driver"]["runtime"]
    assert (runtime["gil"], runtime["free_threaded"]) == ("off", True)
    runtime = described(tmp_path, monkeypatch, "")["driver"]["runtime"]
    is_on = getattr(sys, "_is_gil_enabled", lambda: True)()
    assert runtime["gil"] == ("on" if is_on else "off")
    assert runtime["switch_interval_ns"] == round(sys.getswitchinterval() * 1e9)


def test_a_pool_of_interpreters_is_measured_where_python_has_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python has it from 3.14 on: here its place is taken by a pool of threads, which has the same functions."""
    entries = described(tmp_path, monkeypatch, FAKE)["workloads"]
    assert next(each for each in entries if each["id"] == "python.interpreter_pool")["available"]
    for words in ((), ("busy_threads=1",)):
        block = ask(python_driver(), "python.interpreter_pool", *words).blocks[0]
        assert (block.columns["errno"] == 0).all()
        assert len(present(block, "lock_wait_ns")) == (block.rows if words else 0)
