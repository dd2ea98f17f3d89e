"""What ``run`` makes of a budget that the user named."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from clonometer.app import run as app

SLOW_S = 0.3


class Reached(Exception):  # noqa: N818 (no error: the measuring would begin here)
    pass


@pytest.mark.parametrize("budget_s", [1.0, None])
def test_what_starting_took_is_no_longer_there_for_measuring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, budget_s: float | None
) -> None:
    find = app.find_catalogue
    asked: dict[str, Any] = {}

    def slowly(*progress: Any) -> Any:
        time.sleep(SLOW_S)
        return find(*progress)

    def measure(*_: Any, **how: Any) -> None:
        asked.update(how)
        raise Reached

    monkeypatch.setattr(app, "find_catalogue", slowly)
    monkeypatch.setattr("clonometer.runner.run.run", measure)
    with pytest.raises(Reached):
        app.run(["launch.fork"], budget_s=budget_s, out=tmp_path / "o.parquet")
    if budget_s is None:
        assert asked["most_seconds"] is None
    else:
        assert asked["most_seconds"] <= 2 * budget_s + 4 - SLOW_S


def test_the_budget_is_there_for_measuring_even_if_drivers_were_built_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {}
    monkeypatch.setattr("clonometer.runner.run.run", lambda *_, **how: asked.update(how))
    request = app.RunRequest(("launch.fork",), budget_s=2.0, began_s=time.monotonic() - 100)
    app.measure(request, app.prepare(request), out=tmp_path / "o.parquet")
    assert asked["most_seconds"] == 2.0
