"""A folder of runs from Python: loaded once, then shown, compared and searched for steps."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.dataset.made import write_fleet

import clonometer
from clonometer.app.history import moment_of
from clonometer.errors import UsageError


def test_one_loaded_folder_serves_every_question(tmp_path: Path) -> None:
    runs = clonometer.load_folder(str(write_fleet(tmp_path / "runs", hosts=3, runs=1)))
    shown = clonometer.show_fleet(runs, "host")
    assert len(shown.groups) == 3
    history = clonometer.history(runs, recent=7)
    assert (history.recent, history.n_short, history.rows) == (7, len(shown.rows), [])
    compared = clonometer.compare_fleet(runs, "host")
    assert {len(shown.groups) - 1} == {len(compared.compared.pairs)}


def test_a_condition_keeps_the_hosts_that_have_it(tmp_path: Path) -> None:
    folder = write_fleet(tmp_path / "runs", hosts=3, runs=1)
    names = {run.host for run in clonometer.load_folder(folder).runs}
    first_host = sorted(names)[0]
    assert {run.host for run in clonometer.load_folder(folder, where=[f"host={first_host}"]).runs} == {first_host}
    with pytest.raises(UsageError, match="is not a condition"):
        clonometer.load_folder(folder, where=["host"])


def test_a_date_without_a_zone_is_of_utc() -> None:
    assert moment_of("2026-11-01") == datetime(2026, 11, 1, tzinfo=UTC)
    assert moment_of("2026-11-01T02:00+02:00") == datetime(2026, 11, 1, tzinfo=UTC)
    with pytest.raises(UsageError, match="not a date"):
        moment_of("yesterday")
