"""``clonometer compare`` end to end, with runs of the fake driver."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from tests.cli.conftest import make_command_line
from tests.fakes.memory_run import write_raw, write_run
from tests.fakes.sample_run import sample_run

from clonometer.app import variance
from clonometer.cli.ending import run_to_the_end

Captured = pytest.CaptureFixture[str]
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/compare.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the same plan and one of another workload."""
    folder = tmp_path_factory.mktemp("runs")
    command_line = make_command_line(folder)
    (folder / "few.json").write_text('{"schema": 2, "rounds": 1, "rows": []}')
    (folder / "old.json").write_text('{"schema": 1, "rounds": 1, "rows": []}')
    for name, workload in (
        ("a", "launch.fork"),
        ("b", "launch.fork"),
        ("c", "launch.fork"),
        ("d", "launch.fork"),
        ("e", "launch.fork"),
        ("other", "launch.pthread"),
    ):
        ended = command_line("run", workload, "--budget", "2", "--out", f"{name}.parquet")
        assert ended.returncode == 0, ended.stderr
    return folder


def test_compare_answers_with_a_table_and_a_summary(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    paths = [str(shutil.copy(folder / name, tmp_path)) for name in ("a.parquet", "b.parquet")]
    assert run_to_the_end(["compare", *paths]) == 0
    captured = capsys.readouterr()
    assert "change" in captured.out
    assert "was never measured, and is taken to be" in captured.out.replace("\n", " ")
    assert max(map(len, captured.out.splitlines())) <= 80
    assert captured.err == ""


def test_compare_json_is_one_valid_object(folder: Path, capsys: Captured) -> None:
    paths = [str(folder / name) for name in ("a.parquet", "b.parquet", "a.parquet")]
    assert run_to_the_end(["compare", *paths, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    Draft202012Validator(SCHEMA).validate(document)
    assert [comparison["other"] for comparison in document["comparisons"]] == paths[1:]
    assert all(row["ratio"] == 1 for row in document["comparisons"][1]["rows"])
    assert [comparison["same_run"] for comparison in document["comparisons"]] == [False, True]


def test_a_run_compared_with_itself_is_told_so(folder: Path, capsys: Captured) -> None:
    assert run_to_the_end(["compare", *[str(folder / "a.parquet")] * 2]) == 0
    printed = capsys.readouterr().out
    assert printed.endswith("Both sides are the same run: there is nothing to compare.\n")


def test_two_groups_of_runs_are_parted_by_two_dashes(folder: Path, capsys: Captured) -> None:
    a, b, c = (str(folder / f"{name}.parquet") for name in ("a", "b", "c"))
    assert run_to_the_end(["compare", a, b, "--", c, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    Draft202012Validator(SCHEMA).validate(document)
    [pair] = document["comparisons"]
    assert (pair["base"], pair["other"], pair["n_base_runs"], pair["n_other_runs"]) == (f"{a}, {b}", c, 2, 1)
    assert document["noise_source"] == "these runs"
    assert all(row["between_run_noise"] is not None for row in pair["rows"])


def test_runs_beside_tell_the_noise(
    folder: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number, name in enumerate(("a", "b", "c", "d", "e", "other")):
        source = folder / f"{name}.parquet"
        (tmp_path / f"{number}.parquet").write_bytes(source.read_bytes())
    (tmp_path / "half.parquet").write_bytes(source.read_bytes()[:1000])
    (tmp_path / "folder.parquet").mkdir()
    monkeypatch.chdir(tmp_path)
    for words in (["compare", "0.parquet", "1.parquet"], ["check", "1.parquet", "--baseline", "0.parquet"]):
        run_to_the_end([*words, "--json"])
        document = json.loads(capsys.readouterr().out)
        assert document["noise_source"] == "stored runs", document["stored"]
        assert sorted(document["stored"]["files"]) == ["2.parquet", "3.parquet", "4.parquet"]
        assert document["stored"]["left_out"]["not read"] == 1
        run_to_the_end(words)
        assert "Noise between runs: from 3 other runs (" in capsys.readouterr().out.replace("\n", " ")
    # Two runs a side speak for themselves, and of one run no other is asked.
    for words in (["0.parquet", "2.parquet", "--", "1.parquet"], ["0.parquet", "--cells", "*cold*", "*warm*"]):
        assert run_to_the_end(["compare", *words, "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["stored"] is None
    monkeypatch.setattr(variance, "_MOST_BESIDE", 2)
    assert run_to_the_end(["compare", "0.parquet", "1.parquet", "--json"]) == 0
    stored = json.loads(capsys.readouterr().out)["stored"]
    assert (stored["files"], sum(stored["left_out"].values())) == ([], 5)
    assert next(count for reason, count in stored["left_out"].items() if "too large or too old" in reason) == 3


def test_what_noise_has_measured_is_used(folder: Path, tmp_path: Path, capsys: Captured) -> None:
    runs = [str(folder / f"{name}.parquet") for name in ("a", "b")]
    row = {"cell": "launch.fork[temperature=warm]", "temperature": "warm", "quantity": "reaped_ns"}
    placed = [{**row, "placement": placement, "between_rounds": 0.5} for placement in (None, "same_cpu", "other_cpu")]
    others = [{**row, "cell": f"launch.{name}", "between_rounds": 0.0} for name in ("a", "b", "c", "d", "e", "f", "g")]
    noise = tmp_path / "noise.json"
    noise.write_text(json.dumps({"schema": 2, "rounds": 3, "rows": [*placed, *others]}))
    between = {}
    alone = tmp_path / "alone"
    alone.mkdir()
    runs = [str(shutil.copy(run, alone)) for run in runs]
    for source, words in (("unknown", []), ("given", ["--noise", "1%"]), ("measured", ["--noise", str(noise)])):
        assert run_to_the_end(["compare", *runs, *words, "--json"]) == 0
        document = json.loads(capsys.readouterr().out)
        assert document["noise_source"] == source
        rows = document["comparisons"][0]["rows"]
        between[source] = {(row["temperature"], row["stage"]): row["between_run_noise"] for row in rows}
    # Bounded by what the two runs show, never below what another layout may do.
    assert min(between["unknown"].values()) >= 0.03
    assert {between["given"]["warm", "reaped"], between["given"]["cold", "reaped"]} == {0.01, 0.2}
    # Where the row is not in the file: the root of the mean square of those that are.
    assert between["measured"]["warm", "reaped"] == 0.5
    assert between["measured"]["warm", "call_returns"] == pytest.approx((3 * 0.25 / 10) ** 0.5)


def test_two_cells_of_one_run(folder: Path, capsys: Captured) -> None:
    globs = ["launch.fork[*cold]", "launch.fork[*warm]"]
    assert run_to_the_end(["compare", str(folder / "a.parquet"), "--cells", *globs, "--json"]) == 0
    [pair] = json.loads(capsys.readouterr().out)["comparisons"]
    assert [pair["base"], pair["other"]] == globs
    assert pair["rows"]


@pytest.mark.parametrize(("name", "begin"), [("x.svg", b"<svg"), ("x.PNG", b"\x89PNG")])
def test_a_picture_is_written_and_an_existing_one_spared(
    folder: Path, tmp_path: Path, name: str, begin: bytes, capsys: Captured
) -> None:
    words = ["compare", str(folder / "a.parquet"), str(folder / "b.parquet"), "--plot", str(tmp_path / name)]
    assert run_to_the_end(words) == 0
    assert (tmp_path / name).read_bytes().startswith(begin)
    (tmp_path / name).write_text("precious")
    assert run_to_the_end(words) == 2
    assert (tmp_path / name).read_text() == "precious"
    assert run_to_the_end([*words, "--force"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize("command", ["compare", "check", "show"])
def test_a_page_and_markdown_are_written_and_what_is_read_is_never_replaced(
    folder: Path, tmp_path: Path, command: str, capsys: Captured
) -> None:
    first, second = (str(shutil.copy(folder / name, tmp_path)) for name in ("a.parquet", "b.parquet"))
    files = {"compare": [first, second], "check": [first, "--baseline", second], "show": [first]}[command]
    page, markdown = tmp_path / "page.html", tmp_path / "page.md"
    assert run_to_the_end([command, *files, "--html", str(page), "--markdown", str(markdown)]) in (0, 3)
    capsys.readouterr()
    assert "fork" in page.read_text().partition("<script")[0]
    assert "fork" in markdown.read_text()
    for path in (first, files[-1]):
        content = Path(path).read_bytes()
        assert run_to_the_end([command, *files, "--html", path, "--force"]) != 0
        assert "is an input of this command" in capsys.readouterr().err
        assert Path(path).read_bytes() == content


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.parquet"], "compare needs two runs"),
        (["a.parquet", "b.parquet", "--cells", "x", "y"], "--cells compares cells of one run"),
        (["a.parquet", "absent.parquet"], "cannot read absent.parquet"),
        (["a.parquet", "other.parquet"], "no cell in common"),
        (["a.parquet", "b.parquet", "--plot", "x.pdf"], "a picture is .png or .svg"),
        (["a.parquet", "b.parquet", "--min-effect", "-2%"], "is not a share"),
        (["a.parquet", "--cells", "launch.frok", "launch.fork"], "unknown cell 'launch.frok'"),
        (["a.parquet", "--cells", "x", "y", "--noise", "1%"], "cells of one run have no noise between runs"),
        (["a.parquet", "b.parquet", "--noise", "much"], "--noise much is not a share, and there is no such file"),
        (
            ["a.parquet", "b.parquet", "--noise", "a.parquet"],
            "a.parquet is not the output of clonometer noise",
        ),
        (["a.parquet", "b.parquet", "--noise", "few.json"], "few.json does not give the noise between rounds"),
        (
            ["a.parquet", "b.parquet", "--noise", "old.json"],
            "old.json is not the output of clonometer noise: schema is 1",
        ),
        (["a.parquet", "--", "b.parquet", "--", "c.parquet"], "-- separates two groups of runs"),
        (["a.parquet", "--", "b.parquet", "a.parquet"], "are the same run"),
    ],
)
def test_what_cannot_be_is_refused(
    folder: Path, words: list[str], message: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    assert run_to_the_end(["compare", *words]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""


def test_damaged_and_foreign_files_end_with_one_clean_line(
    folder: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good = (folder / "a.parquet").read_bytes()
    Path("cut.parquet").write_bytes(good[: len(good) // 2])
    middle = len(good) // 3
    Path("bent.parquet").write_bytes(
        good[:middle] + bytes(255 - byte for byte in good[middle : middle + 64]) + good[middle + 64 :]
    )
    Path("foreign.parquet").write_text("a,b\n1,2\n")
    Path("empty.parquet").write_bytes(b"")
    write_raw(Path("unfinished.raw"), sample_run())
    write_run(Path("no-catalogue.parquet"), sample_run())
    for name in (
        "cut.parquet",
        "bent.parquet",
        "foreign.parquet",
        "empty.parquet",
        "unfinished.raw",
        "no-catalogue.parquet",
    ):
        assert run_to_the_end(["compare", str(folder / "a.parquet"), name]) == 2, name
        captured = capsys.readouterr()
        assert name in captured.err
        assert "Traceback" not in captured.err
        assert captured.out == ""
