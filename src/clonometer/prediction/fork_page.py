"""What the page "What does a fork cost?" is made of: a cost model, the book of launch paths, measured points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from clonometer.launch_paths.types import LaunchPath, PathBook, SeenTask
from clonometer.model.calibration import EXIT, FORK_FIRST, Calibration, CostModel
from clonometer.model.features import PAGES_OF_HUGE, SMALL_PAGE_BYTES, Features
from clonometer.model.predictor import cost_of
from clonometer.model.terms import PAGES, SCATTERED
from clonometer.model.types import CostRange, Ns, Scales
from clonometer.prediction.fork_shape import ForkShape, private_bytes, shaped
from clonometer.prediction.fork_timeline import (
    FORK,
    FORK_EXEC,
    MECHANISMS,
    SPAWN,
    THREAD,
    PredictedLaunch,
    predict_launch,
)
from clonometer.prediction.judge import Machine
from clonometer.prediction.profile import Profile
from clonometer.records import Count, Ge, OneOf, version

PAGE_SCHEMA = 1
#: The runtimes that the page offers, by their names in the book; the C library first.
RUNTIMES = ("glibc", "python", "node", "java", "go", "rust", "ruby", "php", "perl", "bash")
#: Other ways to start something: the mechanism, what differs in the shape, whether the caller waits for the exit too.
WAYS: Mapping[str, tuple[str, Mapping[str, Any], bool]] = {
    "first": (FORK, {"rewritten": 1.0}, False),
    "unwritten": (FORK, {"rewritten": 0.0}, False),
    "huge": (FORK, {"pages": "huge"}, False),
    "until_exit": (FORK, {}, True),
    "fork_exec": (FORK_EXEC, {}, False),
    "posix_spawn": (SPAWN, {}, False),
    "thread": (THREAD, {}, False),
}
_GIB = 1 << 30
_SIZES = (0, 1 << 20, 16 << 20, 256 << 20, _GIB, 4 * _GIB, 16 * _GIB, 64 * _GIB)
#: Share of the memory that the parent writes to while the child lives, at the start.
_COPIED = 0.01
#: Bootstrap draws need no more digits than their spread has.
_DRAW_DIGITS = 4


@dataclass(frozen=True)
class OfferedLaunch:
    """An API with the options that take one path, and which mechanism that is."""

    api: str
    options: Annotated[Sequence[str], "Each of them chooses this path; empty text: none is needed."]
    versions: Annotated[str, "In words; empty: all."]
    mechanism: Annotated[str, OneOf(MECHANISMS), "As the page draws it."]
    kernel: Annotated[str, "What the kernel sees, in words."]


@dataclass(frozen=True)
class OfferedRuntime:
    """A runtime and its launches."""

    name: str
    title: str
    launches: Sequence[OfferedLaunch]


@dataclass(frozen=True)
class MeasuredPoint:
    """What a run measured: how long calls took that a process with so much memory made."""

    mechanism: Annotated[str, OneOf((FORK, SPAWN, THREAD))]
    memory_bytes: Count
    is_huge: bool
    low_ns: Annotated[Ns, "90% of calls lie between low and high."]
    median_ns: Ns
    high_ns: Ns
    calls: Annotated[Count, "How many were measured."]


@dataclass(frozen=True)
class MeasuredRun:
    """The points of a run file."""

    name: str
    host: Annotated[str, "The machine that it was measured on."]
    points: Sequence[MeasuredPoint]


@dataclass(frozen=True)
class OtherWay:
    """Another way to start something from the same process."""

    name: Annotated[str, OneOf(tuple(WAYS))]
    mechanism: Annotated[str, OneOf(MECHANISMS)]
    shape: Annotated[Mapping[str, Any], "What differs from the shape that is set."]
    until_exit: Annotated[bool, "Whether its caller waits for the child's exit, too."]
    cost: Annotated[CostRange | None, "At the start of the page; null: not measured."]


@dataclass(frozen=True)
class SizedCosts:
    """What forks cost a small program that filled so much memory: medians."""

    memory_bytes: Count
    costs_ns: Annotated[Mapping[str, float | None], "By the names of the ways; null: not measured."]


@dataclass(frozen=True)
class PageStart:
    """What the page shows before anybody has touched it."""

    process: str | None
    memory_bytes: Count
    is_huge: Annotated[bool, "Whether most of the memory is in huge pages."]
    threads: Count
    launch: Annotated[PredictedLaunch, "Its fork."]
    compared: Annotated[PredictedLaunch | None, "A thread; null: not measured."]
    ways: Sequence[OtherWay]
    sizes: Sequence[SizedCosts]


@dataclass(frozen=True)
class ForkPage:
    """Everything that the page about forks is made of."""

    schema = version(PAGE_SCHEMA)

    model: Annotated[str, OneOf(("calibration", "quick calibration", "rough")), "Where the times come from."]
    calibration: Annotated[Calibration, "Without the residuals of its fits."]
    scales: Annotated[Scales, "Present times over those of the calibration, by the reference scan."]
    is_scaled: Annotated[bool, "Whether that scan was run; without it the scales are 1, and treated as uncertain."]
    runtimes: Sequence[OfferedRuntime]
    runs: Annotated[Sequence[MeasuredRun], "Measured beside the model."]
    profile: Annotated[Profile | None, "The process that the page begins with; null: a small program with 1 GiB."]
    most_bytes: Annotated[float, Ge(0), "Memory up to which forks were calibrated; above it times are extrapolated."]
    start: PageStart


def make_fork_page(
    machine: Machine, book: PathBook, runs: Sequence[MeasuredRun] = (), profile: Profile | None = None
) -> ForkPage:
    """Gather what the page needs."""
    return ForkPage(
        model=machine.name,
        calibration=_shortened(machine.calibration),
        scales=machine.scales_now,
        is_scaled=machine.scales is not None,
        runtimes=list(_offered(book)),
        runs=list(runs),
        profile=profile,
        most_bytes=_most_bytes(machine),
        start=_start(machine, profile),
    )


def _start(machine: Machine, profile: Profile | None) -> PageStart:
    """What it shows first: the profile's process, or a small program with 1 GiB."""
    begun = None if profile is None else profile.features
    could_be_huge = 0 if profile is None else sum(group.could_be_huge for group in profile.groups)
    shape = ForkShape(memory_bytes=_GIB if begun is None else None, copied=_COPIED)

    def launch(mechanism: str, asked: ForkShape, base: Features | None = begun) -> PredictedLaunch | None:
        features = shaped(asked, base, could_be_huge)
        return predict_launch(mechanism, features, asked, machine.calibration, machine.scales_now)

    def way(name: str, asked: ForkShape, base: Features | None = begun) -> OtherWay:
        mechanism, changes, until_exit = WAYS[name]
        changed = replace(asked, **changes)
        predicted = launch(mechanism, changed, base)
        cost = None if predicted is None else predicted.call_ns
        if cost is not None and until_exit:
            wait = machine.calibration.models[EXIT]
            cost = cost.plus(cost_of(shaped(changed, base, could_be_huge), wait, machine.scales_now.waits))
        return OtherWay(name, mechanism, changes, until_exit, cost)

    def costs(size: int) -> SizedCosts:
        ways = [way(name, ForkShape(memory_bytes=size), None) for name in WAYS]
        return SizedCosts(size, {each.name: None if each.cost is None else each.cost.median_ns for each in ways})

    features, fork = shaped(shape, begun, could_be_huge), launch(FORK, shape)
    assert fork is not None
    return PageStart(
        process=None if profile is None else profile.process or "your process",
        memory_bytes=private_bytes(features),
        is_huge=features.huge_pages * PAGES_OF_HUGE > features.anon_pages,
        threads=features.threads,
        launch=fork,
        compared=launch(THREAD, shape),
        ways=[way(name, shape) for name in WAYS],
        sizes=[costs(size) for size in _SIZES],
    )


