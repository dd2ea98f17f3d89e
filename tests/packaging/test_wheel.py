"""The wheel: executables inside, a tag that any Python 3 on this platform takes, and a command that works."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests import probe

from tools import dist

# What is built, from which files and where it lies is the same; compiled is less: C++ takes half of the time.
QUICKLY = (
    "-Ccmake.build-type=Debug",
    "-Ccmake.define.CMAKE_C_FLAGS_DEBUG=-O0",
    "-Ccmake.define.MUSL_GCC=",
    "-Ccmake.define.CMAKE_CXX_COMPILER=",
)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of sources, unpacked."""
    folder = tmp_path_factory.mktemp("sources")
    archive = dist.build(dist.PROJECT, folder / "archive", "--sdist")
    dist.unpack(archive, folder)
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel made from the archive of sources, which so has all that building takes."""
    return dist.build(sources, tmp_path_factory.mktemp("wheel"), "--wheel", *QUICKLY)


def test_the_archive_has_every_source_in_cxx_too(sources: Path) -> None:
    driver = Path("drivers", "cxx")
    files = {path.relative_to(dist.PROJECT) for path in (dist.PROJECT / driver).rglob("*") if path.is_file()}
    assert len(files) > 10
    assert not {name for name in files if not (sources / name).is_file()}


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


def test_an_installed_wheel_measures_and_reports_without_a_compiler_or_what_draws(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--target", target, wheel],
        check=True,
    )
    # A module that is None in sys.modules is one that is not installed.
    code = "sys.modules['vl_convert'] = None; from clonometer.cli.start import main; main()"
    environment = {**os.environ, "PYTHONPATH": str(target), "PATH": str(tmp_path / "nothing")}
    command = [sys.executable, "-S", "-c", f"import sys; sys.path += {sys.path!r}; {code}"]
    ended = subprocess.run(
        [*command, "run", "launch.fork", "--budget", "0.2", "--out", "run.parquet", "--report", "report.html"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "run.parquet").stat().st_size > 0
    assert "pip install vl-convert-python" in (tmp_path / "report.html").read_text()
    refused = subprocess.run(
        [*command, "plot", "run.parquet", "--kind", "overview", "--out", "a.svg"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 2
    assert "vl-convert-python, which is not installed" in refused.stderr
    assert "pip install vl-convert-python" in refused.stderr


def test_the_tag_is_what_the_executables_ask_for(tmp_path: Path) -> None:
    named = "  0x0010:   Name: GLIBC_2.34  Flags: none\n  0x0020:   Name: GLIBC_2.2.5  Flags: none\n"
    assert dist.asked(named) == {(2, 34), (2, 2)}
    assert dist.oldest_library([probe.executable("static")]) == (2, 17)
    assert dist.oldest_library([probe.executable("static"), probe.executable("dynamic_now")]) > (2, 17)


def test_a_program_for_another_machine_is_in_no_wheel(tmp_path: Path) -> None:
    ours = probe.executable("static")
    assert dist.machine_of(ours) == platform.machine()
    assert dist.machine_of(Path(__file__)) is None
    foreign = tmp_path / "driver-cxx"
    foreign.write_bytes(b"\x7fELF" + bytes(14) + (183 if platform.machine() == "x86_64" else 62).to_bytes(2, "little"))
    dist.check([ours, Path(__file__)], platform.machine())
    with pytest.raises(SystemExit, match="driver-cxx is for"):
        dist.check([foreign, ours], platform.machine())
    # A probe that does not start is in none either.
    broken = tmp_path / "probe-broken"
    broken.write_text("#!/bin/false\n")
    broken.chmod(0o755)
    with pytest.raises(subprocess.CalledProcessError):
        dist.check([broken], platform.machine())
