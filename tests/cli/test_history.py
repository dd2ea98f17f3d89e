from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from tests.dataset.made import make_run
from tests.fakes.memory_run import write_run
from tests.plans import write_small_plan


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(1)
    for day in range(16):
        factor = float(np.exp(0.005 * random.normal())) * (1.2 if day >= 9 else 1.0)
        facts = {"kernel.release": "6.12.4" if day >= 9 else "6.12.3"}
        write_run(folder / f"{day}.parquet", make_run(day=day, seed=day, factor=factor, spread=0.004, facts=facts))
    return folder


def test_history_ends_with_the_status_of_its_verdict(clonometer: Any, folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "history.svg"
    values = tmp_path / "history.om"
    ended = clonometer("history", str(folder), "--plot", str(picture), "--export", "openmetrics", "--out", str(values))
    assert ended.returncode == 1, ended.stderr
    assert "slower (19" in ended.stdout
    assert "6.12.3 → 6.12.4" in " ".join(ended.stdout.split())
    assert "6.12.4" in picture.read_text(encoding="utf-8")
    assert clonometer("history", str(values)).returncode == 1
    assert clonometer("history", str(folder), "--recent", "2").returncode == 0
    assert clonometer("history", str(folder), "--where", "kernel=6.12.4").returncode == 3
    answer = json.loads(clonometer("history", str(folder), "--json").stdout)
    assert answer["verdict"] == "fail"
    assert answer["counts"]["regressions"] == 6


def test_wrong_words_end_with_2(clonometer: Any, folder: Path) -> None:
    for words in (
        ("--since", "soon"),
        ("--export", "csv", "--out", "x"),
        ("--export", "openmetrics"),
        ("--plot", "x.gif"),
    ):
        ended = clonometer("history", str(folder), *words)
        assert (ended.returncode, ended.stdout) == (2, ""), words
        assert "Traceback" not in ended.stderr


PAGE = (Path(__file__).parents[2] / "docs" / "history.md").read_text(encoding="utf-8")


@pytest.fixture
def nightly(clonometer: Any, tmp_path: Path, folder: Path) -> dict[str, str]:
    """The environment of a night: a ``clonometer`` that measures little, by the fake driver, and a folder of runs."""
    home = tmp_path / "home"
    shutil.copytree(folder, home / "clonometer" / "runs")
    write_small_plan(tmp_path / "small.toml", "launch.fork", processes=2, samples=4)
    tools = home / "clonometer" / ".venv" / "bin"
    tools.mkdir(parents=True)
    command = shlex.join(clonometer.command())
    (tools / "clonometer").write_text(
        f'#!/bin/sh\n[ "$1" != run ] || set -- "$@" --plan {tmp_path}/small.toml --seed 1\nexec {command} "$@"\n'
    )
    (tools / "pip").write_text('#!/bin/sh\necho "$@" >asked-of-pip\n')
    for tool in tools.iterdir():
        tool.chmod(0o755)
    return {**clonometer.environment(), "HOME": str(home), "PATH": f"{tools}:{os.environ['PATH']}", "RUN": "7-1"}


def test_the_line_for_cron_writes_if_something_is_slower_and_is_silent_else(nightly: dict[str, str]) -> None:
    (line,) = re.findall(r"^    30 3 \* \* \* (.*)$", PAGE, re.MULTILINE)
    # What cron makes of it: a percent sign without a backslash would end the command.
    assert not re.search(r"(?<!\\)%", line)
    command = line.replace("\\%", "%")
    place = Path(nightly["HOME"], "clonometer")

    def night() -> str:
        ended = subprocess.run(["/bin/sh", "-c", command], env=nightly, capture_output=True, text=True, check=False)
        assert ended.stderr == ""
        return ended.stdout

    # The run's name is taken: the line says so, and history is asked all the same.
    today = place / "runs" / subprocess.check_output(["date", "+%F.parquet"], text=True).strip()
    (place / "runs/15.parquet").rename(today)
    letter = night()
    assert " exists" in letter
    assert "slower (19" in letter
    for path in (place / "runs").glob("*.parquet"):
        path.unlink()
    assert night() == ""
    assert today.exists()
    assert "cannot tell" in (place / "last.txt").read_text().lower()


def test_the_steps_of_the_github_action_work(nightly: dict[str, str]) -> None:
    (text,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    workflow = yaml.safe_load(text)
    job = workflow["jobs"]["history"]
    assert set(job["env"]) == {"RUN"}
    # YAML reads `on` as true; GitHub does not.
    assert workflow[True]["schedule"] == [{"cron": "30 3 * * *"}]
    place = Path(nightly["HOME"], "clonometer")
    statuses = []
    for step in job["steps"]:
        if "run" in step:
            command = step["run"].replace("python3 -m venv .venv", "true")
            statuses.append(
                subprocess.run(["bash", "-e", "-c", command], env=nightly, cwd=place, check=False).returncode
            )
        else:
            assert step["uses"].startswith("actions/")
    assert statuses == [0, 0, 1]
    assert (place / "asked-of-pip").read_text() == "install clonometer[pictures]\n"
    assert len(list((place / "runs").glob("20*-7-1.parquet"))) == 1
    assert "6.12.4" in (place / job["steps"][-1]["with"]["path"]).read_text(encoding="utf-8")
