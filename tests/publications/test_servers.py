"""Servers of other people: what generators say is read right, servers leave nothing, ratios are of rounds in turn."""

from __future__ import annotations

import os
import re
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from publications.servers import __main__ as command
from publications.servers import measuring
from publications.servers.case import DATA, ServerCase, Side, read_cases
from publications.servers.foretelling import BESIDE, WORK, foretold
from publications.servers.loads import Answered, pgbench_answer, redis_answer, wrk_answer
from publications.servers.measuring import measured, summed
from publications.servers.pages import _profile, page
from publications.servers.pricing import read_prices
from publications.servers.profiling import OTHER, USER, grouped
from publications.servers.serving import NotServingError, Place, Server, listens
from tests.advice.synthetic import OTHERS, basis

from clonometer.advice.costs import CALL_PARTS, CALL_REST, COPIED_BY_PARENT, FAULTS, FREED, START
from clonometer.advice.terms import Term, TermSpan

CASES = read_cases()
KEPT = command.read_kept()
MEASURED: dict[str, Any] = KEPT["servers"]

# A server that forks for each connection; its child stays and refuses to end if the request says so.
FORKS = """
import os, signal, socket, sys
signal.signal(signal.SIGCHLD, signal.SIG_DFL)
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = listening.accept()
    if os.fork() == 0:
        listening.close()
        words = connection.recv(100)
        sum(range(300_000))
        connection.sendall(b"done")
        if words == b"stay":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            signal.pause()
        os._exit(0)
    connection.close()
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
"""


def forking(*, name: str = "forking", words: tuple[str, ...] = ()) -> ServerCase:
    python = [sys.executable, "server.py", "@port@", *words]
    sides = [Side("first", "fork", [python]), Side("second", "fork", [python])]
    version = [sys.executable, "--version"]
    return ServerCase(
        name, "Title", "What.", "4 bytes", version, {}, "per_request", "wrk", sides, files={"server.py": FORKS}
    )


def asked(server: Server, words: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.place.port), timeout=20) as connection:
        connection.sendall(words)
        return connection.recv(100)


