from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.fakes.memory_run import MemoryRun, RunBuilder
from tests.results.runs import default_plan


@pytest.fixture
def builder() -> RunBuilder:
    return RunBuilder()


@pytest.fixture(scope="session")
def default_run() -> MemoryRun:
    return default_plan()


@pytest.fixture(scope="session")
def make_builder() -> Callable[..., RunBuilder]:
    return RunBuilder
