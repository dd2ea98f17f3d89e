"""Other tools that measure launches, started as their users start them: command, time limit, figure.

Starting them is measuring, so it is done here; what the figures mean is said in `clonometer.results.peers`.
"""

from __future__ import annotations

import os
import re
import shutil
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from clonometer.errors import DriverError, InputError
from clonometer.inputs import parse_json
from clonometer.runner.process import answer_of

TIMEOUT_S = 10.0
_FAILURES_UNTIL_GIVEN_UP = 2
_FIELD = r"[0-9]+(?:[.,][0-9]+)?"
# Of a group each of 20 senders writes to each of 20 receivers in every loop.
_MESSAGING_LOOPS, _MESSAGING_PAIRS = 100, 400
_MESSAGE_NS = 1e9 / (_MESSAGING_LOOPS * _MESSAGING_PAIRS)
_NUMBER = rf"({_FIELD})"
#: The lines of ``perf bench``, of hackbench and ``perf bench sched messaging`` (seconds), and of ``lat_proc``.
PERF_LINE = rf"{_NUMBER}\s+(nsecs|usecs|msecs)/op"
MESSAGING_LINE = rf"^\s*(?:Total time|Time):\s+{_NUMBER}"
LAT_PROC_LINE = rf"^Process [^:]*:\s+{_NUMBER} microseconds"
_UNITS_NS = {"nsecs": 1.0, "usecs": 1e3, "msecs": 1e6}


@dataclass(frozen=True)
class PeerProgram:
    """One way to run a peer.

    Attributes
    ----------
    name
        ``perf bench syscall fork``: how people call it.
    argv
        The command.
    figures
        Ids of the figures that it gives (`clonometer.results.peers.configurations.CONFIGURATIONS`).
    install
        The command that installs it.
    parse
        Takes all that it printed; gives figure id -> ns. Raises ValueError where there is none.
    """

    name: str
    argv: tuple[str, ...]
    figures: tuple[str, ...]
    install: str
    parse: Callable[[str], Mapping[str, float]]


@dataclass(frozen=True)
class PeerRun:
    """One start of a peer: its figures in ns, or the reason why there are none.

    ``unavailable``: this version of it has no such measurement, which is nobody's failure.
    """

    program: PeerProgram
    started_ns: int
    seconds: float
    figures_ns: Mapping[str, float]
    reason: str | None
    unavailable: bool = False


def parse_stress_ng(text: str) -> dict[str, float]:
    """Read the metrics of ``stress-ng --metrics``: operations per second of real time become ns an operation.

    Raises
    ------
    ValueError
        If there is no line of metrics, or nothing was done.

    Examples
    --------
    >>> row = "stress-ng: metrc: [7] fork  3000  2.43  1.09  1.21  1233.70  1304.75  94.55  2580"
    >>> round(parse_stress_ng(row)["stress-ng.fork"])
    810570
    """
    # stressor, operations, seconds of real, user and system time, operations per second of real time
    columns = rf"\]\s+(fork|vfork|pthread)\s+[0-9]+(?:\s+{_FIELD}){{3}}\s+({_FIELD})\s"
    rates = {stressor: _decimal(rate) for stressor, rate in re.findall(columns, text)}
    times_ns = {f"stress-ng.{stressor}": 1e9 / rate for stressor, rate in rates.items() if rate > 0}
    start = re.search(rf"\]\s+pthread\s+{_NUMBER}\s+nanosec\w* to start a pthread", text)
    if start is not None:
        times_ns["stress-ng.pthread_start"] = _decimal(start.group(1))
    return _checked(times_ns, text)


def parse_line(figure: str, line: str, unit_ns: float = 1.0) -> Callable[[str], dict[str, float]]:
    r"""Make the reader of a tool whose figure stands in a line.

    ``line`` is its pattern: a group for the number, and one for the unit where the tool chooses that. Where it does
    not, one of the number is ``unit_ns``.

    Examples
    --------
    >>> parse_line("perf.fork", PERF_LINE)("     Total time: 0.177 [sec]\n\n       8.864350 usecs/op\n")
    {'perf.fork': 8864.35}
    >>> parse_line("lmbench.fork", LAT_PROC_LINE, 1e3)("Process fork+exit: 189.1250 microseconds")
    {'lmbench.fork': 189125.0}
    >>> read = parse_line("messaging", MESSAGING_LINE, 1e9 / 40_000)
    >>> read("     Total time: 0.120 [sec]\n"), read("Time: 0.120\n")
    ({'messaging': 3000.0}, {'messaging': 3000.0})
    """

    def parse(text: str) -> dict[str, float]:
        matched = re.search(line, text, re.MULTILINE)
        if matched is None:
            return _checked({}, text)
        number, *units = matched.groups()
        return _checked({figure: _decimal(number) * (_UNITS_NS[units[0]] if units else unit_ns)}, text)

    return parse


