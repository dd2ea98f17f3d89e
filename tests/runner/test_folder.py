from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

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
