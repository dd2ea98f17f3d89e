"""The command lines that only read, and what they print and write of fixed inputs."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shlex
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow.parquet as pq

from clonometer.cli.ending import run_to_the_end
from clonometer.views.exports import FORMATS
from tests.snapshots.documents import WIDTHS, as_json
from tests.snapshots.inputs import metadata_of, write_inputs

#: Shown as it is asked, whole where there is room, and as JSON.
_ANSWERS: tuple[tuple[str, ...], ...] = (
    ("show", "schema1.parquet"),
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
    ("fleet", "show", "fleet"),
    ("fleet", "show", "pair"),
    ("fleet", "compare", "fleet", "--by", "host.name_hash"),
)
#: Of the frozen run of every family, whose JSON has a megabyte.
_LARGE = ("show", "families.parquet")
#: Files that commands write.
_WRITING: tuple[tuple[str, ...], ...] = (
    ("publish", "before.parquet", "--anonymous", "--yes", "--out", "published.json"),
    ("recover", "killed.raw", "--out", "recovered.parquet"),
)


def commands() -> Iterator[tuple[str, str]]:
    """Give each file's name and its text."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), _usual_environment():
        write_inputs(Path(folder))
        for words in _ANSWERS:
            yield f"{_name(words)}.txt", _sections(words)
            yield f"{_name(words)}.json", _json(words)
        yield f"{_name(_LARGE)}.txt", _sections(_LARGE)
        for name in FORMATS:
            words = ("export", "before.parquet", "--format", name)
            yield f"{_name(words)}.txt", _section(words, WIDTHS[0])
        for words in _WRITING:
            printed, written = _section(words, WIDTHS[0]), Path(words[-1])
            yield f"{_name(words)}.txt", printed + _comparable(written)
        damaged = sorted(Path("damaged").iterdir())
        yield "commands/damaged.txt", "".join(_section(("show", str(path)), WIDTHS[0]) for path in damaged)


@contextlib.contextmanager
def _usual_environment() -> Iterator[None]:
    """Whoever asks, and from wherever: the same colours, signs and hours."""
    kept = dict(os.environ)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CLONOMETER_NOISE"):
        os.environ.pop(name, None)
    os.environ |= {"TERM": "dumb", "TZ": "UTC", "LC_ALL": "C.UTF-8", "CLONOMETER_NO_SINCE": "1"}
    time.tzset()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)
        time.tzset()


def _sections(words: Sequence[str]) -> str:
    """A command line as it is and at the greater width, there with everything if it has more."""
    wishes = () if "--workers" in words else ("--wide",)
    return _section(words, WIDTHS[0]) + _section(words, WIDTHS[1], *wishes)


def _section(words: Sequence[str], width: int, *wishes: str) -> str:
    """What a command line prints on both streams, and its status."""
    words = _with_options(words, *wishes)
    out, err, status = _run(words, width)
    below = f"---- on standard error\n{err}" if err else ""
    return f"==== {shlex.join(words)}, {width} columns, status {status}\n{out}{below}\n"


def _json(words: Sequence[str]) -> str:
    out, _, _ = _run(_with_options(words, "--json"), WIDTHS[0])
    return as_json(json.loads(out))


def _run(words: Sequence[str], width: int) -> tuple[str, str, int]:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    os.environ["COLUMNS"] = str(width)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run_to_the_end(words)
    answer, messages = (stream.buffer.getvalue().decode() for stream in (out, err))
    return answer, messages, status


def _with_options(words: Sequence[str], *options: str) -> list[str]:
    """Put options where they may stand: before ``--``."""
    at = list(words).index("--") if "--" in words else len(words)
    return [*words[:at], *options, *words[at:]]


def _comparable(path: Path) -> str:
    """What is in a file; of Parquet the metadata and a hash of each column's values, since compression may differ."""
    if path.suffix != ".parquet":
        return as_json(json.loads(path.read_text()))
    table = pq.read_table(path)
    hashes = {
        name: hashlib.sha256(json.dumps(table[name].to_pylist(), default=str).encode()).hexdigest()
        for name in table.column_names
    }
    return as_json([metadata_of(path), hashes])


def _name(words: Sequence[str]) -> str:
    plain = [re.sub(r"\.parquet$", "", word.strip("-*").replace("*", "")) for word in words]
    return f"commands/{'_'.join(filter(None, plain))}"
