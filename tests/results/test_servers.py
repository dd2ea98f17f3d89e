"""Findings about servers: who takes more CPU time, who could not keep up, what a crash took along."""

from __future__ import annotations

import pytest
from tests.results.runs_of_servers import CRASHES, DESIGNS, crashing_servers, servers, servers_with_memory

from clonometer.results.summary import summarize
from clonometer.results.types import Finding


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(servers()).findings}


def test_designs_are_compared_under_the_same_load(findings: dict[str, Finding]) -> None:
    numbers = findings["servers.cpu.rate_hz=500"].numbers
    assert numbers["server_cpu_each_ns"] == pytest.approx({name: cpu for name, (cpu, _) in DESIGNS.items()}, rel=0.02)
    ratios = {(each["design"], each["other"]): each for each in numbers["ratios"]}
    assert set(ratios) == {("serve.fork", "serve.thread"), ("serve.thread", "serve.thread_pool")}
    assert ratios["serve.fork", "serve.thread"]["ratio"] == pytest.approx(2, rel=0.02)
    latencies = findings["servers.latency.rate_hz=500"].numbers["median_ns"]
    assert latencies == pytest.approx({name: latency for name, (_, latency) in DESIGNS.items()}, rel=0.02)
    # A load that only one server had compares nothing.
    assert "servers.cpu.rate_hz=2000" not in findings


def test_the_first_screen_answers_with_the_cost_of_a_request_and_what_casts_doubt_on_it() -> None:
    answer = summarize(servers()).first.answer
    assert [finding.id for finding in answer] == [
        "answer.servers.cpu.rate_hz=500",
        "answer.servers.overload.serve.fork.rate_hz=2000",
    ]


def test_a_server_that_fell_behind_is_told_apart_from_a_late_client(findings: dict[str, Finding]) -> None:
    behind = [id_ for id_ in findings if id_.startswith("servers.overload")]
    assert behind == ["servers.overload.serve.fork.rate_hz=2000"]
    numbers = findings[behind[0]].numbers
    assert (numbers["rate_hz"], round(numbers["served_per_s"])) == (2_000, pytest.approx(1_500, rel=0.02))
    assert [id_ for id_ in findings if "client_late" in id_] == ["servers.client_late.serve.inline.rate_hz=1000"]


def test_what_a_higher_rate_does_is_no_slope(findings: dict[str, Finding]) -> None:
    numbers = findings["servers.rate.serve.fork"].numbers
    assert numbers["latency_ns"] == {500: pytest.approx(330_000, rel=0.02), 2_000: pytest.approx(8e7, rel=0.02)}
    assert not [id_ for id_ in findings if id_.startswith("scan.rate_hz")]


def test_memory_in_the_parent_is_a_ratio_of_the_design_that_pays_for_it_and_no_slope() -> None:
    results = summarize(servers_with_memory())
    findings = {finding.id: finding for finding in results.findings}
    ratios = {each["design"]: each for each in findings["memory.servers.rate_hz=250"].numbers["ratios"]}
    assert ratios["serve.fork"]["ratio"] == pytest.approx(4, rel=0.02)
    assert ratios["serve.thread"]["verdict"] == "unknown"
    assert not [id_ for id_ in findings if id_.startswith("scan.")]
    assert [finding.id for finding in results.first.reasons] == ["why.memory.servers.rate_hz=250"]


def test_the_plainest_load_is_answered_before_others() -> None:
    answer = summarize(servers_with_memory()).first.answer
    loads = ("rate_hz=250", f"parent_bytes={32 << 20}.rate_hz=250")
    assert [finding.id for finding in answer] == [f"answer.servers.cpu.{load}" for load in loads]


def test_a_crash_is_counted_and_compared_with_nothing() -> None:
    findings = {finding.id: finding.numbers for finding in summarize(crashing_servers()).findings}
    crashes = {id_: numbers for id_, numbers in findings.items() if id_.startswith("servers.crash")}
    assert [
        (numbers["dead_tasks"], numbers["lost"], numbers["whole_again_ns"]) for numbers in crashes.values()
    ] == list(CRASHES.values())
    assert not any(id_.startswith(("servers.cpu", "servers.latency")) for id_ in findings)
