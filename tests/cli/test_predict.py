"""``clonometer predict`` end to end: made processes under a root of their own, and a made calibration."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import sys
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from tests.fakes.made_target import MadeMachine, entry
from tests.model.synthetic import calibration

from clonometer.app import live, predicting
from clonometer.cli.ending import run_to_the_end
from clonometer.host.facts import collect
from clonometer.model.store import default_path, machine_of, save_calibration

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "schemas/predict.schema.json").read_text(encoding="utf-8"))
PROFILE_SCHEMA = json.loads((DOCS / "schemas/predict-profile.schema.json").read_text(encoding="utf-8"))
BASE = 0x7F0000000000
SMAPS = "".join(
    [
        entry(0x5500000000, 0x5500800000, name="[heap]", Rss=8192, Anonymous=8192),
        entry(BASE, BASE + (1 << 30), Rss=1 << 20, Anonymous=1 << 20),
        entry(BASE + (1 << 31), BASE + (1 << 31) + (1 << 20), inode=3, name="/a/\x1b[31m evil.so", Rss=40),
    ]
)
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MadeMachine:
    """A machine with process 4711, a calibration that fits, and an empty folder to stand in."""
    monkeypatch.setattr(live, "ROOT", tmp_path / "root")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    save_calibration(calibration(machine=machine_of(collect())), default_path())
    return MadeMachine(tmp_path / "root").process(smaps=SMAPS, RssAnon="1056768 kB", VmPTE="2120 kB", Threads=3)


def test_forty_columns_and_ascii_are_enough(
    made: MadeMachine, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert max(map(len, run(capsys, "--pid", "4711").splitlines())) <= 40
    assert max(map(len, run(capsys, "--all").splitlines())) <= 40


def run(capsys: Captured, *words: str, status: int = 0) -> str:
    scan = [] if words and words[0] == "--rough" else ["--no-scan"]
    assert run_to_the_end(["predict", *words, *scan]) == status
    caught = capsys.readouterr()
    return caught.err if status else caught.out


def test_the_answer_begins_with_who_waits_how_long_and_fits_80_columns(made: MadeMachine, capsys: Captured) -> None:
    text = run(capsys, "--pid", "4711", "--write-rate", "10MiB/s")
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert words.startswith("fork() in server (pid 4711, 1.01 GiB) would block its caller for 19 (11 to 33) ms. - ")
    assert re.search(
        r"- A caller that waits for the child's exit waits 40 \(20 to 60\) ms\. - One that waits for the child's exec "
        r"waits 40 \(20 to 60\) ms, since exec first frees the copied memory",
        words,
    )
    assert re.search(
        r"A later fork takes 8\.\d ms to 33 ms of CPU time: about 15 ms if nothing was rewritten since the last one, "
        r"19 ms if everything was\.",
        words,
    )
    known = " ".join(run(capsys, "--pid", "4711", "--write-rate", "1MiB/s", "--fork-every", "100s").split())
    assert re.search(
        r"A later fork takes 15 \(9 to 27\) ms of CPU time, with 9\.\d% of the memory rewritten since the last\.", known
    )
    assert "The kernel would allow it" in words
    assert "any of the other 2 threads" in words
    assert "[anon] at 7f0000000000" in text
    assert re.search(r"- [\d.]+ [mµ]s instead of 19 ms \(modelled; [\d.]+ [mµ]s with nothing rewritten\): With", words)
    assert "--a page_kind=4k --b page_kind=thp" in words
    assert "\x1b" not in text
    assert "Basis: this machine's calibration" in words
    assert "Nothing was written to it, and it was not stopped." in words


def test_json_is_as_its_schema_says_and_says_the_same(made: MadeMachine, capsys: Captured) -> None:
    document = json.loads(run(capsys, "--pid", "4711", "--json"))
    jsonschema.validate(document, SCHEMA)
    assert document["basis"]["model"] == "calibration"
    assert document["fork"]["first_ns"]["median"] > document["fork"]["unwritten_ns"]["median"] > 0
    assert document["schema"] == 3
    known = json.loads(run(capsys, "--pid", "4711", "--json", "--write-rate", "4GiB/s", "--fork-every", "1m"))
    assert known["rewritten"] == {"low": 1.0, "likely": 1.0, "high": 1.0, "source": "given"}
    rough = json.loads(run(capsys, "--pid", "4711", "--json", "--rough"))
    assert rough["basis"]["model"] == "rough"
    assert "These times are rough" in run(capsys, "--pid", "4711", "--rough")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "which process?"),
        (["--pid", "4711", "--all"], "which process?"),
        (["--pid", "12"], "there is no process 12 here"),
        (["--pid", "abc"], "'abc' is not a process id"),
        (["--pid", "0"], "'0' is not a process id"),
        (["--pid", "4711", "--fork-every", "60s"], "--fork-every needs a rate of writing"),
        (["--all", "--measure-writes", "1s"], "needs a running process"),
        (["--pid", "4711", "--write-rate", "1MiB", "--measure-writes", "1s"], "states what --measure-writes measures"),
        (["--pid", "4711", "--write-rate", "fast"], "is not a size"),
        (["--profile", "none.json"], "cannot read none.json"),
        (["--profile", "rubbish.json"], "rubbish.json is not a profile: it is not JSON"),
        (["--profile", "empty.json"], "empty.json is not a profile: "),
        (["--profile", "empty.json", "--save-profile", "x.json"], "saves a running process"),
        (["--pid", "4711", "--save-profile", "empty.json"], "empty.json exists"),
        (["--pid", "4711", "--openmetrics", "empty.json"], "empty.json exists"),
    ],
)
def test_what_cannot_be_meant_ends_with_2(made: MadeMachine, capsys: Captured, words: list[str], message: str) -> None:
    Path("rubbish.json").write_text("{", encoding="utf-8")
    Path("empty.json").write_text("{}", encoding="utf-8")
    assert message in " ".join(run(capsys, *words, status=2).split())


def test_a_calibration_that_is_damaged_or_of_another_machine(made: MadeMachine, capsys: Captured) -> None:
    save_calibration(calibration(machine={"cpu.model": "another"}), default_path())
    assert "does not match this machine as it is now" in run(capsys, "--pid", "4711", status=2)
    default_path().write_text('{"schema": 1', encoding="utf-8")
    assert "is not a calibration" in run(capsys, "--pid", "4711", status=2)
    assert "These times are rough" in run(capsys, "--pid", "4711", "--rough")
    default_path().unlink()
    assert "These times are rough" in run(capsys, "--pid", "4711")


def test_a_process_that_ends_while_it_is_read_ends_with_3(made: MadeMachine, capsys: Captured) -> None:
    made.write({"proc/4711/smaps": ""})
    assert "process 4711 ended while it was being read" in run(capsys, "--pid", "4711", status=3)


def test_a_profile_is_judged_elsewhere(made: MadeMachine, capsys: Captured) -> None:
    live = json.loads(run(capsys, "--pid", "4711", "--json", "--save-profile", "server.json"))
    profile = json.loads(Path("server.json").read_text(encoding="utf-8"))
    jsonschema.validate(profile, PROFILE_SCHEMA)
    assert profile["process"] is None
    elsewhere = json.loads(run(capsys, "--profile", "server.json", "--json"))
    jsonschema.validate(elsewhere, SCHEMA)
    assert elsewhere["fork"] == live["fork"]
    assert (elsewhere["pid"], elsewhere["would_fail"]) == (None, None)
    run(capsys, "--pid", "4711", "--save-profile", "server.json", "--force", "--names")
    assert json.loads(Path("server.json").read_text(encoding="utf-8"))["process"] == "server"


def test_measuring_writes_says_first_what_it_does(
    made: MadeMachine, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clonometer.host.target.writes.means_of_this_kernel", lambda: "touched")
    refused = run(capsys, "--pid", "4711", "--json", "--measure-writes", "10ms", status=4)
    assert "writes of process 4711 cannot be measured" in refused
    touched = re.sub(r"Referenced: +0 kB", "Referenced:  2048 kB", SMAPS, count=1)
    made.write({"proc/4711/clear_refs": "", "proc/4711/smaps": touched})
    assert run_to_the_end(["predict", "--pid", "4711", "--json", "--measure-writes", "10ms", "--no-scan"]) == 0
    caught = capsys.readouterr()
    assert "clear_refs" in caught.err
    assert (made.root / "proc/4711/clear_refs").read_text(encoding="utf-8") == "1"
    document = json.loads(caught.out)
    assert document["cow"]["rate_source"] == "touched"
    assert document["basis"]["wrote_to_it"]
    # 2 MiB within 10 ms or a little more, of 1032 MiB.
    assert 0 < document["cow"]["write_rate_bytes_per_s"] < 1.01 * (2 << 20) / 0.01


def test_a_census_names_what_forks_of_the_largest_would_cost(made: MadeMachine) -> None:
    made.process(pid=4712, smaps=SMAPS, RssAnon="90000 kB", Name="small")
    foreseen = predicting.LivePredictions()
    for pid in (4712, 4711, 4799):
        foreseen._next_s = 0.0
        foreseen.glance(pid)
    [largest] = foreseen.documents(None)
    assert (largest["process"], largest["basis"]["how"]) == ("server", "counters")
    [watched] = foreseen.documents(4712)
    assert (watched["process"], watched["basis"]["how"]) == ("small", "smaps")
    predicted = json.loads((DOCS / "schemas/census.schema.json").read_text(encoding="utf-8"))["properties"][
        "predictions"
    ]
    assert set(predicted["items"]["required"]) <= set(watched)
    assert watched["schema"] == predicted["items"]["properties"]["schema"]["const"]
    # Whoever was asked for and has gone is not there to be read any more.
    assert foreseen.documents(4799) == [largest]
    default_path().unlink()
    assert predicting.LivePredictions().documents(4711) == []


def test_an_old_calibration_and_a_scale_of_now_are_named() -> None:
    # The drawing alone: what is said of the basis.
    from clonometer.model.features import Features
    from clonometer.model.types import Scale, Scales
    from clonometer.prediction.judge import Machine, Question, judge
    from clonometer.prediction.profile import Profile
    from clonometer.records import to_json
    from clonometer.views.documents.predict import predicted_document
    from clonometer.views.terminal.document import render_document

    whole = Features(anon_areas=1, anon_pages=100, anon_tables=1, threads=1)
    profile = Profile("it", "smaps", None, 1 << 20, whole, None, None, 1, 1, [])
    machine = Machine(
        replace(calibration(), made_at=0, quick=True), is_rough=False, scales=Scales.alike(Scale(1.3, 0.05))
    )
    text = " ".join(
        render_document(predicted_document, to_json(judge(profile, machine, Question())), width=200).split()
    )
    assert re.search(r"quick calibration of [\d,]+ days ago, times 1\.30 from a scan just now", text)


ON_A_TERMINAL = """
import sys
from tests.model.synthetic import calibration
from clonometer.app import calibrating
from clonometer.cli.ending import run_to_the_end
from clonometer.host.facts import collect
from clonometer.model.store import machine_of
made = lambda **asked: (calibration(machine=machine_of(collect()), quick=asked["quick"]), 0)
calibrating.calibrate = made
sys.exit(run_to_the_end(["predict", "--pid", sys.argv[1]]))
"""


@pytest.mark.parametrize(
    ("reply", "words"), [("y", "this machine's quick calibration"), ("n", "These times are rough")]
)
def test_without_a_calibration_a_quick_one_is_offered_where_somebody_can_answer(
    tmp_path: Path, reply: str, words: str
) -> None:
    environment = {
        **os.environ,
        "XDG_DATA_HOME": str(tmp_path),
        "COLUMNS": "300",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(sys.executable, [sys.executable, "-c", ON_A_TERMINAL, str(os.getppid())], environment)
    text = b""
    # At its end a terminal that nobody writes to any more gives an error.
    with contextlib.suppress(OSError):
        while piece := os.read(terminal, 65536):
            text += piece
            if text.endswith(b"[Y/n]: "):
                os.write(terminal, f"{reply}\n".encode())
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert "Calibrate it now, in 20 s?" in text.decode()
    assert words in text.decode()
    assert (tmp_path / "clonometer" / "calibration.json").exists() == (reply == "y")


def test_a_ranking_has_no_more_digits_than_it_knows_and_blames_no_other_user() -> None:
    """Root may read all processes, so those that it could not read have ended."""
    from tests.views.sample_documents import predicted

    from clonometer.views.documents.predict import ranking_document
    from clonometer.views.terminal.document import render_document

    document = predicted()
    waits = {**document["waits"], "until_exec_ns": {"median": 6.24e6, "low": 1e6, "high": 2e7}}
    seen = [{**document, "waits": waits, "pid": 7}]
    ranking = {"seen": 1, "unread": 50, "model": "calibration", "processes": seen}
    text = render_document(ranking_document, ranking, width=120)
    assert "6 ms" in text
    assert "6.24" not in text
    assert "50 could not be read: they ended, or this user may not." in text
