"""The hooks of pre-commit are the checks of ``make lint``: the same commands by the same names."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

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
