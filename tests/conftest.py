"""What all tests share: examples that a test makes up are the same in every run, so that no run is red by luck.

``HYPOTHESIS_PROFILE=search pytest`` makes up others, and more of them where a test does not say how many.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import gc
import importlib.util
import itertools
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests import changed, costs
from tests.cli.fork_server import ADDRESS, start_server
from tests.dispositions import hear_signals
from tests.integration.leftovers import OTHERS

settings.register_profile("same", derandomize=True, deadline=None, database=None)
settings.register_profile("search", max_examples=1000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

hear_signals()

# The files that `make test` runs whole, for all processes.
_WHOLE = "CLONOMETER_TEST_WHOLE"

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


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put dear units first, and last those with tests that wait until they are alone: all others would wait too."""
    if _are_few():
        chosen = costs.choose(items, os.environ.get(_WHOLE, "").split(os.pathsep))
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen
    part = costs.in_company({costs.unit(item.nodeid) for item in items})

    def place(item: pytest.Item) -> tuple[bool, float, str]:
        unit = costs.unit(item.nodeid)
        return _is_alone(item), part[unit], unit

    items.sort(key=place)


def _are_few() -> bool:
    """Whether `make test` runs."""
    return bool(os.environ.get("FEW_TESTS"))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave tests out of `make test` that need packages which only all tests get: a browser's, a fleet's."""
    if not _are_few():
        return None
    if collection_path.parent.name == "publications" and collection_path.suffix == ".py":
        # No change but their own concerns them.
        return str(collection_path.relative_to(changed.PROJECT)) not in os.environ.get(_WHOLE, "").split(os.pathsep)
    source = collection_path / "conftest.py" if collection_path.is_dir() else collection_path
    if source.suffix != ".py" or not source.is_file():
        return None
    named = set(re.findall(r"^(?:from|import) (\w+)", source.read_text(encoding="utf-8"), re.MULTILINE))
    return True if any(importlib.util.find_spec(name) is None for name in named) else None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> costs.ByCosts:
    """Hand out tests by what they cost."""
    return costs.ByCosts(config, log)


def _is_alone(item: pytest.Item) -> bool:
    # By its folder: one in a file of others would wait for whatever runs, in the midst of them, and all others with it.
    return item.path.parent.name == "alone"


def pytest_configure(config: pytest.Config) -> None:
    """Start a server of commands for all processes that test, which ends with this one, and say what they choose."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    if config.args_source is pytest.Config.ArgsSource.ARGS:
        # What somebody names is run whole.
        os.environ.pop("FEW_TESTS", None)
    if _are_few():
        os.environ[_WHOLE] = os.pathsep.join(sorted(changed.of(changed.since_main())))
    if getattr(config.option, "numprocesses", None):
        os.environ[ADDRESS] = start_server()


_measured = costs.Costs()
# Two would be enough: that waits until what flakes on a full machine has been mended (one or two of 7,900 a run).
_MOST_FLAKED = 5


def _flaked(terminalreporter: pytest.TerminalReporter) -> list[str]:
    """What passes now that it is asked again (tools/tests.sh)."""
    if not os.environ.get("ASKED_AGAIN"):
        return []
    return [report.nodeid for report in terminalreporter.stats.get("passed", []) if report.when == "call"]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """End as failed where too many tests pass only alone."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and len(_flaked(reporter)) > _MOST_FLAKED and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    lacking = call.excinfo.value if call.excinfo else None
    if _are_few() and isinstance(lacking, ModuleNotFoundError) and not lacking.name.startswith(("clonometer", "tests")):
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1], f"{lacking}: make test ALL=yes installs it")
    if report.when == "teardown":
        costs.end(item, report)
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _measured.add(report)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Show which files cost most where the longest tests are asked for, and what failed before the tests.

    The latter is said by .ci/run.
    """
    if most := terminalreporter.config.getoption("durations"):
        if not os.environ.get("ASKED_AGAIN"):
            _measured.write()
        files = _measured.of_files()
        used_s = sum(cost.used_s for cost in files.values())
        terminalreporter.section(f"dearest files: processor time, time; {used_s:.0f} s of processor time in all")
        for path, cost in itertools.islice(files.items(), most):
            terminalreporter.write_line(f"{cost.used_s:7.1f} s {cost.took_s:7.1f} s  {path}")
    if flaked := _flaked(terminalreporter):
        title = f"flaked: {len(flaked)} failed beside others and passed alone; more than {_MOST_FLAKED} fail the run"
        terminalreporter.section(title)
        terminalreporter.write_line("\n".join(flaked))
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
        costs.begin(item)
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
        costs.begin(item)
        return (yield)
