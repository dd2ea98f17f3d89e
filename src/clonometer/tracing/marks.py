"""Where a program that is not ours passes from its loader to its library's start, its main and its exit.

Our own programs stamp these places. In any other the tracer notes them by uprobes: at the entry that its file names, at
main, which single steps have found (so it may be static, and stripped of its symbols), and where main
returns. A main that calls exit itself does not return: what the library does at exit then counts as main.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from clonometer.plan.types import Target
from clonometer.tracing.parts import FOREIGN
from clonometer.tracing.types import Explanation, ProgramSteps

# ELF of 64 bits, little-endian (elf(5)): the entry, and where the program headers are, how long and how many.
_MAGIC = b"\x7fELF\x02\x01"
_HEADER, _PLACES = 64, struct.Struct("<24xQQ14xHH")
_SEGMENT, _LOADED = struct.Struct("<I4xQQ8xQ"), 1


def marks_of(target: Target, steps: ProgramSteps | None) -> tuple[Mapping[str, str], str | None]:
    """Say what the tracer must be told to note the places of a program, as its keys (docs/tracing.md).

    Empty for launches of our own programs, or of none; and, with the reason, for a program whose places are not known.
    """
    program = str(target.condition.get("program", ""))
    if steps is None or os.sep not in program:
        return {}, None
    if steps.main_from_entry is None:
        return {}, _why_no_main(steps)
    path = Path(program).resolve()
    try:
        with path.open("rb") as file:
            offsets = _offsets(file, steps.main_from_entry)
    except OSError as error:
        return {}, f"{path} cannot be read: {error.strerror}"
    if offsets is None:
        return {}, f"{path} is no ELF file of 64 bits with these places: another program runs it, as a script's"
    entry, main = offsets
    return {"mark_file": str(path), "marks": f"{entry},{main},{main}r"}, None


def _why_no_main(steps: ProgramSteps) -> str:
    if steps.reason is not None:
        return f"its main cannot be looked for: {steps.reason}"
    if not steps.ended:
        return f"single steps were given up after {steps.instructions:,} instructions, before its main"
    return "it has no main that single steps can find, as programs of Go, or without a C library"


def notes_on_parts(explanation: Explanation, marks: Mapping[str, str], reason: str | None) -> tuple[str, ...]:
    """Say what noting a program's places costs, or why all of its user code is one part of its launch."""
    if all(share.part != FOREIGN for share in explanation.budget):
        return (
            ("recording where a part of the program starts takes some µs, which count towards that part",)
            if marks
            else ()
        )
    why = reason or f"{explanation.tier.how} do not note places in programs"
    return (f"loader, library's start, main and exit of the program are one part: {why}",)


def _offsets(file: BinaryIO, main_from_entry: int) -> tuple[int, int] | None:
    """Where the entry and main are in a file."""
    header = file.read(_HEADER)
    if not header.startswith(_MAGIC) or len(header) < _HEADER:
        return None
    entry, at, size, count = _PLACES.unpack_from(header)
    file.seek(at)
    table = file.read(size * count)
    if size < _SEGMENT.size or len(table) < size * count:
        return None
    segments = [_SEGMENT.unpack_from(table, number * size) for number in range(count)]

    def offset(address: int) -> int | None:
        return next(
            (
                address - first + start
                for kind, start, first, length in segments
                if kind == _LOADED and first <= address < first + length
            ),
            None,
        )

    places = offset(entry), offset(entry + main_from_entry)
    return None if places[0] is None or places[1] is None else (places[0], places[1])
