"""The page and the trace of a census of a real program, by each way of watching."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.integration.census import run

pytestmark = pytest.mark.real
SCRIPT = "sh -c '/bin/true; (exit 3)'; (sleep 0.01; :) & wait"


def test_a_program_has_tracks_on_the_page_and_in_the_trace(seen_by: str, tmp_path: Path) -> None:
    page, trace = tmp_path / "page.html", tmp_path / "trace.json"
    ended = run("--how", seen_by, "--html", str(page), "--perfetto", str(trace), "--", "sh", "-c", SCRIPT)
    assert ended.returncode == 0, ended.stderr
    text = page.read_text()
    assert "Tasks over time" in text
    assert text.count("<li style=") == 5
    events = json.loads(trace.read_text())["traceEvents"]
    lives = {event["name"]: event for event in events if event["ph"] == "X" and event["cat"] == "life"}
    assert {"true", "sleep", "sh", "copy of sh"} <= set(lives)
    for event in events:
        assert event.get("dur", 0) >= 0
        assert event["ts"] >= 0
    inner, outer = lives["true"], lives["sh"]
    assert outer["ts"] <= inner["ts"]
    assert inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"]
    calls = [event for event in events if event["ph"] == "X" and event["cat"] == "call"]
    assert (len(calls) == 5) == (seen_by == "tracepoints"), "ptrace sees no times of calls"


def test_an_existing_trace_is_not_replaced(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text("mine")
    assert run("--perfetto", str(trace), "--", "true").returncode == 2
    assert trace.read_text() == "mine"
