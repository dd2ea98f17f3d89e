"""Open files of a child, by the kernel's count of the whole machine."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests import probe
from tests.integration.test_conditions import lacks

pytestmark = pytest.mark.real


@pytest.mark.parametrize(("kind", "distinct"), [("same", False), ("distinct", True)])
def test_distinct_files_are_open_files_of_their_own(kind: str, distinct: bool) -> None:
    """The kernel's count of open files of the whole machine, watched while a child spins."""

    def in_use() -> int:
        return int(Path("/proc/sys/fs/file-nr").read_text().split()[0])

    def opened() -> int:
        before, most = in_use(), 0
        words = (
            "open_files=10000",
            f"file_kind={kind}",
            "child_spin_ns=200000000",
            "samples=2",
            "blocks=1",
            "warmup=0",
        )
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(probe.ask, "workload=launch.fork", *words)
            while not asked.done():
                most = max(most, in_use())
                time.sleep(0.02)
        if lacks(asked.result()):
            pytest.skip(asked.result().done.reason)
        return most - before

    # Another program may open or close thousands meanwhile, but hardly each time.
    assert any((opened() > 8000) == distinct for _ in range(3))
