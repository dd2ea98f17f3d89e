"""What a census costs the program that it watches: a clean serial build, with and without, in turn."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.harness import Line, interleaved_ratio, say

LIMIT = 1.05
MOST_PAIRS = 40
SOURCES = 12


def seconds(words: Sequence[str], folder: Path) -> float:
    """Wall time of a build from nothing."""
    for made in folder.glob("*.o"):
        made.unlink()
    began = time.perf_counter()
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def write_sources(folder: Path) -> None:
    """Write a small project whose every object takes a compiler, an assembler and their driver."""
    names = [f"part{number}" for number in range(SOURCES)]
    for name in names:
        (folder / f"{name}.c").write_text(f'#include <stdio.h>\nvoid {name}(void) {{ puts("{name}"); }}\n')
    objects = " ".join(f"{name}.o" for name in names)
    (folder / "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\tgcc -O2 -c $< -o $@\n")


def run() -> Iterator[Line]:
    clonometer = str(Path(sys.executable).with_name("clonometer"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_sources(folder)
        build = ["make", "-s", "-j1"]
        # The census's own start and end belong to no program; on a build of seconds they would count as its cost.
        start = interleaved_ratio(
            "census.start",
            lambda: seconds([clonometer, "census", "--", "true"], folder),
            lambda: seconds(["true"], folder),
            None,
            most_pairs=20,
        )
        yield say(Line("census.start", start.value, start.low, start.high, None, "ratio", "true in a census / true"))
        yield say(
            interleaved_ratio(
                "census.make",
                lambda: watched(clonometer, build, folder),
                lambda: seconds(build, folder),
                LIMIT,
                "make in a census, by the census's own clock / make",
                most_pairs=MOST_PAIRS,
            )
        )


def watched(clonometer: str, build: Sequence[str], folder: Path) -> float:
    """Wall time of the same build in a census, from the command's start to its end."""
    import json

    for made in folder.glob("*.o"):
        made.unlink()
    ended = subprocess.run(
        [clonometer, "census", "--json", "--", *build], cwd=folder, check=True, capture_output=True, text=True
    )
    return float(json.loads(ended.stdout)["wall_ns"]) / 1e9
