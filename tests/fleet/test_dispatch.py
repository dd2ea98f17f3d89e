"""What a fleet's run does with hosts that are slow, lost, full, busy or there twice; no time passes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from types import SimpleNamespace

import pytest
from tests.fleet.simulated import MemoryStore, answer, simulate, unlucky

from clonometer.fleet.hosts import Answered, HostConnected, HostLost, HostRefused


def at_once(host: str, round_: int, attempt: int) -> tuple[float, bytes]:
    return 20.0, answer()


def first(trouble: bytes | None) -> Callable[[str, int, int], tuple[float, bytes | None]]:
    """The first attempt of host b's first round meets with trouble."""
    return lambda host, round_, attempt: (20.0, trouble if (host, round_, attempt) == ("b", 1, 1) else answer())


def test_each_host_measures_each_round_once() -> None:
    seen = simulate(at_once)
    assert seen.run.status == "complete"
    assert len(seen.store.runs) == 6
    assert [host.state for host in seen.run.hosts] == ["measured"] * 3
    assert seen.run.duplicates == 0


def test_no_host_is_more_than_a_round_ahead_and_the_order_is_drawn_anew_in_each() -> None:
    names = tuple("abcdefgh")
    seen = simulate(lambda host, *_: (90.0 if host == "a" else 10.0, answer()), names, rounds=4, at_once=3)
    assert seen.hosts.most_at_once == 3
    done: dict[str, int] = dict.fromkeys(names, 0)
    for _, host, round_ in seen.hosts.started:
        assert round_ <= min(done.values()) + 2
        done[host] = round_
    by_round = groupby(sorted(seen.hosts.started, key=lambda start: start[2]), key=lambda start: start[2])
    orders = {tuple(host for _, host, _ in starts) for _, starts in by_round}
    assert len(orders) == 4


@pytest.mark.parametrize(
    "trouble",
    [
        answer("failed", b"", "no room on disk"),
        answer("lost", b"", "the line broke"),
        answer(content=b"rubbish!"),
        answer()[:-3],
        b"no JSON",
        b"",
        b"[]\n",
        answer(content=b"partial", reason="cut", cut_short=True),
        None,
    ],
)
def test_what_fails_is_tried_again_on_the_same_host(trouble: bytes | None) -> None:
    seen = simulate(first(trouble))
    assert seen.run.status == "complete"
    assert seen.host("b")["retries"] == 1
    assert [host for _, host, round_ in seen.hosts.started if round_ == 1].count("b") == 2


def test_what_fails_for_ever_is_given_up_and_the_others_go_on() -> None:
    seen = simulate(lambda host, *_: (20.0, answer("failed", b"", "no room on disk") if host == "b" else answer()))
    assert seen.run.status == "partial"
    assert (seen.host("b")["state"], seen.host("b")["reason"]) == ("none", "no room on disk")
    assert [host for _, host, _ in seen.hosts.started].count("b") == 3
    assert len(seen.store.runs) == 4


def test_a_straggler_is_asked_to_end_and_what_it_has_is_kept() -> None:
    slow = answer(content=b"partial", reason="interrupted after 3 processes", cut_short=True)
    seen = simulate(lambda host, *_: (700.0, slow) if host == "b" else (20.0, answer()), shard_s=600.0, grace_s=150.0)
    assert [shard.split("-")[1] for shard in seen.hosts.stopped] == ["b", "b"]
    assert seen.host("b")["rounds"] == {"1": "partial", "2": "partial"}
    assert seen.host("b")["retries"] == 0


def test_an_answer_that_comes_after_all_is_kept_once() -> None:
    late = (900.0, Answered("b", 1, 1, answer()))
    seen = simulate(first(None), events=(late,), shard_s=600.0, grace_s=60.0)
    assert seen.run.status == "complete"
    # Its second attempt was in by then.
    assert len(seen.store.runs) == 6


def test_a_lost_host_is_waited_for_and_given_up_in_the_end() -> None:
    comes_back = ((5.0, HostLost("b", "its worker has disappeared")), (60.0, HostConnected("b")))
    seen = simulate(lambda host, round_, attempt: (20.0, answer()), events=comes_back, gone_s=120.0)
    assert seen.run.status == "complete"
    stays_away = ((5.0, HostLost("b", "its worker has disappeared")),)
    seen = simulate(at_once, events=stays_away, gone_s=120.0)
    assert seen.host("b")["reason"] == "lost: its worker has disappeared"
    assert seen.hosts.now_s == pytest.approx(125.0)