@pytest.fixture
def ourselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers run as who runs this test: another user could not enter the folder of the test."""
    monkeypatch.setattr("publications.servers.serving._AS_NOBODY", ())
    monkeypatch.setattr("publications.servers.serving.NOBODY", os.getuid())


@pytest.mark.real
@pytest.mark.usefixtures("ourselves")
def test_cpu_time_of_children_that_have_ended_counts_and_nothing_stays(tmp_path: Path) -> None:
    place = Place(forking(), forking().sides[0], tmp_path / "side")
    with place.serving() as server:
        before_s = server.cpu_s()
        for _ in range(20):
            assert asked(server, b"go") == b"done"
        # The parent waits for those that have ended when the next one comes.
        assert asked(server, b"stay") == b"done"
        used_s = server.cpu_s() - before_s
        family = set(server.processes())
    assert used_s > 0
    assert len(family) >= 2, "the parent, and a child that stays"
    assert not listens(place.port)
    assert not [pid for pid in family if Path(f"/proc/{pid}").exists()]


@pytest.mark.real
@pytest.mark.usefixtures("ourselves")
def test_a_server_that_ends_at_once_is_said_with_what_it_wrote(tmp_path: Path) -> None:
    case = ServerCase(
        "bad", "", "", "", [], {}, "per_request", "wrk", [Side("a", "fork", [["sh", "-c", "echo no licence; exit 3"]])]
    )
    with pytest.raises(NotServingError, match="no licence"), Place(case, case.sides[0], tmp_path / "s").serving():
        pass


@pytest.mark.real
@pytest.mark.usefixtures("ourselves")
def test_sides_are_measured_in_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(server: Server, seconds: float, options: Any = ()) -> Answered:
        for _ in range(5):
            asked(server, b"go")
        return Answered(5, 0.5, 0.001, 0.002, 0.003)

    monkeypatch.setattr(measuring, "loaded", load)
    monkeypatch.setattr(measuring, "_seen", lambda place, first: {"census": {"unavailable": "fake"}, "predict": {}})
    heard: list[str] = []
    result = measured(forking(), heard.append, rounds=2)
    assert [side["name"] for side in result["sides"]] == ["first", "second"]
    assert result["sides"][0]["rate"][0] == 10
    assert set(result["ratios"]) == {"second"}
    assert heard[-1] == "forking: round 2 of 2"


def test_wrk_is_read() -> None:
    text = (
        "  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    Latency   531.25us  364.53us  10.50ms   94.64%\n"
        "  Latency Distribution\n     50%  480.00us\n     75%  600.00us\n     90%    0.90ms\n     99%    1.75s \n"
        "  43832 requests in 3.00s, 50.00MB read\n  Socket errors: connect 0, read 5, write 1, timeout 0\n"
        "  Non-2xx or 3xx responses: 12\nRequests/sec:  14600.10\n"
    )
    assert wrk_answer(text) == Answered(43832, 3.0, pytest.approx(0.00048), 1.75, pytest.approx(0.0105), 18)
    with pytest.raises(ValueError, match="unable"):
        wrk_answer("unable to connect")


def test_what_pgbench_clients_wait_for_has_their_connection_in_it() -> None:
    lines = [f"{client} {n} 30 0 100 {n * 1000 + client * 100}" for client in (0, 1) for n in range(5)]
    text = "number of transactions actually processed: 10\nnumber of failed transactions: 2 (20%)\n"
    answer = pgbench_answer(text, lines, 2.0)
    assert (answer.requests, answer.failed, answer.seconds) == (10, 2, 2.0)
    assert answer.p50_s == pytest.approx(0.001)


def test_redis_benchmark_is_read() -> None:
    head = '"test","rps","avg_latency_ms","p50_latency_ms","p99_latency_ms","max_latency_ms"'
    text = f'{head}\n"SET","2000.00","1","0.5","2.5","20"\n'
    assert redis_answer(text, 4000) == Answered(4000, 2.0, 0.0005, 0.0025, 0.02)


def test_a_census_is_added_up_by_mechanism() -> None:
    used = {"known": 2, "cpu_median_ns": 9.0, "cpu_ns": 20, "minor_faults_median": 7.0, "minor_faults": 14}
    few = {"mechanism": "fork", "created": 1, "execed": 1, "making_median_ns": 1.0, "used": None}
    many = {"mechanism": "fork", "created": 3, "execed": 0, "making_median_ns": 5.0, "used": used}
    answer = {"creators": [few, many], "wall_ns": 2e9, "tasks_per_second": 2.0, "usage_missing": None}
    way = summed(answer)["ways"]["fork"]
    assert (way["created"], way["execed"], way["making_median_ns"], way["minor_faults_median"]) == (4, 1, 5.0, 7.0)
    assert summed({"unavailable": "why"}) == {"unavailable": "why"}


def result_of(first_s: float, ratio: float, **census: Any) -> dict[str, Any]:
    seen = {"census": census, "predict": {"exit_ns": {"median": 30_000.0}}}
    sides = [
        {"name": "first", "cpu_s": [first_s] * 3, "seen": seen},
        {"name": "second", "cpu_s": [1.0] * 3, "seen": {}},
    ]
    return {"sides": sides, "ratios": {"second": [ratio] * 3}}


FORK = {
    "fork": {
        "making_median_ns": 100_000.0, "minor_faults_median": 50.0, "cpu_median_ns": 350_000.0, "created": 100,
        "known": 100, "cpu_ns": 35_000_000,
    }
}  # fmt: skip
#: By terms that are certain a small server takes 22 us with a pool, 45 by threads, 140 by fork, 9 where it is kept.
BASIS = basis(share=0.0)
WORK_S = 60e-6


def forking_case(design: Any, **about: Any) -> ServerCase:
    sides = [Side("first", "fork", [], **about), Side("second", design, [])]
    return ServerCase("a", "A", "W.", "r", [], {}, "per_request", "wrk", sides)


def seen_of(ratio: float, **more: Any) -> dict[str, Any]:
    result = result_of(500e-6, ratio, ways=FORK, cpu_s=500e-6, own_faults=10.0, seconds=2.0, requests_per_s=1000.0)
    result["sides"][0]["seen"] |= more
    return result


KEPT_LOAD = {"kept": {"cpu_s": WORK_S + 9e-6}}


@pytest.mark.parametrize(
    ("design", "foretold_ratio", "measured_ratio", "verdict"),
    [
        ("prefork", (22 + 60) / 500, 0.15, "right"),
        ("thread", (45 + 60) / 500, 0.12, "saving right"),
        ("thread", (45 + 60) / 500, 0.85, "sign right"),
        ("thread", (45 + 60) / 500, 1.2, "wrong"),
    ],
)
def test_another_design_does_the_work_that_is_seen_of_kept_connections(
    design: Any, foretold_ratio: float, measured_ratio: float, verdict: str
) -> None:
    (each,) = foretold(forking_case(design), seen_of(measured_ratio, **KEPT_LOAD), BASIS)
    assert each.ratio == pytest.approx(foretold_ratio)
    assert each.verdict == verdict
    assert not each.work_is_least
    # A small server saves 118 us of 500 with a pool, and knows nothing of this one's children.
    assert each.by_stated == pytest.approx((500 - 140 + (22 if design == "prefork" else 45)) / 500)


def test_the_terms_of_the_first_side_add_up_to_what_its_child_and_it_use() -> None:
    (each,) = foretold(forking_case("prefork"), seen_of(0.2, **KEPT_LOAD), BASIS)
    ns = {name: part.ns for name, part in each.parts.items()}
    assert ns[FAULTS] == pytest.approx(50 * OTHERS["copied_page"])
    assert ns[FREED] == pytest.approx(50 * OTHERS["freed_page"])
    assert ns[COPIED_BY_PARENT] == pytest.approx(10 * OTHERS["parent_page"])
    assert ns[WORK] == pytest.approx(60_000.0)
    assert sum(ns.get(name, 0.0) for name in (*CALL_PARTS, CALL_REST)) == pytest.approx(100_000.0)
    by_parent = ("accept", *CALL_PARTS, CALL_REST, COPIED_BY_PARENT, BESIDE)
    assert sum(value for name, value in ns.items() if name not in by_parent) == pytest.approx(350_000.0)
    assert sum(ns.values()) == pytest.approx(500_000.0)
    assert {each.parts[FAULTS].known, each.parts[START].known, each.parts["launch call"].known} == {
        "observed", "measured",
    }  # fmt: skip


def test_a_ratio_is_over_what_the_first_side_took_in_the_rounds_and_terms_are_of_the_census() -> None:
    result = seen_of(0.2, **KEPT_LOAD)
    result["sides"][0]["cpu_s"] = [400e-6] * 3
    (each,) = foretold(forking_case("prefork"), result, BASIS)
    assert each.ratio == pytest.approx((22 + 60) / 400)
    assert sum(part.ns for part in each.parts.values()) == pytest.approx(500_000.0)


def test_where_a_connection_has_one_request_the_ratio_is_a_least_one() -> None:
    (each,) = foretold(forking_case("prefork"), seen_of(0.2), BASIS)
    assert each.work_is_least
    assert each.ratio == pytest.approx(22 / 500)


def test_processes_now_and_then_are_taken_off_with_the_pages_that_they_make_the_server_copy() -> None:
    case = forking_case("event", launches="now and then")
    result = seen_of(0.9)
    # One that outlives the census has used something too, so that they are not as many times what one used in all.
    result["sides"][0]["seen"]["census"]["children_cpu_s"] = 12e-6
    (each,) = foretold(case, result, BASIS)
    # 50 a second for 1,000 requests; each takes 100 us to create.
    saved_ns = 12_000 + 0.05 * 100_000 + 10 * OTHERS["parent_page"]
    assert each.ratio == pytest.approx(1 - saved_ns / 500_000)


def test_a_language_hands_over_at_its_price() -> None:
    sides = [Side("first", "prefork", []), Side("second", "event_pool", [])]
    terms = {**BASIS.terms.terms, "python.hand_over": Term(TermSpan(3e4, 3e4, 3e4), "python.thread_pool")}
    priced = replace(BASIS, terms=replace(BASIS.terms, terms=terms))
    case = ServerCase("a", "A", "W.", "r", [], {}, "per_request", "wrk", sides, language="python")
    (each,) = foretold(case, result_of(100e-6, 1.0), priced)
    assert each.ratio == pytest.approx((100 - 22 + 36 + 30) / 100)


def test_where_rounds_contradict_each_other_a_ratio_among_theirs_is_right() -> None:
    sides = [Side("first", "prefork", []), Side("second", "thread", [])]
    result = result_of(100e-6, 1.0)
    for rounds, is_right in (([1.1, 0.9, 1.3], True), ([1.02, 0.9, 1.1], False), ([1.2, 1.15, 1.3], True)):
        result["ratios"]["second"] = rounds
        (each,) = foretold(ServerCase("a", "A", "W.", "r", [], {}, "per_request", "wrk", sides), result, BASIS)
        assert each.ratio == pytest.approx(1.23)
        assert each.is_sign_right is is_right


def test_what_was_not_seen_is_not_foretold() -> None:
    case = ServerCase(
        "a", "A", "W.", "r", [], {}, "per_request", "wrk", [Side("first", "fork", []), Side("second", "prefork", [])]
    )
    (each,) = foretold(case, result_of(500e-6, 0.5, unavailable="no permission"), BASIS)
    assert each.ratio is None
    assert each.verdict == "not foretold: what its tasks used is not known"


def test_the_page_is_current_with_its_data() -> None:
    assert command.PAGE.read_text(encoding="utf-8") == page(CASES, MEASURED, read_prices(KEPT["prices"]).basis)


def test_the_data_says_which_version_was_measured_when_and_where() -> None:
    assert set(MEASURED) <= {case.name for case in CASES}
    for name, result in MEASURED.items():
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", result["date"]), name
        assert result["machine"], name
        assert result["version"], name
        assert result["load"] >= 0, name


@pytest.mark.parametrize("path", sorted(DATA.glob("*.toml")), ids=lambda path: path.stem)
def test_each_server_names_a_package_for_all_that_it_runs(path: Path) -> None:
    case = next(case for case in CASES if case.name == path.stem)
    programs = {side_words[0] for side in case.sides for side_words in side.commands} | {case.generator}
    assert programs <= set(case.needs)
    assert len({side.name for side in case.sides}) == len(case.sides) >= 2


def test_a_server_that_is_not_installed_is_skipped_with_its_package(capsys: pytest.CaptureFixture[str]) -> None:
    case = ServerCase("a", "A", "W.", "r", [], {"no-such-program": "no-such-package"}, "per_request", "wrk", [])
    assert case.missing("/usr/bin") == ["no-such-package"]
    assert command.main(["no-such-server"]) == 1
    assert "no such server: no-such-server" in capsys.readouterr().err


PERF_SCRIPT = """\
systemd     0/0         0.000000: PERF_RECORD_FORK(40:40):(1:1)
server.pl     0/0         0.000000: PERF_RECORD_FORK(50:50):(40:40)
server.pl    40/40    901.247038: \n\tffffffff816dd4fc copy_page_range\n\tffffffff81000130 kernel_clone\n\t   d3bd3 fork

