"""A family, axes and quantities that nobody has heard of, from the list to every export; and the walk-through."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import CommandLine, make_command_line
from tests.fakes import INVENTED_DRIVER

from clonometer.views.exports import FORMATS

WALK_THROUGH = Path(__file__).parents[2] / "docs" / "adding-a-family.md"
# Modules in a folder beside the package are found as those inside are.
_WITH_MODULES = """
import importlib, sys
for package in ("families", "results.findings", "views.figures"):
    importlib.import_module(f"clonometer.{package}").__path__.append(f"{sys.argv[1]}/{package.replace('.', '/')}")
del sys.argv[1]
from clonometer.cli.start import main
sys.exit(main())
"""
# One start is enough for all formats.
_EVERY_EXPORT = """
import sys
from clonometer.cli.start import main
for name in sys.argv[1:]:
    sys.argv = ["clonometer", "export", "run.parquet", "--format", name, "--out", name]
    try:
        main()
    except SystemExit as end:
        assert not end.code
"""
Say = Callable[..., str]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A folder with a run of the invented family."""
    command = make_command_line(tmp_path_factory.mktemp("invented"))
    (command.folder / "bin" / "driver-invented").symlink_to(INVENTED_DRIVER)
    axes = ("--set", "pool_workers=1,4", "--set", "queue_kind=locked,lock_free")
    ended = command("run", "pool.submit", *axes, "--budget", "3", "--seed", "1", "--out", "run.parquet")
    assert ended.returncode == 0, ended.stderr
    return command


@pytest.fixture(scope="module")
def say(measured: CommandLine) -> Say:
    """What a command prints that must succeed."""

    def run(*words: str) -> str:
        ended = measured(*words)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    return run


def test_it_is_listed_and_shown_by_its_own_name_with_what_its_axes_do(say: Say) -> None:
    assert {"pool.submit", "pool_workers", "queue_kind"} <= set(say("list", "--wide").split())
    text = say("show", "run.parquet", "--wide")
    assert re.search(r"^Job pool; µs +until +median", text, re.MULTILINE)
    assert re.search(r"^ +pool workers 4 +submit, µs +1\.(39|4)", text, re.MULTILINE)
    assert re.search(r"^pool.submit +job picked up +2\.(79|8)", text, re.MULTILINE)
    first = say("show", "run.parquet")
    assert re.search(r"^Job pool +job picked up( +best)? +±95%", first, re.MULTILINE)
    assert re.search(r"^pool.submit: submit +µs +1\.(09|1)", first, re.MULTILINE)
    shown = json.loads(say("show", "run.parquet", "--json"))
    findings = {finding["id"]: finding["numbers"] for finding in shown["findings"]}
    assert findings["scan.pool_workers.pool.submit.submit_ns"]["slope_ns"] == pytest.approx(100, rel=0.05)
    picked_up = findings["scan.pool_workers.pool.submit"]
    assert (picked_up["stage"], picked_up["slope_ns"]) == ("job_picked_up", pytest.approx(200, rel=0.05))
    assert findings["choice.queue_kind.pool.submit.lock_free"]["ratio"] == pytest.approx(0.5, rel=0.05)
    values = {(cell["quantity"], cell["unit"], cell["value"]) for cell in shown["cells"] if cell["value"] is not None}
    assert values == {("retries", "count", 2), ("queue_each_bytes", "bytes", 64), ("queue_each_bytes", "bytes", 256)}


def test_it_is_on_the_page_and_in_pictures(say: Say, measured: CommandLine) -> None:
    say("report", "run.parquet", "--out", "pool.html")
    assert "Job pool" in (measured.folder / "pool.html").read_text()
    say("plot", "run.parquet", "--kind", "scan", "--out", "pool.svg")
    assert "pool workers" in (measured.folder / "pool.svg").read_text()


def test_it_is_exported_and_compared(say: Say, measured: CommandLine) -> None:
    command = [sys.executable, "-c", _EVERY_EXPORT, *FORMATS]
    subprocess.run(command, cwd=measured.folder, env=measured.environment(), check=True, timeout=60)
    for name in FORMATS:
        assert "submit" in (measured.folder / name).read_text(), name
    compared = json.loads(say("compare", "run.parquet", "run.parquet", "--json"))
    rows = compared["comparisons"][0]["rows"]
    assert {(row["workload"], row["stage"]) for row in rows} == {
        ("pool.submit", None),
        ("pool.submit", "job_picked_up"),
    }


def test_the_walk_through_works_as_it_stands(measured: CommandLine, tmp_path: Path) -> None:
    text = WALK_THROUGH.read_text()
    blocks = re.findall(r"^## .*`src/clonometer/(.*\.py)`\n(?:.*\n)*?```python\n((?:.*\n)*?)```", text, re.MULTILINE)
    assert [name.partition("/")[0] for name, _ in blocks] == ["families", "results", "views"]
    for name, code in blocks:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(code)

    def run(*words: str) -> str:
        command = [sys.executable, "-c", _WITH_MODULES, str(tmp_path), *words]
        environ: dict[str, Any] = {"cwd": measured.folder, "env": measured.environment()}
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **environ)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    shown = run("show", "run.parquet", "--wide")
    assert re.search(r"^Pools of workers; µs +until +median", shown, re.MULTILINE)
    assert re.search(r"^pool.submit +job taken +2\.(19|2)", shown, re.MULTILINE)
    assert "job taken: until a worker has taken the job out of the queue." in shown
    findings = {finding["id"]: finding for finding in json.loads(run("show", "run.parquet", "--json"))["findings"]}
    assert findings["job_pool.queue.4"]["sentence"].startswith("With 4 workers in the pool: ")
    assert findings["job_pool.queue.4"]["numbers"]["ratio"] == pytest.approx(2.0, rel=0.05)
    assert "queue kind" not in shown
    run("plot", "run.parquet", "--kind", "job_pool", "--out", "job_pool.svg")
    assert "workers in the pool" in (measured.folder / "job_pool.svg").read_text()
    assert "job_pool" in run("plot", "--help")
