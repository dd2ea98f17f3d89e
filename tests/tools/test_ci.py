"""What ``.ci/run`` does where packages, mirrors or parts of it fail, with programs that only say their names."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

CI = Path(__file__).parents[2] / ".ci" / "run"
# apt-get: lists of packages cannot be had the first $AWAY times. make: the part $BROKEN fails.
PROGRAMS = {
    "id": "echo 0",
    "sleep": "",
    "dpkg": "exit 1",
    "apt-cache": 'case "$*" in *linux-perf*) exit 100 ;; esac',
    "apt-get": """
echo "$*" >> "$FOLDER/apt"
case "$*" in *update*) [ "$(grep -c update "$FOLDER/apt")" -gt "$AWAY" ] ;; esac""",
    "make": """
echo "$*" >> "$FOLDER/made"
[ "$1" = pytest ] && echo "= what pytest says last ="
[ "$1" = "$BROKEN" ] || exit 0
echo "make: *** [Makefile:1: $1] Error 1" >&2
exit 2""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, body in PROGRAMS.items():
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
    return tmp_path


def run(folder: Path, broken: str = "", away: int = 0) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": f"{folder}:{os.environ['PATH']}", "FOLDER": str(folder), "BROKEN": broken, "AWAY": str(away)}
    return subprocess.run(
        [CI], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60
    )


def made(folder: Path) -> list[str]:
    return [line.split()[0] for line in (folder / "made").read_text().splitlines()]


@pytest.mark.parametrize("broken", ["", "lint", "core-test", "translation", "variants", "torture", "pytest"])
def test_every_part_runs_and_the_last_word_is_the_test_runners(folder: Path, broken: str) -> None:
    ended = run(folder, broken)
    assert ended.returncode == (2 if broken else 0), ended.stdout
    order = made(folder)
    assert order[:2] == ["downloads", "dev"]
    # These run side by side.
    assert sorted(order[2:-2]) == ["core-test", "lint", "torture", "translation"]
    assert order[-2:] == ["variants", "pytest"]
    assert ended.stdout.splitlines()[-1] == "= what pytest says last ="
    # What mostly waits is waited for last.
    assert ended.stdout.index("ci: variants: ") < ended.stdout.index("ci: torture: ")
    parts = {"": "packages", "downloads": "downloads", "dev": "set-up", "core-test": "core tests"}
    parts |= {name: name for name in ("lint", "translation", "variants", "torture")}
    for target, part in parts.items():
        [line] = [line for line in ended.stdout.splitlines() if line.startswith(f"ci: {part}: ")]
        assert ("FAILED" in line) == (broken != "" and broken == target)
        assert " s, " in line


def test_torture_tries_every_class(folder: Path) -> None:
    run(folder)
    [torture] = [line for line in (folder / "made").read_text().splitlines() if line.startswith("torture")]
    assert "--only" not in torture
    assert "--trial" not in torture


def test_a_package_that_the_system_does_not_have_is_left_out_and_said(folder: Path) -> None:
    ended = run(folder)
    assert "this system has no package linux-perf" in ended.stdout
    *_, installed = (folder / "apt").read_text().splitlines()
    assert "chromium" in installed
    assert "linux-perf" not in installed


@pytest.mark.parametrize(("away", "asked"), [(2, 3), (99, 5)])
def test_mirrors_that_are_away_are_asked_again(folder: Path, away: int, asked: int) -> None:
    ended = run(folder, away=away)
    assert (folder / "apt").read_text().count("update") == asked
    # Where the lists never come the old ones are used, and nothing counts as unknown to the system.
    assert ("this system has no package" in ended.stdout) == (away != 99)
    assert ended.returncode == 0, ended.stdout


ROOT = Path(__file__).parents[2]


def lint_commands() -> dict[str, str]:
    """The commands of tools/lint.sh by their names, without the files that some are given."""
    script = (ROOT / "tools/lint.sh").read_text().replace('"$bin"', ".venv/bin").replace('"$bin/', '".venv/bin/')
    checks = {name.strip('"'): command for name, command in re.findall(r'^check ("[^"]+"|\S+) (.+)$', script, re.M)}
    return {name: re.sub(r" \$\w+$", "", command).replace('"', "") for name, command in checks.items()}


def test_hooks_run_what_lint_runs():
    [local] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert {hook["name"]: hook["entry"] for hook in local["hooks"]} == lint_commands()


def test_a_hook_that_reads_files_it_is_given_is_one_that_lint_gives_files():
    [local] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    given = set(re.findall(r"^check (\S+) .* \$\w+$", (ROOT / "tools/lint.sh").read_text(), re.M))
    assert {hook["name"] for hook in local["hooks"] if hook.get("pass_filenames", True)} == given
