"""What a run says of the one before it: summaries are kept and compared, they are few, and no run fails by them."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from tests.results.runs_of_since import another_kernel_than_yesterday, as_yesterday, side, slower_since_three_days

from clonometer.app import since
from clonometer.app.since import since_last_time
from clonometer.results.compare.since import since as changes_since
from clonometer.results.compare.snapshot import from_snapshot, to_snapshot
from clonometer.runfile import open_run

STORED = Path(__file__).parents[1] / "data" / "schema1.parquet"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "clonometer"


def test_a_change_has_its_size() -> None:
    made = slower_since_three_days()
    assert {row.other.workload for row in made.changed} == {"launch.fork"}
    assert {row.change.word for row in made.changed} == {"sure"}
    assert made.changed[0].change.value == pytest.approx(1.5, rel=0.02)


def test_where_nothing_changed_nothing_differs() -> None:
    assert not as_yesterday().changed


def test_another_kernel_is_named_and_nothing_compared() -> None:
    made = another_kernel_than_yesterday()
    assert [(each.key, each.base, each.other) for each in made.differing] == [("kernel.release", "6.1", "6.2")]
    assert not made.changed


def test_another_boot_is_no_other_setting() -> None:
    boots = [{"host.boot_id": name} for name in ("a1", "b2")]
    assert not changes_since(side(**boots[0]), side(days=1, **boots[1])).differing


def test_what_is_kept_gives_the_same_answer_as_the_run() -> None:
    before, now = side(), side(1.2, days=2)
    again = from_snapshot(json.loads(json.dumps(to_snapshot(before))), "kept")
    assert again is not None
    assert changes_since(again, now).sentence == changes_since(before, now).sentence


def test_a_run_is_remembered_once_a_plan_and_not_compared_with_itself(data: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    shutil.copy(STORED, path)
    assert since_last_time(path) is None
    assert since_last_time(path) is None
    [file] = data.iterdir()
    assert file.stat().st_mode & 0o077 == 0
    assert file.stat().st_size < 100_000


def test_damage_costs_the_sentence_and_no_more(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    since_last_time(STORED)
    [file] = data.iterdir()
    for content in (b"", b"junk", gzip.compress(b"[]"), gzip.compress(b'{"schema": 1}')):
        file.write_bytes(content)
        assert since_last_time(STORED) is None
        with open_run(STORED) as run:
            kept = json.loads(gzip.decompress(file.read_bytes()))
            assert kept["document"]["started"] == run.document.started
    assert since_last_time(Path("/nonexistent")) is None
    monkeypatch.setenv("XDG_DATA_HOME", "/proc/nowhere")
    assert since_last_time(STORED) is None


def test_only_so_many_plans_are_remembered(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(since, "MOST_PLANS", 3)
    data.mkdir(parents=True, mode=0o700)
    data.parent.chmod(0o700)
    for number in range(5):
        (data / f"last-{number}.json.gz").write_bytes(b"")
    since_last_time(STORED)
    assert len(list(data.iterdir())) == 3


def test_a_limit_that_was_not_there_is_not_set() -> None:
    kept = changes_since(side(**{"limit.as_bytes": None}), side(days=1, **{"limit.as_bytes": 1 << 30}))
    assert kept.sentence == "Since 1 day ago, limit.as_bytes changed from not set to 1073741824: not compared."
