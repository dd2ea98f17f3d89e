"""Two sides that really run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clonometer.cli.ending import run_to_the_end

pytestmark = pytest.mark.real


def compared(folder: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    always = ("--set", "temperature=warm", "--budget", "60", "--json", "--force", "--out", str(folder / "ab.parquet"))
    assert run_to_the_end(["ab", *words, *always]) == 0
    return {row["stage"]: row for row in json.loads(capsys.readouterr().out)["rows"]}


def test_a_dynamic_program_starts_slower_than_a_static_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = compared(tmp_path, capsys, "fork_exec", "--a", "program=target_static", "--b", "program=target_dynamic")
    assert rows["reaped"]["verdict"] == "more"
    assert rows["reaped"]["pairs"] >= 12


def test_two_workloads_are_the_sides(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = compared(tmp_path, capsys, "fork", "pthread", "--set", "parent_bytes=16MiB")
    assert (rows["reaped"]["verdict"], rows["reaped"]["sureness"]) == ("less", "sure")
    assert rows["reaped"]["cell"].startswith("launch.fork|launch.pthread[")
    assert "parent_bytes=16MiB" in rows["reaped"]["cell"]
    assert rows["reaped"]["sentence"].startswith("pthread (B) against fork (A), ")


def test_a_side_against_itself_is_not_called_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One comparison in twenty may call a row changed by chance; that the next calls the same is one in hundreds."""
    changed: set[tuple[str, str]] = set()
    for seed in ("3", "4", "5"):
        rows = compared(tmp_path, capsys, "fork", "--b", "env:NOTHING_READS_THIS=1", "--pairs", "18", "--seed", seed)
        verdicts = {(stage, row["verdict"]) for stage, row in rows.items() if row["verdict"] in ("more", "less")}
        changed = verdicts if seed == "3" else changed & verdicts
        if not changed:
            return
    raise AssertionError(f"in three comparisons of a side with itself: {changed}")
