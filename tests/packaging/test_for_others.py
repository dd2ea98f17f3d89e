"""What a build says of whom it is for."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests.integration.conftest import public  # noqa: F401 (a fixture)

SCRIPT = Path(__file__).parents[2] / "tools" / "for_others.sh"


def warnings_for(folder: Path) -> str:
    bin_ = folder / "inner" / "bin"
    bin_.mkdir(parents=True)
    for name in ("clonometer", "python"):
        (bin_ / name).touch(mode=0o755)
    return subprocess.run(["sh", SCRIPT, bin_], cwd="/", capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="it is about what root has built")
def test_a_build_behind_a_closed_folder_is_said_to_be_roots_alone(public: Path) -> None:  # noqa: F811
    assert warnings_for(public / "open") == ""
    closed = public / "closed"
    closed.mkdir(mode=0o700)
    [line] = warnings_for(closed).splitlines()
    assert line.startswith(f"Only root can run it: {closed} is closed to other users.")