server.pl    40/40    901.247040: PERF_RECORD_FORK(60:60):(50:50)
server.pl    60/60    901.247114:
\tffffffff815d2e66 clear_page_erms
\tffffffff815d2e67 asm_exc_page_fault
\t   20ca3 memcpy

server.pl    60/60    901.247314:
\tffffffff815d2e66 unmap_page_range
\tffffffff815d2e67 do_exit.part.0

server.pl    60/61    901.247414:
\t           20ca3 [unknown]

server.pl    60/60    901.247514:
\tffffffff815d2e66 tcp_sendmsg

wrk    70/70    901.247614:
\t           20ca3 parse

"""


def test_samples_of_a_server_and_its_children_are_sorted_by_kernel_entry() -> None:
    groups = grouped(PERF_SCRIPT.splitlines(keepends=True), {40})
    assert dict(groups) == {"launches": 1, "page faults": 1, "ends of tasks": 1, USER: 1, OTHER: 1}
    # Who is not of the family does not count.
    assert grouped(PERF_SCRIPT.splitlines(keepends=True), {70}) == {USER: 1}


def test_a_profile_stands_beside_the_terms() -> None:
    result = seen_of(0.2, **KEPT_LOAD)
    shares = {"page faults": 0.4, "ends of tasks": 0.2, "launches": 0.1, USER: 0.2, OTHER: 0.1}
    (each,) = foretold(forking_case("prefork"), result, BASIS)
    (table,) = _profile(each, {"samples": 1000, "shares": shares})
    # The fork was seen to take 100 us of 500, and to start a task takes more.
    assert "| launches | 2" in table
    assert "| all else |" in table
    assert f"| of that {USER} | | 20% |" in table
    assert list(_profile(each, {"unavailable": "perf is not installed"})) == []
