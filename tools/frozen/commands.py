"""The command lines that only read, and what they print and write of fixed inputs."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from tools.frozen.inputs import metadata_of

from clonometer.cli.ending import run_to_the_end
from clonometer.views.exports import FORMATS

_WIDTHS = (40, 80, 200)
_RUNS = ("schema1.parquet", "families.parquet", "before.parquet")
#: Wanted from every answer: its text at three widths, everything of it, and its JSON.
_ANSWERS: tuple[tuple[str, ...], ...] = (
    *(("show", run) for run in _RUNS),
    ("show", "families.parquet", "--workers"),
    ("show", "before.parquet", "--only", "launch.fork*"),
    ("compare", "before.parquet", "again.parquet"),
    ("compare", "before.parquet", "slower.parquet"),
    ("compare", "before.parquet", "again.parquet", "slower.parquet"),
    ("compare", "before.parquet", "again.parquet", "--", "slower.parquet"),
    ("compare", "before.parquet", "--cells", "launch.fork*", "launch.pthread*"),
    ("compare", "before.parquet", "schema1.parquet"),
    ("check", "again.parquet", "--baseline", "before.parquet"),
    ("check", "slower.parquet", "--baseline", "before.parquet", "--baseline", "again.parquet"),
    ("check", "slower.parquet", "--baseline", "before.parquet", "--noise", "1%"),
    ("history", "history"),
    ("history", "fleet"),
    ("fleet", "show", "fleet"),
    ("fleet", "show", "pair"),
    ("fleet", "compare", "fleet", "--by", "host.name_hash"),
)
#: Written files, by the name under which they are kept.
_WRITING: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("report.html", ("report", "families.parquet", "--out", "report.html")),
    ("fleet.html", ("fleet", "report", "fleet", "--out", "fleet.html")),
    ("pair.html", ("fleet", "report", "pair", "--out", "pair.html")),
    ("history.html", ("history", "history", "--html", "history.html")),
    ("history.svg", ("history", "history", "--plot", "history.svg")),
    ("compared.svg", ("compare", "before.parquet", "slower.parquet", "--plot", "compared.svg")),
    ("published.json", ("publish", "before.parquet", "--anonymous", "--yes", "--out", "published.json")),
    ("recovered.parquet", ("recover", "killed.raw", "--out", "recovered.parquet")),
)


def reading_commands() -> Iterator[tuple[tuple[str, ...], int]]:
    """Every command line that prints an answer, with the width that it is printed at."""
    for words in _ANSWERS:
        for width in _WIDTHS:
            yield words, width
            if "--workers" not in words:
                yield (words[0], *_with_option(words[1:], "--wide")), width
        yield (words[0], *_with_option(words[1:], "--json")), 80
    for run in ("families.parquet", "before.parquet"):
        for name in FORMATS:
            yield ("export", run, "--format", name), 80


def _with_option(words: Sequence[str], option: str) -> list[str]:
    """Put an option where options may stand: before ``--``, after a subcommand's name."""
    at = list(words).index("--") if "--" in words else len(words)
    return [*words[:at], option, *words[at:]]


def write_outputs(inputs: Path, folder: Path, only: str = "") -> None:
    """Run every command with ``only`` among its words in the folder of inputs, and write what it printed."""
    with contextlib.chdir(inputs):
        for words, width in reading_commands():
            if only not in _name(words):
                continue
            (folder / f"{_name(words)}.{width}").write_text(_printed(words, width))
        for name, words in _WRITING:
            if only not in _name(words):
                continue
            (folder / f"{name}.printed").write_text(_printed(words, 80))
            if Path(name).exists():
                (folder / name).write_bytes(_comparable(Path(name)))
        for damaged in sorted(Path("damaged").iterdir()):
            if only not in damaged.name:
                continue
            answers = [_printed((*words, str(damaged)), 80) for words in (("show",), ("compare", "before.parquet"))]
            (folder / f"{damaged.name}.told").write_text("".join(answers))


def _printed(words: Sequence[str], width: int) -> str:
    """What a command line prints on both streams, and its status."""
    out, err = io.StringIO(), io.StringIO()
    os.environ["COLUMNS"] = str(width)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_to_the_end(words)
    return f"{out.getvalue()}==== on standard error\n{err.getvalue()}==== status {status}\n"


def _comparable(path: Path) -> bytes:
    """A file as it is; of Parquet the metadata and a hash of each column's values, since compression may differ."""
    if path.suffix != ".parquet":
        return path.read_bytes()
    table = pq.read_table(path)
    metadata = metadata_of(path)
    hashes = {
        name: hashlib.sha256(json.dumps(table[name].to_pylist(), default=str).encode()).hexdigest()
        for name in table.column_names
    }
    return json.dumps([metadata, hashes], indent=1, sort_keys=True).encode()


def _name(words: Sequence[str]) -> str:
    return " ".join(words).replace("/", "_").replace("*", "_")
