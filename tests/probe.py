"""The built probe, asked directly: what tests of real launches share."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from clonometer.answers import Block, Done
from clonometer.protocol import AnswerReader
from clonometer.results.rows.source import null_mask

PATIENCE_SECONDS = 60


@cache
def folder() -> Path:
    """Where the built executables lie."""
    for entry in (files("clonometer") / "_bin").iterdir():
        return Path(str(entry)).parent
    raise FileNotFoundError("the probe is not built: make build")


def executable(linkage: str = "static") -> Path:
    return folder() / f"probe-{linkage}"


@cache
def clock_words() -> tuple[str, ...]:
    calibrated = json.loads(subprocess.check_output([executable(), "--calibrate"]))
    return (f"clock={calibrated['clock']}", f"clock_hz={calibrated['clock_hz']}")


@cache
def catalogue() -> Mapping[str, Any]:
    described: dict[str, Any] = json.loads(subprocess.check_output([executable(), "--describe"]))
    return described


@dataclass(frozen=True)
class Answer:
    blocks: list[Block]
    done: Done
    exit_status: int
    stderr: str


def ask(
    *words: str,
    linkage: str | None = "static",
    clock: Sequence[str] | None = None,
    program: Path | None = None,
    command: Sequence[str] | None = None,
    before: Callable[[], None] | None = None,
    inherit: Sequence[int] = (),
) -> Answer:
    """Start the probe, or another driver by its command, with these words; wait for its whole answer.

    It gets these descriptors beside its own.
    """
    reading, writing = os.pipe()
    started = [
        *(command or [str(program or executable(linkage or "static"))]),
        "--fd",
        str(writing),
        *([] if linkage is None or command is not None else [f"linkage={linkage}"]),
        *words,
        *(clock_words() if clock is None else clock),
    ]
    with subprocess.Popen(
        started,
        pass_fds=[writing, *inherit],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=before,
    ) as process:
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            data = answer.read()
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    reader = AnswerReader()
    blocks = list(reader.feed(data))
    done = reader.finish()
    lines = (line for line in errors.decode().splitlines(keepends=True) if not line.startswith("keeps: "))
    return Answer(blocks, done, process.returncode, "".join(lines))


def present(block: Block, name: str) -> np.ndarray:
    """The values of a column that are none of them null."""
    values = block.columns[name]
    return values[~null_mask(values)]
