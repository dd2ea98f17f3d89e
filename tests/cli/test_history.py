from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.dataset.made import make_run, write_run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(1)
    for day in range(16):
        factor = float(np.exp(0.005 * random.normal())) * (1.2 if day >= 10 else 1.0)
        facts = {"kernel.release": "6.12.4" if day >= 10 else "6.12.3"}
        write_run(folder / f"{day}.parquet", make_run(day=day, seed=day, factor=factor, spread=0.004, facts=facts))
    return folder


def test_history_ends_with_the_status_of_its_verdict(clonometer: Any, folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "history.svg"
    values = tmp_path / "history.om"
    ended = clonometer("history", str(folder), "--plot", str(picture), "--export", "openmetrics", "--out", str(values))
    assert ended.returncode == 1, ended.stderr
    assert "slower (19" in ended.stdout
    assert "6.12.3 → 6.12.4" in " ".join(ended.stdout.split())
    assert "6.12.4" in picture.read_text(encoding="utf-8")
    assert clonometer("history", str(values)).returncode == 1
    assert clonometer("history", str(folder), "--recent", "2").returncode == 0
    assert clonometer("history", str(folder), "--where", "kernel=6.12.4").returncode == 3
    answer = json.loads(clonometer("history", str(folder), "--json").stdout)
    assert answer["verdict"] == "regression"
    assert answer["counts"]["regressions"] == 6


def test_wrong_words_end_with_2(clonometer: Any, folder: Path) -> None:
    for words in (("--since", "soon"), ("--export", "csv", "--out", "x"), ("--export", "bencher"), ("--plot", "x.gif")):
        ended = clonometer("history", str(folder), *words)
        assert (ended.returncode, ended.stdout) == (2, ""), words
        assert "Traceback" not in ended.stderr
