"""The action of GitHub and the job of GitLab: their scripts, run as these run them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "integrations"


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((FOLDER / "github/action.yml").read_text())
    return loaded


def job() -> dict[str, Any]:
    _, document = yaml.safe_load_all((FOLDER / "gitlab/launch-budget.yml").read_text())
    loaded: dict[str, Any] = document["launch-budget"]
    return loaded


def installed(folder: Path) -> None:
    """A folder as the step before leaves it: with the command in it."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/clonometer").symlink_to(Path(sys.executable).with_name("clonometer"))


def run_script(script: str, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(("most", "status"), [(1, 0), (0, 1)])
def test_the_action_counts(tmp_path: Path, most: int, status: int) -> None:
    step = action()["runs"]["steps"][1]
    (tmp_path / "mine.toml").write_text(f"[launches]\nfork = {most}\n")
    installed(tmp_path / "temp/clonometer")
    given = {"command": 'x=$(:); echo "it\'s $x done"', "limits": "mine.toml", "junit": "out.xml"}
    environ = {name: given[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]] for name, value in step["env"].items()}  # type: ignore[index]
    summary = tmp_path / "summary"
    ended = run_script(
        step["run"], tmp_path, RUNNER_TEMP=str(tmp_path / "temp"), GITHUB_STEP_SUMMARY=str(summary), **environ
    )
    assert ended.returncode == status, ended.stdout + ended.stderr
    assert "it's  done" in ended.stdout
    assert ("::error" if status else "::notice") in ended.stdout
    assert summary.stat().st_size
    assert (tmp_path / "out.xml").is_file()


def test_the_action_writes_no_input_into_its_scripts() -> None:
    assert all("${{" not in step["run"] for step in action()["runs"]["steps"])
    assert set(action()["inputs"]) == {"command", "limits", "junit"}


def test_the_job_counts(tmp_path: Path) -> None:
    installed(tmp_path / ".clonometer")
    (tmp_path / "launches.toml").write_text("[launches]\nmax = 0\n")
    ended = run_script(job()["script"][-1], tmp_path, COMMAND="(true); exit 0", LIMITS="launches.toml")
    assert ended.returncode == 1, ended.stderr
    assert (tmp_path / job()["artifacts"]["reports"]["junit"]).is_file()
