"""Loads a folder of runs as arrays: which runs count, and the rows that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.dataset.folders import FoundFile, open_runs
from clonometer.dataset.index import ReadingProgress, RowColumns, Summaries, is_current, read_summaries, rows_of_parts
from clonometer.dataset.types import FolderReading, Label, LeftOutFile, RunEntry
from clonometer.errors import InputError, unknown
from clonometer.inputs import parse_json
from clonometer.plan.names import chosen_cells
from clonometer.results.compare.types import Provenance

#: A host's clock that is farther from this machine's than this is said to be apart.
CLOCKS_APART = timedelta(minutes=5)

#: Names that users write for facts.
ALIASES = {
    "host": "host.name_hash",
    "cpu": "cpu.model",
    "kernel": "kernel.release",
    "microcode": "cpu.microcode",
    "mitigation": "mitigations.summary",
    "mitigations": "mitigations.summary",
    "instance": "virt.product",
    "hypervisor": "virt.hypervisor",
    "libc": "libc.version",
}
#: Not facts, but made of them: what kind of machine it is, and no groups at all.
HOST_CLASS, EVERYTHING = "class", "all"


@dataclass(frozen=True)
class Dataset:
    """The runs of a folder that count, in order of their starts, and their rows.

    ``rows`` are arrays of one length: ``run`` and ``label``, which are places in ``runs`` and in ``labels`` (what rows
    are about), and the numbers of `clonometer.runfile.summaries`.
    """

    reading: FolderReading
    runs: Sequence[RunEntry]
    labels: Sequence[Label]
    rows: Mapping[str, NDArray[Any]]

    def groups(self, by: str) -> list[str]:
        """The group of each run."""
        return [group_of(run.facts, by) for run in self.runs]

    def numbered_groups(self, by: str) -> tuple[list[str], list[int]]:
        """The groups, and for each run the place of its group."""
        return _numbered(self.groups(by))

    @cached_property
    def hosts(self) -> tuple[list[str], NDArray[Any]]:
        """The hosts, and for each run the place of its host."""
        names, places = _numbered([run.host for run in self.runs])
        return names, np.array(places, np.int64)


def _numbered(names: Sequence[str]) -> tuple[list[str], list[int]]:
    """The different names in the order in which they come, and for each name its place among these."""
    places: dict[str, int] = {}
    numbers = [places.setdefault(name, len(places)) for name in names]
    return list(places), numbers


def load(
    folder: Path | str,
    *,
    only: Sequence[str] = (),
    where: Callable[[RunEntry], bool] = lambda _: True,
    progress: ReadingProgress | None = None,
) -> Dataset:
    """Load a folder by its path, or by its URL (`clonometer.urls`).

    ``only`` are globs of cells (empty: all), ``where`` chooses among the runs, ``progress`` is as of `read_summaries`.

    Raises
    ------
    InputError
        If the folder cannot be read, or has no run that counts.
    UsageError
        If a glob matches no cell.
    """
    summaries = read_summaries(open_runs(folder), progress)
    listed = list(_listed(summaries))
    counted, damaged, duplicates = _counted(listed)
    entries = {key: _entry(run) for key, run in counted.items()}
    reading = FolderReading(
        str(folder),
        len(summaries.files),
        len(entries),
        len({entry.host for entry in entries.values()}),
        damaged,
        duplicates,
        sum(entry.status != "complete" for entry in entries.values()),
        [apart for key, run in counted.items() if (apart := _clocks_apart(run, summaries.files[run["path"]]))],
    )
    if not entries:
        raise InputError(_nothing(reading), "clonometer run writes run files: move them there")
    chosen = sorted((key for key in entries if where(entries[key])), key=lambda key: _moment(entries[key].started))
    if not chosen:
        raise InputError(f"{folder} has no run of that kind", "clonometer fleet show FOLDER names the groups")
    labels, rows = _rows(summaries, chosen, only)
    return Dataset(reading, [entries[key] for key in chosen], labels, rows)


#: A run by its part and its place there.
_Key = tuple[int, int]


def _listed(summaries: Summaries) -> Iterator[tuple[_Key, Mapping[str, Any]]]:
    for number, part in enumerate(summaries.parts):
        for index, run in enumerate(part.runs):
            if is_current(run, summaries.files):
                yield (number, index), run


def _counted(
    listed: Sequence[tuple[_Key, Mapping[str, Any]]],
) -> tuple[dict[_Key, Mapping[str, Any]], list[LeftOutFile], list[LeftOutFile]]:
    """Choose the runs that count: each file once, each run once, none that is damaged."""
    files: dict[str, tuple[_Key, Mapping[str, Any]]] = {run["path"]: (key, run) for key, run in listed}
    counted: dict[_Key, Mapping[str, Any]] = {}
    first: dict[tuple[str, str, str], str] = {}
    damaged, duplicates = [], []
    for path in sorted(files):
        key, run = files[path]
        if run["damage"] is not None:
            damaged.append(LeftOutFile(path, run["damage"]))
            continue
        same = first.setdefault((run["started"], run["seed"], run["host"]), path)
        if same != path:
            duplicates.append(LeftOutFile(path, f"the same run as {same}"))
            continue
        counted[key] = run
    return counted, damaged, duplicates


def _nothing(reading: FolderReading) -> str:
    if reading.damaged:
        worst = reading.damaged[0]
        return f"{reading.folder} has no valid run file: {worst.path}: {worst.reason}"
    return f"{reading.folder} has no run file"


def _entry(run: Mapping[str, Any]) -> RunEntry:
    return RunEntry(run["path"], run["started"], run["host"], run["status"], _provenance(run["metadata"]))


@lru_cache(maxsize=4096)
def _provenance(text: str) -> Provenance:
    # Thousands of runs share the facts of some hosts.
    known = parse_json(text)
    return Provenance(known["host"], known["clonometer_version"], known["status"], known["clock"]["clock"])


def _clocks_apart(run: Mapping[str, Any], file: FoundFile) -> LeftOutFile | None:
    """Say so where a run ended after its file was written, or will start only."""
    ended = _moment(run["ended"])
    if ended - datetime.now(UTC) > CLOCKS_APART:
        return LeftOutFile(run["path"], f"it ends in the future: {run['ended']}")
    written = datetime.fromtimestamp(file.mtime_ns / 1e9, UTC)
    if file.mtime_ns and ended - written > CLOCKS_APART:
        ahead = round((ended - written).total_seconds() / 60)
        return LeftOutFile(run["path"], f"its file was written {ahead} min before it ended")
    return None


@lru_cache(maxsize=65536)
def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _rows(summaries: Summaries, chosen: Sequence[_Key], only: Sequence[str]) -> tuple[list[Label], RowColumns]:
    """Read the rows of runs."""
    numbers = [np.full(len(part.runs), -1, np.int64) for part in summaries.parts]
    for number, (part, place) in enumerate(chosen):
        numbers[part][place] = number
    cells = dict.fromkeys(label["cell"] for part in summaries.parts for label in part.labels)
    wanted = set(chosen_cells(only, cells))
    labels, rows = rows_of_parts(summaries.parts, numbers, lambda label: label["cell"] in wanted)
    return [label_of(label) for label in labels], rows


def label_of(fields: Mapping[str, Any]) -> Label:
    """Make a label of what a summary says of it (`clonometer.dataset.summary`)."""
    return Label(**{name: value for name, value in fields.items() if name != "point"})


def group_of(facts: Mapping[str, Any], by: str) -> str:
    """The group of a host: its value of a fact, in a text.

    ``by`` is a key of docs/host.md, one of `ALIASES`, ``class`` (processor, CPUs and hypervisor) or ``all``.
    """
    if by == EVERYTHING:
        return "all hosts"
    if by == HOST_CLASS:
        hypervisor = facts.get("virt.hypervisor") or "none"
        on = "" if hypervisor == "none" else f", {hypervisor}"
        return f"{facts.get('cpu.model') or 'not known'}, {facts.get('cpu.online') or '?'} CPUs{on}"
    value = facts.get(ALIASES.get(by, by))
    return "not known" if value is None else str(value)


def check_by(runs: Sequence[RunEntry], by: str) -> None:
    """Refuse a fact that no run has.

    Raises
    ------
    UsageError
        With the nearest name.
    """
    known = {key for run in runs for key in run.facts} | set(ALIASES) | {HOST_CLASS, EVERYTHING}
    if by not in known:
        raise unknown("fact", by, sorted(known))
