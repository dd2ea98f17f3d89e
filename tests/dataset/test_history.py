from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from tests.dataset.made import START, make_run
from tests.fakes.memory_run import write_run
from tools.json_schema import schema_of

from clonometer.dataset import folders
from clonometer.dataset.boots import beyond_boots, boot_change, second_boot
from clonometer.dataset.history import HistoryLimits, find_history, judged_steps, ruled_steps
from clonometer.dataset.history_types import BOOTS, FEW_RUNS, History
from clonometer.dataset.load import Dataset, load
from clonometer.dataset.points import points_of, read_points
from clonometer.dataset.summary import summarize_file
from clonometer.errors import InputError
from clonometer.records import to_json
from clonometer.runfile.summaries import write_part
from clonometer.verdicts import Gate
from clonometer.views.documents.history import history_document
from clonometer.views.exports.history import openmetrics_text
from clonometer.views.html.document import render_document_page
from clonometer.views.terminal.document import render_document

render_history = partial(render_document, history_document)

DAYS, STEP = 60, 45


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = write_run(tmp_path_factory.mktemp("one") / "run.parquet", make_run())
    return summarize_file(path, "run.parquet")


def days(folder: Path, template: Any, levels: dict[str, np.ndarray], facts: Any = None, hosts: int = 1) -> Dataset:
    """A folder of daily runs, by their summaries alone: each workload's level of each day, and the facts of each."""
    labels = [json.loads(text) for text in template.rows]
    runs, rows = [], []
    for day in range(len(next(iter(levels.values())))):
        path = folder / f"day{day:03}.parquet"
        path.write_bytes(b"placeholder")
        status = path.stat()
        metadata = json.loads(template.run["metadata"])
        metadata["host"] |= {"host.name_hash": f"host{day % hosts}", **(facts(day) if facts else {})}
        started = datetime.fromtimestamp(START.timestamp() + 86400 * day, UTC).isoformat()
        runs.append(
            {
                "path": path.name, "size": status.st_size, "mtime_ns": status.st_mtime_ns, "damage": None,
                "started": started, "ended": started, "seed": str(day), "host": f"host{day % hosts}",
                "status": "complete", "metadata": json.dumps(metadata),
            }
        )  # fmt: skip
        for place, (label, figures) in enumerate(zip(labels, template.rows.values(), strict=True)):
            factor = float(np.exp(levels[label["workload"]][day]))
            rows.append((day, place, *(figure * factor for figure in figures[:3]), *figures[3:]))
    kept = folder / folders.FOLDER
    kept.mkdir()
    names = ("run", "label", "value", "low", "high", "n_samples", "n_processes")
    write_part(kept, runs, labels, dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True)))
    return load(folder)


def noise(seed: int, size: float = 0.01) -> np.ndarray:
    return size * np.random.default_rng(seed).normal(size=DAYS)


def kernel(day: int) -> dict[str, str]:
    """The kernel changes with the step; the microcode long before."""
    return {"kernel.release": "6.12.4" if day >= STEP else "6.12.3", "cpu.microcode": "0x2" if day > 20 else "0x1"}


@pytest.fixture(scope="module")
def stepped(tmp_path_factory: pytest.TempPathFactory, template: Any) -> Dataset:
    fork = noise(1) + np.where(np.arange(DAYS) >= STEP, 0.1, 0.0)
    levels = {"launch.fork": fork, "launch.pthread": noise(2)}
    return days(tmp_path_factory.mktemp("stepped"), template, levels, kernel)


def test_a_step_is_found_with_the_fact_that_changed_with_it(stepped: Dataset) -> None:
    history = find_history(stepped)
    assert history.verdict == Gate.FAIL
    [event] = history.events
    assert (event.slower, event.faster, event.n_rows, event.n_regressions) == (3, 0, 6, 3)
    assert event.run == f"day{STEP:03}.parquet"
    assert [(cause.key, cause.base, cause.other) for cause in event.causes] == [("kernel.release", "6.12.3", "6.12.4")]
    steps = {(row.label.workload, row.label.stage): row.steps for row in history.rows}
    assert all(bool(its) == (workload == "launch.fork") for (workload, _), its in steps.items())
    [step] = steps["launch.fork", "reaped"]
    assert step.change.low < np.exp(0.1) < step.change.high
    assert step.seen_after in (7, 8)
    Draft202012Validator(schema_of({"whole": History})).validate(json.loads(json.dumps(to_json(history))))
    words = render_history(history)
    assert "kernel: 6.12.3 → 6.12.4" in " ".join(words.split())
    page = render_document_page(history_document(history, wide=True))
    assert "6.12.4" in page
    assert "http" not in page.partition("</style>")[2].partition('<script type="module">')[0]


