from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import CommandLine, make_command_line


@pytest.fixture
def clonometer(tmp_path: Path) -> CommandLine:
    return make_command_line(tmp_path)
