"""Two runs of a language in two versions: rows match, both versions and what they do otherwise are named."""

from __future__ import annotations

from typing import Any

from tests.fakes.memory_run import MemoryRun, RunBuilder

from clonometer.results.compare.comparison import compare_runs
from clonometer.results.compare.sides import read_side
from clonometer.results.compare.types import ComparedPair
from clonometer.views.comparison import differences_text


def run_of(version: str, *, created: int = 1, seed: int = 1, **runtime: Any) -> MemoryRun:
    builder = RunBuilder(seed=seed)
    facts = {"tasks_created": 30 * created}
    builder.cell("python.command", {"call_returns_ns": 200_000, "reaped_ns": 500_000}, facts=facts)
    builder.cell("python.os_thread", {"call_returns_ns": 20_000, "reaped_ns": 60_000})
    builder.run.metadata["catalogue"]["drivers"] = [
        {"name": "probe", "version": "0.1.0"},
        {
            "name": "python",
            "runtime": {"name": "CPython", "version": version, "flags": ["-B"], **runtime},
            "toolchain": {"program": "/usr/bin/python3", "version": version},
        },
    ]
    builder.run.metadata["seed"] = seed
    return builder.run


def compared(before: MemoryRun, after: MemoryRun) -> ComparedPair:
    [pair] = compare_runs([read_side(before, "before"), read_side(after, "after")]).pairs
    return pair


def test_rows_match_and_another_launch_path_is_the_reason() -> None:
    pair = compared(run_of("3.11.7"), run_of("3.13.0", seed=2))
    assert {row.other.workload for row in pair.rows} == {"python.command", "python.os_thread"}
    changes = {each.key: (each.base, each.other) for each in pair.differences}
    assert changes["runtime.python.version"] == ("3.11.7", "3.13.0")
    assert changes["launch_path.python.command"] == ("vfork > true", "posix_spawn > true")
    assert "launch_path.python.os_thread" not in changes
    text = differences_text(pair.differences, 1)
    assert "version of Python: 3.11.7 → 3.13.0" in text
    assert "how python.command launches: vfork > true → posix_spawn > true" in text


def test_a_version_that_launches_alike_is_named_without_a_path() -> None:
    keys = {each.key for each in compared(run_of("3.11.7"), run_of("3.12.1", seed=2)).differences}
    assert "runtime.python.version" in keys
    assert not [key for key in keys if key.startswith("launch_path")]


def test_what_was_seen_to_change_is_said_where_the_book_knows_nothing() -> None:
    pair = compared(run_of("3.13.0"), run_of("3.13.0", created=2, seed=2, free_threaded=True))
    changes = {each.key: (each.base, each.other) for each in pair.differences}
    assert changes["tasks_per_launch.python.command[temperature=warm]"] == ("1", "2")
    # Only one of them says whether it is free-threaded.
    assert "runtime.python.free_threaded" not in changes


def test_a_language_that_only_one_run_has_is_no_difference() -> None:
    other = run_of("3.13.0", seed=2)
    other.metadata["catalogue"]["drivers"] = []
    assert not [each for each in compared(run_of("3.13.0"), other).differences if "python" in each.key]
