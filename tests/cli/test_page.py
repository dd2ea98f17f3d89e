"""``clonometer page`` end to end: with a made calibration, from a run, from a file of another machine."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from tests.fakes.fork_machine import fork_machine, random_profile
from tests.fakes.memory_run import GIB, MIB, RunBuilder, write_run

from clonometer.app import fork_page as app
from clonometer.app.fork_page import read_fork_page
from clonometer.cli.ending import run_to_the_end
from clonometer.errors import DriverError, InputError
from clonometer.host.facts import collect
from clonometer.model.store import default_path, machine_of, read_calibration, save_calibration
from clonometer.records import to_json
from clonometer.views.html.fork_page import render_fork_page

DOCS = Path(__file__).parents[2] / "docs"
SCHEMA = json.loads((DOCS / "schemas/page.schema.json").read_text(encoding="utf-8"))
Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, and a data folder with a calibration that fits."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    save_calibration(replace(fork_machine().calibration, machine=machine_of(collect())), default_path())
    return tmp_path / "here"


def run(capsys: Captured, *words: str, status: int = 0) -> tuple[str, str]:
    assert run_to_the_end(["page", *words]) == status
    captured = capsys.readouterr()
    return captured.out, captured.err


def test_it_writes_a_page_and_says_the_answer(folder: Path, capsys: Captured) -> None:
    out, err = run(capsys, "--no-scan", "--out", "fork.html")
    assert re.search(r"^fork\(\) in a process with 1 GiB takes \d", out)
    assert "wrote fork.html" in err
    page = (folder / "fork.html").read_text(encoding="utf-8")
    assert '<h1 id="answer">fork() in a process with 1\u00a0GiB takes' in page
    assert len(page.encode()) < 300_000
    # What stands there is kept, unless it may be replaced.
    assert "exists" in run(capsys, "--no-scan", "--out", "fork.html", status=2)[1]
    run(capsys, "--no-scan", "--out", "fork.html", "--force")


def test_its_data_make_the_same_page_elsewhere(folder: Path, capsys: Captured) -> None:
    out, _ = run(capsys, "--no-scan", "--json", "--out", "fork.html")
    jsonschema.validate(json.loads(out), SCHEMA)
    (folder / "machine.json").write_text(out, encoding="utf-8")
    default_path().unlink()
    run(capsys, "--from", "machine.json", "--out", "again.html")
    assert (folder / "again.html").read_text() == (folder / "fork.html").read_text()
    assert "alone" in run(capsys, "--from", "machine.json", "--rough", status=2)[1]


@pytest.mark.parametrize(
    ("text", "words"), [("{", "not JSON"), ("{}", "not the data of a page"), ('{"schema": 9}', "its schema is 9")]
)
def test_what_is_no_data_of_a_page_is_refused(folder: Path, text: str, words: str) -> None:
    (folder / "machine.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        read_fork_page(folder / "machine.json")


def test_a_way_that_the_data_lack_is_a_dash(folder: Path, capsys: Captured) -> None:
    data = json.loads((DOCS / "fork-example.json").read_text())
    for size in data["start"]["sizes"]:
        del size["costs_ns"]["posix_spawn"]
    (folder / "machine.json").write_text(json.dumps(data))
    out, _ = run(capsys, "--from", "machine.json")
    assert "posix_spawn" in out


def test_a_machine_that_was_not_calibrated_is_calibrated_and_says_so(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    default_path().unlink()
    made = replace(fork_machine().calibration, machine=machine_of(collect()), quick=True)
    asked = []
    monkeypatch.setattr("clonometer.app.calibrating.calibrate", lambda **words: asked.append(words) or (made, 0))
    out, err = run(capsys)
    assert [words["quick"] for words in asked] == [True]
    assert "quick calibration takes 20 s" in err
    kept = read_calibration(default_path())
    assert kept is not None
    assert to_json(kept) == to_json(made)
    assert "rough" not in out


def test_where_that_fails_the_page_says_that_its_times_are_rough(
    folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    default_path().unlink()

    def fails(**_: object) -> None:
        raise DriverError("no memory to fork in")

    monkeypatch.setattr("clonometer.app.calibrating.calibrate", fails)
    out, err = run(capsys, "--out", "fork.html")
    assert "no memory to fork in" in err
    assert "rough" in out
    assert "These times are rough" in (folder / "fork.html").read_text(encoding="utf-8")
    assert not default_path().exists()


def test_a_profile_begins_the_page_and_stands_in_it_unharmed(folder: Path, capsys: Captured) -> None:
    import random

    profile = replace(random_profile(random.Random(3)), process="</script><script>alert(1)</script>")
    (folder / "server.json").write_text(json.dumps(to_json(profile)), encoding="utf-8")
    run(capsys, "--no-scan", "--profile", "server.json", "--out", "fork.html")
    page = (folder / "fork.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert page.count("</script>") == 2
    assert "alert(1)" in page


def test_a_run_brings_its_launches_as_points(folder: Path) -> None:
    builder = RunBuilder()
    for workload, base_ns in (("launch.fork", 40_000.0), ("launch.pthread", 9_000.0), ("launch.vfork", 1.0)):
        for size in (0, MIB, GIB):
            builder.cell(workload, {"call_returns_ns": base_ns + size / 100}, parent_bytes=size)
    builder.cell("launch.fork", {"call_returns_ns": 1.0}, parent_bytes=GIB, vmas=1000)
    builder.cell("launch.fork", {"call_returns_ns": 1.0}, "cold", parent_bytes=GIB)
    run_file = write_run(folder / "memory.parquet", builder.run)
    measured = app.fork_page(runs=[run_file], scan=False).runs[0]
    assert measured.name == "memory.parquet"
    medians = {(point.mechanism, point.memory_bytes): point.median_ns for point in measured.points}
    assert set(medians) == {(each, size) for each in ("fork", "thread") for size in (0, MIB, GIB)}
    assert len(measured.points) == len(medians)
    assert medians["fork", GIB] == pytest.approx(40_000 + GIB / 100, rel=0.1)


def test_the_example_of_the_docs_is_made_of_its_data() -> None:
    page = read_fork_page(DOCS / "fork-example.json")
    text = render_fork_page(to_json(page))
    assert text == (DOCS / "fork-example.html").read_text(encoding="utf-8"), "make docs writes it anew"
    assert len(text.encode()) < 300_000
