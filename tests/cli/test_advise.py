"""``clonometer advise`` end to end, with chosen terms: options, a file, an observed server, and what is refused."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest
from tests.advice.synthetic import terms
from tests.fakes.fork_machine import fork_machine

from clonometer.advice import advising
from clonometer.advice.store import NAME, save_terms
from clonometer.advice.terms import Term, Terms, TermSpan
from clonometer.app import advise as app
from clonometer.app import observing
from clonometer.app.advise import command_of, make_wish
from clonometer.cli.ending import run_to_the_end
from clonometer.host.facts import collect
from clonometer.model.store import default_path, machine_of, save_calibration
from clonometer.tracing.census.tally import Group

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/advise.schema.json").read_text(encoding="utf-8"))
LOAD = ("--rate", "50", "--work", "200us", "--cpus", "1")
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine whose terms are known, over TCP and Unix sockets; a second measuring would fail the test."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "140")
    save_calibration(replace(fork_machine().calibration, machine=machine_of(collect())), default_path())
    made = terms()
    unix = {
        name.replace(".tcp", ".unix"): replace(term, cell=term.cell.replace(".tcp", ".unix"))
        for name, term in made.terms.items()
    }
    kept = replace(made, machine=machine_of(collect()), terms={**made.terms, **unix})
    save_terms(kept, default_path().with_name(NAME))
    monkeypatch.setattr(app, "rank_designs", partial(advising.advise, requests=60))

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("measures again")

    monkeypatch.setattr("clonometer.app.advising.briefly_measured", refuse)


def run(capsys: Captured, *words: str, status: int = 0) -> tuple[str, str]:
    assert run_to_the_end(["advise", *words]) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def asked(capsys: Captured, *words: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(run(capsys, "--json", *words)[0])
    jsonschema.validate(answer, SCHEMA)
    return answer


def test_a_load_is_ranked_and_what_is_not_known_stands_first(capsys: Captured) -> None:
    out, _ = run(capsys, *LOAD)
    assert out.index("Not known of this server") < out.index("prefork pool")
    assert "--child-start" in out
    assert "clonometer advise --rate 50 --work 200us --cpus 1 --prove" in out


def test_kept_connections_and_unix_sockets_have_their_own_terms(capsys: Captured) -> None:
    answer = asked(capsys, *LOAD, "--connections", "kept", "--transport", "unix")
    assert (answer["wish"]["connections"], answer["wish"]["transport"]) == ("kept", "unix")
    # No design launches for a request, and so nothing is unknown.
    assert answer["unknown"] == []
    fork = next(design for design in answer["designs"] if design["id"] == "fork")
    assert not any("launch" in part["name"] for part in fork["parts"])
    assert all("unix" in cell for part in fork["parts"] for cell in part["measured_by"])


def test_children_that_are_stated_are_in_the_table(capsys: Captured) -> None:
    words = (*LOAD, "--child-start", "1.4ms", "--child-faults", "700", "--parent-faults", "18")
    out, _ = run(capsys, *words)
    assert "Not known of this server" not in out
    assert "What a request costs as a process for each connection (fork)" in out
    assert "1.40 ms" in out
    answer = asked(capsys, *words)
    assert " ".join(words[6:]) in answer["commands"][0]
    wish = make_wish({"rate_hz": 50.0, "child_launch": "spawn", "child_start_ns": 1.4e6})
    stated: Any = SimpleNamespace(wish=wish, order="p50")
    assert command_of(stated).endswith("--child-start 1.4ms --child-launch spawn")


def test_a_file_may_say_what_a_census_would_see(capsys: Captured, tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text('rate = 20\nchild_cpu = "4.3ms"\nchild-faults = 700\nparent_faults = 18\ncpus = 1\n')
    answer = asked(capsys, "--file", str(file))
    assert "counted as work" in " ".join(answer["cautions"])
    divided = asked(capsys, "--file", str(file), "--work", "100us")
    assert divided["wish"]["work_ns"] == pytest.approx(1e5)
    assert 0 < divided["wish"]["child_start_ns"] < 4.2e6
    assert divided["wish"]["child_start_ns"] + 1e5 == pytest.approx(answer["wish"]["work_ns"])


def test_sizes_are_said_as_they_were_asked(capsys: Captured) -> None:
    words = (*LOAD, "--memory", "500MB", "--written", "64KiB", "--request", "1000", "--response", "1.5MiB")
    out, _ = run(capsys, *words)
    assert "500 MB" in out
    assert "--memory 500MB --written 64KiB" in " ".join(out.split())
    assert "--request 1000 --response 1536KiB" in asked(capsys, *words)["commands"][0]


def test_terms_of_another_version_are_measured_again_and_that_is_said(capsys: Captured) -> None:
    path = default_path().with_name(NAME)
    kept = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**kept, "schema": kept["schema"] - 1}), encoding="utf-8")
    with pytest.raises(AssertionError, match="measures again"):
        run(capsys, *LOAD)
    assert f"{path} is of another version" in capsys.readouterr().err


def test_a_language_is_measured_alone_and_once(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    asked_for = []

    def of_language(language: str, machine: dict[str, str], *_: Any) -> Terms:
        asked_for.append(language)
        priced = {f"{language}.{name}": Term(TermSpan(9e5, 8e5, 1e6), name) for name in ("fork", "spawn", "thread")}
        return Terms(1, machine, priced, {})

    monkeypatch.setattr("clonometer.app.advising._of_language", of_language)
    for _ in range(2):
        fork = next(each for each in asked(capsys, *LOAD, "--language", "python")["designs"] if each["id"] == "fork")
        assert "runtime's launch" in {part["name"] for part in fork["parts"]}
    assert asked_for == ["python"]


def census_of(mechanism: str, *, execs: int = 0) -> Any:
    """A census of two hundred tasks in two seconds: 4.3 ms of CPU time and 700 faults each."""
    group = Group("/usr/sbin/server", mechanism, "clone", (), created=200, execed=execs)
    for _ in range(200):
        group.used.cpu_ns.append(4_300_000)
        group.used.minor_faults.append(700)
        group.times["life_ns"].append(5_000_000)
    tally = SimpleNamespace(groups={"all": group}, wall_s=2.0, ended={"own_faults": 3600})
    return lambda *_, **__: SimpleNamespace(tally=tally, name="server", predictions=[{"rss_bytes": 40 << 20}])


def test_a_running_server_tells_what_its_children_use(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observing, "census", census_of("fork"))
    answer = asked(capsys, "--pid", str(os.getpid()), "--work", "100us", "--cpus", "1", "--rate", "20")
    wish = answer["wish"]
    assert (wish["child_faults"], wish["child_launch"], wish["child_cpu_ns"]) == (700, "fork", 4_300_000)
    assert wish["memory_bytes"] > 0
    assert wish["parent_faults"] == 18
    fork = next(design for design in answer["designs"] if design["id"] == "fork")
    known = {part["name"]: part["known"] for part in fork["parts"]}
    assert known["page faults of the child"] == known["start of work of the child"] == "observed"
    assert any("4.30 ms" in text for text in answer["observed"])


def test_a_command_that_is_started_is_observed_in_the_same_way(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observing, "census", census_of("fork", execs=200))
    answer = asked(capsys, "--rate", "20", "--work", "100us", "--cpus", "1", "--census", "--", "./server", "-x")
    assert answer["wish"]["child_launch"] == "spawn"
    assert answer["wish"]["memory_bytes"] == 40 << 20
    # What a program does at its start says nothing of a fork.
    assert {design for each in answer["unknown"] for design in each["designs"]} == {"fork"}
    monkeypatch.setattr(observing, "census", census_of("thread"))
    threads = asked(capsys, "--rate", "20", "--cpus", "1", "--census", "--", "./server")
    assert threads["wish"]["work_ns"] == 4_300_000
    assert threads["wish"]["child_cpu_ns"] is None


@pytest.mark.parametrize(
    ("words", "refusal"),
    [
        ([], "which load?"),
        (["--rate", "1000", "--work", "2ms", "--cpus", "1"], "the work alone needs 2.00 CPUs"),
        ([*LOAD, "--limit", "p99.9=5ms"], "not a limit of latency"),
        ([*LOAD, "--limit", "p99<100us"], "a request alone takes 200 µs"),
        ([*LOAD, "--child-faults", "-3"], "-3"),
        ([*LOAD, "--child-start", "soon"], "'soon' is not a time"),
        ([*LOAD, "--census"], "none is given"),
        ([*LOAD, "ls"], "unexpected argument 'ls'"),
        (["--pid", "1", "--census", "--", "ls"], "only one of them"),
    ],
)
def test_what_cannot_be_meant_is_refused(capsys: Captured, words: list[str], refusal: str) -> None:
    assert refusal in run(capsys, *words, status=2)[1]
