"""Servers of other people: what generators say is read right, servers leave nothing, ratios are of rounds in turn."""

from __future__ import annotations

import os
import re
import socket
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tools.servers import __main__ as command
from tools.servers import measuring
from tools.servers.case import DATA, ServerCase, Side, read_cases
from tools.servers.foretelling import CREATION, FAULTS, PARENT, START, TEAR_DOWN, foretold
from tools.servers.loads import Answered, pgbench_answer, redis_answer, wrk_answer
from tools.servers.measuring import measured, summed
from tools.servers.pages import page
from tools.servers.pricing import designs_of, pages_of
from tools.servers.serving import NotServingError, Place, Server, listens

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
    monkeypatch.setattr("tools.servers.serving._AS_NOBODY", ())
    monkeypatch.setattr("tools.servers.serving.NOBODY", os.getuid())


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


def test_prices_are_named_after_pages_and_designs() -> None:
    cells = [
        {"workload": "cow.child", "quantity": "write_each_ns", "median_ns": 3.0},
        {"workload": "cow.child", "quantity": "again_each_ns", "median_ns": 1.0},
        {"workload": "serve.fork", "quantity": "server_cpu_each_ns", "median_ns": 9.0},
        {"workload": "serve.spawn", "quantity": "server_cpu_each_ns", "median_ns": None},
    ]
    assert pages_of({"cells": cells}) == {"copied page": 3.0}
    assert designs_of({"cells": cells}, "kept") == {"fork.kept": 9.0}


def result_of(cpu_s: float, ratio: float, **census: Any) -> dict[str, Any]:
    seen = {"census": census, "predict": {"exit_ns": {"median": 30_000.0}}}
    sides = [{"name": "first", "cpu_s": [cpu_s] * 3, "seen": seen}, {"name": "second", "cpu_s": [1.0] * 3, "seen": {}}]
    return {"sides": sides, "ratios": {"second": [ratio] * 3}}


#: A small server takes 20 us without launching, 40 by threads and 120 by fork.
DESIGN_NS = {"inline": 20_000.0, "prefork": 20_000.0, "thread": 40_000.0, "fork": 120_000.0}
PRICE = {"copied page": 1_000.0} | {f"{design}.per_request": ns for design, ns in DESIGN_NS.items()}


FORK = {"fork": {"making_median_ns": 100_000.0, "minor_faults_median": 200.0, "cpu_median_ns": 350_000.0}}


@pytest.mark.parametrize(
    ("design", "foretold_ratio", "measured_ratio", "verdict"),
    [
        # Of 500 us, creation takes 100, faults 200 and the tear-down 30.
        ("prefork", 0.34, 0.3, "right"),
        ("thread", 0.38, 0.2, "saving right"),
        ("thread", 0.38, 0.85, "sign right"),
        ("thread", 0.38, 1.2, "wrong"),
    ],
)
def test_another_design_is_foretold_from_what_launches_cost_the_first(
    design: Any, foretold_ratio: float, measured_ratio: float, verdict: str
) -> None:
    sides = [Side("first", "fork", []), Side("second", design, [])]
    case = ServerCase("a", "A", "W.", "r", [], {}, "per_request", "wrk", sides)
    (each,) = foretold(case, result_of(500e-6, measured_ratio, ways=FORK), PRICE)
    assert each.ratio == pytest.approx(foretold_ratio)
    assert each.verdict == verdict


def test_where_rounds_contradict_each_other_a_ratio_among_theirs_is_right() -> None:
    sides = [Side("first", "prefork", []), Side("second", "thread", [])]
    result = result_of(100e-6, 1.0)
    for rounds, is_right in (([1.1, 0.9, 1.3], True), ([1.02, 0.9, 1.1], False), ([1.2, 1.15, 1.3], True)):
        result["ratios"]["second"] = rounds
        (each,) = foretold(ServerCase("a", "A", "W.", "r", [], {}, "per_request", "wrk", sides), result, PRICE)
        assert each.ratio == pytest.approx(1.2)
        assert each.is_sign_right is is_right


def test_what_a_child_does_for_a_connection_that_asks_for_nothing_is_its_start() -> None:
    sides = [Side("first", "fork", []), Side("second", "prefork", [])]
    result = result_of(500e-6, 0.2, ways=FORK)
    empty = {"fork": {"minor_faults_median": 150.0, "cpu_median_ns": 280_000.0, "making_median_ns": 100_000.0}}
    result["sides"][0]["seen"]["empty"] = {"ways": empty, "cpu_s": 400e-6}
    result["sides"][0]["seen"]["census"]["cpu_s"] = 500e-6
    (each,) = foretold(ServerCase("a", "A", "W.", "r", [], {}, "per_request", "wrk", sides), result, PRICE)
    # 150 us of faults, 30 of tear-down, and 100 that are neither; creation takes 100, and 20 are the parent's.
    assert each.parts[CREATION] == 100_000.0
    assert (each.parts[FAULTS], each.parts[TEAR_DOWN], each.parts[START]) == (150_000.0, 30_000.0, 100_000.0)
    assert each.parts[PARENT] == pytest.approx(20_000.0)
    assert each.ratio == pytest.approx(0.2)
    # A small server saves 100 us: it has no child that starts.
    assert each.by_stated == pytest.approx(0.8)


def test_what_was_not_seen_is_not_foretold() -> None:
    case = ServerCase(
        "a", "A", "W.", "r", [], {}, "per_request", "wrk", [Side("first", "fork", []), Side("second", "prefork", [])]
    )
    (each,) = foretold(case, result_of(500e-6, 0.5, unavailable="no permission"), PRICE)
    assert each.ratio is None
    assert each.verdict == "not foretold: what its tasks used is not known"


def test_the_page_is_current_with_its_data() -> None:
    assert command.PAGE.read_text(encoding="utf-8") == page(CASES, MEASURED, KEPT["prices"])


def test_the_data_says_which_version_was_measured_when_and_where() -> None:
    assert set(MEASURED) <= {case.name for case in CASES}
    for name, result in MEASURED.items():
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", result["date"]), name
        assert result["machine"], name
        assert result["version"], name
        assert result["load"] >= 0, name


@pytest.mark.parametrize("path", sorted(DATA.glob("*.toml")), ids=lambda path: path.stem)
def test_each_server_names_a_package_for_all_that_it_runs(path: Path) -> None:
    words = tomllib.loads(path.read_text(encoding="utf-8"))
    case = next(case for case in CASES if case.name == path.stem)
    programs = {side_words[0] for side in case.sides for side_words in side.commands} | {case.generator}
    assert programs <= set(words["needs"])
    assert len({side.name for side in case.sides}) == len(case.sides) >= 2


def test_a_server_that_is_not_installed_is_skipped_with_its_package(capsys: pytest.CaptureFixture[str]) -> None:
    case = ServerCase("a", "A", "W.", "r", [], {"no-such-program": "no-such-package"}, "per_request", "wrk", [])
    assert case.missing("/usr/bin") == ["no-such-package"]
    assert command.main(["no-such-server"]) == 1
    assert "no such server: no-such-server" in capsys.readouterr().err
