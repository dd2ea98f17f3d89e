"""What is said of a process that was killed, and where the kernel killed it for lack of memory."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from clonometer.runner import endings
from clonometer.runner.endings import MemoryKills, ended_with

MIB = 1 << 20
ALLOWED_MIB = 200
GREEDY = f"kept = bytearray({4 * ALLOWED_MIB * MIB}); print('there was room')"
ASK = f"""
import sys
from clonometer.runner.process import answer_of
for code in ({GREEDY!r}, "import os; os.kill(os.getpid(), 9)"):
    print(answer_of([sys.executable, "-S", "-E", "-c", code], timeout_s=60.0)[1].describe())
"""


@pytest.fixture
def counter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "memory.events"
    monkeypatch.setattr(endings, "_counter", lambda: path)
    return path


@pytest.mark.parametrize(
    ("before", "after", "more"),
    [
        ("oom 1\noom_kill 3\noom_group_kill 0\n", "oom 2\noom_kill 4\noom_group_kill 0\n", True),
        ("oom 1\noom_kill 3\n", "oom 2\noom_kill 3\n", False),
        # Kernels before 4.13 do not count them.
        ("under_oom 0\n", "under_oom 1\n", False),
        ("oom_kill 1\n", "oom_kill some\n", False),
        (None, "oom_kill 1\n", False),
        ("oom_kill 1\n", None, False),
    ],
)
def test_only_a_count_that_has_grown_says_that_the_kernel_killed(
    counter: Path, before: str | None, after: str | None, more: bool
) -> None:
    for text in (before, after):
        counter.unlink(missing_ok=True)
        if text is not None:
            counter.write_text(text)
        if text is before:
            kills = MemoryKills()
    assert kills.more() is more


def test_only_sigkill_is_what_the_kernel_sends_for_lack_of_memory() -> None:
    assert "lack of memory" in ended_with(-9, memory_kill=True)
    assert ended_with(-9) == "was killed by SIGKILL"
    assert ended_with(-11, memory_kill=True) == "was killed by SIGSEGV"
    assert ended_with(1, memory_kill=True) == "ended with status 1"


@contextlib.contextmanager
def small_group() -> Iterator[Path]:
    """A control group below ours, of either version, in which 200 MiB are allowed; skips where none can be made."""
    group = None
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if names in ("memory", ""):
            top = Path("/sys/fs/cgroup/memory" if names else "/sys/fs/cgroup")
            group = top / path.lstrip("/") / f"clonometer-test-{os.getpid()}"
            limits = [("memory.limit_in_bytes" if names else "memory.max", True), ("memory.swap.max", False)]
            break
    if group is None:
        pytest.skip("no control groups here")
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        for name, needed in limits:
            if not (group / name).exists():
                if needed:
                    pytest.skip(f"the control group has no {name}")
                continue
            (group / name).write_text(str(ALLOWED_MIB * MIB if needed else 0))
        yield group
    finally:
        for _ in range(100):
            try:
                group.rmdir()
                break
            except OSError:
                time.sleep(0.05)


@pytest.mark.real
def test_a_program_that_finds_no_memory_in_its_group_is_said_to_be_killed_for_it() -> None:
    with small_group() as group:
        asked = subprocess.run(
            [sys.executable, "-c", ASK],
            preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    for_memory, by_hand = asked.stdout.splitlines()
    assert re.fullmatch(
        r"was killed by the kernel for lack of memory \(its control group allows 200 MiB: .*\)", for_memory
    )
    assert by_hand == "was killed by SIGKILL"
