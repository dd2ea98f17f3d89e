"""Keeps a summary of each run file of a folder so that none is read twice.

A summary counts for as long as its file has the size and the time of change that it had.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clonometer.dataset.folders import FoundFile, RunFolder
from clonometer.dataset.summary import LabelText, RowFigures, summarize_file
from clonometer.errors import InputError, RunFileError
from clonometer.inputs import parse_json
from clonometer.runfile.summaries import COLUMNS, SummaryPart, read_parts, read_rows, remove_parts, write_part

#: A part is written after so many runs or seconds, so that an interrupt costs little.
_RUNS_A_PART, _SECONDS_A_PART = 500, 60.0
#: More parts than this are made one.
_MOST_PARTS = 16

ReadingProgress = Callable[[int, int], None]
RowColumns = dict[str, NDArray[Any]]
#: Runs, labels and rows, as a part has them.
_Content = tuple[list[dict[str, Any]], list[dict[str, Any]], RowColumns]


@dataclass
class _Draft:
    """A part that is being made: runs, labels by their text, rows."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    labels: dict[LabelText, int] = field(default_factory=dict)
    rows: list[tuple[float, ...]] = field(default_factory=list)

    def add(self, run: Mapping[str, Any], rows: Mapping[LabelText, RowFigures]) -> None:
        number = len(self.runs)
        self.runs.append(dict(run))
        for text, figures in rows.items():
            self.rows.append((number, self.labels.setdefault(text, len(self.labels)), *figures))

    def content(self) -> _Content:
        table = np.array(self.rows, list(COLUMNS.items()))
        return self.runs, [parse_json(text) for text in self.labels], {name: table[name] for name in COLUMNS}


@dataclass(frozen=True)
class Summaries:
    """All that is known of a folder: its files by path, and the parts that have their summaries."""

    files: Mapping[str, FoundFile]
    parts: Sequence[SummaryPart]


def read_summaries(folder: RunFolder, progress: ReadingProgress | None = None) -> Summaries:
    """Find the run files of a folder and summarize those that are new or have changed.

    ``progress`` is told how many of how many new files have been read.

    Raises
    ------
    InputError
        If the folder cannot be read.
    """
    files = {file.path: file for file in folder.files()}
    place = folder.summaries()
    parts: Sequence[SummaryPart] = read_parts(place) if place else []
    known = {(run["path"], run["size"], run["mtime_ns"]) for part in parts for run in part.runs}
    new = [file for file in files.values() if (file.path, file.size, file.mtime_ns) not in known]
    loose = []
    for content in _parts_of(folder, new, progress):
        try:
            if place is None:
                raise OSError
            write_part(place, *content)
        except OSError:
            # A full disk costs the time again, and nothing else.
            loose.append(SummaryPart(*content))
    if place is not None and len(new) > 0:
        parts = read_parts(place)
    if place is not None and len(parts) > _MOST_PARTS:
        parts = _joined(place, parts, files)
    return Summaries(files, [*parts, *loose])


def _parts_of(folder: RunFolder, files: Sequence[FoundFile], progress: ReadingProgress | None) -> Iterator[_Content]:
    draft, since = _Draft(), time.monotonic()
    for number, file in enumerate(files):
        if progress is not None:
            progress(number, len(files))
        try:
            draft.add(*_read(folder, file))
        except InputError:
            # The server of a URL is away: what has been read of it until now need not be read again.
            if draft.runs:
                yield draft.content()
            raise
        if len(draft.runs) >= _RUNS_A_PART or time.monotonic() - since > _SECONDS_A_PART:
            yield draft.content()
            draft, since = _Draft(), time.monotonic()
    if draft.runs:
        yield draft.content()
    if progress is not None and files:
        progress(len(files), len(files))


def _read(folder: RunFolder, file: FoundFile) -> tuple[dict[str, Any], Mapping[LabelText, RowFigures]]:
    run: dict[str, Any] = {"path": file.path, "size": file.size, "mtime_ns": file.mtime_ns, "damage": None}
    empty = dict.fromkeys(("started", "ended", "seed", "host", "status", "metadata"))
    try:
        with folder.at_hand(file) as path:
            summary = summarize_file(path, file.path)
    except RunFileError as error:
        return {**run, **empty, "damage": error.message.removeprefix(f"{path}: ")}, {}
    return {**run, **summary.run}, summary.rows


def _joined(place: Path, parts: Sequence[SummaryPart], files: Mapping[str, FoundFile]) -> Sequence[SummaryPart]:
    """Make one part of many, without the files that are no longer there."""
    runs: list[Mapping[str, Any]] = []
    numbers = []
    for part in parts:
        kept = np.array([is_current(run, files) for run in part.runs], bool)
        numbers.append(np.where(kept, np.cumsum(kept) - 1 + len(runs), -1))
        runs += compress(part.runs, kept)
    try:
        write_part(place, runs, *rows_of_parts(parts, numbers))
    except (OSError, RunFileError):
        return parts
    remove_parts(parts)
    return read_parts(place)


def rows_of_parts(
    parts: Sequence[SummaryPart],
    numbers: Sequence[NDArray[Any]],
    is_wanted: Callable[[Mapping[str, Any]], bool] = lambda _: True,
) -> tuple[list[dict[str, Any]], RowColumns]:
    """Read labels and rows of several parts as those of one.

    ``numbers`` has for each part what number each of its runs has among all; -1: it is not wanted.

    Raises
    ------
    RunFileError
        If a part is damaged, or has been replaced meanwhile.
    """
    labels: dict[str, int] = {}
    pieces: list[RowColumns] = []
    for part, run_of in zip(parts, numbers, strict=True):
        runs = np.flatnonzero(run_of >= 0)
        wanted = [place for place, label in enumerate(part.labels) if is_wanted(label)]
        if not runs.size or not wanted:
            continue
        # A few of many: pages without any of them are not decoded. All that are there need no test.
        few_runs = runs.tolist() if runs.size < len(part.runs) / 2 else None
        few_labels = wanted if len(wanted) < len(part.labels) else None
        rows = read_rows(part, few_labels, few_runs)
        label_of = np.full(len(part.labels), -1, np.int64)
        for place in wanted:
            text = json.dumps(part.labels[place], sort_keys=True, separators=(",", ":"))
            label_of[place] = labels.setdefault(text, len(labels))
        rows |= {"run": run_of[rows["run"]], "label": label_of[rows["label"]]}
        kept = (rows["run"] >= 0) & (rows["label"] >= 0)
        pieces.append({name: rows[name][kept] for name in COLUMNS})
    joined = {name: np.concatenate([piece[name] for piece in pieces] or [np.empty(0)]) for name in COLUMNS}
    return [parse_json(text) for text in labels], joined


def is_current(run: Mapping[str, Any], files: Mapping[str, FoundFile]) -> bool:
    """Whether a summary is that of a file as it is now."""
    file = files.get(run["path"])
    return file is not None and (file.size, file.mtime_ns) == (run["size"], run["mtime_ns"])
