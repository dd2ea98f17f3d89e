"""What all tests share: examples that a test makes up are the same in every run, so that no run is red by luck.

``HYPOTHESIS_PROFILE=search pytest`` makes up others, and more of them where a test does not say how many.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings

from tests.cli.fork_server import ADDRESS, start_server
from tests.dispositions import hear_signals
from tests.integration.leftovers import OTHERS

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("search", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

hear_signals()

# Runs of tests are not remembered in the data folder of whoever tests; tests of that have a folder of their own.
os.environ.setdefault("CLONOMETER_NO_SINCE", "1")
# The fake driver is told by its environment what to do, and drivers get no other variables of ours.
os.environ.setdefault("CLONOMETER_PASS", "FAKE_DRIVER_*")

# The fake driver is started a thousand times, by `python3`: by the one that tests, where a version manager's stand-in
# would take 80 ms to look for one.
if (shown := shutil.which("python3")) is None or not Path(shown).samefile(sys.executable):
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.base_prefix, "bin")), os.environ.get("PATH", os.defpath)])


# What tests put aside lies in a folder of theirs that every user may enter: in the folder of all, tests beside them
# that look for what a command left there would see it. The folders that pytest keeps stay where they are.
os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
os.environ["TMPDIR"] = tempfile.tempdir = tempfile.mkdtemp(prefix="tests-")
Path(tempfile.tempdir).chmod(0o1777)


_GET_CHILD_SUBREAPER = 37

# What a test changes and leaves to the next start, no other test finds; and none sets this machine's frequencies.
_made_machines = count()
os.environ["CLONOMETER_SYS"] = f"{tempfile.tempdir}/sys"


def pytest_runtest_setup() -> None:
    os.environ["CLONOMETER_SYS"] = f"{tempfile.tempdir}/sys{next(_made_machines)}"


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Whoever lets orphans come to it says so no longer: they would be found by tests that look at their children."""
    orphans_come = ctypes.c_int()
    ctypes.CDLL(None).prctl(_GET_CHILD_SUBREAPER, ctypes.byref(orphans_come), 0, 0, 0)
    assert not orphans_come.value, "it made this process a subreaper, and left it one"


@atexit.register
def _remove_temporary(folder: str = tempfile.tempdir, owner: int = os.getpid()) -> None:
    # A task that a test forks may end as Python does, and must leave it.
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


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
    "test_launch_paths.py",
    "test_pages.py",
    "test_fleet_dask.py",
    "test_wheel.py",
    "test_readme_commands.py",
    "test_lab_notebooks.py",
    "test_fleet_workers.py",
    "test_fleet_ssh.py",
    "test_explain.py",
    "test_tiers.py",
    "test_stamps.py",
    "test_explain_work.py",
    "test_conformance.py",
    "test_census.py",
    "test_conditions.py",
    "test_census_ends.py",
    "test_reproduce.py",
    "test_bad_luck.py",
    "test_simulated_alarms.py",
    "test_from_json.py",
    "test_census_planted.py",
    "test_start_method.py",
    "test_census_languages.py",
    "test_census_bad_luck.py",
    "test_fork_page.py",
    "test_fleet_slurm.py",
    "test_census_sites.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long files first, and last those with tests that wait until they are alone: all others would wait too.

    Between them, files of integration, which wait and sleep, and files that compute are spread evenly over the run.
    """
    files: dict[bool, list[Path]] = {True: [], False: []}
    for path in dict.fromkeys(item.path for item in items):
        files["integration" in path.parts].append(path)
    part = {path: index / len(paths) for paths in files.values() for index, path in enumerate(paths)}

    def place(item: pytest.Item) -> tuple[bool, int, float, Path]:
        long = LONG.index(item.path.name) if item.path.name in LONG else len(LONG)
        return _is_alone(item), long, part[item.path], item.path

    items.sort(key=place)


def _is_alone(item: pytest.Item) -> bool:
    # By its folder: one in a file of others would wait for whatever runs, in the midst of them, and all others with it.
    return item.path.parent.name == "alone"


def pytest_configure(config: pytest.Config) -> None:
    """Start a server of commands for all processes that test; it ends with this one."""
    if getattr(config.option, "numprocesses", None) and "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ[ADDRESS] = start_server()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show what failed before the tests, where .ci/run says that something did."""
    if failed := os.environ.get("FAILED_BEFORE"):
        terminalreporter.section("failed before the tests")
        terminalreporter.write_line(failed)


@contextlib.contextmanager
def _others_at_work() -> Iterator[None]:
    os.environ[OTHERS] = "yes"
    try:
        yield
    finally:
        del os.environ[OTHERS]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Share the machine with other tests; one in a folder `alone` has it for itself, from its fixtures on.

    Whoever waits to have it alone lets nobody else in meanwhile, or would wait for ever.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return (yield)
    shared = item.config._tmp_path_factory.getbasetemp().parent
    alone = _is_alone(item)
    with contextlib.ExitStack() as stack:
        door, room = (stack.enter_context((shared / name).open("w")) for name in ("door", "room"))
        fcntl.flock(door, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(door, fcntl.LOCK_UN)
        if not alone:
            stack.enter_context(_others_at_work())
        return (yield)
