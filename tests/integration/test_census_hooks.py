"""Hooks of runtimes: the line of a program in Python is named, and nothing of the program changes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.integration.census import can_trace, run, taken

pytestmark = pytest.mark.real

PLANTED = """\
import multiprocessing
import json
import os
import shutil
import subprocess
import threading


def plain():
    subprocess.run(["true"])  # plain


def prepared():
    subprocess.check_call(["true"], preexec_fn=lambda: None)  # prepared


def forks():
    if os.fork() == 0:  # forks
        os._exit(0)
    os.wait()


def spawns():
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)  # spawns


def shell():
    os.system("exit 0")  # shell


def thread():
    made = threading.Thread(target=lambda: None)
    made.start()  # thread
    made.join()


def process():
    made = multiprocessing.get_context("fork").Process(target=len, args=("",))
    made.start()  # process
    made.join()


for _ in range(2):
    for call in (plain, prepared, forks, spawns, shell, thread, process):
        call()
"""
EXPECTED = {
    "plain": ("subprocess.run", False),
    "prepared": ("subprocess.check_call", False),
    "forks": ("os.fork", False),
    "spawns": ("os.posix_spawn", False),
    "shell": ("os.system", False),
    "thread": ("threading.Thread.start", True),
    "process": ("multiprocessing.process.BaseProcess.start", False),
}


def line_of(function: str) -> int:
    return next(n for n, line in enumerate(PLANTED.splitlines(), 1) if line.endswith(f"# {function}"))


def test_each_line_of_a_python_program_is_named(seen_by: str, tmp_path: Path) -> None:
    script = tmp_path / "planted.py"
    script.write_text(PLANTED)
    answer = taken(sys.executable, str(script), how=seen_by)
    spoken = {site["where"]["function"]: site for site in answer["sites"] if site["language"] is not None}
    assert set(spoken) == set(EXPECTED)
    for function, (api, is_thread) in EXPECTED.items():
        site = spoken[function]
        assert (site["where"]["file"], site["where"]["line"]) == (str(script), line_of(function))
        assert site["created"] == 2
        assert (site["api"].removeprefix("multiprocessing.process."), site["mechanism"] == "thread") == (
            api.removeprefix("multiprocessing.process."),
            is_thread,
        )
        assert site["language"]["runtime"] == "python"


def test_each_thread_has_its_own_line(tmp_path: Path) -> None:
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    script = tmp_path / "threads.py"
    script.write_text(
        "import subprocess, threading\n"
        "def left():\n    for _ in range(20): subprocess.run(['true'])\n"
        "def right():\n    for _ in range(20): subprocess.run(['true'])\n"
        "made = [threading.Thread(target=each) for each in (left, right)]\n"
        "[each.start() for each in made]\n[each.join() for each in made]\n"
    )
    answer = taken(sys.executable, str(script))
    counts = {site["where"]["function"]: site["created"] for site in answer["sites"] if site["execed"]}
    assert counts == {"left": 20, "right": 20}


def test_the_program_and_its_children_keep_what_they_had(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "sitecustomize.py").write_text("import sys\nsys.theirs = 'was imported'\n")
    (tmp_path / "theirs" / "their_module.py").write_text("value = 7\n")
    source = (
        "import sys, sitecustomize, their_module, os, subprocess\n"
        "print(sys.theirs, their_module.value, sitecustomize.__file__)\n"
        "print([entry for entry in sys.path if 'hooks' in entry])\n"
        "print(subprocess.check_output([sys.executable, '-c', 'import sys; print(sys.theirs)'], text=True))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "theirs")}
    bare = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, env=environment, check=True)
    seen = run("--json", "--", sys.executable, "-c", source, env=environment)
    assert seen.stderr == bare.stdout
    assert "was imported" in bare.stdout


@pytest.mark.parametrize("options", [[], ["-I"], ["-S"], ["-E"]], ids=lambda options: " ".join(options) or "plain")
def test_a_hook_never_changes_what_a_program_writes(options: list[str], tmp_path: Path) -> None:
    """Also where all descriptors are closed, and where the file has gone: in a daemon that outlives the census."""
    source = (
        "import os, sys, subprocess\n"
        "os.closerange(3, 64)\n"
        f"mine = os.open({str(tmp_path / 'mine')!r}, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)\n"
        "os.write(mine, b'mine')\n"
        "subprocess.run(['true'], check=True)\n"
        "os.environ['CLONOMETER_CALLS'] = '/no/such/file'\n"
        "print(subprocess.check_output([sys.executable, '-c', 'import os; os.system(\"echo below\")'], text=True))\n"
    )
    ended = run("--json", "--", sys.executable, *options, "-c", source)
    assert ended.returncode == 0
    assert ended.stderr == "below\n\n"
    assert (tmp_path / "mine").read_text() == "mine"


def test_without_hooks_nothing_is_put_into_the_environment() -> None:
    source = "import os; print(os.environ.get('CLONOMETER_CALLS'), 'hooks' in os.environ.get('PYTHONPATH', ''))"
    words: list[Any] = ["--json", "--", sys.executable, "-c", source]
    assert run("--no-hooks", *words).stderr == "None False\n"
    assert run(*words).stderr.endswith(" True\n")


NODE = """\
const { spawnSync, exec, spawn } = require('child_process');
const util = require('util');
function plain() {
  spawnSync('true');  // plain
}
function prepared() {
  spawn('true', [], { detached: true, cwd: '/' });  // prepared
}
function shell() {
  exec('exit 0');  // shell
}
async function promised() {
  await util.promisify(exec)('exit 0');  // promised
}
Error.prepareStackTrace = () => { throw new Error('of the program'); };
for (let n = 0; n < 2; n++) { plain(); prepared(); shell(); promised(); }
"""
IN_NODE = {"plain": "spawnSync", "prepared": "spawn", "shell": "exec", "promised": "exec"}
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")


@needs_node
@pytest.mark.parametrize("imported", [False, True], ids=["require", "import"])
def test_each_line_of_a_node_program_is_named(seen_by: str, imported: bool, tmp_path: Path) -> None:
    source = NODE
    if imported:
        source = source.replace(
            "const { spawnSync, exec, spawn } = require(", "import { spawnSync, exec, spawn } from "
        )
        source = source.replace("'child_process');", "'child_process';")
        source = source.replace("const util = require('util');", "import util from 'node:util';")
    script = tmp_path / ("planted.mjs" if imported else "planted.js")
    script.write_text(source)
    answer = taken("node", str(script), how=seen_by)
    spoken = {site["where"]["function"]: site for site in answer["sites"] if site["language"] is not None}
    lines = {line.split("// ")[1]: n for n, line in enumerate(source.splitlines(), 1) if "// " in line}
    assert {name: (site["where"]["line"], site["api"]) for name, site in spoken.items()} == {
        name: (lines[name], f"child_process.{api}") for name, api in IN_NODE.items()
    }
    assert all(site["created"] == 2 and site["where"]["file"] == str(script) for site in spoken.values())
    if answer["calls_missing"] is None:
        assert {"setsid", "chdir"} <= set(spoken["prepared"]["did"])
        assert "setsid" not in spoken["plain"]["did"]


@needs_node
def test_a_node_program_keeps_its_options_and_its_output(tmp_path: Path) -> None:
    (tmp_path / "theirs.js").write_text("global.theirs = 'was required';\n")
    source = (
        "const cp = require('child_process'); const util = require('util');"
        "console.log(theirs, cp.spawn.length, cp.exec.name, cp.execFile[util.promisify.custom].length);"
        "try { cp.spawnSync(7) } catch (error) { console.log(error.code) }"
        "delete process.env.CLONOMETER_CALLS; process.chdir('/');"
        "console.log(cp.execFileSync(process.execPath, ['-p', 'theirs']).toString())"
    )
    environment = {**os.environ, "NODE_OPTIONS": f"--require={tmp_path}/theirs.js"}
    bare = subprocess.run(["node", "-e", source], capture_output=True, text=True, env=environment, check=True)
    seen = run("--json", "--", "node", "-e", source, env=environment)
    assert "was required" in bare.stdout
    assert "ERR_INVALID_ARG_TYPE" in bare.stdout
    assert seen.stderr == bare.stdout


@needs_node
def test_code_in_no_file_has_the_names_that_its_compiler_has_written(tmp_path: Path) -> None:
    (tmp_path / "jit.js").write_text(
        "const cp = require('child_process');\nfunction hot() {\n  cp.spawnSync('true');\n}\nhot();\n"
    )
    wanted = ["--perf-basic-prof", "--interpreted-frames-native-stack"]
    # It also writes a log into its folder.
    answer = json.loads(run("--json", "--", "node", *wanted, "jit.js", cwd=tmp_path).stdout)
    for left in Path("/tmp").glob("perf-*.map"):
        if str(tmp_path) in left.read_text(errors="replace"):
            left.unlink()
    frames = [frame for site in answer["sites"] if site["execed"] for frame in site["frames"]]
    if answer["stacks"]["by"] is None or not any(frame["module"] is None for frame in frames):
        pytest.skip("this Node.js has no code outside of files on its stack")
    assert [
        frame
        for frame in frames
        if frame["module"] is None and " ".join((frame["function"] or "").split()[:1]) == "JS:~hot"
    ]


SPAWNS = """\
import multiprocessing
import subprocess

if __name__ == "__main__":
    made = multiprocessing.get_context("spawn").Process(target=len, args=("",))
    made.start()
    made.join()
    subprocess.run(["true"])
"""


def test_what_multiprocessing_spawns_has_its_line(tmp_path: Path) -> None:
    """It calls a function that has no audit event; the import that wraps it must not import it for ever."""
    if not can_trace():
        pytest.skip("tracepoints may not be read here")
    script = tmp_path / "spawns.py"
    script.write_text(SPAWNS)
    answer = taken(sys.executable, str(script))
    assert answer["exit_status"] == 0
    spoken = [site for site in answer["sites"] if site["mechanism"] != "thread" and site["language"] is not None]
    counts = sorted((site["where"]["line"], site["api"], site["created"]) for site in spoken)
    # One of them is the tracker of shared resources.
    assert counts == [(6, "multiprocessing.process.BaseProcess.start", 1)] * 2 + [(8, "subprocess.run", 1)]
