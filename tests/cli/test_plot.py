from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import make_command_line

from clonometer.app.results import read_results
from clonometer.cli.ending import run_to_the_end
from clonometer.views.figures import figures

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def run_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the fake driver that varies memory and open files."""
    command_line = make_command_line(tmp_path_factory.mktemp("plotted"))
    words = ("launch.fork", "--set", "open_files=0,10", "--set", "temperature=warm", "--budget", "0.2", "--seed", "7")
    ended = command_line("run", *words)
    assert ended.returncode == 0, ended.stderr
    return command_line.folder / "clonometer-run.parquet"


@pytest.fixture(scope="module")
def kinds(run_file: Path) -> list[str]:
    """What it has something to draw for, by name."""
    results = read_results(run_file)
    drawable = sorted(figure.kind for figure in figures() if figure.rows(results))
    assert {"ecdf", "overview", "scan"} <= set(drawable)
    assert "memory" not in drawable
    return drawable


def plot(run_file: Path, *words: str) -> int:
    return run_to_the_end(["plot", str(run_file), *words])


@pytest.mark.parametrize("name", ["a.png", "a.svg"])
def test_a_scan_is_drawn_in_the_format_of_its_name(run_file: Path, tmp_path: Path, name: str, capsys: Captured) -> None:
    out = tmp_path / name
    assert plot(run_file, "--kind", "scan", "--out", str(out)) == 0
    data = out.read_bytes()
    assert data.startswith(b"\x89PNG" if name.endswith("png") else b"<svg")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == f"wrote {out}\n"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_an_existing_picture_is_spared_without_force(run_file: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "a.svg"
    out.write_text("mine")
    assert plot(run_file, "--kind", "overview", "--out", str(out)) == 2
    assert "name another file" in capsys.readouterr().err
    assert out.read_text() == "mine"
    assert plot(run_file, "--kind", "overview", "--out", str(out), "--force") == 0
    assert out.read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("scna", "a.svg", "did you mean 'scan'"),
        ("scan", "a.gif", "must end in .png or .svg"),
    ],
)
def test_what_cannot_be_drawn_names_what_can(  # noqa: PLR0917 (three parameters and three fixtures)
    run_file: Path, tmp_path: Path, kind: str, name: str, message: str, capsys: Captured
) -> None:
    assert plot(run_file, "--kind", kind, "--out", str(tmp_path / name)) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_this_run_has_nothing_for_names_what_it_has(
    run_file: Path, kinds: list[str], tmp_path: Path, capsys: Captured
) -> None:
    assert plot(run_file, "--kind", "memory", "--out", str(tmp_path / "a.svg")) == 2
    assert f"it has: {', '.join(kinds)}\n" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_without_a_kind_and_a_name_it_draws_what_shows_most_and_says_what_else_there_is(
    run_file: Path, kinds: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert plot(run_file) == 0
    others = ", ".join(name for name in kinds if name != "scan")
    expected = f"wrote clonometer-run-scan.png\nThis run also has {others}: --kind draws them.\n"
    assert capsys.readouterr().err == 2 * expected
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"clonometer-run-scan.png", "clonometer-run-scan.previous.png"}


def test_a_dark_picture_has_a_dark_ground(run_file: Path, tmp_path: Path) -> None:
    for name, words in (("light", ()), ("dark", ("--dark",))):
        assert plot(run_file, "--kind", "overview", "--out", str(tmp_path / f"{name}.svg"), *words) == 0
    assert 'fill="white"' in (tmp_path / "light.svg").read_text()
    dark = (tmp_path / "dark.svg").read_text()
    assert 'fill="#14181d"' in dark
    assert "#24292f" not in dark
