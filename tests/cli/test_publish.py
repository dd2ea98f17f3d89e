from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_a_run_is_shown_published_and_in_the_gallery(clonometer: Any, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    run = folder / "run.parquet"
    assert clonometer("run", "launch.fork", "--budget", "300ms", "--out", str(run)).returncode == 0
    summary = folder / "run.clonometer.json"
    asked = clonometer("publish", str(run), "--anonymous")
    assert asked.returncode == 2
    assert not summary.exists()
    shown = json.loads(asked.stdout)
    done = clonometer("publish", str(run), "--anonymous", "--yes")
    assert done.returncode == 0, done.stderr
    assert json.loads(summary.read_text()) == json.loads(done.stdout) == shown
    assert "host.name_hash" not in done.stdout
    assert "boot_id" not in done.stdout
    assert "dropped:" in done.stderr
    assert clonometer("publish", str(run)).returncode == 2
    site = tmp_path / "site"
    made = clonometer("gallery", str(folder), "--out", str(site))
    assert made.returncode == 0, made.stderr
    assert len(list((site / "machines").iterdir())) == 1
    assert clonometer("gallery", str(folder), "--out", str(site)).returncode == 2
    assert clonometer("gallery", str(site), "--out", str(tmp_path / "other")).returncode == 2
