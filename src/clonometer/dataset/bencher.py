"""Reads back what ``history --export bencher`` has written: a file a run in Bencher's metric format (BMF)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clonometer.dataset.load import Dataset
from clonometer.dataset.points import bare_label, dataset_of
from clonometer.dataset.types import Label, PointRun
from clonometer.errors import InputError
from clonometer.inputs import InputKind, read_json
from clonometer.words import STAGE_ORDER

_FILE = re.compile(r"(?P<started>\d{1,11})-(?P<host>.+)\.json")
_BENCHMARK = re.compile(r"(?P<cell>[^\[ ]+(?:\[.*\])?)(?: (?P<placement>\S+))?")
_BENCHER = InputKind("a file in Bencher's metric format", 8 << 20)


def has_bencher_files(folder: Path) -> bool:
    """Whether a folder has files of such names."""
    return any(_FILE.fullmatch(path.name) for path in folder.glob("*.json"))


def read_bencher(folder: Path) -> Dataset:
    """Read the files of a folder: when each run started and its host are in their names.

    The format has neither facts nor units: only stages that have words are known to be times.

    Raises
    ------
    InputError
        If a file cannot be read, or none has a value.
    """
    named = sorted((path, matched) for path in folder.glob("*.json") if (matched := _FILE.fullmatch(path.name)))
    runs = [PointRun(float(matched["started"]), matched["host"], {}) for _, matched in named]
    values = ((run, *value) for run, (path, _) in enumerate(named) for value in _values(path))
    return dataset_of(runs, values, str(folder))


def _values(path: Path) -> Iterator[tuple[Label, float]]:
    try:
        content = read_json(path, _BENCHER)
        for name, measures in content.items():
            benchmark = _BENCHMARK.fullmatch(name)
            if benchmark is None:
                continue
            for measure, numbers in measures.items():
                stage = measure if measure in STAGE_ORDER else None
                quantity, unit = (f"{measure}_ns", "ns") if stage else (measure, "")
                label = bare_label(benchmark["cell"], quantity, stage, benchmark["placement"], unit)
                yield label, float(numbers["value"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise InputError(f"{path} is not {_BENCHER.name}: {error}") from error