def parse_hyperfine(text: str) -> dict[str, float]:
    """Read hyperfine's JSON export: the mean of its runs.

    Examples
    --------
    >>> parse_hyperfine('{"results": [{"command": "/bin/true", "mean": 0.00085}]}')
    {'hyperfine.true': 850000.0}
    """
    try:
        # Its warnings may stand before and behind.
        mean = float(parse_json(text[text.find("{") : text.rfind("}") + 1])["results"][0]["mean"])
    except (InputError, ValueError, KeyError, IndexError, TypeError):
        return _checked({}, text)
    return _checked({"hyperfine.true": round(mean * 1e9, 3)}, text)


def _decimal(text: str) -> float:
    # In many languages the decimal mark is a comma.
    return float(text.replace(",", "."))


def _checked(times_ns: dict[str, float], text: str) -> dict[str, float]:
    figures = {name: value for name, value in times_ns.items() if 0 < value < float("inf")}
    if not figures:
        lines = text.strip().splitlines()
        raise ValueError(
            f"there is no figure in its output: {lines[-1].strip()[:120]}" if lines else "it printed nothing"
        )
    return figures


def _stress_ng(stressor: str, operations: int, *figures: str) -> PeerProgram:
    argv = (f"--{stressor}", "1", f"--{stressor}-ops", str(operations), "--timeout", "2", "--metrics")
    name = f"stress-ng --{stressor} 1"
    return PeerProgram(name, ("stress-ng", *argv), figures, "apt-get install -y stress-ng", parse_stress_ng)


def _perf(words: str, loops: int, figure: str) -> PeerProgram:
    argv = ("perf", "bench", *words.split(), "-l", str(loops))
    return PeerProgram(
        f"perf bench {words}", argv, (figure,), "apt-get install -y linux-perf", parse_line(figure, PERF_LINE)
    )


def _lat_proc(word: str, figure: str) -> PeerProgram:
    # Debian keeps it among the packages that are not free software.
    install = "apt-get install -y lmbench  # from Debian's non-free; then put its lat_proc on PATH"
    return PeerProgram(
        f"lat_proc {word}", ("lat_proc", "-N", "1", word), (figure,), install, parse_line(figure, LAT_PROC_LINE, 1e3)
    )


PROGRAMS: tuple[PeerProgram, ...] = (
    _stress_ng("fork", 300, "stress-ng.fork"),
    _stress_ng("vfork", 1000, "stress-ng.vfork"),
    _stress_ng("pthread", 1000, "stress-ng.pthread", "stress-ng.pthread_start"),
    _perf("syscall fork", 500, "perf.fork"),
    _perf("syscall execve", 200, "perf.execve"),
    _perf("sched pipe", 10_000, "perf.pipe"),
    PeerProgram(
        "perf bench sched messaging",
        ("perf", "bench", "sched", "messaging", "-g", "1", "-l", str(_MESSAGING_LOOPS)),
        ("perf.messaging",),
        "apt-get install -y linux-perf",
        parse_line("perf.messaging", MESSAGING_LINE, _MESSAGE_NS),
    ),
    PeerProgram(
        "hackbench",
        ("hackbench", "-g", "1", "-l", str(_MESSAGING_LOOPS)),
        ("hackbench.messaging",),
        "apt-get install -y rt-tests",
        parse_line("hackbench.messaging", MESSAGING_LINE, _MESSAGE_NS),
    ),
    _perf("syscall basic", 300_000, "perf.getppid"),
    PeerProgram(
        "hyperfine -N /bin/true",
        ("hyperfine", "-N", "--warmup=5", "--runs=40", "--style=none", "--export-json=/dev/stdout", "/bin/true"),
        ("hyperfine.true",),
        "apt-get install -y hyperfine",
        parse_hyperfine,
    ),
    _lat_proc("fork", "lmbench.fork"),
    _lat_proc("exec", "lmbench.exec"),
)


