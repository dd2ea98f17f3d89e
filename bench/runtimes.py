"""Drivers of languages beside each language's own benchmark tool, and beside a bare loop in that language.

A thread and a command (/bin/true) in each language. All sides are pinned to one CPU, in the class `rr` if that is
allowed, and run in turn; a side's figure is the third-shortest of 30 parts with equally many launches. The tool is
compared with what the driver reports (`reaped`, until the end has been waited for): they must be within 5%. The bare
loop is compared with the driver's whole loop, from one start to the next, which includes storing the sample: the
driver's own cost is named in ns. Each language's ordinary package manager fetches its tool
once, into the user's cache folder. What cannot be fetched is printed. `BENCH_LANGUAGES=go,node` selects some,
`BENCH_PAIRS=20` sets how many pairs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from bench.harness import (
    FEWEST_PAIRS,
    PARTS,
    Line,
    ask_driver,
    binaries,
    interleaved_ratio,
    real_time,
    say,
    undisturbed,
)
from clonometer.app.measuring import find_catalogue
from clonometer.runner.drivers import Driver
from clonometer.runner.environment import fixed_variables
from clonometer.user_cache import user_folder

SOURCES = Path(__file__).with_name("language_loops")
LANGUAGES = os.environ.get("BENCH_LANGUAGES", "python,go,node,rust,java,perl").split(",")
PAIRS = int(os.environ.get("BENCH_PAIRS", str(FEWEST_PAIRS)))
FETCH_S = 600.0
#: Launches of a side: one takes some 50 us, 0.4 to 1.2 ms, and as a Worker of Node 20 ms.
LAUNCHES = {"os_thread": PARTS * 100, "command": PARTS * 10}
#: Node's threads take long. Perl's are copies of what a program has loaded, so two programs have nothing to compare.
LAUNCHES_OF = {"node": {"os_thread": PARTS * 2, "command": PARTS * 10}, "perl": {"command": PARTS * 10}}
#: Of the JVM, which compiles what runs often: so many parts are not counted, on all sides.
WARMUP_PARTS = 20
TOOL_AWAY = 0.05
PYPERF, TINYBENCH = "pyperf==2.11.0", "tinybench@6.2.5"


@dataclass(frozen=True)
class Tool:
    """A language's own tool and bare loop: the command for a launch and a count, and what its output says.

    ``read`` gives the ns per launch of each part.
    """

    name: str
    command: Callable[[str, int], list[str]]
    read: Callable[[str], list[float]]
    bare: list[str]


def run() -> list[Line]:
    """Compare each language that is here."""
    lines: list[Line] = []
    for language in LANGUAGES:
        try:
            driver = language_driver(language)
            tool = TOOLS[language](str((driver.toolchain or {})["program"]))
        except (OSError, LookupError, subprocess.SubprocessError) as error:
            print(f"runtimes.{language} is not compared: {reason_of(error)}")
            continue
        with real_time() as scheduling:
            lines += compared(language, driver, tool, scheduling)
    return lines


def language_driver(language: str) -> Driver:
    """The driver of a language, built if it was not; a LookupError says why there is none."""
    drivers, catalogue = find_catalogue(names=[f"{language}.command"])
    for driver in drivers.usable:
        if driver.has(f"{language}.command"):
            return driver
    raise LookupError(str(catalogue.raw.get("lacks")))


def reason_of(error: Exception) -> str:
    """What a package manager complained of, or the error itself."""
    if isinstance(error, subprocess.CalledProcessError):
        return f"{error.cmd[0]}: {' '.join(str(error.stderr).split())[-300:]}"
    return str(error)


def compared(language: str, driver: Driver, tool: Tool, scheduling: str) -> Iterator[Line]:
    """Two lines a launch: beside the tool, and beside the bare loop."""
    cpu = measured_cpu()
    for what, launches in LAUNCHES_OF.get(language, LAUNCHES).items():
        reported, whole = (
            partial(driver_ns, driver, f"{language}.{what}", launches, cpu, figure) for figure in ("reaped", "whole")
        )
        theirs = partial(parts_ns, cpu, tool.command(what, launches), tool.read)
        bare = partial(parts_ns, cpu, [*tool.bare, what, str(launches)], numbers)
        name = f"runtimes.{language}.{what}"
        note = f"class {scheduling}, load {os.getloadavg()[0]:.0f}"
        against = partial(interleaved_ratio, limit=None, note=note, most_pairs=PAIRS)
        yield say(distance(against(f"{name}.{tool.name}", reported, theirs)))
        yield say(own_cost(against(f"{name}.bare_loop", whole, bare), bare()))


def measured_cpu() -> int:
    """The CPU on which all sides launch."""
    return max(os.sched_getaffinity(0))


def distance(ratio: Line, most: float = TOOL_AWAY) -> Line:
    """How far a ratio is from 1, either way; it may be ``most``."""
    away = sorted(abs(end - 1) for end in (ratio.low, ratio.high))
    low = 0.0 if ratio.low <= 1 <= ratio.high else away[0]
    note = f"ratio {ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}], {ratio.note}"
    return Line(ratio.name, abs(ratio.value - 1), low, away[1], most, "share", note, strict=True)


def own_cost(ratio: Line, bare_ns: float) -> Line:
    """Name in ns what a driver's loop has beside a bare one."""
    note = f"{(ratio.value - 1) * bare_ns:+.0f} ns of {bare_ns:.0f}, {ratio.note}"
    return Line(ratio.name, ratio.value, ratio.low, ratio.high, None, ratio.unit, note)


