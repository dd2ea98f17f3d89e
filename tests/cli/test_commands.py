"""Each command end to end with the fake driver, in this process where nothing speaks against it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import CommandLine

from clonometer import load
from clonometer.app import doctor, self_test
from clonometer.cli.ending import run_to_the_end
from clonometer.run_document import RunDocument

Captured = pytest.CaptureFixture[str]
SMALL = ("launch.fork", "launch.pthread", "--budget", "0.2", "--seed", "7")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run file that the command wrote."""
    from tests.cli.conftest import make_command_line

    folder = tmp_path_factory.mktemp("measured")
    command_line = make_command_line(folder)
    ended = command_line("run", *SMALL, "--report", "report.html")
    assert ended.returncode == 0, ended.stderr
    (folder / "stdout").write_text(ended.stdout)
    (folder / "stderr").write_text(ended.stderr)
    return folder


@pytest.fixture
def inside(clonometer: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The current process stands where ``clonometer`` would run."""
    for name, value in clonometer.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.chdir(clonometer.folder)
    return clonometer


def test_run_answers_and_names_its_files(measured: Path) -> None:
    out = (measured / "stdout").read_text()
    assert max(map(len, out.splitlines())) <= 80
    assert "\x1b" not in out
    assert "fork" in out
    assert "Wrote clonometer-run.parquet and report.html." in out
    assert (measured / "report.html").read_text().lstrip().lower().startswith("<!doctype html")
    err = (measured / "stderr").read_text()
    assert err.startswith("measuring launch.fork launch.pthread: 4 conditions, at most ")
    assert {path.name for path in measured.iterdir()} == {
        "bin", "starts.log", "stdout", "stderr", "clonometer-run.parquet", "report.html",
    }  # fmt: skip


def test_show_repeats_the_answer(measured: Path, capsys: Captured) -> None:
    assert run_to_the_end(["show", str(measured / "clonometer-run.parquet")]) == 0
    # What follows names the file, as each of them was told its name.
    answer = capsys.readouterr().out.partition("Next  ")[0]
    assert answer
    assert (measured / "stdout").read_text().startswith(answer)


def test_show_json_is_one_object_with_the_command_that_repeats_it(measured: Path, capsys: Captured) -> None:
    assert run_to_the_end(["show", str(measured / "clonometer-run.parquet"), "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert {"schema", "status", "host", "cells", "findings"} <= set(results)
    assert results["command"] == [
        "clonometer", "run", "launch.fork", "launch.pthread", "--budget", "0.2", "--seed", "7",
    ]  # fmt: skip


def test_show_only_keeps_the_cells_that_match(measured: Path, capsys: Captured) -> None:
    path = str(measured / "clonometer-run.parquet")
    assert run_to_the_end(["show", path, "--json", "--only", "launch.fork[*cold]"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert {row["cell"] for row in results["cells"]} == {"launch.fork[temperature=cold]"}
    assert run_to_the_end(["show", path, "--only", "launch.frok"]) == 2
    assert "unknown cell 'launch.frok'" in capsys.readouterr().err


def test_run_ends_where_intervals_are_narrow_and_says_so(inside: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_DRIVER_SEED", "0")  # every process gives the same samples
    words = ["run", "launch.pthread", "--set", "temperature=warm", "--budget", "600", "--target-width", "1%"]
    assert run_to_the_end([*words, "--seed", "1"]) == 0
    metadata = clonometer_metadata(inside.folder / "clonometer-run.parquet")
    assert {cell.stopped_by for cell in metadata.cells} == {"target"}
    # It looks first after 24, and a quarter more confirm.
    assert len(metadata.processes) == 30
    assert metadata.plan.target_width == 0.01
    assert "--target-width 0.01" in " ".join(metadata.command)


def clonometer_metadata(path: Path) -> RunDocument:
    return load(path).document


def test_report_writes_one_file_and_spares_existing_ones(measured: Path, tmp_path: Path, capsys: Captured) -> None:
    path, out = str(measured / "clonometer-run.parquet"), tmp_path / "report.html"
    assert run_to_the_end(["report", path, "--out", str(out)]) == 0
    assert str(out) in capsys.readouterr().err
    out.write_text("precious")
    assert run_to_the_end(["report", path, "--out", str(out)]) == 2
    assert out.read_text() == "precious"
    assert run_to_the_end(["report", path, "--out", str(out), "--force"]) == 0
    assert out.read_text() != "precious"


def test_run_json_prints_json_only(inside: CommandLine, capsys: Captured) -> None:
    assert run_to_the_end(["run", *SMALL, "--json", "--only", "launch.pthread*"]) == 0
    captured = capsys.readouterr()
    results = json.loads(captured.out)
    assert {row["workload"] for row in results["cells"]} == {"launch.pthread"}
    assert "Wrote clonometer-run.parquet." in captured.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["launch.frok"], "unknown workload 'launch.frok'; did you mean 'launch.fork'?"),
        (["launch.fork", "--set", "parent_byte=0"], "did you mean 'parent_bytes'?"),
        (["launch.fork", "--set", "pages=claen"], "did you mean 'clean'?"),
        (["launch.fork", "--only", "launch.vfork*"], "launch.vfork*"),
        (["--plan", "defualt"], "unknown plan 'defualt'; did you mean 'default'?"),
        (["--plan", "absent.toml"], "cannot read absent.toml"),
        (["launch.fork", "--out", "absent/run.parquet"], "absent does not exist"),
        (["launch.fork", "--out", "bin"], "bin is a folder"),
        (["launch.fork", "--report", "absent/report.html"], "absent does not exist"),
        (["launch.fork", "--out", "run.raw"], ".raw is the suffix of unfinished runs"),
        (["launch.fork", "--out", "same", "--report", "./same"], "name the same file"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_measured(
    inside: CommandLine, words: list[str], message: str, capsys: Captured
) -> None:
    assert run_to_the_end(["run", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err.splitlines()[0]
    assert captured.out == ""
    assert not inside.measuring_pids()
    assert {path.name for path in inside.folder.iterdir()} <= {"bin", "starts.log"}


@pytest.mark.parametrize("words", [["--out", "old"], ["--report", "old"]])
def test_existing_files_are_refused_before_any_driver_measures(
    inside: CommandLine, words: list[str], capsys: Captured
) -> None:
    (inside.folder / "old").write_text("precious")
    assert run_to_the_end(["run", "launch.fork", *words]) == 2
    assert "old exists" in capsys.readouterr().err
    assert not inside.measuring_pids()
    assert (inside.folder / "old").read_text() == "precious"


def test_keep_previous_renames_the_run_before_and_says_so(inside: CommandLine, capsys: Captured) -> None:
    words = ["run", *SMALL, "--only", "launch.pthread*", "--report", "report.html", "--keep-previous"]
    assert run_to_the_end(words) == 0
    assert "previous" not in capsys.readouterr().out
    first = (inside.folder / "clonometer-run.parquet").read_bytes()
    (inside.folder / "clonometer-run.raw").write_text("what a killed run left")
    assert run_to_the_end(words) == 0
    out = capsys.readouterr().out
    assert (inside.folder / "clonometer-run.previous.parquet").read_bytes() == first
    assert "clonometer compare clonometer-run.previous.parquet clonometer-run.parquet" in out
    assert "clonometer recover clonometer-run.previous.raw" in out
    assert (inside.folder / "clonometer-run.previous.raw").read_text() == "what a killed run left"


def test_the_run_before_gets_its_name_back_when_nothing_was_measured(
    inside: CommandLine, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    (inside.folder / "clonometer-run.parquet").write_text("precious")
    (inside.folder / "bin" / "probe-static").unlink()
    (inside.folder / "bin" / "probe-static").write_text(
        "#!/bin/sh\n[ $1 = --calibrate ] && exit 1\n"
        f'exec python3 {Path(__file__).parents[1] / "fakes" / "fake_driver.py"} "$@"\n'
    )
    (inside.folder / "bin" / "probe-static").chmod(0o755)
    assert run_to_the_end(["run", *SMALL, "--keep-previous"]) == 4
    assert "--calibrate ended with status 1" in capsys.readouterr().err
    assert (inside.folder / "clonometer-run.parquet").read_text() == "precious"
    assert not (inside.folder / "clonometer-run.previous.parquet").exists()


def test_the_same_seed_gives_the_same_order(inside: CommandLine, capsys: Captured) -> None:
    orders = []
    words = ["run", "launch.*", "--set", "temperature=cold", "--seed", "5", "--budget", "0.01"]
    for name in ("one.parquet", "two.parquet"):
        before = len(inside.starts())
        assert run_to_the_end([*words, "--out", name]) == 0
        capsys.readouterr()
        starts = [start["argv"] for start in inside.starts()[before:] if "--fd" in start["argv"]]
        orders.append([words[2] for words in starts])
    assert orders[0] == orders[1]
    assert len(orders[0]) == len(set(orders[0])) == 6


def test_without_a_driver_the_status_is_4(
    inside: CommandLine, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("CLONOMETER_BIN", str(inside.folder))
    assert run_to_the_end(["list"]) == 4
    assert "no driver can be used" in capsys.readouterr().err


def test_list_tells_what_is_here_and_why_the_rest_is_not(inside: CommandLine, capsys: Captured) -> None:
    assert run_to_the_end(["list", "--wide"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    for expected in (
        "launch.absent",
        "not here: needs Linux 9.9, this is 6.1",
        "rewritten | first | clean; default rewritten",
        "not here: hugetlb: 0 huge pages are reserved",
        "not here: dynamic_now: not built here",
        "Plans (--plan NAME)",
    ):
        assert expected in text


def test_list_names_what_can_be_measured_on_a_screen_and_how_to_see_the_rest(
    inside: CommandLine, capsys: Captured
) -> None:
    assert run_to_the_end(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80
    assert any("parent_bytes" in line for line in lines)
    assert any("python, ruby, rust" in line for line in lines)
    assert any("clonometer list NAME" in line for line in lines)
    assert any("clonometer list --wide" in line for line in lines)


def test_list_explains_a_name_and_what_of_it_is_not_here(inside: CommandLine, capsys: Captured) -> None:
    assert run_to_the_end(["list", "page_kind", "fork"]) == 0
    text = capsys.readouterr().out
    assert max(len(line) for line in text.splitlines() if "example" not in line) <= 80
    for expected in ("page_kind (axis)", "hugetlb: 0 huge pages are reserved", "no effect", "launch.fork (workload)"):
        assert expected in text
    assert run_to_the_end(["list", "fork", "--json"]) == 0
    (fork,) = json.loads(capsys.readouterr().out)["about"]
    assert (fork["kind"], fork["example"]) == ("workload", "clonometer run launch.fork")


def test_list_json_has_the_same(inside: CommandLine, capsys: Captured) -> None:
    assert run_to_the_end(["list", "--json"]) == 0
    listing = json.loads(capsys.readouterr().out)
    workloads = {entry["id"]: entry for entry in listing["workloads"]}
    assert workloads["launch.absent"]["reason"] == "needs Linux 9.9, this is 6.1"
    assert workloads["launch.fork"]["available"] is True
    axes = {entry["name"]: entry for entry in listing["axes"]}
    assert axes["linkage"]["unavailable"] == {
        "dynamic_lazy": "not built here",
        "dynamic_now": "not built here",
        "musl": "not built here",
    }
    assert "default" in {entry["name"] for entry in listing["plans"]}


def test_doctor_describes_drivers_and_clock(
    inside: CommandLine, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "NOISE_SECONDS", 0.1)
    monkeypatch.setattr(doctor, "CPUID_SECONDS", 0.1)
    assert run_to_the_end(["doctor", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["clock"]["clock"] == "monotonic"
    assert [entry["linkage"] for entry in facts["drivers"]] == ["static"]
    assert run_to_the_end(["doctor"]) == 0
    assert "one reading costs 23.0 ns" in capsys.readouterr().out


def test_the_self_test_passes_with_an_instrument_that_answers_right(
    inside: CommandLine, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_test, "WORKLOADS", ("launch.pthread",))
    assert run_to_the_end(["doctor", "--self-test", "--rounds", "2"]) == 0
    text = capsys.readouterr().out
    assert "The instrument measures correctly here." in text
    assert "WRONG" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_the_self_test_fails_where_a_driver_fails(
    inside: CommandLine, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_DRIVER_MODE", "rubbish")
    monkeypatch.setenv("FAKE_DRIVER_ONLY", "launch.fork")
    monkeypatch.setattr(self_test, "PLACEMENTS", ("pinned",))
    assert run_to_the_end(["doctor", "--self-test", "--rounds", "2", "--json"]) == 4
    captured = capsys.readouterr()
    assert "launch.fork[temperature=warm] failed" in captured.err
    assert {check["workload"] for check in json.loads(captured.out)["moves"]} == {"launch.pthread"}
