from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from clonometer.app.explain_work import with_workers
from clonometer.cli.ending import run_to_the_end

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/explain.schema.json").read_text(encoding="utf-8"))
SMALL = ("--set", "numbers=200", "--set", "workers=3", "--set", "output=shared_stream", "--processes", "2")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = run_to_the_end(["explain", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--set", "workers=0"], "workers"),
        (["--set", "numbers=0"], "numbers"),
        (["--set", "wokers=4"], "did you mean 'workers'"),
        (["--set", "output=shared"], "shared"),
        (["--set", "task_kind=thread"], "task_kind is what is compared"),
        (["--set", "workers=2,4"], "one condition is explained at a time"),
        (["--vs", "launch.fork"], "--vs applies to single launches"),
        (["--calls"], "--calls applies to single launches"),
        (["--timeline"], "--timeline applies to single launches"),
        (["--folded", "stacks.txt"], "--folded applies to single launches"),
        (["--arguments"], "--arguments applies to single launches"),
        (["--tier", "stamps"], "proc"),
        (["--processes", "0"], "processes"),
        (["--picture", "why.gif"], "must end in .png or .svg"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    status, out, err = run(capsys, "work.factor", *words)
    assert status == 2
    assert out == ""
    assert message in " ".join(err.split())


@pytest.mark.parametrize(
    ("settings", "workers"), [([], ["workers=6"]), (["numbers=9", "workers=2"], []), (["numbers=9"], ["workers=6"])]
)
def test_as_many_work_as_there_are_processors(settings: list[str], workers: list[str]) -> None:
    assert with_workers(settings, 6) == [*settings, *workers]


def test_the_ablation_is_about_workers(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "launch.fork", "--ablation")
    assert status == 2
    assert "explain work.factor --ablation" in " ".join(err.split())


def test_an_existing_file_is_not_replaced(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    existing = tmp_path / "why.json"
    existing.write_text("mine")
    status, _, err = run(capsys, "work.factor", "--out", str(existing))
    assert status == 2
    assert "name another file" in err
    assert existing.read_text() == "mine"


@pytest.mark.real
@pytest.mark.parametrize("tier", [(), ("--tier", "proc")])
def test_the_answer_has_the_three_keys_and_sums(capsys: pytest.CaptureFixture[str], tier: tuple[str, ...]) -> None:
    status, out, _ = run(capsys, "work.factor", *SMALL, *tier, "--json")
    assert status == 0
    document = json.loads(out)
    jsonschema.validate(document, SCHEMA)
    for side in ("thread", "process"):
        whole = document["sides"][side]["whole_ns"]
        assert sum(part[f"{side}_ns"] for part in document["budget"]) == pytest.approx(whole)
    assert sum(part["difference_ns"] for part in document["budget"]) == pytest.approx(document["gap_ns"], abs=1)
    assert document["budget"][-1]["part"] == "unexplained"
    assert isinstance(document["overhead"], float)


@pytest.mark.real
def test_what_the_machine_cannot_do_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "work.factor", *SMALL, "--set", "stdio_lock=unlocked", "--json")
    assert status != 0
    assert out == ""
    assert "corrupt" in err


@pytest.mark.real
def test_all_files_are_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    names = {"--out": "a.json", "--html": "a.html", "--trace": "t.json", "--picture": "p.svg"}
    words = [word for option, name in names.items() for word in (option, str(tmp_path / name))]
    status, out, _ = run(capsys, "work.factor", *SMALL, *words)
    assert status == 0
    assert "the whole program" in out
    assert {path.name for path in tmp_path.iterdir()} == set(names.values())
    jsonschema.validate(json.loads((tmp_path / "a.json").read_text()), SCHEMA)
