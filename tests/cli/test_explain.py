from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.fakes.hasty import EXPLAINING
from tests.model.synthetic import EACH_NS, calibration

from clonometer.cli.ending import run_to_the_end
from clonometer.host.facts import collect
from clonometer.model.store import default_path, machine_of, save_calibration

RUN = str(Path(__file__).parents[1] / "data" / "schema1.parquet")


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = run_to_the_end(["explain", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["launch.frok"], "did you mean 'launch.fork'"),
        (["launch.fork", "--vs", "launch.pthreat"], "did you mean 'launch.pthread'"),
        (["launch.frok"], "also near: launch.vfork"),
        (["work.facto"], "did you mean 'work.factor'"),
        (["clock.used"], "launches no task"),
        (["launch.fork", "--tier", "best"], "unknown tier"),
        (["launch.fork", "--counters", "hardwear"], "did you mean 'hardware'"),
        (["launch.fork", "--set", "parent_bytes=0,1MiB"], "one condition"),
        (["launch.fork", "--set", "colour=red"], "colour"),
        (["launch.fork", "--picture", "why.gif"], "must end in .png or .svg"),
        (["launch.fork", "--out", "a.json", "--trace", "a.json"], "same file"),
        (["launch.pthread", "--set", "detached=yes"], "nothing waits"),
        (["launch.fork", "--set", "concurrency=2"], "one at a time"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    status, out, err = run(capsys, *words)
    assert status == 2
    assert out == ""
    assert message in " ".join(err.split())


def test_an_existing_file_is_not_replaced(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    existing = tmp_path / "why.json"
    existing.write_text("mine")
    status, _, err = run(capsys, "launch.fork", "--trace", str(existing))
    assert status == 2
    assert "name another file" in err
    assert existing.read_text() == "mine"


@pytest.mark.real
@pytest.mark.parametrize("tier", ["own", "stamps"])
def test_each_tier_answers_with_the_three_keys(capsys: pytest.CaptureFixture[str], tier: str) -> None:
    status, out, _ = run(capsys, "launch.fork", "--processes", "2", "--tier", tier, "--json")
    document = json.loads(out)
    assert status == 0
    assert document["tier"]["name"] in (tier, "stamps")
    assert sum(part["mean_ns"] for part in document["budget"]) + document["unexplained_ns"] == pytest.approx(
        document["reaped_ns"]
    )
    assert isinstance(document["overhead"], float)


@pytest.mark.real
def test_all_files_are_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for changed in EXPLAINING:
        monkeypatch.setattr(*changed)
    files = {name: tmp_path / name for name in ("o.json", "p.html", "t.json", "p.svg")}
    words = ["launch.pthread", "--vs", "launch.fork", "--set", "stack_bytes=1MiB", "--processes", "1"]
    for option, path in zip(("--out", "--html", "--trace", "--picture"), files.values(), strict=True):
        words += [option, str(path)]
    status, out, _ = run(capsys, *words)
    assert status == 0
    assert "times as long" in out
    assert "versus" in json.loads(files["o.json"].read_text())
    assert json.loads(files["t.json"].read_text())["traceEvents"]
    assert files["p.html"].read_text().startswith("<!DOCTYPE html>")
    assert "<svg" in files["p.svg"].read_text()[:200]
    # And what was written is what the report reads.
    report = tmp_path / "report.html"
    assert run_to_the_end(["report", RUN, "--explain", str(files["o.json"]), "--out", str(report)]) == 0
    assert "times as long" in report.read_text(encoding="utf-8")


@pytest.mark.real
def test_where_the_machine_was_calibrated_a_fork_is_also_predicted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    save_calibration(calibration(machine=machine_of(collect())), default_path())
    answers = {}
    for pages in ("rewritten", "clean"):
        file = tmp_path / f"{pages}.json"
        words = ["--set", "parent_bytes=16MiB", "--set", f"pages={pages}", "--processes", "2", "--tier", "stamps"]
        status, out, _ = run(capsys, "launch.fork", *words, "--out", str(file))
        assert status == 0
        assert "In a process that forks occasionally, the launching call would take" in " ".join(out.split())
        answers[pages] = json.loads(file.read_text())["predicted_call"]
    memory_ns = 8 * EACH_NS["page tables"] + 1000 * 30 + 3096 * 40
    # What the probe itself has costs something too, a few areas and pages.
    assert memory_ns + EACH_NS["base"] < answers["rewritten"]["median_ns"] < 1.5 * memory_ns + EACH_NS["base"]
    assert answers["clean"]["median_ns"] == pytest.approx(0.8 * answers["rewritten"]["median_ns"], rel=0.02)