def test_a_busy_host_is_waited_for_without_costing_an_attempt() -> None:
    def busy_for(limit_s: float) -> Callable[[str, int, int], tuple[float, bytes]]:
        asked = iter(range(1000))
        other = answer("busy", b"", "another fleet measures on this host")
        return lambda host, *_: (1.0, other if host == "b" and next(asked) * 11 < limit_s else answer())

    assert simulate(busy_for(300.0), busy_s=600.0).run.status == "complete"
    seen = simulate(busy_for(3000.0), busy_s=600.0)
    assert seen.host("b")["reason"] == "another fleet measures on this host"
    assert 600.0 <= seen.hosts.now_s <= 630.0


def test_who_cannot_take_part_is_named_with_its_reason() -> None:
    seen = simulate(at_once, ("a",), events=((0.0, HostRefused("old", "it has Clonometer 0.0.9")),))
    assert seen.run.status == "partial"
    assert (seen.host("old")["state"], seen.host("old")["reason"]) == ("none", "it has Clonometer 0.0.9")


def test_a_host_that_claims_to_be_another_takes_nothing_from_it() -> None:
    """Whoever comes first: both are measured, never at the same time, and the answer says what they claim."""
    claim = {"machine": "0b1c2d3e"}
    events = tuple((0.0, HostConnected(name, claim)) for name in ("liar", "honest"))
    seen = simulate(lambda *_: (10.0, answer()), ("a",), events=events, rounds=1)
    assert (seen.run.status, seen.host("honest")["same_as"], seen.host("liar")["same_as"]) == ("complete", "liar", None)
    assert "honest says it is the same machine as liar: they are measured in turn" in seen.notes.lines
    began_s = {host: at_s for at_s, host, _ in seen.hosts.started}
    assert abs(began_s["liar"] - began_s["honest"]) == 10.0
    assert min(began_s["liar"], began_s["honest"]) == began_s["a"]


def test_the_same_again_goes_on_where_it_ended() -> None:
    before = simulate(lambda host, *_: (20.0, answer("failed", b"", "full") if host == "b" else answer()))
    after = simulate(at_once, store=before.store)
    assert after.run.status == "complete"
    assert {host for _, host, _ in after.hosts.started} == {"b"}
    assert after.run.fleet == before.run.fleet
    assert simulate(at_once, seed=2).run.fleet != before.run.fleet


def test_another_file_of_the_same_name_stays() -> None:
    store = MemoryStore()
    seen = simulate(at_once, ("a",), store=store, rounds=1)
    (name,) = seen.store.runs
    store.files[name] = b"complete"
    store.status_of = lambda name: None  # type: ignore[method-assign] # it came between the look and the answer
    assert simulate(at_once, ("a",), store=store, rounds=1).run.duplicates == 1


def test_who_wants_to_stop_keeps_what_arrived() -> None:
    class Wish(SimpleNamespace):
        descriptor = None
        asked = 0

        @property
        def wanted(self) -> bool:
            self.asked += 1
            return self.asked > 4

    def behave(host: str, round_: int, attempt: int) -> tuple[float, bytes | None]:
        cut = answer(content=b"partial", reason="interrupted after 2 processes", cut_short=True)
        return {"a": (1.0, answer()), "b": (18.0, cut), "c": (1.0, None)}[host]

    seen = simulate(behave, rounds=3, wish=Wish())
    assert seen.run.reason == "interrupted"
    assert seen.run.status == "partial"
    assert seen.host("b")["rounds"] == {"1": "partial"}
    assert seen.host("c")["state"] == "waiting"
    # Nobody waits for ever for a host that does not answer any more.
    assert seen.hosts.now_s < 60.0


def test_a_clock_that_is_apart_is_said() -> None:
    came = HostConnected("late", {"apart_s": -90.0, "apart_within_s": 0.2})
    seen = simulate(at_once, ("a",), events=((0.0, came),))
    assert "late: its clock is 90 s behind" in seen.notes.lines
    assert seen.host("late")["clock_apart_s"] == -90.0


@pytest.mark.parametrize("seed", range(3))
def test_an_unlucky_fleet_comes_to_an_end(seed: int) -> None:
    names = tuple(f"host{n}" for n in range(12))
    seen = simulate(unlucky(seed), names, rounds=6, at_once=8, shard_s=180.0, seed=seed)
    assert seen.hosts.most_at_once <= 8
    assert sum(len(host.rounds) for host in seen.run.hosts) == len(seen.store.runs)
    assert len(seen.store.runs) > 50
    assert all(host.reason for host in seen.run.hosts if host.state != "measured")
