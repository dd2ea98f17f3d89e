"""What the caches do to a launch, told beside the tight loop: per page where the parent has memory."""

from __future__ import annotations

from typing import Any

import pytest

from clonometer.results import summarize
from clonometer.results.types import Finding

SIZE = 64 << 20
PAGES = SIZE >> 12
BARE = {"call_returns_ns": 30_000, "task_runs_ns": 40_000, "reaped_ns": 60_000}
COLD = {name: 3 * value for name, value in BARE.items()}


def _plus(values: dict[str, float], more_ns: float) -> dict[str, float]:
    return {name: value + more_ns for name, value in values.items()}


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings if finding.id.startswith("caches.")}


def test_a_page_costs_what_it_costs_beyond_a_launch_without_memory_in_the_same_caches(builder: Any) -> None:
    builder.cell("launch.fork", BARE)
    builder.cell("launch.fork", COLD, caches="idle")
    builder.cell("launch.fork", COLD, caches="thrashed", thrash_cpu="other")
    memory = {"parent_bytes": SIZE, "pages": "clean"}
    builder.cell("launch.fork", _plus(BARE, 37 * PAGES), **memory)
    builder.cell("launch.fork", _plus(COLD, 69 * PAGES), caches="idle", idle_ns=20_000_000, **memory)
    builder.cell("launch.fork", _plus(COLD, 66 * PAGES), caches="idle", **memory)
    findings = _findings(builder.run)
    assert set(findings) == {"caches.fork", f"caches.fork.pages=clean.parent_bytes={SIZE}"}
    bare = findings["caches.fork"]
    assert "in a tight loop, until the call returns" in bare.sentence
    assert "after 100 ms idle" in bare.sentence
    assert "after another task walked 128 MiB on another CPU" in bare.sentence
    assert bare.numbers["hot"]["ns_per_page"] is None
    assert bare.numbers["ratio"] == pytest.approx(3, rel=0.05)
    pages = findings[f"caches.fork.pages=clean.parent_bytes={SIZE}"]
    # Without memory nobody idled 20 ms: from what is left of that launch no page's cost can be had.
    assert [one["ns_per_page"] is None for one in pages.numbers["cold"]] == [True, False]
    assert pages.numbers["cold"][1]["ns_per_page"] == pytest.approx(66, rel=0.05)
    assert pages.numbers["hot"]["ns_per_page"] == pytest.approx(37, rel=0.05)


def test_both_figures_stand_in_one_line(builder: Any) -> None:
    for caches, base, each in (("hot", BARE, 37), ("idle", COLD, 69)):
        builder.cell("launch.fork", base, caches=caches)
        builder.cell("launch.fork", _plus(base, each * PAGES), caches=caches, parent_bytes=SIZE)
    headline = _findings(builder.run)[f"caches.fork.parent_bytes={SIZE}"].headline
    assert headline.startswith("With caches as a live server has them: ")
    assert " ns a page, " in headline
    assert " ns in a tight loop (fork until the call returns, 64 MiB)" in headline


def test_of_what_sleeps_until_the_exec_only_the_whole_counts(builder: Any) -> None:
    image = {**BARE, "image_runs_ns": 50_000}
    builder.cell("launch.posix_spawn", image)
    builder.cell("launch.posix_spawn", _plus(image, 90_000), caches="thrashed")
    sentence = _findings(builder.run)["caches.posix_spawn"].sentence
    assert "in a tight loop, until reaped" in sentence


def test_no_finding_without_both_sides(builder: Any) -> None:
    builder.cell("launch.fork", COLD, caches="idle")
    assert _findings(builder.run) == {}
