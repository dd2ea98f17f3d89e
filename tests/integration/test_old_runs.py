"""A run of today against the frozen one, which was made before most axes existed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clonometer.cli.ending import run_to_the_end

pytestmark = pytest.mark.real

OLD = str(Path(__file__).parents[1] / "data" / "schema1.parquet")


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("runs") / "new.parquet")
    words = ["run", "launch.fork", "launch.pthread", "--set", "temperature=warm", "--budget", "0.3", "--out", path]
    assert run_to_the_end(words) in (0, 4)
    return path


def test_an_old_run_is_compared_with_a_new_one(new: str, capsys: pytest.CaptureFixture[str]) -> None:
    for runs in ([OLD, new], [new, OLD]):
        capsys.readouterr()
        assert run_to_the_end(["compare", *runs, "--json"]) == 0
        [pair] = json.loads(capsys.readouterr().out)["comparisons"]
        assert {row["workload"] for row in pair["rows"]} == {"launch.fork", "launch.pthread"}
        assert not any("condition" in omitted["reason"] for omitted in pair["left_out"])


def test_an_old_run_is_a_baseline_for_a_new_one(new: str, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run_to_the_end(["check", new, "--baseline", OLD, "--json"]) in (0, 1, 3)
    answer = json.loads(capsys.readouterr().out)
    assert {row["workload"] for row in answer["rows"]} == {"launch.fork", "launch.pthread"}
    assert not any("condition" in omitted["reason"] for omitted in answer["left_out"])
