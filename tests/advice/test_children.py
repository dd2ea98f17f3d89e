"""What the processes of a real server cost: priced by count, worked out from what they use, or said to be unknown."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from clonometer.advice import advising
from clonometer.advice.children import settle
from clonometer.advice.costs import (
    CALL_PARTS,
    CALL_REST,
    CONNECTION,
    COPIED_BY_PARENT,
    FAULTS,
    FREED,
    HAND_OVER,
    RUNTIME,
    START,
    costs_of,
)
from clonometer.advice.designs import design_named
from clonometer.advice.terms import Term
from clonometer.advice.wish import Wish
from clonometer.views.documents.advise import advice_document
from clonometer.views.terminal.document import render_document
from tests.advice.synthetic import CPU_NS, OTHERS, basis, near

MS = 1e6
#: A server like PostgreSQL: 700 faults, 1.4 ms of start.
REAL = Wish(
    rate_hz=20, work_ns=0.1 * MS, memory_bytes=0, child_faults=700, child_start_ns=1.4 * MS, parent_faults=18, cpus=2
)
advise = partial(advising.advise, requests=200)


def by_id(answer):
    return {design.id: design for design in answer.designs}


def parts(design):
    return {part.name: part for part in design.parts}


def test_faults_have_their_prices_and_the_start_is_added():
    answer = advise(REAL, basis(share=0.0))
    fork, thread = by_id(answer)["fork"], by_id(answer)["thread"]
    assert parts(fork)[FAULTS].cpu_ns.value == pytest.approx(700 * OTHERS["copied_page"])
    assert parts(fork)[FREED].cpu_ns.value == pytest.approx(700 * OTHERS["freed_page"])
    assert parts(fork)[COPIED_BY_PARENT].cpu_ns.value == pytest.approx(18 * OTHERS["parent_page"])
    assert parts(fork)[START].cpu_ns.value == pytest.approx(1.4 * MS)
    real_ns = 700 * (OTHERS["copied_page"] + OTHERS["freed_page"]) + 18 * OTHERS["parent_page"] + 1.4 * MS
    assert fork.cpu_ns.value == pytest.approx(REAL.work_ns + CPU_NS["fork"] + real_ns)
    assert thread.cpu_ns.value == pytest.approx(REAL.work_ns + CPU_NS["thread"])
    # A new program gets new pages, and its parent copies none.
    spawned = parts(by_id(answer)["spawn"])
    assert spawned[FAULTS].cpu_ns.value == pytest.approx(700 * OTHERS["fresh_page"])
    assert COPIED_BY_PARENT not in spawned


def test_faults_that_the_small_server_has_too_are_not_counted_twice():
    few = basis(share=0.0)
    few = replace(few, terms=replace(few.terms, terms={**few.terms.terms, "faults.fork": Term(near(23.0, 0), "here")}))
    wish = replace(REAL, memory_bytes=8192, written_bytes=8192)
    assert parts(by_id(advise(wish, few))["fork"])[FAULTS].cpu_ns.value == pytest.approx(
        (700 - 23 - 2) * OTHERS["copied_page"]
    )


def test_processes_of_kept_connections_are_not_made_for_each_request():
    answers = by_id(advise(replace(REAL, connections="kept"), basis()))
    assert not {FAULTS, FREED, START} & set(parts(answers["fork"]))
    # Of several connections that stay, one task would answer one.
    assert "kept connection" in answers["inline"].reason


def test_what_a_child_uses_divides_into_prices_work_and_start():
    observed = replace(REAL, work_ns=0.0, child_start_ns=None, child_cpu_ns=4.3 * MS)
    settled = settle(replace(observed, work_ns=0.2 * MS), basis(share=0.0), known=["work_ns", "child_cpu_ns"])
    start_ns = settled.wish.child_start_ns
    costs = costs_of(design_named("fork"), settled.wish, {n: s.value for n, s in settled.basis.spans(observed).items()})
    assert costs.at("worker") + costs.at("after") + 0.2 * MS == pytest.approx(4.3 * MS)
    other = settle(replace(observed, child_start_ns=start_ns), basis(share=0.0), known=["child_cpu_ns"])
    assert other.wish.work_ns == pytest.approx(0.2 * MS)
    assert not other.work_has_start


def test_prices_above_what_a_child_used_leave_less_than_nothing_for_its_start():
    """Else a fork would cost more than was observed."""
    wish = replace(REAL, child_start_ns=None, child_cpu_ns=1.0 * MS)
    fork = by_id(advise(wish, basis(share=0.0), known=["work_ns"]))["fork"]
    assert parts(fork)[START].cpu_ns.value < 0
    child_ns = sum(part.cpu_ns.value for part in fork.parts if part.place != "acceptor")
    assert child_ns + wish.work_ns == pytest.approx(1.0 * MS)


def test_a_fork_takes_the_server_what_was_observed():
    """Mappings and files are copied too, which the price of a small server's fork with as much memory lacks."""
    wish = replace(REAL, memory_bytes=1 << 30, fork_call_ns=40 * MS)
    answer = by_id(advise(wish, basis(share=0.0), seen=["fork_call_ns"]))
    fork = parts(answer["fork"])
    assert sum(fork[name].cpu_ns.value for name in (*CALL_PARTS, CALL_REST)) == pytest.approx(40 * MS, rel=0.01)
    assert fork[CALL_REST].known == "observed"
    assert CALL_REST not in parts(answer["spawn"])
    # Whoever accepts waits for it: that limits the rate.
    assert answer["fork"].most_hz < 1e9 / (40 * MS)