def test_what_is_old_undone_small_or_faster_is_no_regression(tmp_path: Path, template: Any, stepped: Dataset) -> None:
    assert find_history(stepped, limits=HistoryLimits(recent=5)).verdict == Gate.PASS
    assert find_history(stepped, limits=HistoryLimits(max_regression=0.2)).verdict == Gate.PASS
    since = datetime.fromtimestamp(START.timestamp() + 86400 * (STEP + 1), UTC)
    assert find_history(stepped, limits=HistoryLimits(since=since)).verdict == Gate.PASS
    place = np.arange(DAYS)
    undone = noise(1) + np.where((place >= 30) & (place < 48), 0.1, 0.0)
    faster = noise(2) - np.where(place >= STEP, 0.1, 0.0)
    history = find_history(days(tmp_path, template, {"launch.fork": undone, "launch.pthread": faster}))
    assert history.verdict == Gate.PASS
    assert {step.change.direction for row in history.rows for step in row.steps} == {"more", "less"}
    assert [len(row.steps) for row in history.rows if row.label.workload == "launch.fork"] == [2, 2, 2]


def test_too_few_runs_and_too_much_scatter_cannot_tell(tmp_path: Path, template: Any, stepped: Dataset) -> None:
    few = {name: noise(1)[:8] for name in ("launch.fork", "launch.pthread")}
    (tmp_path / "few").mkdir()
    history = find_history(days(tmp_path / "few", template, few))
    assert (history.verdict, history.n_short, history.rows) == (Gate.UNKNOWN, 6, [])
    wild = {name: noise(3, 0.5) for name in ("launch.fork", "launch.pthread")}
    (tmp_path / "wild").mkdir()
    history = find_history(days(tmp_path / "wild", template, wild))
    assert (history.verdict, history.n_blind) == (Gate.UNKNOWN, 6)


def test_hosts_that_take_turns_are_series_of_their_own_or_one_of_their_class(tmp_path: Path, template: Any) -> None:
    levels = {name: noise(1) + 0.3 * (np.arange(DAYS) % 2) for name in ("launch.fork", "launch.pthread")}
    dataset = days(tmp_path, template, levels, hosts=2)
    alone = find_history(dataset)
    assert sorted({(row.series, len(row.values)) for row in alone.rows}) == [("host0", 30), ("host1", 30)]
    assert alone.n_blind == 0
    together = find_history(dataset, "class")
    assert {len(row.values) for row in together.rows} == {60}
    assert together.n_blind == 6


def test_openmetrics_come_back_as_they_were_written(tmp_path: Path, stepped: Dataset) -> None:
    path = tmp_path / "history.om"
    text = openmetrics_text(points_of(stepped))
    path.write_text(text)
    back, before = find_history(read_points(path)), find_history(stepped)
    assert [event.since for event in back.events] == [event.since for event in before.events]
    assert [cause.key for event in back.events for cause in event.causes] == ["kernel.release"]
    for row, its in zip(back.rows, before.rows, strict=True):
        for name in ("cell", "quantity", "placement"):
            assert getattr(row.label, name) == getattr(its.label, name)
        assert row.started == its.started
        assert row.values == pytest.approx(its.values)
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    families = {family.name: len(family.samples) for family in text_string_to_metric_families(text)}
    assert families == {"clonometer_median_seconds": 6 * DAYS, "clonometer_run": DAYS}
    path.write_text("clonometer_median_seconds{cell=} 1 1\n")
    with pytest.raises(InputError, match="line 1"):
        read_points(path)
    path.write_text("# EOF\n")
    with pytest.raises(InputError, match="no values"):
        read_points(path)