def _most_bytes(machine: Machine) -> float:
    """The rough model has no limit of its own, and was never measured here."""
    if machine.is_rough:
        return 0.0
    model = machine.calibration.models[FORK_FIRST]
    most = dict(zip((*model.terms, SCATTERED), model.most, strict=True))
    return SMALL_PAGE_BYTES * max(most.get(PAGES, 0.0), most[SCATTERED])


def _shortened(calibration: Calibration) -> Calibration:
    return replace(calibration, models={name: _short(model) for name, model in calibration.models.items()})


def _short(model: CostModel) -> CostModel:
    draws = [[float(f"{ns:.{_DRAW_DIGITS}g}") for ns in draw] for draw in model.draws_ns]
    return replace(model, draws_ns=draws, residuals=[])


def _offered(book: PathBook) -> Iterator[OfferedRuntime]:
    for name in RUNTIMES:
        runtime = book.find(name)
        if runtime is not None:
            yield OfferedRuntime(name, runtime.title, list(_launches(runtime.paths)))


def _launches(paths: Iterable[LaunchPath]) -> Iterator[OfferedLaunch]:
    """Lines of one API that take one path are one entry; those that only replace the program are none."""
    options: dict[tuple[str, str, str, str], list[str]] = {}
    for path in paths:
        mechanism = mechanism_of(path)
        if mechanism is not None:
            kernel = "; ".join(map(_in_words, path.tasks)) or "a thread"
            options.setdefault((path.api, path.versions, mechanism, kernel), []).append(path.option)
    for (api, versions, mechanism, kernel), names in options.items():
        yield OfferedLaunch(api, names, versions, mechanism, kernel)


def _in_words(task: SeenTask) -> str:
    return task.mechanism + "".join(f", exec of {program}" for program in task.programs)


def mechanism_of(path: LaunchPath) -> str | None:
    """Which of the mechanisms that the page draws a line of the book takes; None: none of them.

    Of a launch with several tasks the one that copies is what its caller pays for.
    """
    task = next((each for each in path.tasks if each.copies), None) or next(iter(path.tasks), None)
    if task is None:
        return THREAD if path.threads else None
    if task.copies:
        return FORK_EXEC if task.programs else FORK
    return SPAWN if task.programs else None
