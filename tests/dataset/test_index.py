from __future__ import annotations

import os
import shutil
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from tests.dataset.made import START, make_run
from tests.fakes.memory_run import write_run

from clonometer.dataset import folders, index
from clonometer.dataset.load import Dataset, load
from clonometer.errors import InputError, UsageError
from clonometer.results.compare.sides import read_side
from clonometer.runfile import open_run
from clonometer.runfile.summaries import read_parts

OLD = Path(__file__).parents[1] / "data" / "schema1.parquet"


def figures(dataset: Dataset) -> list[tuple[str, str, str, str | None, float]]:
    labels = [dataset.labels[place] for place in dataset.rows["label"]]
    runs = [dataset.runs[place].path for place in dataset.rows["run"]]
    return sorted(
        (run, label.cell, label.quantity, label.placement, float(value))
        for run, label, value in zip(runs, labels, dataset.rows["value"], strict=True)
    )


def test_summaries_have_the_medians_of_the_runs(fleet: Path, tmp_path: Path) -> None:
    shutil.copytree(fleet / "host0", tmp_path / "runs")
    shutil.copy(OLD, tmp_path / "runs" / "old.parquet")
    dataset = load(tmp_path / "runs")
    assert (dataset.reading.n_files, dataset.reading.n_runs, dataset.reading.n_hosts) == (3, 3, 2)
    expected = []
    for name in ("old.parquet", "run0.parquet", "run1.parquet"):
        with open_run(tmp_path / "runs" / name) as run:
            rows = read_side(run, name).all_rows
        for estimate in rows:
            value = estimate.median_ns if estimate.value is None else estimate.value
            expected.append((name, estimate.cell, estimate.quantity, estimate.placement, value))
    assert figures(dataset) == sorted(expected)


def test_a_file_is_read_once_until_it_changes(fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(fleet / "host0", folder)
    read: list[str] = []
    summarize = index.summarize_file
    monkeypatch.setattr(index, "summarize_file", lambda path, name: (read.append(name), summarize(path, name))[1])
    first = load(folder)
    again = load(folder)
    assert read == ["run0.parquet", "run1.parquet"]
    assert figures(again) == figures(first)
    write_run(folder / "new.parquet", make_run(day=3, seed=50))
    (folder / "run1.parquet").unlink()
    write_run(folder / "run1.parquet", make_run(host="00000000", day=1, seed=1, factor=3.0))
    changed = load(folder)
    slow = [value for run, _, name, _, value in figures(changed) if (run, name) == ("run1.parquet", "reaped_ns")]
    assert max(slow) > 200_000
    # The summary of the file as it was is still there, and counts no more.
    assert sum(run["path"] == "run1.parquet" for part in read_parts(folder / folders.FOLDER) for run in part.runs) == 2
    assert read[2:] == ["new.parquet", "run1.parquet"]
    assert changed.reading.n_runs == 3
    (folder / "new.parquet").unlink()
    assert load(folder).reading.n_runs == 2


def test_many_parts_become_one_with_the_same_figures(
    fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(fleet / "host0", folder / "a")
    monkeypatch.setattr(index, "_RUNS_A_PART", 1)
    before = load(folder)
    monkeypatch.setattr(index, "_MOST_PARTS", 1)
    assert figures(load(folder)) == figures(before)
    kept = folder / folders.FOLDER
    assert len(list(kept.iterdir())) == 2
    # Damage to what is kept costs time, and no figure.
    for part in kept.iterdir():
        part.write_bytes(part.read_bytes()[:100])
    assert figures(load(folder)) == figures(before)


def test_damaged_files_copies_and_clocks_are_counted(fleet: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(fleet / "host0", folder / "a")
    shutil.copy(folder / "a" / "run0.parquet", folder / "copy.parquet")
    (folder / "cut.parquet").write_bytes((folder / "copy.parquet").read_bytes()[:-200])
    (folder / "text.parquet").write_text("no run")
    late = write_run(folder / "late.parquet", make_run(day=5, seed=9))
    written = START.timestamp()
    os.utime(late, (written, written))
    reading = load(folder).reading
    assert (reading.n_files, reading.n_runs) == (6, 3)
    assert [file.path for file in reading.damaged] == ["cut.parquet", "text.parquet"]
    assert "truncated" in reading.damaged[0].reason
    assert [(file.path, file.reason) for file in reading.duplicates] == [
        ("copy.parquet", "the same run as a/run0.parquet")
    ]
    assert [file.path for file in reading.clocks_apart] == ["late.parquet"]


def test_what_is_asked_for_is_all_that_is_loaded(fleet: Path) -> None:
    whole, forks = load(fleet), load(fleet, only=["launch.fork*"])
    assert {label.workload for label in forks.labels} == {"launch.fork"}
    assert forks.rows["run"].size * 2 == whole.rows["run"].size
    some = load(fleet, where=lambda run: run.host == "00000003")
    assert {run.path for run in some.runs} == {"host3/run0.parquet", "host3/run1.parquet"}
    starts = [datetime.fromisoformat(run.started) for run in whole.runs]
    assert starts == sorted(starts)
    assert np.all(whole.rows["n_processes"] == 6)
    with pytest.raises(UsageError):
        load(fleet, only=["launch.absent*"])


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run file"):
        load(tmp_path)
    with pytest.raises(InputError, match="does not exist"):
        load(tmp_path / "nowhere")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1PAR1")
    with pytest.raises(InputError, match="no valid run file"):
        load(tmp_path)


def test_a_folder_that_cannot_be_written_is_kept_in_the_cache(
    fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "runs"
    shutil.copytree(fleet / "host0", folder)
    # A file in its place: root may write to any folder.
    (folder / folders.FOLDER).write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    load(folder)
    kept = list((tmp_path / "cache" / "clonometer").glob("summaries-*/*"))
    assert len(kept) == 2
