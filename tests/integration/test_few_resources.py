"""Reading runs and drawing them where threads or addresses are refused: an answer, or a sentence."""

from __future__ import annotations

import errno
import resource
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import make_command_line
from tests.integration import container

from clonometer.cli.start import LEAST_ADDRESSES

RUN = str(Path(__file__).parents[1] / "data" / "schema1.parquet")
GIB = 1 << 30
FILTERED = pytest.mark.skipif(not container.KNOWN, reason="no filter is written for this architecture")


def no_threads() -> None:
    container.refuse(("clone3",), errno.EPERM)


def addresses(gib: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (gib * GIB, gib * GIB))


def end_of(folder: Path, words: list[str], take_away: Callable[[], None]) -> tuple[int, str, str]:
    clonometer = make_command_line(folder)
    ended = subprocess.run(
        clonometer.command(*words), cwd=folder, env=clonometer.environment(), preexec_fn=take_away,
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return ended.returncode, ended.stdout, ended.stderr


@FILTERED
def test_a_run_is_read_where_no_thread_can_be_started(tmp_path: Path) -> None:
    status, out, err = end_of(tmp_path, ["show", RUN], no_threads)
    assert status == 0, err
    assert "pthread" in out


@pytest.mark.parametrize(
    ("take_away", "status", "complaint"),
    [
        pytest.param(no_threads, 4, "cannot draw a picture: ", marks=FILTERED),
        (addresses(8), 4, "66 GiB of addresses (not of memory), and the limit here is 8 GiB\n  raise the limit"),
        # What is asked for is enough.
        (addresses(66), 0, "wrote"),
    ],
)
def test_a_picture_that_cannot_be_drawn(
    take_away: Callable[[], None], status: int, complaint: str, tmp_path: Path
) -> None:
    exit_status, _, err = end_of(tmp_path, ["plot", RUN, "--kind", "overview", "--out", "p.svg"], take_away)
    assert exit_status == status, err
    assert complaint in err
    assert "Traceback" not in err
    assert (tmp_path / "p.svg").exists() == (status == 0)


@pytest.mark.parametrize(
    ("most", "expected"), [(200 << 20, 4), (LEAST_ADDRESSES, 0), (LEAST_ADDRESSES + (64 << 20), 0)]
)
def test_a_command_without_room_for_its_libraries_refuses_before_it_measures(
    most: int, expected: int, tmp_path: Path
) -> None:
    words = ["run", "launch.fork", "--budget", "1", "--out", "o"]
    status, _, err = end_of(tmp_path, words, lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
    assert (status, "raise the limit: ulimit -v 524288" in err) == (expected, expected == 4), err
    assert [path.name for path in tmp_path.glob("o*")] == ([] if expected else ["o"])
