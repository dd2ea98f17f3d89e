"""Answers from chosen terms: the order, what rules a design out, how certain it is, and what would change it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from clonometer.advice import advising
from clonometer.advice.basis import fork_memory
from clonometer.advice.costs import costs_of, lacking
from clonometer.advice.designs import DESIGNS, design_named
from clonometer.advice.drawing import draws, ratio_of, span_of
from clonometer.advice.terms import Term, TermSpan, difference, total
from clonometer.advice.wish import ServerMachine, Wish, check_wish
from clonometer.app.advise import FIELDS, default_workers, read_wish_file, wish_fields
from clonometer.errors import InputError, UsageError
from clonometer.records import from_json, to_json
from clonometer.results.latency_limit import LatencyLimit, parse_latency_limit
from clonometer.units import parse_seconds
from clonometer.views.document import Note
from clonometer.views.documents.advise import advice_document
from tests.advice.synthetic import CPU_NS, LAUNCH_NS, OTHERS, PATH_NS, basis, memory_point, near, with_busy

MS, MIB = 1e6, 1 << 20
LIGHT = Wish(rate_hz=50, work_ns=0.1 * MS)


#: Enough for what is asked here.
advise = partial(advising.advise, requests=200)


def by_id(answer):
    return {design.id: design for design in answer.designs}


def test_without_load_a_request_takes_its_work_its_costs_and_the_way():
    answers = by_id(advise(replace(LIGHT, rate_hz=1), basis()))
    for design, cpu_ns in CPU_NS.items():
        after_ns = LAUNCH_NS[design][2] - LAUNCH_NS[design][1] if design in LAUNCH_NS else 0.0
        assert answers[design].cpu_ns.value == pytest.approx(cpu_ns + 0.1 * MS, rel=0.02)
        # What was measured of a request without work, its launch's end included, is the latency that was measured.
        assert answers[design].p50_ns.value == pytest.approx(cpu_ns + PATH_NS + 0.1 * MS, rel=0.02)
        assert sum(part.cpu_ns.value for part in answers[design].parts) == pytest.approx(cpu_ns, rel=0.02)
        assert sum(part.cpu_ns.value for part in answers[design].parts if part.place == "after") == pytest.approx(
            after_ns, rel=0.1
        )


def test_a_server_that_hardly_sleeps_takes_less():
    busy = with_busy(basis(share=0.0))
    costs = {}
    for rate_hz in (100.0, 500.0, 500 * 8**0.5, 4000.0, 9000.0):
        values = {name: span.value for name, span in busy.spans(LIGHT).items()}
        costs[rate_hz] = costs_of(design_named("prefork"), replace(LIGHT, rate_hz=rate_hz), values).cpu_ns
    assert list(costs.values()) == pytest.approx([CPU_NS["prefork"] * share for share in (1, 1, 0.75, 0.5, 0.5)])
    # What saturates it is at the price of a busy server, at whatever rate it is asked for.
    slow, often = (by_id(advise(replace(LIGHT, work_ns=0.0), each))["inline"] for each in (basis(share=0.0), busy))
    assert often.most_hz == pytest.approx(2 * slow.most_hz)


def test_a_wait_ends_late_and_takes_cpu_time_beside_itself():
    waiting = replace(LIGHT, block_ns=1 * MS)
    for name in ("inline", "thread", "thread_pool"):
        with_wait, without = (by_id(advise(wish, basis(share=0.0)))[name] for wish in (waiting, LIGHT))
        assert with_wait.cpu_ns.value - without.cpu_ns.value == pytest.approx(OTHERS["cpu.wait"])
        waited_ns = 1 * MS + OTHERS["cpu.wait"] + OTHERS["latency.wait"]
        assert with_wait.p50_ns.value - without.p50_ns.value == pytest.approx(waited_ns, rel=0.05)
    lacks = by_id(advise(waiting, basis(without=("latency.wait",))))["thread"]
    assert "latency.wait" in lacks.reason


def test_says_first_that_the_machine_was_busy_as_it_was_measured():
    quiet = basis()
    known = replace(LIGHT, child_start_ns=0.0, child_faults=0, parent_faults=0)
    assert advise(known, quiet).cautions == []
    busy = replace(quiet, terms=replace(quiet.terms, busy="load 9.0 on 2 CPUs"))
    answer = advise(known, busy)
    assert answer.cautions == ["Load 9.0 on 2 CPUs as this machine was measured: --measure does that again."]
    assert isinstance(advice_document(answer).groups[0][1], Note)


def test_the_ranks_follow_the_figure_that_is_asked_for():
    answer = advise(LIGHT, basis())
    ranked = [design for design in answer.designs if design.rank is not None]
    assert [design.rank for design in ranked] == list(range(1, len(DESIGNS) + 1))
    medians = [design.p50_ns.value for design in ranked]
    assert medians == sorted(medians)
    by_cpu = advise(LIGHT, basis(), order="cpu")
    assert [design.id for design in by_cpu.designs] == sorted(CPU_NS, key=CPU_NS.__getitem__)
    smallest = advise(replace(LIGHT, memory_bytes=MIB, workers=8), basis(), order="memory").designs[0]
    assert smallest.id == "inline"


@pytest.mark.parametrize(
    ("isolation", "expected"),
    [
        ("crash", {"fork", "spawn", "prefork", "pass_fd"}),
        ("memory", {"fork", "spawn"}),
        ("privileges", {"fork", "spawn", "prefork", "pass_fd"}),
    ],
)
def test_isolation_rules_designs_out_and_says_why(isolation, expected):
    answer = advise(replace(LIGHT, isolation=isolation), basis())
    assert {design.id for design in answer.designs if design.rank is not None} == expected
    assert all(f"no isolation of {isolation}" in design.reason for design in answer.designs if design.rank is None)


def test_a_limit_rules_designs_out_with_the_figure():
    answers = by_id(advise(replace(LIGHT, limit=LatencyLimit("p50", 0.3 * MS)), basis()))
    assert "p50 below 300" in answers["spawn"].reason
    assert answers["prefork"].reason is None


def test_a_design_that_cannot_keep_up_says_what_its_most_is():
    answers = by_id(advise(Wish(rate_hz=4000, work_ns=0.15 * MS), basis()))
    assert answers["spawn"].p50_ns is None
    assert answers["spawn"].most_hz == pytest.approx(1e9 / (CPU_NS["spawn"] + 0.15 * MS), rel=0.01)
    assert "cannot keep up" in answers["spawn"].reason
    assert answers["inline"].reason is None


def test_close_designs_are_too_close_to_call_and_clear_ones_are_not():
    close = advise(replace(LIGHT, work_ns=2 * MS), basis())
    assert close.comparisons[0].is_close
    assert close.sentence.startswith("Too close to call")
    clear = advise(replace(LIGHT, work_ns=0.0, isolation="memory"), basis())
    assert not clear.comparisons[0].is_close
    assert (clear.comparisons[0].first, clear.comparisons[0].second) == ("fork", "spawn")
    assert clear.sentence.startswith("Use a process for each connection")
    known, vague = (advise(replace(LIGHT, work_ns=0.0, isolation="crash"), basis(share)) for share in (0.02, 0.9))
    assert not known.comparisons[0].is_close
    assert vague.comparisons[0].is_close


def test_memory_of_the_parent_costs_forks_and_nobody_else():
    small, large = (by_id(advise(replace(LIGHT, memory_bytes=size), basis())) for size in (MIB, 1 << 30))
    grown = {name: large[name].cpu_ns.value / small[name].cpu_ns.value for name in CPU_NS}
    assert grown["fork"] > 10
    assert all(growth == pytest.approx(1.0, abs=0.02) for name, growth in grown.items() if name != "fork")


def test_pages_that_a_request_writes_to_are_copied_by_forks():
    wish = replace(LIGHT, memory_bytes=MIB, written_bytes=40_960)
    answers = by_id(advise(wish, basis()))
    pages = {
        name: next(p for p in answers[name].parts if "pages" in p.name and "tables" not in p.name) for name in CPU_NS
    }
    assert pages["fork"].cpu_ns.value == pytest.approx(10 * OTHERS["copied_page"], rel=0.02)
    assert pages["thread"].cpu_ns.value == pytest.approx(10 * OTHERS["written_page"], rel=0.02)


def test_a_design_without_its_terms_is_not_ranked_and_says_so():
    answers = by_id(advise(LIGHT, basis(without=("cpu_above.fork.per_request.tcp",))))
    assert answers["fork"].rank is None
    assert "cpu_above.fork.per_request.tcp" in answers["fork"].reason
    assert lacking(design_named("thread"), replace(LIGHT, request_bytes=4096), {}) != []


def test_more_work_makes_launches_matter_less():
    answer = advise(replace(LIGHT, rate_hz=2, isolation="memory"), basis())
    work = next(each for each in answer.depends_on if each.of == "work_ns")
    assert any("differ by less than 5%" in sentence for sentence in work.sentences)
    assert work.points[0].ns["spawn"] > 2 * work.points[0].ns["fork"]
    memory = next(each for each in answer.depends_on if each.of == "memory_bytes")
    assert any("posix_spawn) is first" in sentence for sentence in memory.sentences)


def test_costs_are_signed_sums_of_their_terms():
    values = {name: term.span.value for name, term in basis().terms.terms.items()}
    costs = costs_of(design_named("fork"), LIGHT, values)
    names = {part.name for part in costs.parts}
    assert {"launch call", "start of the task", "end of the task", "first steps of the task", "accept"} <= names
    cheap = {**values, "cpu_above.thread.per_request.tcp": 1000.0}
    parts = costs_of(design_named("thread"), LIGHT, cheap).parts
    assert sum(part.ns for part in parts) == pytest.approx(CPU_NS["inline"] + 1000.0)
    assert all(part.ns >= -1e-9 for part in parts)


def test_terms_that_are_very_uncertain_leave_no_time_before_now():
    wish = Wish(rate_hz=700, work_ns=0.05 * MS, isolation="memory")
    answer = advise(wish, basis(share=0.4))
    spawn = by_id(answer)["spawn"]
    assert spawn.reason is not None or spawn.p50_ns.value > CPU_NS["spawn"] / 3


def test_no_interval_of_a_latency_reaches_below_zero():
    """Near saturation the draws of one design lie far apart."""
    answer = advise(Wish(rate_hz=1500, work_ns=0.25 * MS, block_ns=0.3 * MS, cpus=2), basis(share=0.4))
    spans = [span for each in answer.designs for span in (each.p50_ns, each.p99_ns) if span is not None]
    assert min(span.low for span in spans) == 0.0


def test_memory_between_points_is_on_a_line():
    points = [memory_point(size) for size in (0, 1000 * 4096, 3000 * 4096)]
    assert fork_memory(points, 2000 * 4096)[0].value == pytest.approx(16_000)
    assert fork_memory(points, 6000 * 4096)[1].value == pytest.approx(30_000)


def test_spans_add_up_as_squares_and_draws_repeat():
    assert total([TermSpan(1, 0, 4), TermSpan(2, -2, 6)]) == TermSpan(3, pytest.approx(3 - 17**0.5), 8)
    assert difference(near(10.0), near(4.0)).value == 6.0
    spans = {"a": near(100.0, 0.1), "b": near(5.0, 0.0)}
    drawn = draws(spans, 400, 7)
    assert drawn == draws(spans, 400, 7) != draws(spans, 400, 8)
    assert {each["b"] for each in drawn} == {5.0}
    spread = span_of([each["a"] for each in drawn])
    assert spread.value == pytest.approx(100, abs=1)
    assert spread.high - spread.value == pytest.approx(10 * 2.2 / 1.96, rel=0.15)
    # What is common to both cancels.
    assert ratio_of([2 * each["a"] for each in drawn], [each["a"] for each in drawn]).low == pytest.approx(2.0)


def test_another_language_adds_what_its_launches_cost_more():
    made = basis()
    more = {f"python.{kind}": Term(near(ns), "a cell") for kind, ns in (("fork", 5e5), ("spawn", 1e6), ("thread", 3e4))}
    python = replace(made, terms=replace(made.terms, terms={**made.terms.terms, **more}))
    plain, other = (by_id(advise(replace(LIGHT, language=name), python)) for name in ("c", "python"))
    added = {name: other[name].cpu_ns.value - plain[name].cpu_ns.value for name in CPU_NS}
    assert [round(added[name] / 1e3, -1) for name in ("fork", "spawn", "thread", "prefork")] == [500, 1000, 30, 0]
    assert "go.fork" in by_id(advise(replace(LIGHT, language="go"), python))["fork"].reason


def test_an_answer_is_written_and_terms_are_read_back():
    kept = basis().terms
    assert from_json(type(kept), to_json(kept)) == kept
    p50 = to_json(advise(LIGHT, basis()))["designs"][0]["p50_ns"]
    assert p50["low"] <= p50["value"] <= p50["high"]


def test_where_threads_are_first_on_several_cpus_their_shared_map_is_named():
    """Apache's threads took 1.6 times the CPU time of its processes, since it maps each file; foretold was 0.87."""
    waits = Wish(rate_hz=100, work_ns=1 * MS, block_ns=300 * MS, cpus=2, workers=4)
    firsts = {}
    for wish in (waits, replace(waits, isolation="memory"), replace(waits, cpus=1)):
        answer = advise(wish, basis(share=0.0))
        firsts[answer.designs[0].id, wish.cpus] = any("contend.mmap" in text for text in answer.cautions)
    assert firsts == {("thread", 2): True, ("fork", 2): False, ("thread", 1): False}


