from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from clonometer.errors import UnfinishedError
from clonometer.runner.folder import temporary_folder

HOLD = """
import os, pathlib, signal, sys
from clonometer.runner.folder import temporary_folder
with temporary_folder() as folder:
    (folder / "run.raw").write_text("samples")
    print(folder, flush=True)
    {end}
"""


@pytest.mark.parametrize("end", ["pass", "1 / 0", "os.killpg(os.getpgid(0), signal.SIGKILL)"])
def test_the_folder_is_gone_whatever_ends_us(end: str, tmp_path: Path) -> None:
    ended = subprocess.run([sys.executable, "-c", HOLD.format(end=end)], capture_output=True, text=True, check=False,
                           env={"TMPDIR": str(tmp_path)}, start_new_session=True, timeout=60)  # fmt: skip
    folder = Path(ended.stdout.strip())
    assert folder.parent == tmp_path
    limit_s = time.monotonic() + 30
    while "KILL" in end and folder.exists() and time.monotonic() < limit_s:
        time.sleep(0.01)
    assert not folder.exists()


def test_what_is_lost_with_the_folder_is_not_said_to_be_saved_in_it() -> None:
    with pytest.raises(UnfinishedError) as caught, temporary_folder() as folder:
        raise UnfinishedError("no room on disk", f"12 samples are saved in {folder}", f"clonometer recover {folder}")
    assert caught.value.message == "no room on disk; what was measured is lost"
    assert caught.value.hint == "TMPDIR names another folder"
    assert caught.value.exit_status == 4