def run_peer(
    program: PeerProgram, started_ns: int, *, timeout_s: float = TIMEOUT_S, interrupt_fd: int | None = None
) -> PeerRun:
    """Start a peer once; never raises for what it does wrong, and leaves no process of it."""
    try:
        output, ending = answer_of(program.argv, timeout_s=timeout_s, interrupt_fd=interrupt_fd, environment=os.environ)
    except DriverError as error:
        return PeerRun(program, started_ns, 0.0, {}, error.message)
    # Some print figures as answers, others as messages.
    text = output.decode("utf-8", "replace") + "\n" + ending.stderr
    if ending.exit_status != 0:
        lines = [line for line in text.splitlines() if line.strip()]
        if "Unknown benchmark" in text:
            # perf got its benchmarks of fork and execve late.
            reason = f"this perf does not have '{program.name}'; newer ones do"
            return PeerRun(program, started_ns, ending.seconds, {}, reason, unavailable=True)
        words = f": {lines[-1].strip()[:120]}" if lines else ""
        return PeerRun(program, started_ns, ending.seconds, {}, f"{program.name} {ending.describe()}{words}")
    try:
        return PeerRun(program, started_ns, ending.seconds, program.parse(text), None)
    except ValueError as error:
        return PeerRun(program, started_ns, ending.seconds, {}, str(error))


@dataclass
class Interleaved:
    """Runs peers between the processes of a run, in turn and evenly: what `clonometer.runner.run.run` calls.

    Attributes
    ----------
    programs
        What to run; those that are not installed are left out, and ``missing`` names them.
    targets
        How many targets a round of the run has, from 1: in as many processes each peer has its turn once.
    search_path
        Where to look for programs, as in ``PATH``; by default there.
    timeout_s
        Seconds after which a peer is stopped; one that failed twice is not started again.
    runs, missing
        What came of each start; the programs that are not installed, by name.
    """

    programs: Sequence[PeerProgram]
    targets: int
    search_path: str | None = None
    timeout_s: float = TIMEOUT_S
    runs: list[PeerRun] = field(default_factory=list)
    missing: dict[str, PeerProgram] = field(default_factory=dict)
    _usable: deque[PeerProgram] = field(default_factory=deque)
    _calls: int = 0
    _turns: int = 0
    _due: int = 0

    def __post_init__(self) -> None:
        path = os.environ.get("PATH") if self.search_path is None else self.search_path
        for program in self.programs:
            if shutil.which(program.argv[0], path=path) is None:
                self.missing[program.name] = program
            else:
                self._usable.append(program)

    def __call__(self, since_start_ns: int, interrupt_fd: int | None) -> None:
        """Start the peers whose turn it is; called between processes, while nothing is measured."""
        if self._calls % self.targets == 0:
            # For a whole round, so that one that is given up takes no other's turn.
            self._turns = len(self._usable)
        self._calls += 1
        self._due += self._turns
        while self._due >= self.targets and self._usable:
            self._due -= self.targets
            program = self._usable.popleft()
            measured = run_peer(program, since_start_ns, timeout_s=self.timeout_s, interrupt_fd=interrupt_fd)
            self.runs.append(measured)
            failures = sum(each.program is program and each.reason is not None for each in self.runs)
            if not measured.unavailable and failures < _FAILURES_UNTIL_GIVEN_UP:
                self._usable.append(program)

    def series(self) -> dict[str, list[tuple[float, float]]]:
        """Each figure as pairs of when (ns since the run's start) and how long (ns)."""
        pairs: dict[str, list[tuple[float, float]]] = {}
        for peer_run in self.runs:
            for figure, value_ns in peer_run.figures_ns.items():
                pairs.setdefault(figure, []).append((float(peer_run.started_ns), value_ns))
        return pairs

    def absent(self) -> dict[str, tuple[str, str | None]]:
        """Why a figure is absent: its id -> ``not installed``, ``unavailable`` or ``failed``, and the reason."""
        measured = self.series()
        reasons: dict[str, tuple[str, str | None]] = {}
        for program in self.missing.values():
            reasons |= dict.fromkeys(program.figures, ("not installed", None))
        for peer_run in self.runs:
            if peer_run.reason is not None:
                status = "unavailable" if peer_run.unavailable else "failed"
                reasons |= {
                    name: (status, peer_run.reason) for name in peer_run.program.figures if name not in measured
                }
        return reasons