HERE = ServerMachine(cpus=2, memory_bytes=8 << 30)


@pytest.mark.parametrize(
    ("wish", "both"),
    [
        (Wish(rate_hz=2000, work_ns=MS, cpus=1), ("--rate 2000", "--cpus 1")),
        (Wish(rate_hz=1, cpus=3), ("--cpus 3", "2")),
        (Wish(rate_hz=1, written_bytes=4096), ("--written 4 KiB", "--memory 0 B")),
        (Wish(rate_hz=1, memory_bytes=16 << 30), ("--memory 16 GiB", "8 GiB")),
        (
            Wish(rate_hz=1, work_ns=6 * MS, limit=LatencyLimit("p99", 5 * MS)),
            ("--limit p99=5ms", "--work 6.00 ms"),
        ),
        (Wish(rate_hz=1, block_ns=6 * MS, limit=LatencyLimit("p50", 5 * MS)), ("--limit p50=5ms", "--block")),
        (Wish(rate_hz=1e9), ("--rate 1e+09", "1e+07")),
    ],
)
def test_a_contradiction_is_refused_with_both_sides(wish, both):
    with pytest.raises(UsageError) as refused:
        check_wish(wish, HERE)
    assert all(text in refused.value.message for text in both), refused.value.message


def test_what_can_be_is_not_refused():
    check_wish(Wish(rate_hz=1000, work_ns=MS, cpus=2, memory_bytes=1 << 30, written_bytes=1 << 20), HERE)


