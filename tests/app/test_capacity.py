"""The search for the rate at which a server breaks a limit, with servers that are made up."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.catalogue import CATALOGUE

from clonometer.app.capacity import MOST_STEPS, search, servers_named
from clonometer.errors import UsageError
from clonometer.results.capacity import Capacity, RateStep, ServerCapacity, judge_step
from clonometer.results.latency_limit import LatencyLimit, parse_latency_limit
from clonometer.views.documents.capacity import capacity_document
from clonometer.views.terminal.document import render_document

LIMIT = LatencyLimit("p99", 5e6)


def made(breaks_at: float, tried: list[int]):
    """A server that keeps every limit below a rate."""

    def measure(rate: int) -> RateStep:
        tried.append(rate)
        return judge_step(LIMIT, rate, [1e6, *[1e6 if rate < breaks_at else 9e6] * 99], 0, float(rate))

    return measure


@pytest.mark.parametrize("breaks_at", [9, 77, 500, 501, 3_456, 100_000])
def test_the_rate_is_narrowed_to_a_tenth(breaks_at: int) -> None:
    tried: list[int] = []
    server = search("serve.fork", [], LIMIT, made(breaks_at, tried), lambda _: None)
    assert server.kept_hz is not None
    assert server.broken_hz is not None
    assert server.kept_hz < breaks_at <= server.broken_hz
    assert server.broken_hz / server.kept_hz <= 1.1 or server.broken_hz - server.kept_hz == 1
    assert len(tried) == len(set(tried)) <= MOST_STEPS


def test_no_rate_breaks_and_no_rate_keeps() -> None:
    always = search("serve.inline", [], LIMIT, made(1e9, []), lambda _: None)
    assert (always.broken_hz, always.kept_hz) == (None, 128_000)
    never = search("serve.inline", [], LIMIT, made(0, []), lambda _: None)
    assert (never.broken_hz, never.kept_hz) == (8, None)


def test_a_limit_below_the_fastest_request_ends_the_search_at_once() -> None:
    measure = lambda rate: judge_step(LIMIT, rate, [6e6, 7e6], 0, None)  # noqa: E731
    server = search("serve.inline", [], LIMIT, measure, lambda _: None)
    assert [step.rate_hz for step in server.steps] == [500]
    text = render_document(capacity_document, Capacity(LIMIT, [server]), width=100, colour=False)
    assert "at no rate: the fastest of all requests took 6.00 ms" in " ".join("".join(text).split())


def test_what_cannot_be_measured_has_its_reason() -> None:
    server = search("serve.inline", [], LIMIT, lambda _: "no loopback", lambda _: None)
    assert (server.reason, server.kept_hz, server.steps) == ("no loopback", None, ())


def test_a_rate_that_kept_the_limit_above_one_that_broke_it_was_luck() -> None:
    rates = iter([True, True, False, False, True, False, *[False] * 20])

    def measure(rate: int) -> RateStep:
        return judge_step(LIMIT, rate, [1e6, *[1e6 if next(rates) else 9e6] * 99], 0, None)

    server = search("serve.inline", [], LIMIT, measure, lambda _: None)
    assert server.kept_hz is not None
    assert server.kept_hz < (server.broken_hz or 0)


def test_requests_without_an_answer_break_a_limit() -> None:
    kept = judge_step(LIMIT, 100, [1e6] * 99, 1, 99.0)
    assert (kept.keeps, kept.latency_ns, kept.requests) == (True, 1e6, 100)
    broken = judge_step(LIMIT, 100, [1e6] * 98, 2, 98.0)
    assert (broken.keeps, broken.latency_ns, broken.median_ns) == (False, None, 1e6)
    assert not judge_step(LIMIT, 100, [], 0, None).keeps


def test_a_limit_that_broke_while_the_client_was_late_is_in_doubt() -> None:
    broken = judge_step(LIMIT, 100, [1e6, *[9e6] * 99], 0, 99.0)
    assert not ServerCapacity("serve.fork", (), [replace(broken, client_late_ns=1e5)]).is_in_doubt(LIMIT)
    assert ServerCapacity("serve.fork", (), [replace(broken, client_late_ns=4e6)]).is_in_doubt(LIMIT)
    kept = judge_step(LIMIT, 100, [1e6] * 100, 0, 99.0)
    assert not ServerCapacity("serve.fork", (), [replace(kept, client_late_ns=4e6)]).is_in_doubt(LIMIT)


@pytest.mark.parametrize("text", ["", "p99", "p98<1ms", "p99<1", "p99<0ms", "p99>1ms", "<5ms"])
def test_what_is_no_limit_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a limit of latency") as caught:
        parse_latency_limit(text)
    assert "p99=5ms" in (caught.value.hint or "")


def test_limits_are_read_with_their_units() -> None:
    assert parse_latency_limit(" p99.9 <= 1.5s ") == LatencyLimit("p99.9", 1.5e9)
    assert parse_latency_limit("max<20us") == LatencyLimit("max", 20e3)


@pytest.mark.parametrize(
    ("workloads", "settings", "message"),
    [
        (["launch.fork"], [], "is not a server"),
        (["serve.fork"], ["rate_hz=5"], "cannot be combined"),
        (["serve.fork"], ["parent_bytes=0,1GiB"], "several values"),
        (["serve.frok"], [], "serve.fork"),
    ],
)
def test_what_cannot_be_searched_is_refused(workloads: list[str], settings: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        servers_named(workloads, settings, CATALOGUE)
    assert message in f"{caught.value.message} {caught.value.hint}"
