"""``page``: what the page "What does a fork cost?" is made of, from this machine's calibration and run files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from clonometer.app.predict import machine_now, read_profile
from clonometer.app.predicting import rough_machine
from clonometer.errors import ClonometerError, InputError
from clonometer.inputs import InputKind, check_schema, naming, read_json
from clonometer.launch_paths.reading import load_book
from clonometer.model.calibration import POSIX_SPAWN, PTHREAD
from clonometer.model.features import SMALL_PAGE_BYTES
from clonometer.model.measured import MeasuredCondition, read_conditions
from clonometer.model.types import UNSCALED
from clonometer.prediction.fork_page import PAGE_SCHEMA, ForkPage, MeasuredPoint, MeasuredRun, make_fork_page
from clonometer.prediction.fork_timeline import FORK, THREAD
from clonometer.prediction.judge import Machine
from clonometer.records import from_json
from clonometer.runfile import Run, open_run
from clonometer.runner.interfaces import SILENT, Progress

__all__ = ["fork_page"]

#: How the page calls what these workloads of the group launch.
_GROUP = "launch."
_MECHANISMS = {FORK: FORK, POSIX_SPAWN: POSIX_SPAWN, PTHREAD: THREAD}
_KINDS = {"4k": False, "thp": True}
_CALL = "call_returns_ns"
_TAILS = (0.05, 0.5, 0.95)
_PAGE = InputKind("the data of a page", 8 << 20, "'clonometer page --json' prints one")


def fork_page(
    *,
    runs: Sequence[Path] = (),
    profile: Path | None = None,
    rough: bool = False,
    scan: bool = True,
    progress: Progress = SILENT,
) -> ForkPage:
    """Gather what the page needs; a machine that was not calibrated is calibrated quickly, which takes 20 s.

    Parameters
    ----------
    runs
        Run files, whose launches are shown beside the model.
    profile
        A profile that ``predict --save-profile`` wrote, with which the page begins.
    rough
        Use the rough model, and measure nothing.
    scan
        Measure for 3 s how fast the machine is now.
    progress
        Watches.

    Raises
    ------
    InputError
        If a file cannot be read, or the calibration is damaged or of another machine.
    """
    begun = None if profile is None else read_profile(profile)
    measured = [_measured(open_run(path)) for path in runs]
    machine = rough_machine() if rough else _calibrated(scan=scan, progress=progress)
    return make_fork_page(machine, load_book(), measured, begun)


def _calibrated(*, scan: bool, progress: Progress) -> Machine:
    machine = machine_now(scan=scan, progress=progress)
    if machine is not None:
        return machine
    from clonometer.app.calibrating import calibrate_first

    try:
        made = calibrate_first(progress)
    except ClonometerError as error:
        progress.say(f"clonometer: it could not be calibrated, so the page has rough times: {error.message}")
        return rough_machine()
    return Machine(made, is_rough=False, scales=UNSCALED)


def read_fork_page(path: Path) -> ForkPage:
    """Read what ``page --json`` printed, on this machine or another.

    Raises
    ------
    InputError
        If it cannot be read, or is nothing of the kind.
    """
    content = read_json(path, _PAGE)
    with naming(path, _PAGE):
        check_schema(content, PAGE_SCHEMA)
        return from_json(ForkPage, content)


def _measured(run: Run) -> MeasuredRun:
    """What a run measured of launches whose parents differ in their memory alone.

    Raises
    ------
    InputError
        If it has none.
    """
    defaults = {name: axis.default for name, axis in run.document.catalogue.axes.items()}
    points = [point for each in read_conditions(run) for point in _points(each, defaults)]
    if not points:
        raise InputError(
            f"{run.path} has no launch by fork, posix_spawn or pthread of a parent that differs in memory alone",
            "'clonometer run launch.fork --set parent_bytes=0,64MiB,1GiB' measures some",
        )
    facts = run.document.host
    host = f"{facts.get('cpu.model') or 'a CPU'}, Linux {str(facts.get('kernel.release') or 'unknown').split('-')[0]}"
    return MeasuredRun(run.path.name, host, sorted(points, key=lambda each: (each.mechanism, each.memory_bytes)))


def _points(each: MeasuredCondition, defaults: Mapping[str, Any]) -> Iterator[MeasuredPoint]:
    condition, calls = dict(each.condition), each.columns.get(_CALL, ())
    mechanism = _MECHANISMS.get(each.workload.removeprefix(_GROUP))
    if mechanism is None or each.features is None or not calls or "temperature=cold" in each.cell:
        return
    size = condition.pop("parent_bytes")
    kind = condition.pop("page_kind")
    # Where it runs may be any CPU.
    del condition["placement"]
    if kind not in _KINDS or any(value != defaults.get(name, value) for name, value in condition.items()):
        return
    import numpy as np

    values = np.concatenate(calls)
    low, median, high = (float(end) for end in np.quantile(values, _TAILS))
    yield MeasuredPoint(
        mechanism,
        size // SMALL_PAGE_BYTES * SMALL_PAGE_BYTES,
        _KINDS[kind] and size > 0,
        low,
        median,
        high,
        int(values.size),
    )
