"""What `clonometer predict` foretells of a runtime's launches, beside what they cost the caller in the same process.

The heap is written before each launch, and caches are emptied, as the calibration does. The processes of the reference
scan fork in turn with the program, so that prediction and launches are of one moment. Processes without a heap give the
runtime's own work (`clonometer.launch_paths.own_work`); those with a heap judge the whole.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

from bench.harness import real_time
from publications.runtimes.held import held
from publications.runtimes.languages import Language, Way
from publications.runtimes.measuring import available, version_of, where

from clonometer.app.calibrating import cache_emptier_of_here, reference_processes, unforked_processes
from clonometer.app.live import read
from clonometer.app.predicting import answer, calibrated_machine, with_paths
from clonometer.launch_paths import own_work
from clonometer.launch_paths.reading import load_book
from clonometer.model.reference import scales_by
from clonometer.model.turns import STATES, ask
from clonometer.prediction.answer import Predicted, RuntimeLaunches
from clonometer.prediction.judge import Machine, Question
from clonometer.prediction.spans import PredictedTime

SIZES = (100_000_000, 1_000_000_000)
#: How many processes of each kind are watched, and how often each way launches in one.
STARTS, LAUNCHES = 3, 4
_IDLE_S = 0.1
_ROOM = 2.0
OWN = Path(own_work.__file__).with_name("own.json")


@dataclass(frozen=True)
class Watched:
    """A process: what was foretold of it, and the ns until the call of each way returned."""

    predicted: Predicted
    calls_ns: dict[str, list[int]]

    def entry(self, language: Language, way: Way) -> RuntimeLaunches:
        """What `predict` lists for a way.

        Raises
        ------
        LookupError
            If it lists nothing for it.
        """
        paths = self.predicted.paths
        line = next(path for path in load_book().runtime(language.name).paths if path.name == way.line)
        for launches in () if paths is None else paths.launches:
            if launches.api == line.api and line.option in launches.options and launches.copies == line.copies:
                return launches
        raise LookupError(f"predict lists nothing for {line.api} ({line.option}) of {language.title}")

    def kernel_ns(self, language: Language, way: Way) -> float:
        """The kernel's part of it, by the medians."""
        waits, spawn = self.predicted.waits, self.predicted.posix_spawn_ns
        if self.entry(language, way).copies:
            return (waits.call_ns if way.until == "call" else waits.until_exec_ns).median
        return 0.0 if spawn is None else spawn.median

    def measured_ns(self, way: Way) -> float:
        """What its caller waited for."""
        return statistics.median(self.calls_ns[way.key])


@contextmanager
def built(language: Language) -> Iterator[Path]:
    """A folder with the program of a language; others may enter it, since some programs become another user."""
    with tempfile.TemporaryDirectory(prefix="clonometer-runtimes-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        language.built(folder)
        yield folder


def judged(language: Language) -> dict[str, Any]:
    """Record a runtime's own work, and judge what is foretold with it; in the class rr where that is allowed."""
    with real_time() as scheduling:
        record(language)
        rows = list(foretold(language))
    return {"version": version_of(language.version), **where(), "scheduling": scheduling, "rows": rows}


def foretold(language: Language, sizes: Sequence[int] = SIZES) -> Iterator[dict[str, Any]]:
    """Judge the ways of a language, by heap: rows as JSON values, times in ns."""
    with built(language) as folder:
        for size, ways in product(sizes, _groups(language)):
            if size * _ROOM <= available():
                starts = [watched(language, ways, size, folder) for _ in range(STARTS)]
                yield from (_row(language, way, size, starts) for way in ways)


def _row(language: Language, way: Way, size: int, starts: Sequence[Watched]) -> dict[str, Any]:
    spans = [start.entry(language, way).waits_ns or PredictedTime(0.0, 0.0, 0.0) for start in starts]
    measured = [start.measured_ns(way) for start in starts]
    ratios = [span.median / real for span, real in zip(spans, measured, strict=True)]
    calls = [(span, call) for span, start in zip(spans, starts, strict=True) for call in start.calls_ns[way.key]]
    features = starts[0].predicted.features
    return {
        "way": way.key,
        "size": size,
        "predicted": {
            end: round(statistics.median(getattr(span, end) for span in spans)) for end in ("low", "median", "high")
        },
        "own_ns": round(statistics.median(start.entry(language, way).own_ns or 0.0 for start in starts)),
        "measured_ns": round(statistics.median(measured)),
        "ratio": statistics.median(ratios),
        "ratios": sorted(ratios),
        "inside": statistics.mean(span.low <= call <= span.high for span, call in calls),
        "left_out_pages": features.dontfork_pages,
        "copied_pages": features.anon_pages,
        "huge_pages": features.huge_pages,
        "threads": features.threads,
    }


def own_works(language: Language) -> dict[str, dict[str, Any]]:
    """Measure a runtime's own work by line of the book, as `OwnWork` has it, at the speed of the calibration."""
    works = {}
    with built(language) as folder:
        for ways in _groups(language):
            starts = [watched(language, ways, 0, folder) for _ in range(STARTS)]
            for way in ways:
                rest = [
                    (start.measured_ns(way) - start.kernel_ns(language, way)) / start.predicted.basis.scales.cold.factor
                    for start in starts
                ]
                works[way.line] = {"own_ns": round(max(0.0, statistics.median(rest))), "until": way.until}
    return works


def record(language: Language) -> None:
    """Write a runtime's own work to the package; that of others stays."""
    kept = json.loads(OWN.read_text(encoding="utf-8"))
    place = where()
    kept |= {"machine": place["machine"], "date": place["date"]}
    kept["runtimes"][language.name] = own_works(language)
    kept["versions"][language.name] = version_of(language.version)
    OWN.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    own_work.load_own_works.cache_clear()


def _groups(language: Language) -> list[list[Way]]:
    """The ways that are foretold, those of one process together."""
    ways = [way for way in language.ways if way.until != "end"]
    return [list(group) for _, group in groupby(ways, lambda way: (way.options, way.variables))]


def watched(language: Language, ways: Sequence[Way], size: int, folder: Path) -> Watched:
    """Start a program, have it launch beside the reference scan's processes, and predict it."""
    machine = _machine()
    empty_caches = cache_emptier_of_here()
    calls: dict[str, list[int]] = {way.key: [] for way in ways}
    with (
        reference_processes(random.Random()) as references,
        held(language.command(ways[0], size, folder), ways[0].variables) as program,
    ):
        for way in ways:
            program.launch(way.word)
        reading = read(program.pid)
        scan = unforked_processes(references)
        for _ in range(LAUNCHES):
            for (name, process), state in product(references.items(), STATES):
                scan[name].add(ask(process, name, state, empty_caches))
            for way in ways:
                program.write()
                empty_caches()
                time.sleep(_IDLE_S)
                calls[way.key].append(program.launch(way.word)[0])
        scaled = replace(machine, scales=scales_by(list(scan.values()), machine.calibration))
        return Watched(with_paths(answer(reading, scaled, Question())), calls)


def _machine() -> Machine:
    machine = calibrated_machine()
    if machine is None:
        raise SystemExit("this machine has not been calibrated: clonometer calibrate")
    return machine