def driver_ns(driver: Driver, workload: str, launches: int, cpu: int, figure: str) -> float:
    """Ns per launch of a driver: as it reports until `reaped`, or the `whole` from one start to the next."""
    each = launches // PARTS
    warmup = WARMUP_PARTS * each if workload.startswith("java") else 20
    words = [f"workload={workload}", f"samples={launches + 1}", "blocks=1", f"cpu={cpu}", f"warmup={warmup}"]
    if workload.endswith(".command"):
        words.append("program=/bin/true")
    (block,) = ask_driver([*driver.argv], [*words, f"targets={binaries()}"], fixed_variables())
    if figure == "reaped":
        reaped = np.asarray(block.columns["reaped_ns"], float)[: each * PARTS]
        return undisturbed([float(part) for part in reaped.reshape(PARTS, each).mean(axis=1)])
    starts = [int(start) for start in block.columns["start_ns"][::each]]
    return undisturbed([(after - before) / each for before, after in pairwise(starts)])


def parts_ns(cpu: int, command: Sequence[str], read: Callable[[str], list[float]]) -> float:
    """Ns per launch of a program that prints its parts, pinned, in the environment that drivers have."""
    pinned = ["taskset", "-c", str(cpu), *command]
    parts = read(printed(pinned, fixed_variables()))
    if len(parts) != PARTS:
        raise ValueError(f"{command[0]} has {len(parts)} parts, not {PARTS}")
    return undisturbed(parts)


