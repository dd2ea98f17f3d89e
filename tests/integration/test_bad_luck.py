"""The whole command when things go wrong: interrupted, killed, or without room on disk."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import CommandLine

from clonometer.runfile import open_run

SMALL = ("launch.fork", "launch.pthread", "--budget", "600", "--set", "temperature=warm")


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def await_processes(clonometer: CommandLine, count: int) -> None:
    limit_s = time.monotonic() + 60
    while len(clonometer.measuring_pids()) < count:
        assert time.monotonic() < limit_s, "the run did not get going"
        time.sleep(0.02)


def test_ctrl_c_leaves_a_partial_file_and_says_how_to_go_on(clonometer: CommandLine) -> None:
    started = clonometer.start("run", *SMALL)
    await_processes(clonometer, 4)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130, err
    assert "Traceback" not in err
    assert "partial" in out
    assert "clonometer run launch.fork launch.pthread" in out
    with open_run(clonometer.folder / "clonometer-run.parquet") as run:
        assert run.document.status == "partial"
        assert run.n_samples >= 200
    assert not (clonometer.folder / "clonometer-run.raw").exists()
    assert not any(alive(pid) for pid in clonometer.measuring_pids())


def test_ctrl_c_before_anything_was_measured_leaves_no_file(clonometer: CommandLine) -> None:
    clonometer.environ |= {"FAKE_DRIVER_MODE": "slow", "FAKE_DRIVER_SLOW_S": "600"}
    started = clonometer.start("run", *SMALL, "--json")
    await_processes(clonometer, 1)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert out == ""
    assert "no file was written" in err
    assert {path.name for path in clonometer.folder.iterdir()} == {"bin", "starts.log"}
    assert not any(alive(pid) for pid in clonometer.measuring_pids())


def test_a_killed_run_is_recovered(clonometer: CommandLine) -> None:
    started = clonometer.start("run", *SMALL)
    await_processes(clonometer, 5)
    started.kill()
    started.communicate(timeout=60)
    raw = clonometer.folder / "clonometer-run.raw"
    assert raw.exists()
    assert not (clonometer.folder / "clonometer-run.parquet").exists()

    refused = clonometer("run", *SMALL, "--out", "clonometer-run.parquet")
    assert refused.returncode == 2
    assert "clonometer recover" in refused.stderr

    recovered = clonometer("recover", raw.name)
    assert recovered.returncode == 0, recovered.stderr
    assert "status partial" in recovered.stderr
    with open_run(clonometer.folder / "clonometer-run.parquet") as run:
        assert run.document.status == "partial"
        assert run.n_samples >= 3 * 200
    shown = clonometer("show", "clonometer-run.parquet")
    assert shown.returncode == 0, shown.stderr


def test_a_quota_on_file_size_ends_the_run_with_what_was_saved(clonometer: CommandLine) -> None:
    words = clonometer.command("run", *SMALL)
    limit_bytes = 80_000

    def limit() -> None:
        # Python ignores SIGXFSZ, so that the write fails with EFBIG, as one on a full disk does with ENOSPC.
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))

    ended = subprocess.run(
        words,
        cwd=clonometer.folder,
        env=clonometer.environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=limit,
    )
    assert ended.returncode == 4, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "may grow no further (ulimit -f)" in " ".join(ended.stdout.split())
    with open_run(clonometer.folder / "clonometer-run.parquet") as run:
        assert run.document.status == "partial"
        assert "may grow no further (ulimit -f)" in str(run.document.status_reason)
        assert run.n_samples > 0


@contextlib.contextmanager
def tiny_disk(folder: Path, size: str) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a small disk here: {mounted.stderr.decode().strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_said_with_what_was_saved(clonometer: CommandLine) -> None:
    with tiny_disk(clonometer.folder, "96k") as disk:
        ended = clonometer("run", *SMALL, "--out", str(disk / "run.parquet"))
        assert ended.returncode == 4, ended.stderr
        assert "Traceback" not in ended.stderr
        assert "no room on disk" in ended.stderr + ended.stdout
        raw, out = disk / "run.raw", disk / "run.parquet"
        assert raw.exists() != out.exists()
        if raw.exists():
            # Not even the run file had room: the raw one is whole up to where the disk was full.
            assert "clonometer recover" in ended.stderr
            refused = clonometer("recover", str(raw))
            assert (refused.returncode, raw.exists(), out.exists()) == (4, True, False), refused.stderr
            assert "free some space" in refused.stderr
            recovered = clonometer("recover", str(raw), "--out", "saved.parquet")
            assert recovered.returncode == 0, recovered.stderr
            out = clonometer.folder / "saved.parquet"
        with open_run(out) as run:
            assert run.document.status == "partial"
            assert run.n_samples > 0
    assert not any(alive(pid) for pid in clonometer.measuring_pids())


def test_a_driver_that_hangs_is_reported_and_the_rest_goes_on(clonometer: CommandLine) -> None:
    clonometer.environ |= {"FAKE_DRIVER_MODE": "hang", "FAKE_DRIVER_ONLY": "launch.fork"}
    ended = clonometer(
        "run", "launch.fork", "launch.pthread", "--set", "temperature=warm", "--budget", "0.3",
        "--driver-timeout", "3",
    )  # fmt: skip
    assert ended.returncode == 4, ended.stderr
    assert "failed: launch.fork[temperature=warm]: " in ended.stdout
    assert "gave no answer within 3 s" in ended.stdout
    with open_run(clonometer.folder / "clonometer-run.parquet") as run:
        cells = {cell.cell: cell.status for cell in run.document.cells}
    assert cells == {"launch.fork[temperature=warm]": "failed", "launch.pthread[temperature=warm]": "ok"}
    assert not any(alive(pid) for pid in clonometer.measuring_pids())
