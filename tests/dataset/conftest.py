from __future__ import annotations

from pathlib import Path

import pytest
from tests.dataset.made import write_fleet


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine hosts of two runs each; the last takes twice as long at fork, and not at pthread. Not to be written to."""
    return write_fleet(tmp_path_factory.mktemp("fleet"), odd=2.0)
