"""What the caches do to a launch, told beside the tight loop: per page where the parent has memory."""

from __future__ import annotations

from typing import Any

import pytest
from tests.results.runs import caches, scaled

from clonometer.results.summary import summarize
from clonometer.results.types import Finding

SIZE = 64 << 20
PAGES = SIZE >> 12
BARE = {"call_returns_ns": 30_000, "task_runs_ns": 40_000, "reaped_ns": 60_000}
COLD = scaled(BARE, 3)


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings if finding.id.startswith("caches.")}


def test_a_page_costs_what_it_costs_beyond_a_launch_without_memory_in_the_same_caches() -> None:
    findings = _findings(caches())
    assert set(findings) == {"caches.fork", f"caches.fork.pages=clean.parent_bytes={SIZE}", "caches.posix_spawn"}
    bare = findings["caches.fork"].numbers
    assert [cold["caches"]["caches"] for cold in bare["cold"]] == ["idle", "thrashed"]
    assert bare["hot"]["ns_per_page"] is None
    assert bare["ratio"] == pytest.approx(3, rel=0.05)
    pages = findings[f"caches.fork.pages=clean.parent_bytes={SIZE}"].numbers
    # Without memory nobody idled 20 ms: from what is left of that launch no page's cost can be had.
    assert [cold["ns_per_page"] is None for cold in pages["cold"]] == [True, False]
    assert pages["cold"][1]["ns_per_page"] == pytest.approx(66, rel=0.05)
    assert pages["hot"]["ns_per_page"] == pytest.approx(37, rel=0.05)


def test_of_what_sleeps_until_the_exec_only_the_whole_counts() -> None:
    assert _findings(caches())["caches.posix_spawn"].numbers["stage"] == "reaped"


def test_no_finding_without_both_sides(builder: Any) -> None:
    builder.cell("launch.fork", COLD, caches="idle")
    assert _findings(builder.run) == {}
