from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.cli.fork_server import fork_server, starts_alike
from tests.fakes import FAKE_DRIVER

_PATIENCE_S = 120
SOURCE = Path(__file__).parents[2] / "src"


@dataclass
class CommandLine:
    """The real command in a process of its own, in an empty folder, with the fake driver."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
        return {
            **kept,
            "PYTHONPATH": str(SOURCE),
            "CLONOMETER_BIN": str(self.folder / "bin"),
            "FAKE_DRIVER_SEED": "{n}",
            "FAKE_DRIVER_LOG": str(self.folder / "starts.log"),
            **self.environ,
        }

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "clonometer.cli.start", *words]

    def __call__(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = self.environment()
        if not options and starts_alike(environment):
            return fork_server().run(words, self.folder, environment, _PATIENCE_S)
        return subprocess.run(
            self.command(*words),
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_S,
            check=False,
            stdin=subprocess.DEVNULL,
            **options,
        )

    def start(self, *words: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*words),
            cwd=self.folder,
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
        )

    def starts(self) -> list[dict[str, Any]]:
        log = self.folder / "starts.log"
        return [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []

    def measuring_pids(self) -> list[int]:
        return [start["pid"] for start in self.starts() if "--fd" in start["argv"]]


def make_command_line(folder: Path) -> CommandLine:
    (folder / "bin").mkdir()
    (folder / "bin" / "probe-static").symlink_to(FAKE_DRIVER)
    return CommandLine(folder)


@pytest.fixture
def clonometer(tmp_path: Path) -> CommandLine:
    return make_command_line(tmp_path)
