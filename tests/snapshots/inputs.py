"""The inputs of reading commands: run files of fixed samples, a folder of many hosts, and damaged files."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tests.dataset.made import make_run, write_fleet
from tests.fakes.memory_run import write_raw, write_run
from tests.fakes.sample_run import sample_run

DATA = Path(__file__).parents[2] / "tests" / "data"


def write_inputs(folder: Path) -> None:
    """Write every input; the names are those that `commands.py` uses."""
    shutil.copy(DATA / "schema1.parquet", folder / "schema1.parquet")
    (folder / "families.parquet").write_bytes(gzip.decompress((DATA / "families.parquet.gz").read_bytes()))
    write_run(folder / "before.parquet", make_run(seed=1))
    write_run(folder / "again.parquet", make_run(seed=2, day=1))
    slower = make_run(seed=3, day=2, factor=1.3, facts={"kernel.release": "6.18.1"})
    write_run(folder / "slower.parquet", slower)
    write_fleet(folder / "fleet", hosts=6, odd=1.5)
    write_fleet(folder / "pair", hosts=2)
    for day in range(14):
        level = 1.2 if day >= 9 else 1.0
        write_run(folder / "history" / f"day{day:02}.parquet", make_run(seed=50 + day, day=day, factor=level))
    write_raw(folder / "killed.raw", sample_run(), end=False)
    (folder / "damaged").mkdir()
    for name, damaged in _damaged(folder / "before.parquet"):
        (folder / "damaged" / name).write_bytes(damaged)


def metadata_of(run: Path) -> Any:
    """What the footer of a run file says of the run."""
    return json.loads((pq.ParquetFile(run).metadata.metadata or {})[b"clonometer"])


def _damaged(run: Path) -> Iterator[tuple[str, bytes]]:
    """Files that are no run, and runs in which one key of the metadata is missing or wrong."""
    whole = run.read_bytes()
    yield "empty.parquet", b""
    yield "text.parquet", b"a page of text\n"
    yield "cut.parquet", whole[: len(whole) // 2]
    table = pq.read_table(run)
    metadata = metadata_of(run)
    scratch = run.with_name("scratch.parquet")
    for key in sorted(metadata):
        for name, changed in _changes(metadata, key):
            pq.write_table(table.replace_schema_metadata({"clonometer": json.dumps(changed)}), scratch)
            yield f"{key}-{name}.parquet", scratch.read_bytes()
    scratch.unlink()


def _changes(metadata: dict[str, Any], key: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """One key gone, and one of another type; for lists of entries also each key of the first entry gone."""
    yield "gone", {name: value for name, value in metadata.items() if name != key}
    yield "wrong", {**metadata, key: 7 if isinstance(metadata[key], str | dict | list) else "seven"}
    entries = metadata[key]
    if isinstance(entries, list) and entries and isinstance(entries[0], dict):
        for inner in sorted(entries[0]):
            first = {name: value for name, value in entries[0].items() if name != inner}
            yield f"{inner}-gone", {**metadata, key: [first, *entries[1:]]}
