"""What making a task costs here, with which a census compares: it is kept only if nothing of it is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from clonometer.app import census_costs
from clonometer.families import census_ways

ENDS = (70_000.0, 80_000.0)


def test_a_busy_second_is_not_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    every = [*census_ways().values()]
    asked: list[Sequence[str]] = []
    busy = True

    def measure(_drivers: Any, _catalogue: Any, _progress: Any, workloads: Sequence[str], _s: float) -> dict[str, Any]:
        asked.append(workloads)
        return {workload: ENDS for workload in workloads if not (busy and workload == every[-1])}

    monkeypatch.setattr(census_costs, "_measure", measure)
    assert sorted(census_costs.making_costs_ns()) == sorted(list(census_ways())[:-1])
    # What was missing was asked for once more, and nothing was kept.
    assert asked == [every, every[-1:]]
    busy = False
    assert census_costs.making_costs_ns() == dict.fromkeys(census_ways(), ENDS)
    assert asked[2:] == [every]
    assert census_costs.making_costs_ns() == dict.fromkeys(census_ways(), ENDS)
    assert len(asked) == 3