def test_says_first_what_is_not_known_of_the_children():
    bare = replace(REAL, child_start_ns=None, child_faults=None, parent_faults=None)
    answer = advise(bare, basis())
    assert {each.name for each in answer.unknown} >= {"its start of work", "its page faults"}
    assert "--child-start" in answer.cautions[0]
    assert "--child-faults" in answer.cautions[0]
    assert advise(REAL, basis()).unknown == []
    # Nobody is told of children where no design makes any.
    assert advise(replace(bare, connections="kept"), basis()).cautions == []


def test_says_first_that_the_work_has_the_start_in_it():
    bare = replace(REAL, work_ns=0.0, child_start_ns=None, child_cpu_ns=4.3 * MS)
    answer = advise(bare, basis(share=0.0), known=["child_cpu_ns", "child_faults"], seen=["child_cpu_ns"])
    assert ["counted as work" in text for text in answer.cautions] == [True]
    assert answer.wish.work_ns > 1 * MS


def test_each_term_says_how_it_is_known():
    answer = advise(REAL, basis(), seen=["child_faults"])
    fork = parts(by_id(answer)["fork"])
    assert (fork[FAULTS].known, fork[START].known, fork["launch call"].known) == ("observed", "stated", "measured")
    text = render_document(advice_document, answer)
    assert "observed × cell of copied_page" in text
    assert "stated" in text


def test_figures_of_a_program_do_not_hold_for_a_fork():
    answer = advise(replace(REAL, child_launch="spawn"), basis())
    assert START not in parts(by_id(answer)["fork"])
    assert START in parts(by_id(answer)["spawn"])
    assert any("fork" in each.designs and each.name == "its start of work" for each in answer.unknown)


def test_a_languages_fork_is_not_counted_beside_what_is_known_of_its_children():
    plain = basis(share=0.0)
    prices = {f"python.{launch}": Term(near(9e5, 0.0), f"python.{launch}") for launch in ("fork", "spawn", "thread")}
    measured = replace(plain, terms=replace(plain.terms, terms={**plain.terms.terms, **prices}))
    bare = replace(REAL, language="python", child_start_ns=None, child_faults=None, parent_faults=None)

    def added(wish):
        return {name for name, each in by_id(advise(wish, measured)).items() if RUNTIME in parts(each)}

    assert added(bare) == {"fork", "spawn", "thread"}
    for known in ({"child_faults": 0}, {"child_start_ns": 1e6}, {"child_cpu_ns": 4e6}):
        assert added(replace(bare, **known)) == {"spawn", "thread"}
    # Those of a new program say nothing of a fork.
    assert added(replace(bare, child_faults=700, child_launch="spawn")) == {"fork", "spawn", "thread"}
    # Nor is it missed where it is not counted.
    assert "python.fork" in str(by_id(advise(replace(bare, language="python"), plain))["fork"].reason)
    wish = replace(bare, child_faults=700)
    without = replace(
        measured, terms=replace(measured.terms, terms={**plain.terms.terms, "python.thread": prices["python.thread"]})
    )
    assert by_id(advise(wish, without))["fork"].reason is None


def test_a_languages_connections_cost_those_who_serve_them():
    wish = replace(REAL, language="python", child_cpu_ns=4e6, child_start_ns=None)
    plain = basis(share=0.0)
    assert any("serve a connection" in each.name for each in advise(wish, plain).unknown)
    terms = {**plain.terms.terms, "python.connection": Term(near(6_000.0, 0.0), "python.connection")}
    terms |= {f"python.{name}": Term(near(1e5, 0.0), "x") for name in ("spawn", "thread")}
    measured = replace(plain, terms=replace(plain.terms, terms=terms))
    answers = by_id(advise(wish, measured, known=["work_ns"]))
    assert parts(answers["inline"])[CONNECTION].cpu_ns.value == pytest.approx(6_000.0)
    by_place = {part.place: part.cpu_ns.value for part in answers["fork"].parts if part.name == CONNECTION}
    assert by_place == pytest.approx({"acceptor": 3_000.0, "worker": 3_000.0})
    # What a child does of it is in the time that was observed.
    child_ns = sum(part.cpu_ns.value for part in answers["fork"].parts if part.place != "acceptor")
    assert child_ns + wish.work_ns == pytest.approx(4e6)
    kept = advise(replace(wish, connections="kept"), measured)
    assert not any(CONNECTION in parts(each) for each in kept.designs)
    assert not any("connection" in each.name for each in advise(replace(wish, connections="kept"), plain).unknown)


def test_a_language_hands_over_at_its_price_or_says_that_it_is_not_known():
    wish = replace(REAL, language="python")
    unmeasured = basis()
    assert any("hand a request" in each.name for each in advise(wish, unmeasured).unknown)
    terms = {**unmeasured.terms.terms, "python.hand_over": Term(near(30_000.0, 0.0), "python.thread_pool")}
    measured = replace(unmeasured, terms=replace(unmeasured.terms, terms=terms))
    answer = advise(wish, measured)
    assert parts(by_id(answer)["thread_pool"])[HAND_OVER].cpu_ns.value == pytest.approx(30_000.0)
    assert HAND_OVER not in parts(by_id(answer)["pass_fd"])
    assert not any("hand a request" in each.name for each in answer.unknown)
