"""What TAB completes: names of the catalogue, of plans, pictures and studies; as bash hands the words over."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.cli.conftest import CommandLine


def completed(clonometer: CommandLine, *words: str) -> list[str]:
    clonometer.environ |= {
        "_CLONOMETER_COMPLETE": "bash_complete",
        "COMP_WORDS": "\n".join(["clonometer", *words]),
        "COMP_CWORD": str(len(words)),
    }
    return [line.removeprefix("plain,") for line in clonometer().stdout.split()]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["run", "launch.f"], ["launch.fork"]),
        (["run", "for"], ["fork"]),
        (["run", "fork", "--set", "parent_b"], ["parent_bytes="]),
        (["run", "fork", "--set", "temperature=w"], ["temperature=warm"]),
        (["run", "fork", "--set", "temperature=cold,"], ["temperature=cold,warm"]),
        (["run", "--plan", "quic"], ["quick"]),
        (["ab", "fork", "--b", "en"], ["env:"]),
        (["ab", "fork", "--stage", "rea"], ["reaped"]),
        (["plot", "x.parquet", "--kind", "overv"], ["overview"]),
        (["reproduce", "sys"], ["sysel-2020"]),
        (["reproduce", "U1"], ["U1", "U10", "U11", "U12", "U13", "U14", "U15"]),
        (["demo", "clone"], ["clone-files", "clone-sighand", "clone-thread", "clone-vm"]),
        (["list", "reap"], ["reaped"]),
        (["run", "nosuch"], []),
        (["run", "nosuch", "--set", "parent_b"], []),
        (["run", "launch.fork", "--set", "stack_b"], []),
    ],
)
def test_names_are_completed(clonometer: CommandLine, words: list[str], names: list[str]) -> None:
    assert [name for name in completed(clonometer, *words) if name in names or not names] == names


def test_a_plan_may_be_a_file(clonometer: CommandLine) -> None:
    assert completed(clonometer, "run", "--plan", "./mi") == ["file,./mi"]


@pytest.mark.parametrize(
    ("words", "reply"),
    [
        (["run", "--set", "pa", "="], "free,pinned"),
        (["run", "--set", "pa", "=", "fr"], "free"),
        (["run", "--set", "pa"], "placement="),
        (["ab", "--b", "=", "pa", "=", "fr"], "free"),
    ],
)
def test_bash_replaces_what_follows_the_last_equals_sign(clonometer: CommandLine, words: list[str], reply: str) -> None:
    """The script joins the words that bash has split at ``=``, and a stand-in for us answers."""
    script = clonometer("completion", "bash").stdout
    program = clonometer.folder / "answers"
    program.write_text(
        "#!/bin/sh\n"
        'case "$COMP_WORDS" in\n'
        '*pa=fr) echo "plain,pa=free" ;;\n'
        '*pa=) echo "plain,pa=free"; echo "plain,pa=pinned" ;;\n'
        '*) echo "plain,placement=" ;;\n'
        "esac\n"
    )
    program.chmod(0o755)
    words = ["clonometer", *words]
    quoted = " ".join(f"'{word}'" for word in words)
    asked = f"compopt() {{ :; }}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _clonometer_completion {program}"
    ended = subprocess.run(
        ["bash", "-c", f'{script}\n{asked}\nIFS=,; echo "${{COMPREPLY[*]}}"'],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.strip() == reply, ended.stderr


def test_tab_imports_nothing_that_takes_long(clonometer: CommandLine) -> None:
    """Names of workloads need no statistics, no Parquet and no charts."""
    code = (
        "import sys; from clonometer.cli.completing import complete_workloads, complete_plans\n"
        "complete_workloads(None, None, 'f'); complete_plans(None, None, 'q')\n"
        "print([name for name in ('numpy', 'pyarrow', 'scipy', 'vl_convert', 'jinja2') if name in sys.modules])"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], env=clonometer.environment(), capture_output=True, text=True, check=True
    )
    assert ended.stdout.strip() == "[]"


def test_python_runs_the_package(clonometer: CommandLine) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "clonometer", "--version"],
        env=clonometer.environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.startswith("clonometer ")
