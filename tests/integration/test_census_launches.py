"""Planted launches in real runtimes: the census names the option, and none where there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tests.integration.census import can_trace

from clonometer.app.census import census
from clonometer.tracing.census.launches import LaunchSite

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not can_trace(), reason="what a child does before its exec takes tracepoints and bpf"),
]

PYTHON = "import os, subprocess\nsubprocess.run(['/bin/true'], {})\n"
PLANTED = {
    "preexec_fn=os.setsid": ("python3", ".py", PYTHON.format("preexec_fn=os.setsid")),
    "preexec_fn= that calls resource.setrlimit": (
        "python3",
        ".py",
        "import resource\n" + PYTHON.format("preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))"),
    ),
    "detached: true": (
        "node",
        ".js",
        "require('child_process').spawn('/bin/true', {detached: true, stdio: 'ignore'});\n",
    ),
    "cwd": ("node", ".js", "require('child_process').spawn('/bin/true', {cwd: '/', stdio: 'ignore'});\n"),
}


def launched(tmp_path: Path, program: str, suffix: str, text: str) -> list[LaunchSite]:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    script = tmp_path / f"planted{suffix}"
    script.write_text(text)
    answer = census([str(Path(path).resolve()), str(script)], advice=False)
    if answer.tally.ended.get("without_calls"):
        pytest.skip(answer.tally.ended["without_calls"])
    return [launch for launch in answer.launches if launch.site.mechanism != "thread"]


@pytest.mark.parametrize("option", PLANTED)
def test_the_option_that_was_planted_is_named(tmp_path: Path, option: str) -> None:
    launches = launched(tmp_path, *PLANTED[option])
    assert [launch.path.option for launch in launches if launch.path is not None] == [option]


def test_no_option_is_named_where_there_is_none(tmp_path: Path) -> None:
    (launch,) = launched(tmp_path, "python3", ".py", "import subprocess\nsubprocess.run(['/bin/true'])\n")
    assert launch.path is None or launch.path.option == ""
    assert launch.saved is None
