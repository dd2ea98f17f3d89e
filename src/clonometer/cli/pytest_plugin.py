"""A plug-in of pytest: which test launches what, and limits for that.

`--launches` counts the tasks that each test creates. The marker and the fixture `launch_budget` fail a test that
creates more than it may. Counts come from the kernel, by a census of pytest's process and its descendants
(docs/launch-budgets.md). Nothing is imported here before one of these is used.
"""

from __future__ import annotations

import argparse
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from clonometer.app.launches_during import LaunchesDuring
    from clonometer.tracing.launch_limits import LaunchLimits

_MARKER = "launch_budget"
_OUTPUT = "clonometer_launches"
#: A session that creates more keeps the counts of these alone, and says so.
_MOST_TASKS = 1_000_000
_MOST_PROGRAMS = 3
_WITHOUT_ROOT = "Without root, 'clonometer budget -- pytest' counts the tasks of all tests together."
#: Where the launches of fixtures that serve several tests, and of the collection, are counted.
OUTSIDE = "(outside of tests)"

LaunchBudgetFixture = Callable[..., AbstractContextManager[None]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("clonometer", "tasks that tests create (Clonometer)")
    group.addoption(
        "--launches",
        metavar="N",
        type=at_least_none,
        default=None,
        help="Show the N tests that create the most tasks (0: all).",
    )
    group.addoption(
        "--launches-required",
        action="store_true",
        help="Fail tests with a launch_budget where nothing can be counted.",
    )


def at_least_none(text: str) -> int:
    """Read a number of tests."""
    if not (text.isdecimal() and text.isascii()):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of tests: 10 shows ten, 0 all")
    return int(text)


def pytest_configure(config: pytest.Config) -> None:
    """Name the marker, and begin to count if that is asked for."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(max=N, processes=N, thread=N, fork=N, ..., programs={{'git': N}}): fail the test if it creates "
        "more tasks.",
    )
    plugin = _Launches(config)
    config.pluginmanager.register(plugin, "clonometer-launches")
    config.pluginmanager.register(_Gathered(plugin), "clonometer-launches-of-workers")


@pytest.fixture
def launch_budget(request: pytest.FixtureRequest) -> Iterator[LaunchBudgetFixture]:
    """Limit the tasks that a block creates: ``with launch_budget(fork=0): ...``.

    The names are those of the marker; the block fails if it creates more.
    """
    plugin = request.config.pluginmanager.getplugin("clonometer-launches")
    blocks: list[_Block] = []

    def limited(*others: Mapping[str, Any], **limits: Any) -> _Block:
        blocks.append(_Block(plugin.limited(request.node.nodeid, limits, *others)))
        return blocks[-1]

    yield limited
    if any(not block.entered for block in blocks):
        # It would pass whatever the test creates.
        pytest.fail(f"{_MARKER}(...) limits a block: with {_MARKER}(fork=0): ...", pytrace=False)


class _Block(AbstractContextManager[None]):
    """A limited block, and whether it was one."""

    def __init__(self, limited: AbstractContextManager[None]) -> None:
        self._limited = limited
        self.entered = False

    def __enter__(self) -> None:
        self.entered = True
        self._limited.__enter__()

    def __exit__(self, *how: Any) -> bool | None:
        return self._limited.__exit__(*how)


@dataclass
class TestLaunches:
    """What a test created."""

    __test__ = False

    test: str
    processes: int = 0
    threads: int = 0
    forks: int = 0
    programs: dict[str, int] = field(default_factory=dict)

    @property
    def tasks(self) -> int:
        """All of them."""
        return self.processes + self.threads


class _Task(NamedTuple):
    """A task: when it was created, ns of CLOCK_MONOTONIC, by which process, how, and the program that it executed."""

    created_ns: int
    number: int
    creator: int
    mechanism: str
    program: str | None


class _Launches:
    """Counts, and fails tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self.shown: int | None = config.getoption("launches")
        self._required: bool = config.getoption("launches_required")
        self._census: LaunchesDuring | None = None
        self._begin_ns = 0
        self._tasks: list[_Task] = []
        #: The tasks by which the launches of tests with limits are counted.
        self._ours: set[int] = set()
        #: When each test began and ended, ns of CLOCK_MONOTONIC.
        self._tests: list[tuple[int, int, str]] = []
        #: Why nothing can be counted here, once that is known.
        self._refused = ""
        self.unchecked: dict[str, str] = {}
        #: Why not all was counted, each reason once.
        self.unavailable: dict[str, None] = {}
        #: By the name of the test.
        self.results: dict[str, TestLaunches] = {}
        self.dropped = 0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        # With pytest-xdist the tests run in its workers.
        is_worker = hasattr(self._config, "workerinput")
        if self.shown is None or (self._config.getoption("numprocesses", None) and not is_worker):
            return
        from clonometer.app.launches_during import LaunchesDuring
        from clonometer.errors import ClonometerError
        from clonometer.tracing.census.tally import mechanism

        self._mechanism = mechanism
        self._census = LaunchesDuring(self._receive)
        try:
            self._census.start()
        except ClonometerError as error:
            self._census, self._refused = None, str(error)
            self.unavailable[self._refused] = None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begin_ns = time.monotonic_ns()
        result = yield
        self._tests.append((begin_ns, time.monotonic_ns(), item.nodeid))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        marker = item.get_closest_marker(_MARKER)
        if marker is None:
            return (yield)
        with self.limited(item.nodeid, marker.kwargs, *marker.args):
            return (yield)

    @contextmanager
    def limited(self, test: str, limits: Mapping[str, Any], *others: Any) -> Iterator[None]:
        """Fail where a block creates more than it may."""
        from clonometer.app.launches_during import LaunchesDuring
        from clonometer.errors import ClonometerError

        most = _launch_limits(limits, others)
        census = LaunchesDuring()
        if not self._refused:
            try:
                census.start()
            except ClonometerError as error:
                # Later tests would hear the same, and each attempt is a process more for whoever counts all.
                self._refused = str(error)
        if self._refused:
            if self._required:
                pytest.fail(f"its launches cannot be counted: {self._refused}", pytrace=False)
            self.unchecked[test] = self._refused
            yield
            return
        try:
            yield
        finally:
            census.stop()
            self._ours.update(census.counting_tasks)
        from clonometer.verdicts import Gate

        judged = census.judge(most, test)
        if judged.exceeded:
            from clonometer.views.documents.budget import budget_document
            from clonometer.views.terminal.document import render_document

            text = render_document(budget_document, judged, width=100, colour=False)
            pytest.fail(text, pytrace=False)
        if judged.verdict is Gate.UNKNOWN:
            self.unchecked[test] = " ".join(judged.uncounted)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._census is not None:
            self._end(self._census)
            self._census = None
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output[_OUTPUT] = {
                "results": [asdict(each) for each in self.results.values()],
                "unchecked": self.unchecked,
                "unavailable": list(self.unavailable),
                "dropped": self.dropped,
            }

    def _end(self, census: LaunchesDuring) -> None:
        """Give what the session's census counted to the tests; what is not whole is no count."""
        from clonometer.errors import ClonometerError

        try:
            census.stop()
            lost = census.tally.ended["lost"]
        except ClonometerError as error:
            self.unavailable[str(error)] = None
            return
        if lost:
            self.unavailable[f"{lost:,} events were lost: tests may have created more"] = None
        self._ours.update(census.counting_tasks)
        self.results = _by_test(self._tasks, self._tests, self._ours)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self.unchecked:
            terminalreporter.section("launch budgets that were not checked", yellow=True)
            for why, count in Counter(self.unchecked.values()).items():
                tests = "1 test" if count == 1 else f"{count} tests"
                terminalreporter.line(_harmless(f"{tests}, since nothing could be counted: {why}"))
            terminalreporter.line(_WITHOUT_ROOT)
        if self.shown is not None:
            terminalreporter.section("launches")
            for line in _summary(self):
                terminalreporter.line(_harmless(line))

    def add(self, other: TestLaunches) -> None:
        """Add what another process counted."""
        known = self.results.setdefault(other.test, other)
        if known is other:
            return
        known.processes += other.processes
        known.threads += other.threads
        known.forks += other.forks
        known.programs = dict(Counter(known.programs) + Counter(other.programs))

    def _receive(self, line: Mapping[str, Any]) -> None:
        if line["line"] == "begin":
            self._begin_ns = line["begin_ns"]
        elif line["line"] == "task":
            if len(self._tasks) >= _MOST_TASKS:
                self.dropped += 1
                return
            how = self._mechanism(
                line["call"], line["flag_names"], exit_signal=line["exit_signal"], own_stack=line["own_stack"]
            )
            program = line["program"] if line["execs"] else None
            self._tasks.append(_Task(self._begin_ns + line["start_ns"], line["tid"], line["creator"], how, program))


class _Gathered:
    """Gathers what workers of pytest-xdist counted."""

    def __init__(self, plugin: _Launches) -> None:
        self._plugin = plugin

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        output = getattr(node, "workeroutput", {}).get(_OUTPUT)
        if output is None:
            # It was killed, or is from another installation.
            self._plugin.unavailable["a worker of pytest-xdist ended without what it had counted"] = None
            return
        for each in output["results"]:
            self._plugin.add(TestLaunches(**each))
        self._plugin.unchecked.update(output["unchecked"])
        self._plugin.unavailable.update(dict.fromkeys(output["unavailable"]))
        self._plugin.dropped += output["dropped"]


def _launch_limits(named: Mapping[str, Any], others: Sequence[Any]) -> LaunchLimits:
    """The limits of a marker: by name, or as a mapping, for names that Python does not allow."""
    from clonometer.errors import ClonometerError
    from clonometer.fields import shown
    from clonometer.tracing.launch_limits import LaunchLimits

    given: dict[str, Any] = {}
    for mapping in (*others, named):
        given.update(_mapping(mapping, 'launch_budget({"shares memory": 0}), or launch_budget(fork=0)'))
    programs = _mapping(given.pop("programs", {}), 'programs={"git": 1}')
    named_limits = [*given.items(), *((f"programs.{name}", most) for name, most in programs.items())]
    texts = [f"{name}={most if isinstance(most, str) else shown(most)}" for name, most in named_limits]
    try:
        limits, wrong = LaunchLimits().with_limits(texts), ""
    except ClonometerError as error:
        limits, wrong = LaunchLimits(), "; ".join(filter(None, (error.message, error.hint)))
    if not limits:
        pytest.fail(f"{_MARKER}: {wrong or 'there is no limit, such as fork=0'}", pytrace=False)
    return limits


def _mapping(given: object, example: str) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        pytest.fail(f"{_MARKER}: {given!r} names no limit; it is written {example}", pytrace=False)
    return given


def _by_test(
    tasks: Sequence[_Task], tests: Sequence[tuple[int, int, str]], ours: AbstractSet[int]
) -> dict[str, TestLaunches]:
    """Give each task to the test that ran when it was created: tests of a process run one after the other."""
    begins = [begin_ns for begin_ns, _, _ in tests]
    counted: dict[str, TestLaunches] = {}
    for task in tasks:
        if task.number in ours or task.creator in ours:
            continue
        index = bisect_right(begins, task.created_ns) - 1
        name = tests[index][2] if index >= 0 and task.created_ns <= tests[index][1] else OUTSIDE
        test = counted.setdefault(name, TestLaunches(name))
        if task.mechanism == "thread":
            test.threads += 1
        else:
            test.processes += 1
            test.forks += task.mechanism == "fork"
        if task.program is not None:
            short = task.program.rpartition("/")[2]
            test.programs[short] = test.programs.get(short, 0) + 1
    return counted


def _harmless(line: str) -> str:
    """Tests and programs have any names; a terminal, or what reads the logs of CI, may obey them."""
    from clonometer.views.terminal.text import harmless

    return harmless(line)


def _summary(plugin: _Launches) -> Iterator[str]:
    for reason in plugin.unavailable:
        yield f"not all was counted: {reason}" if plugin.results else f"not counted: {reason}"
    if plugin.unavailable and not plugin.results:
        yield _WITHOUT_ROOT
        return
    ordered = sorted(plugin.results.values(), key=lambda each: (-each.tasks, each.test))
    shown = ordered[: plugin.shown] if plugin.shown else ordered
    if not ordered:
        yield "no test created a task"
        return
    yield f"{'tasks':>7} {'processes':>10} {'by fork':>8} {'threads':>8}  test (programs)"
    for each in shown:
        ran = Counter(each.programs).most_common(_MOST_PROGRAMS)
        programs = ", ".join(f"{name} {times:,}" for name, times in ran)
        more = ", ..." if len(each.programs) > _MOST_PROGRAMS else ""
        yield (
            f"{each.tasks:>7,} {each.processes:>10,} {each.forks:>8,} {each.threads:>8,}  {each.test}"
            + (f" ({programs}{more})" if programs else "")
        )
    if len(shown) < len(ordered):
        yield f"and {len(ordered) - len(shown):,} more: --launches=0 shows all"
    if plugin.dropped:
        yield f"{plugin.dropped:,} more tasks were not counted"
