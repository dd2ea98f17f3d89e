"""The wheel: executables inside, a tag that any Python 3 on this platform takes, and a command that works."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "CMAKE_GENERATOR": "Ninja",
    }
    subprocess.run(
        [
            sys.executable,
            "-m",
            "build",
            "--wheel",
            "--no-isolation",
            "--outdir",
            folder,
            # Where `make build` compiled all of it from nothing: compiling it once more would tell nothing new.
            f"-Cbuild-dir={PROJECT / 'build' / 'Release'}",
            PROJECT,
        ],
        check=True,
        capture_output=True,
        env=environment,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_the_tag_fits_any_python_3_on_this_platform(wheel: Path) -> None:
    python, abi, platform = wheel.stem.split("-")[2:5]
    assert (python, abi) == ("py3", "none")
    assert platform.startswith("linux") or platform.startswith("manylinux")


def test_it_carries_the_probe_and_the_plans(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        probe = archive.getinfo("clonometer/_bin/probe-static")
    assert {"clonometer/_bin/target_static", "clonometer/plan/plans/default.toml"} <= names
    assert any(
        name.startswith("clonometer/views/html/") and name.endswith((".j2", ".html", ".jinja")) for name in names
    )
    assert probe.external_attr >> 16 & 0o111, "the probe is not executable"


def test_an_installed_wheel_describes_itself_and_measures(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", target, wheel],
        check=True,
    )
    code = "from clonometer.cli.start import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(target)}
    command = [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path!r}; {code}"]
    ended = subprocess.run(
        [*command, "run", "launch.none", "--budget", "1", "--out", "run.parquet"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "run.parquet").stat().st_size > 0