def test_options_and_files_have_one_vocabulary(tmp_path):
    file = tmp_path / "wish.toml"
    file.write_text('rate = 300\nwork = "1.5ms"\nmemory = "64MiB"\nlimit = "p99=20ms"\nconnections = "per-request"\n')
    fields = read_wish_file(file)
    assert fields == {
        "rate_hz": 300.0,
        "work_ns": pytest.approx(1.5e6),
        "memory_bytes": 64 << 20,
        "limit": LatencyLimit("p99", pytest.approx(20e6)),
        "connections": "per_request",
    }
    assert {"rate", "work", "written", "isolation", "cpus"} <= FIELDS.keys()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("wrok = 1", "wrok"),
        ("rate = 0", "above 0"),
        ('rate = "many"', "many"),
        ('cpus = "two"', "whole number"),
        ("isolation = 1", "word"),
        ('work = "-1ms"', "not a time"),
        ('limit = "p98=1ms"', "not a limit"),
        ("rate = -1e300", "no number of requests"),
    ],
)
def test_what_a_file_cannot_mean_is_refused(tmp_path, text, why):
    file = tmp_path / "wish.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=why):
        read_wish_file(file)


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot read"):
        read_wish_file(tmp_path / "missing.toml")
    (tmp_path / "broken.toml").write_text("rate = = 1")
    with pytest.raises(InputError, match="not TOML"):
        read_wish_file(tmp_path / "broken.toml")
    for number in ("9" * 5000, "0x" + "f" * 5000, "1" + "0" * 4000):
        (tmp_path / "broken.toml").write_text(f"rate = {number}")
        with pytest.raises(InputError, match=r"digits|beyond 64 bits"):
            read_wish_file(tmp_path / "broken.toml")


def test_times_and_limits_are_read_with_their_units():
    assert [parse_seconds(text) for text in ("0", "5us", "2.5ms", "1s", "3")] == pytest.approx([0, 5e-6, 2.5e-3, 1, 3])
    for text in (" p50=200us", "p50 < 200us"):
        assert parse_latency_limit(text) == LatencyLimit("p50", pytest.approx(200e3))
    assert wish_fields({"block": "1ms"}, "here") == {"block_ns": pytest.approx(1e6)}


def test_a_pool_has_twice_the_tasks_that_requests_occupy():
    assert default_workers(Wish(rate_hz=1.0, cpus=2)) == 4
    assert default_workers(Wish(rate_hz=1000.0, block_ns=20 * MS)) == 40
    assert default_workers(Wish(rate_hz=1e6, block_ns=1e9)) == 512
