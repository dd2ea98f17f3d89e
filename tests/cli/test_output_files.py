"""Where results go: former runs kept, other runs let alone, links not followed, and nothing lost that was measured."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
from pathlib import Path

import pytest
from tests.cli.conftest import CommandLine
from tests.integration.started import happens

from clonometer.cli.commands.run import command as run_command
from clonometer.cli.ending import run_to_the_end
from clonometer.runfile import open_run

Captured = pytest.CaptureFixture[str]
SMALL = ("launch.fork", "--budget", "0.2", "--seed", "7")


@pytest.fixture
def inside(clonometer: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The current process stands where ``clonometer`` would run."""
    for name, value in clonometer.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(clonometer.folder)
    return clonometer


def files(inside: CommandLine) -> set[str]:
    return {path.name for path in inside.folder.iterdir()} - {"bin", "starts.log"}


def test_every_example_of_run_works_twice_in_one_folder(inside: CommandLine, capsys: Captured) -> None:
    (inside.folder / "my-plan.toml").write_text('schema = 1\n[[cells]]\nworkloads = ["fork"]\n')
    examples = re.findall(r"^ +clonometer (run.*)$", str(run_command.epilog), re.MULTILINE)
    assert len(examples) >= 4
    for line in examples:
        words = shlex.split(line.split(" | ")[0])
        # The plans that come with Clonometer name workloads that the fake driver does not have.
        words += ["--plan", "my-plan.toml"] if len([word for word in words if not word.startswith("-")]) == 1 else []
        words += ["--budget", "0.2"]  # The last one counts.
        for _ in range(2):
            # 4: on a busy machine so short a time leaves cells without a process; the file is written.
            assert run_to_the_end(words) in (0, 4), (words, capsys.readouterr().err)
    assert files(inside) == {
        "my-plan.toml",
        "mine.parquet",
        "mine.previous.parquet",
        "clonometer-run.parquet",
        "clonometer-run.previous.parquet",
    }


def test_without_out_the_former_run_and_an_unfinished_one_are_kept(inside: CommandLine, capsys: Captured) -> None:
    assert run_to_the_end(["run", *SMALL]) == 0
    before = (inside.folder / "clonometer-run.parquet").read_bytes()
    (inside.folder / "clonometer-run.raw").write_text("unfinished")
    capsys.readouterr()
    assert run_to_the_end(["run", *SMALL]) == 0
    output = capsys.readouterr().out
    assert output.count("; the old run is clonometer-run.previous.parquet.") == 1
    assert "clonometer recover clonometer-run.previous.raw" in output
    assert (inside.folder / "clonometer-run.previous.parquet").read_bytes() == before
    assert (inside.folder / "clonometer-run.previous.raw").read_text() == "unfinished"
    assert files(inside) == {f"clonometer-run.{end}" for end in ("parquet", "previous.parquet", "previous.raw")}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plan", "defualt"], "unknown plan 'defualt'"),
        (["quick"], "quick is a plan, not a workload\n  clonometer run --plan quick"),
        (["lanch.fork"], "did you mean 'launch.fork'"),
        (["launch.fork", "--set", "parent_byte=0"], "unknown axis of launch.fork 'parent_byte'"),
        (["launch.fork", "--set", "pages=cleen"], "unknown value of pages 'cleen'"),
        (
            ["launch.fork", "--set", "parent_bytes=99999999999999999999"],
            "parent_bytes = '99999999999999999999': the maximum is 9223372036854775807",
        ),
    ],
)
def test_a_mistake_in_a_name_is_told_before_anything_about_files(
    inside: CommandLine, words: list[str], message: str, capsys: Captured
) -> None:
    (inside.folder / "old.parquet").write_text("precious")
    assert run_to_the_end(["run", *words, "--out", "old.parquet"]) == 2
    assert message in capsys.readouterr().err
    assert not inside.measuring_pids()


@pytest.mark.parametrize("force", [[], ["--force"], ["--keep-previous"]])
def test_a_link_at_the_name_is_refused_and_not_followed(
    inside: CommandLine, force: list[str], capsys: Captured
) -> None:
    victim = inside.folder / "victim"
    victim.write_text("precious")
    (inside.folder / "o.parquet").symlink_to(victim)
    assert run_to_the_end(["run", *SMALL, "--out", "o.parquet", *force]) == 2
    assert f"o.parquet is a link to {victim}; links are not followed" in capsys.readouterr().err
    assert victim.read_text() == "precious"
    assert not inside.measuring_pids()


def test_two_runs_of_one_name_let_each_other_alone(clonometer: CommandLine) -> None:
    """Whatever the second one asks for it is refused, as recovering is, and the first one loses nothing."""
    out = clonometer.folder / "o.parquet"
    out.write_bytes(b"precious")
    # It has sent a block and is measuring for as long as nobody ends it.
    clonometer.environ = {"FAKE_DRIVER_MODE": "hang"}
    first = clonometer.start("run", "launch.fork", "--budget", "60", "--out", "o.parquet", "--keep-previous")
    try:
        assert happens(clonometer.measuring_pids, 60)
        for words in (["--force"], ["--keep-previous"]):
            second = clonometer("run", *SMALL, "--out", "o.parquet", *words)
            assert second.returncode == 2
            assert "o.raw is being written by another run" in second.stderr
        recovered = clonometer("recover", "o.raw", "--out", "r.parquet")
        assert recovered.returncode == 2
        assert "o.raw is being written by a run that is still measuring" in recovered.stderr
        assert files(clonometer) == {"o.parquet", "o.raw"}
    finally:
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=60)
    assert first.returncode == 130
    with open_run(out) as run:
        assert run.n_samples > 0
        assert len(run.document.processes) == len(clonometer.measuring_pids())
    assert (clonometer.folder / "o.previous.parquet").read_bytes() == b"precious"
    assert files(clonometer) == {"o.parquet", "o.previous.parquet"}


def test_what_was_measured_is_kept_where_the_file_cannot_be_finished(
    inside: CommandLine, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    def no_room(path: Path) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr("clonometer.runfile.writer._read_back", no_room)
    (inside.folder / "clonometer-run.parquet").write_text("precious")
    assert run_to_the_end(["run", *SMALL]) == 4
    first, second = capsys.readouterr().err.splitlines()[-2:]
    assert re.search(r"no room on disk; \d[\d,]* samples are saved in clonometer-run.raw", first)
    assert second.strip() == "free some space, then: clonometer recover clonometer-run.raw"
    assert (inside.folder / "clonometer-run.parquet").read_text() == "precious"
    monkeypatch.undo()
    monkeypatch.chdir(inside.folder)
    # As it says, word for word: the file before is kept.
    assert run_to_the_end(second.strip().split(": clonometer ")[1].split()) == 0
    assert (inside.folder / "clonometer-run.previous.parquet").read_text() == "precious"
    with open_run("clonometer-run.parquet") as run:
        assert run.n_samples > 0


def test_what_was_measured_is_kept_where_the_answer_cannot_be_printed(clonometer: CommandLine) -> None:
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            clonometer.command("run", *SMALL, "--out", "full.parquet"),
            cwd=clonometer.folder,
            env=clonometer.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert ended.returncode == 4
    assert "cannot print the answer: no room on disk; full.parquet is written" in ended.stderr
    with open_run(clonometer.folder / "full.parquet") as run:
        assert run.n_samples > 0