def judged(levels: list[float], days: int = 30) -> list[tuple[int, str | None]]:
    """The steps of boots with such levels, and why each is not sure."""
    random = np.random.default_rng(3)
    boots = [str(number) for number in range(len(levels)) for _ in range(days)]
    logs = np.repeat(levels, days) + 0.01 * random.normal(size=len(boots))
    [steps], rates = ruled_steps([logs])
    return [(each.step.place, each.unsure) for each in judged_steps(logs, boots, steps, rates)]


def test_a_new_level_with_a_boot_is_sure_once_a_second_boot_has_it() -> None:
    assert judged([0.0, 0.0, 0.0, 0.1]) == [(90, BOOTS)]
    assert judged([0.0, 0.0, 0.0, 0.1, 0.1]) == [(90, None)]
    # Boots that each have a level are no steps, however evident each is.
    assert {unsure for _, unsure in judged([0.0, 0.06, -0.04, 0.05, 0.0, 0.07])} == {BOOTS}


def test_without_boots_a_step_is_sure_with_seven_runs_and_suspected_before() -> None:
    logs = np.where(np.arange(60) >= 50, 0.1, 0.0) + 0.01 * np.random.default_rng(1).normal(size=60)
    for size, unsure in ((54, FEW_RUNS), (60, None)):
        [steps], levels = ruled_steps([logs[:size]])
        listed = judged_steps(logs[:size], [None] * size, steps, levels)
        assert [(each.step.place, each.unsure) for each in listed] == [(50, unsure)]


def test_boots_are_units_as_in_students_test() -> None:
    scipy = pytest.importorskip("scipy.stats")
    random = np.random.default_rng(2)
    boots = [str(number) for number in range(12)]
    for size in (0.0, 0.02, 0.04, 0.06):
        logs = 0.01 * random.normal(size=12) + np.where(np.arange(12) >= 6, size, 0.0)
        expected = scipy.ttest_ind(logs[:6], logs[6:]).pvalue < 0.001
        assert beyond_boots(logs, boots, 6) == expected


def test_where_the_boot_changed() -> None:
    boots = ["a", "a", None, "b", "b", "c"]
    assert boot_change(boots, 3, 0, 5) == 5
    assert boot_change(boots, 3, 0, 4) is None
    assert second_boot(boots, 3) == 5
    assert second_boot(boots, 5) is None


NULLS = {
    "independent": lambda random, shape: 0.05 * random.normal(size=shape),
    "two levels": lambda random, shape: 0.05 * random.normal(size=shape) + 0.3 * random.integers(0, 2, size=shape),
    "each wanders": lambda random, shape: 0.05 * random.normal(size=shape) + 0.1 * wandering(random, shape),
    "all wander": lambda random, shape: 0.05 * random.normal(size=shape) + 0.1 * wandering(random, (shape[0], 1)),
}


def wandering(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    values = random.normal(size=shape)
    for run in range(1, shape[0]):
        values[run] = 0.9 * values[run - 1] + values[run] * np.sqrt(1 - 0.81)
    return values


@pytest.mark.parametrize("name", NULLS)
def test_folders_of_twenty_runs_in_which_nothing_changed_have_no_sure_step(name: str) -> None:
    """Of 20 rows each; what is likely may be wrong in one of four folders."""
    random = np.random.default_rng(4)
    sure = likely = 0
    for _ in range(20):
        steps, _ = ruled_steps([*NULLS[name](random, (20, 20)).T])
        sure += any(judged.unsure is None for its in steps for judged in its)
        likely += any(map(bool, steps))
    assert sure <= 1
    assert likely <= 5


@pytest.mark.parametrize("changed", [1, 20])
def test_a_step_of_half_is_found_in_twenty_runs_that_scatter(changed: int) -> None:
    """In one row of twenty, and in all of them: nearly each of these rows is found."""
    random = np.random.default_rng(5)
    n_found = 0
    for _ in range(20):
        values = NULLS["independent"](random, (20, 20))
        values[10:, :changed] += np.log(1.5)
        steps, _ = ruled_steps([*values.T])
        n_found += sum(any(judged.unsure is None for judged in its) for its in steps[:changed])
    assert n_found >= 0.85 * 20 * changed
