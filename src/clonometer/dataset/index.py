"""Keeps a summary of each run file of a folder so that none is read twice.

A summary counts for as long as its file has the size and the time of change that it had.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clonometer.dataset.folders import FoundFile, RunFolder
from clonometer.dataset.summary import Figures, LabelText, summarize_file
from clonometer.errors import RunFileError
from clonometer.runfile.summaries import NUMBERS, SummaryPart, read_parts, read_rows, remove_parts, write_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: A part is written after so many runs or seconds, so that an interrupt costs little.
_RUNS_A_PART, _SECONDS_A_PART = 500, 60.0
#: More parts than this are made one.
_MOST_PARTS = 16

Progress = Callable[[int, int], None]
Rows = dict[str, "NDArray[Any]"]


@dataclass
class _Draft:
    """A part that is being made: runs, labels by their text, rows."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    labels: dict[LabelText, int] = field(default_factory=dict)
    rows: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in ("run", "label", *NUMBERS)})

    def add(self, run: Mapping[str, Any], rows: Mapping[LabelText, Figures]) -> None:
        number = len(self.runs)
        self.runs.append(dict(run))
        for text, figures in rows.items():
            label = self.labels.setdefault(text, len(self.labels))
            for name, value in zip(self.rows, (number, label, *figures), strict=True):
                self.rows[name].append(value)

    def content(self) -> tuple[list[dict[str, Any]], list[dict[str, Any]], Rows]:
        import numpy as np

        kinds = {"run": "int32", "label": "int32", **NUMBERS}
        arrays = {name: np.array(values, kinds[name]) for name, values in self.rows.items()}
        return self.runs, [json.loads(text) for text in self.labels], arrays


@dataclass(frozen=True)
class Summaries:
    """All that is known of a folder: its files, and the parts that have their summaries.

    Attributes
    ----------
    files
        By path, those that are there now.
    parts
        Parts on disk; ``loose`` has what could not be written.
    """

    files: Mapping[str, FoundFile]
    parts: Sequence[SummaryPart]
    loose: Sequence[tuple[list[dict[str, Any]], list[dict[str, Any]], Rows]]


def read_summaries(folder: RunFolder, progress: Progress | None = None) -> Summaries:
    """Find the run files of a folder and summarize those that are new or have changed.

    Parameters
    ----------
    progress
        Told how many of how many new files have been read.

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
    for runs, labels, rows in _made(folder, new, progress):
        try:
            if place is None:
                raise OSError
            write_part(place, runs, labels, rows)
        except OSError:
            # A full disk costs the time again, and nothing else.
            loose.append((runs, labels, rows))
    if place is not None and len(new) > 0:
        parts = read_parts(place)
    if place is not None and len(parts) > _MOST_PARTS:
        parts = _joined(place, parts, files)
    return Summaries(files, parts, loose)


def _made(
    folder: RunFolder, files: Sequence[FoundFile], progress: Progress | None
) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]], Rows]]:
    draft, since = _Draft(), time.monotonic()
    for number, file in enumerate(files):
        if progress is not None:
            progress(number, len(files))
        draft.add(*_read(folder, file))
        if len(draft.runs) >= _RUNS_A_PART or time.monotonic() - since > _SECONDS_A_PART:
            yield draft.content()
            draft, since = _Draft(), time.monotonic()
    if draft.runs:
        yield draft.content()
    if progress is not None and files:
        progress(len(files), len(files))


def _read(folder: RunFolder, file: FoundFile) -> tuple[dict[str, Any], Mapping[LabelText, Figures]]:
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
    import numpy as np

    runs: list[Mapping[str, Any]] = []
    labels: dict[str, int] = {}
    pieces: list[Rows] = []
    for part in parts:
        kept = np.array([is_current(run, files) for run in part.runs], bool)
        place_of = np.cumsum(kept) - 1 + len(runs)
        texts = [json.dumps(label, sort_keys=True, separators=(",", ":")) for label in part.labels]
        label_of = np.array([labels.setdefault(text, len(labels)) for text in texts], np.int32)
        try:
            rows = read_rows(part)
        except RunFileError:
            return parts
        chosen = kept[rows["run"]]
        rows = {name: values[chosen] for name, values in rows.items()}
        pieces.append({**rows, "run": place_of[rows["run"]], "label": label_of[rows["label"]]})
        runs += [run for run, keep in zip(part.runs, kept, strict=True) if keep]
    joined = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
    try:
        write_part(place, runs, [json.loads(text) for text in labels], joined)
    except OSError:
        return parts
    remove_parts(parts)
    return read_parts(place)


def is_current(run: Mapping[str, Any], files: Mapping[str, FoundFile]) -> bool:
    """Whether a summary is that of a file as it is now."""
    file = files.get(run["path"])
    return file is not None and (file.size, file.mtime_ns) == (run["size"], run["mtime_ns"])
