"""Planted launches in real runtimes: the census names the option, and none where there is none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.integration.census import can_trace, clonometer

from clonometer.app.census import census
from clonometer.tracing.census.launches import LaunchSite

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not can_trace(), reason="what a child does before its exec takes tracepoints and bpf"),
]

PYTHON = "import os, subprocess\nsubprocess.run(['/bin/true'], {})\n"
SERVES = "import subprocess, time\nwhile True:\n    subprocess.run(['/bin/true'])\n    time.sleep(0.05)\n"
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


def test_a_proof_compares_the_command_with_itself_under_the_setting(tmp_path: Path) -> None:
    script = tmp_path / "sleeps.sh"
    script.write_text('sleep "${PAUSE:-0.05}"\n')
    words = ["census", "--no-advice", "--prove", "PAUSE=0", "--", "sh", str(script)]
    ended = clonometer(*words)
    assert ended.returncode == 0, ended.stderr
    text = " ".join(ended.stdout.split())
    assert "Without and with PAUSE=0:" in text
    assert "B: env PAUSE=0 sh " in text
    assert "wall time" in text


def test_a_proof_that_cannot_be_made_is_refused_before_the_command_runs(tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    for words, complaint in (
        (["--prove", "PAUSE", "--", "touch", str(touched)], "is not NAME=VALUE"),
        (["--prove", "--json", "--", "touch", str(touched)], "an answer of its own"),
        (["--prove", "--pid", "1"], "there is none"),
    ):
        ended = clonometer("census", *words)
        assert ended.returncode == 2, ended.stderr
        assert complaint in " ".join(ended.stderr.split())
    assert not touched.exists()


def test_where_no_setting_mends_a_launch_the_proof_says_so(tmp_path: Path) -> None:
    words = ["census", "--no-advice", "--prove", "--", "true"]
    ended = clonometer(*words)
    assert ended.returncode == 0, ended.stderr
    assert "Nothing to prove" in ended.stdout


def test_of_a_running_script_with_a_relative_name_the_runtime_is_known(tmp_path: Path) -> None:
    script = tmp_path / "serve"
    script.write_text(f"#!{Path(sys.executable).resolve()}\n{SERVES}")
    script.chmod(0o755)
    with subprocess.Popen(["./serve"], cwd=tmp_path, stdin=subprocess.PIPE) as server:
        try:
            answer = census(pid=server.pid, seconds=2.0, advice=False)
        finally:
            server.kill()
    runtimes = {launch.site.program: launch.runtime for launch in answer.launches}
    assert runtimes["./serve"] is not None
    assert runtimes["./serve"].name == "python"