def printed(command: Sequence[str], environment: dict[str, str] | None = None, folder: Path | None = None) -> str:
    """What a command prints; it must succeed."""
    done = subprocess.run(
        command,
        check=True,
        timeout=FETCH_S,
        env=environment,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return done.stdout


def numbers(text: str) -> list[float]:
    """Numbers between blanks."""
    return [float(word) for word in text.split()]


@contextmanager
def tool_folder(name: str) -> Iterator[tuple[Path, bool]]:
    """The folder of a tool, with our loops, and whether it must be fetched; it is complete where this ends well."""
    cache = user_folder("XDG_CACHE_HOME", ".cache")
    if cache is None:
        raise LookupError("there is no cache folder to fetch its tool to")
    folder = cache / "bench-tools" / name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    complete = folder / "complete"
    is_missing = not complete.exists()
    if is_missing:
        print(f"fetching the tools of {name} (once)")
        sys.stdout.flush()
    yield folder, is_missing
    complete.touch()


def python_tool(program: str) -> Tool:
    """Make a virtual environment of this Python with pyperf."""
    with tool_folder("python-" + PYPERF) as (folder, is_missing):
        python = str(folder / "venv" / "bin" / "python")
        if is_missing:
            printed([program, "-m", "venv", "--clear", str(folder / "venv")])
            printed([python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", PYPERF])
    fixed = ["--processes", "1", "--values", str(PARTS), "--warmups", "2", "--quiet"]

    def command(what: str, launches: int) -> list[str]:
        return [python, str(folder / "pyperf_loops.py"), *fixed, "--loops", str(launches // PARTS), "--what", what]

    return Tool("pyperf", command, _last_line, [program, str(folder / "loops.py")])


def _last_line(text: str) -> list[float]:
    return numbers(text.strip().rpartition("\n")[2])


def go_tool(program: str) -> Tool:
    """Build the benchmarks of `go test`, which is with Go."""
    with tool_folder("go") as (folder, _):
        (folder / "go.mod").write_text("module loops\n\ngo 1.18\n", encoding="utf-8")
        local = {**os.environ, "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOWORK": "off", "CGO_ENABLED": "0"}
        printed([program, "build", "-o", "loops", "loops.go"], local, folder)
        printed([program, "test", "-c", "-o", "loops.test", "loops.go", "loops_test.go"], local, folder)

    def command(what: str, launches: int) -> list[str]:
        count = [f"-test.benchtime={launches // PARTS}x", f"-test.count={PARTS}"]
        return [str(folder / "loops.test"), f"-test.bench=^Benchmark_{what}$", *count]

    return Tool("go_test", command, _go_values, [str(folder / "loops")])


def _go_values(text: str) -> list[float]:
    return [float(line.split()[2]) for line in text.splitlines() if line.endswith("ns/op")]


def node_tool(program: str) -> Tool:
    """Install tinybench by npm."""
    with tool_folder("node-" + TINYBENCH) as (folder, is_missing):
        if is_missing:
            printed(["npm", "install", "--silent", "--prefix", str(folder), TINYBENCH])

    def command(what: str, launches: int) -> list[str]:
        return [program, str(folder / "tinybench_loops.mjs"), what, str(launches)]

    return Tool("tinybench", command, numbers, [program, str(folder / "loops.js")])


def rust_tool(program: str) -> Tool:
    """Build a criterion benchmark with the cargo beside rustc."""
    cargo = str(Path(program).with_name("cargo"))
    with tool_folder("rust-criterion") as (folder, _):
        variables = {**os.environ, "CARGO_TARGET_DIR": str(folder / "target")}
        printed([cargo, "build", "--release", "--quiet"], variables, folder)
        built = printed([cargo, "bench", "--no-run", "--message-format", "json"], variables, folder)
    artifacts = [json.loads(line) for line in built.splitlines() if "criterion_loops" in line]
    (program,) = (each["executable"] for each in artifacts if each.get("executable"))
    samples = folder / "samples"

    def command(what: str, launches: int) -> list[str]:
        # It fills its seconds with launches: so many as the others have, at about 30 us a thread and 0.5 ms a command.
        seconds = launches * (30e-6 if what == "os_thread" else 5e-4)
        script = (
            'CRITERION_HOME=$1 "$2" --bench --noplot --measurement-time "$3" "$4" >&2 && cat "$1/$4/new/sample.json"'
        )
        return ["sh", "-c", script, "sh", str(samples), program, f"{seconds:.3f}", f"loops/{what}"]

    return Tool("criterion", command, _criterion_samples, [str(folder / "target" / "release" / "loops")])


def _criterion_samples(text: str) -> list[float]:
    samples = json.loads(text)
    return [float(ns) / count for ns, count in zip(samples["times"], samples["iters"], strict=True)]


def java_tool(program: str) -> Tool:
    """Fetch JMH by Maven; javac generates the benchmark's code.

    JMH is two JVMs: one launches, and one hears of each part and prints it. On one CPU the printing is in the parts,
    so only the first is pinned there. A batch of its warm-up is one launch unless ``-wbs`` says otherwise.
    """
    with tool_folder("java-jmh") as (folder, is_missing):
        if is_missing:
            printed(["mvn", "-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], None, folder)
        sources = [path.name for path in folder.glob("*.java")]
        javac = str(Path(program).resolve().with_name("javac"))
        printed([javac, "-cp", "lib/*", "-d", "classes", *sources], None, folder)
    classes = f"{folder}/classes:{folder}/lib/*"
    pinned = folder / "pinned"
    pinned.write_text(f'#!/bin/sh\nexec taskset -c {measured_cpu()} {program} "$@"\n', encoding="utf-8")
    pinned.chmod(0o755)
    others = os.sched_getaffinity(0) - {measured_cpu()} or {measured_cpu()}
    elsewhere = ["taskset", "-c", ",".join(map(str, sorted(others)))]

    def command(what: str, launches: int) -> list[str]:
        batch = str(launches // PARTS)
        fixed = ["-bm", "ss", "-tu", "ns", "-f", "1", "-wi", str(WARMUP_PARTS), "-i", str(PARTS), "-rf", "json"]
        fixed += ["-bs", batch, "-wbs", batch, "-jvm", str(pinned)]
        script = 'out=$(mktemp) && "$@" -rff "$out" >&2; cat "$out"; rm -f "$out"'
        jmh = [*elsewhere, program, "-cp", classes, "org.openjdk.jmh.Main", *fixed]
        return ["sh", "-c", script, "sh", *jmh, f"JmhLoops.{what}$"]

    each = {f"JmhLoops.{what}": launches // PARTS for what, launches in LAUNCHES.items()}
    return Tool("jmh", command, partial(_jmh_scores, each), [program, "-cp", classes, "loops.Loops"])


def _jmh_scores(each: dict[str, int], text: str) -> list[float]:
    (result,) = json.loads(text)
    launches = each[result["benchmark"].removeprefix("loops.")]
    return [score / launches for score in result["primaryMetric"]["rawData"][0]]


def perl_tool(program: str) -> Tool:
    """Benchmark, a module of Perl's core."""
    loops = [program, str(SOURCES / "loops.pl")]
    return Tool("benchmark", lambda what, launches: [*loops, "benchmark", what, str(launches)], numbers, loops)


TOOLS: dict[str, Callable[[str], Tool]] = {
    "python": python_tool,
    "go": go_tool,
    "node": node_tool,
    "rust": rust_tool,
    "java": java_tool,
    "perl": perl_tool,
}
