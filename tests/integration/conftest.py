from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import CommandLine, make_command_line
from tests.integration.census import can_trace


@pytest.fixture
def clonometer(tmp_path: Path) -> CommandLine:
    return make_command_line(tmp_path)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user may enter; pytest closes all of its own to others when another run begins."""
    with tempfile.TemporaryDirectory(prefix="everybody-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(params=["tracepoints", "ptrace"])
def seen_by(request: pytest.FixtureRequest) -> str:
    """Each way of a census."""
    if request.param == "tracepoints" and not can_trace():
        pytest.skip("tracepoints may not be read here")
    return str(request.param)
