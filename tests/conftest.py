"""What all tests share: examples that a test makes up are the same in every run, so that no run is red by luck.

``HYPOTHESIS_PROFILE=search pytest`` makes up others, and more of them where a test does not say how many.
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.dispositions import hear_signals
from tests.integration.leftovers import OTHERS

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("search", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

hear_signals()

# Runs of tests are not remembered in the data folder of whoever tests; tests of that have a folder of their own.
os.environ.setdefault("CLONOMETER_NO_SINCE", "1")

# The fake driver is started a thousand times, by `python3`: by the one that tests, where a version manager's stand-in
# would take 80 ms to look for one.
if (shown := shutil.which("python3")) is None or not Path(shown).samefile(sys.executable):
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.base_prefix, "bin")), os.environ.get("PATH", os.defpath)])

# Where tests of real tasks are; what the others import takes seconds.
REAL = {"cli", "integration", "studies"}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over the other folders where real ones alone are asked for."""
    other = collection_path.parent == Path(__file__).parent and collection_path.name not in REAL
    return True if config.option.markexpr == "real" and other and collection_path.is_dir() else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Spare the garbage collector what was imported: it would look through all of that, for seconds in each process."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


# A file goes to one process: one that takes half a minute begins first, or all others wait for it at the end.
LONG = (
    "test_wheel.py",
    "test_readme_commands.py",
    "test_reproduce.py",
    "test_bad_luck.py",
    "test_simulated_alarms.py",
    "test_from_json.py",
    "test_check.py",
    "test_bad_input.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long files first, and let no real test be elsewhere, where none would be looked for."""
    items.sort(key=lambda item: LONG.index(item.path.name) if item.path.name in LONG else len(LONG))
    for item in items:
        folder = item.path.relative_to(Path(__file__).parent).parts[0]
        if item.get_closest_marker("real") is not None and folder not in REAL:
            raise pytest.UsageError(f"{item.nodeid} is marked real, and not in {', '.join(sorted(REAL))}")


@contextlib.contextmanager
def _others_at_work() -> Iterator[None]:
    os.environ[OTHERS] = "yes"
    try:
        yield
    finally:
        del os.environ[OTHERS]


@pytest.fixture(autouse=True)
def _turn(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Share the machine with other tests of real tasks; one that is marked `alone` has it for itself.

    Whoever waits to have it alone lets nobody else in meanwhile, or would wait for ever.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ or request.node.get_closest_marker("real") is None:
        yield
        return
    shared = tmp_path_factory.getbasetemp().parent
    with contextlib.ExitStack() as stack:
        door, room = (stack.enter_context((shared / name).open("w")) for name in ("door", "room"))
        fcntl.flock(door, fcntl.LOCK_EX)
        alone = request.node.get_closest_marker("alone") is not None
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        if not alone:
            stack.enter_context(_others_at_work())
        yield
