from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import FAKE_DRIVER

from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.results.schedule.scheduler import RoundsScheduler
from clonometer.runner.drivers import find_drivers
from clonometer.runner.run import RunOutcome, run

FAKE_COMMAND = (sys.executable, str(FAKE_DRIVER))


@dataclass
class FakeRun:
    """Runs plans with the fake driver, and knows which processes that started."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch

    @property
    def out(self) -> Path:
        return self.folder / "run.parquet"

    @property
    def raw(self) -> Path:
        return self.folder / "run.raw"

    def starts(self) -> list[dict[str, Any]]:
        """Each start of the driver: its pid and its argv."""
        log = self.folder / "starts.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def measuring_pids(self) -> list[int]:
        return [start["pid"] for start in self.starts() if "--fd" in start["argv"]]

    def __call__(
        self,
        mode: str = "ok",
        *,
        only: str = "",
        workloads: tuple[str, ...] = ("launch.fork", "launch.pthread"),
        settings: tuple[str, ...] = (),
        processes: int = 2,
        **options: Any,
    ) -> RunOutcome:
        self.monkeypatch.setenv("FAKE_DRIVER_MODE", mode)
        self.monkeypatch.setenv("FAKE_DRIVER_ONLY", only)
        self.monkeypatch.setenv("FAKE_DRIVER_LOG", str(self.folder / "starts.log"))
        drivers = find_drivers([FAKE_COMMAND])
        catalogue = read_catalogue(drivers.descriptions)
        limits = {"processes": processes, "samples": 5, "blocks": 2}
        plan = plan_from_arguments(workloads, settings, catalogue, budget_seconds=1.0, limits=limits)
        chosen = {"out": self.out, "seed": 1, "scheduler": RoundsScheduler(1, None), **options}
        return run(plan, catalogue, drivers, **chosen)


@pytest.fixture
def fake_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeRun:
    return FakeRun(tmp_path, monkeypatch)


@pytest.fixture
def alive() -> Callable[[int], bool]:
    def is_alive(pid: int) -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return False
        return state != "Z"

    return is_alive
