"""What the cells of a lesson call: guesses beside measurements, and reasons in place of what is not possible here."""

from __future__ import annotations

import base64
import json
import math
import re
from pathlib import Path

import pytest
from tests.fakes.memory_run import MIB, RunBuilder, write_run

import clonometer
from clonometer.app import lab as module
from clonometer.app.lab import Lab, NotHere, Picture, write_lesson
from clonometer.app.loaded import LoadedRun
from clonometer.errors import OutputError, UnavailableError, UsageError
from clonometer.studies.demonstrations import Demo, DemoRun


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    return Lab("loop-10000", folder=tmp_path / "lab")


@pytest.fixture
def run(tmp_path: Path) -> LoadedRun:
    """Forks and threads, without memory and with 64 MiB; each stage takes a multiple of the one before."""
    builder = RunBuilder()
    for workload, base_ns in (("launch.fork", 40_000.0), ("launch.pthread", 9_000.0)):
        for size in (0, 64 * MIB):
            values = {"call_returns_ns": base_ns + size / 100, "reaped_ns": 2 * base_ns + size / 50}
            builder.cell(workload, values, parent_bytes=size)
    return clonometer.load(write_run(tmp_path / "run.parquet", builder.run))


def test_a_guess_that_was_not_made_asks_for_a_number(lab: Lab) -> None:
    text = lab.guess("ratio", "How many times?", ...)
    assert "Write a number in place of the dots" in text
    assert "no guess" in lab.beside("ratio", 3.5)


@pytest.mark.parametrize(
    ("guess", "measured", "far"),
    [
        (10.0, 5.0, "a factor of 2, too high"),
        (2.0, 5.0, "a factor of 2.5, too low"),
        (5.0, 5.5, "nothing to speak of"),
        # Of zero there is no factor.
        (0.0, 5.0, "-"),
        (5.0, math.nan, "-"),
    ],
)
def test_a_guess_is_off_by_a_factor(lab: Lab, guess: float, measured: float, far: str) -> None:
    assert "You guess" in lab.guess("x", "How long?", guess, "µs")
    last = lab.beside("x", measured, "13").splitlines()[-1]
    assert last.endswith(f"| 13 | {far} |")
    assert ("| not here |" in last) == math.isnan(measured)


def test_all_guesses_stand_in_one_table(lab: Lab) -> None:
    lab.guess("a", "First?", 1, "µs")
    lab.guess("b", "Second?", ...)
    lab.beside("a", 12345.6)
    table = lab.guesses().splitlines()
    assert table[2:] == [
        "| First? | 1 µs | 12,300 µs | - | a factor of 1.2e+04, too low |",
        "| Second? | - | - | - | no guess |",
    ]


def test_a_median_is_that_of_the_cell_that_is_off_its_defaults_as_named(lab: Lab, run: LoadedRun) -> None:
    (row,) = (
        row
        for row in run.results().cells
        if row.cell == "launch.fork[parent_bytes=67108864,temperature=warm]" and row.stage == "reaped"
    )
    assert row.median_ns is not None
    assert lab.median(run, "launch.fork", parent_bytes="67108864") == row.median_ns / 1000
    assert lab.median(run, "launch.fork") != row.median_ns / 1000
    assert math.isnan(lab.median(run, "launch.fork", parent_bytes="1GiB"))
    assert math.isnan(lab.median(run, "launch.vfork_exec"))
    with pytest.raises(UsageError, match="unknown quantity 'repaed'"):
        lab.median(run, "launch.fork", "repaed")


def test_a_run_is_shown_as_a_short_table(run: LoadedRun) -> None:
    text = run._repr_markdown_()
    assert "| fork, 64 MiB |" in text
    assert "reaped: until waited for" in text
    assert "|  |  |  |" not in text
    # The notebook has headings of its own.
    assert text.startswith("**Test")
    assert not any(line.startswith("# ") for line in text.splitlines())
    assert len(text.splitlines()) < 60


def test_what_this_machine_cannot_do_is_said_and_the_lesson_goes_on(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def unavailable(*_: object, **__: object) -> None:
        raise UnavailableError("no room for 256 MiB", "free some memory")

    monkeypatch.setattr(module, "run", unavailable)
    answer = lab.run("launch.fork", parent_bytes="256MiB")
    assert isinstance(answer, NotHere)
    shown = "> **Not possible here:** no room for 256 MiB (free some memory). Go on with the next cell."
    assert answer._repr_markdown_() == shown
    # What rests on it is not there either.
    assert math.isnan(lab.median(answer, "launch.fork"))
    assert math.isnan(lab.figure(answer, "processes, real"))
    assert lab.picture(answer) is answer


def test_a_name_that_does_not_exist_is_a_mistake_and_not_the_machines_fault(lab: Lab) -> None:
    answer = lab.demo("crush")
    assert isinstance(answer, NotHere)
    assert "**Mistaken:** unknown demo 'crush'" in answer._repr_markdown_()


def test_a_demo_is_shown_with_its_lines_what_it_printed_and_what_that_means(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = "without_vm = 7\nwith_vm = 42\n"
    monkeypatch.setattr("clonometer.app.demo.run_program", lambda _: output)
    answer = lab.demo("clone-vm")
    assert isinstance(answer, DemoRun)
    assert isinstance(answer.demo, Demo)
    text = answer._repr_markdown_()
    assert "    without_vm = 7" in text
    assert "the parent still reads 7" in text
    assert "clonometer demo clone-vm --source" in text


def test_a_picture_is_an_svg_that_is_not_printed() -> None:
    svg = '<svg width="1600">µs</svg>'
    picture = Picture(svg)
    style, data = re.fullmatch(
        r'<img style="([^"]*)" alt="[^"]+" src="data:image/svg\+xml;base64,([^"]*)">', picture._repr_html_()
    ).groups()
    # Notebooks cut off what is wider.
    assert style == "max-width: 100%"
    assert base64.b64decode(data).decode() == svg
    assert "<svg" not in repr(picture)


def test_a_notebook_is_written_whole_and_an_existing_one_is_kept(tmp_path: Path) -> None:
    path = write_lesson("fork-memory", out=tmp_path / "one.ipynb")
    assert json.loads(path.read_text(encoding="utf-8"))["nbformat"] == 4
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match="exists"):
        write_lesson("fork-memory", out=path)
    assert path.read_text(encoding="utf-8") == "mine"
    write_lesson("fork-memory", out=path, force=True)
    assert path.read_text(encoding="utf-8") != "mine"


def test_the_lessons_are_offered() -> None:
    assert [lesson.name for lesson in clonometer.lessons()][:2] == ["loop-10000", "bendersky-2018"]


def test_the_lab_itself_is_shown_with_its_steps(lab: Lab) -> None:
    assert "1. Predict (10 min)" in lab._repr_markdown_()
    assert "5 s for each measurement" in repr(lab)
