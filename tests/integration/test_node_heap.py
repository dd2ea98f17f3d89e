"""Node.js holds its heap where it is asked to: forks leave out objects of JavaScript, and copy Buffers."""

from __future__ import annotations

from pathlib import Path

import pytest
from publications.runtimes.held import memory_of
from tests import probe

from clonometer.runner.drivers import Driver, find_drivers
from clonometer.runner.languages.building import usable_drivers
from clonometer.runner.languages.toolchains import find_languages

pytestmark = pytest.mark.real
MEBIBYTE = 1 << 20
HEAP = 64 * MEBIBYTE


@pytest.fixture(scope="module")
def node() -> Driver:
    of_languages, lacking = usable_drivers(find_languages(), print, versions=1)
    for driver in find_drivers(further=of_languages).usable:
        if driver.name == "node":
            return driver
    pytest.skip(next(lack["reason"] for lack in lacking if lack["what"] == "node"))


def memory_while_launching(node: Driver, folder: Path, *words: str) -> dict[str, int]:
    """What the driver has in memory when it launches, as the program that it starts sees it."""
    script, seen = folder / "look", folder / "smaps"
    script.write_text(f'#!/bin/sh\ncat "/proc/$PPID/smaps" > "{seen}"\n', encoding="utf-8")
    script.chmod(0o755)
    asked = ("workload=node.command", f"program={script}", "samples=1", "blocks=1", "warmup=0", *words)
    answer = probe.ask(*asked, "placement=free", command=node.argv, clock=("clock=monotonic",))
    assert (answer.done.status, answer.done.reason) == ("ok", None)
    return memory_of(seen.read_text(encoding="utf-8"))


def test_objects_are_left_out_of_forks_and_buffers_are_not(node: Driver, tmp_path: Path) -> None:
    none = memory_while_launching(node, tmp_path)
    objects = memory_while_launching(node, tmp_path, f"parent_bytes={HEAP}")
    buffers = memory_while_launching(node, tmp_path, f"parent_bytes={HEAP}", "heap_kind=buffer")
    assert objects["left_out"] - none["left_out"] > 0.8 * HEAP
    assert buffers["resident"] - buffers["left_out"] > 0.8 * HEAP + none["resident"] - none["left_out"]
    # The collector keeps some room for objects in either case.
    assert buffers["left_out"] - none["left_out"] < 0.3 * HEAP


def test_an_unknown_kind_is_refused(node: Driver) -> None:
    words = ("workload=node.command", f"parent_bytes={HEAP}", "heap_kind=stack")
    answer = probe.ask(*words, "placement=free", command=node.argv, clock=("clock=monotonic",))
    assert answer.done.status == "failed"
    assert "heap_kind" in (answer.done.reason or "")
