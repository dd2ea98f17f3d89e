"""Where a program that is not ours passes from one part of its life to the next; reasons where that is not known."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes.fake_trace import ASLEEP, CHILD, PARENT, ZOMBIE
from tests.tracing.test_anatomy import explained
from tests.tracing.test_partition import parts_of

from clonometer.plan.types import Limits, Target
from clonometer.tracing.marks import marks_of, notes_on_parts
from clonometer.tracing.types import BudgetPart, IntervalEstimate, ProgramSteps

STEPS = ProgramSteps(1_000, 3, ended=True, main_from_entry=-0x40)


def launch(program: object) -> Target:
    return Target("launch.posix_spawn", {"program": str(program)}, (), Limits())


def elf(segments: list[tuple[int, int, int, int]], entry: int, magic: bytes = b"\x7fELF\x02\x01") -> bytes:
    """An ELF file's header and table; a segment is its kind, place in the file, address and length."""
    head = magic.ljust(24, b"\0") + struct.pack("<QQQIHHHHHH", entry, 64, 0, 0, 64, 56, len(segments), 0, 0, 0)
    table = [
        struct.pack("<IIQQQQQQ", kind, 5, at, first, first, long, long, 4096) for kind, at, first, long in segments
    ]
    return head + b"".join(table)


def test_addresses_become_places_in_the_file_by_the_segment_that_loads_them(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(
        elf([(6, 64, 0x401000, 0x2000), (1, 0, 0x400000, 0x1000), (1, 0x800, 0x401800, 0x900)], 0x401A00)
    )
    link = tmp_path / "link"
    link.symlink_to(program)
    assert marks_of(launch(link), STEPS) == (
        {"mark_file": str(program), "marks": f"{0xA00},{0x9C0},{0x9C0}r"},
        None,
    )


@pytest.mark.parametrize(
    ("content", "steps", "words"),
    [
        (b"#!/bin/sh\n", STEPS, "no ELF file of 64 bits"),
        (elf([(1, 0, 0x400000, 0x10)], 0x401000), STEPS, "no ELF file of 64 bits"),
        (elf([(1, 0, 0x400000, 0x1000)], 0x400100)[:80], STEPS, "no ELF file of 64 bits"),
        (b"", ProgramSteps(reason="yama"), "cannot be looked for: yama"),
        (b"", ProgramSteps(5_000, ended=False), "given up after 5,000 instructions"),
        (b"", ProgramSteps(5_000, ended=True), "no main"),
        (None, STEPS, "cannot be read: No such file"),
    ],
)
def test_what_is_not_known_has_its_reason(
    tmp_path: Path, content: bytes | None, steps: ProgramSteps, words: str
) -> None:
    program = tmp_path / "program"
    if content is not None:
        program.write_bytes(content)
    marks, why = marks_of(launch(program), steps)
    assert marks == {}
    assert words in str(why)


def test_our_own_programs_stamp_these_places_themselves() -> None:
    assert marks_of(launch("static"), STEPS) == ({}, None)
    assert marks_of(launch("/bin/true"), None) == ({}, None)


def test_user_code_is_of_the_part_whose_place_the_program_has_come_to() -> None:
    execs, exits = 59, 231
    begin = [
        (0, PARENT, "call_enter", (56, 0, 0)),
        (5, PARENT, "new_task", (CHILD, 0, 0)),
        (8, PARENT, "switch", (PARENT, ASLEEP, CHILD)),
        (10, CHILD, "call_exit", (56, 0, 0)),
        (12, CHILD, "call_enter", (execs, 0, 0)),
        (20, CHILD, "exec", (0, 0, 0)),
        (22, CHILD, "call_exit", (execs, 0, 0)),
    ]
    marks = [(30, CHILD, "mark", (0, 0, 0)), (36, CHILD, "mark", (1, 0, 0)), (50, CHILD, "mark", (2, 0, 0))]
    end = [
        (57, CHILD, "call_enter", (exits, 0, 0)),
        (60, CHILD, "exit", (CHILD, 0, 0)),
        (70, CHILD, "switch", (CHILD, ZOMBIE, PARENT)),
    ]
    parts = parts_of([*begin, *marks, *end])
    spent = {name: parts[f"child_{name}"] for name in ("loader", "library_start", "main", "library_exit")}
    assert spent == {"loader": 8, "library_start": 6, "main": 14, "library_exit": 7}
    assert parts_of([*begin, *end])["child_program"] == 35, "without the places it is all in one part"


def test_what_noting_costs_or_why_nothing_is_noted_is_said() -> None:
    whole = replace(explained(), budget=(BudgetPart("child_program", IntervalEstimate(9, 9, 9), 0.5),))
    split = replace(explained(), budget=(BudgetPart("child_main", IntervalEstimate(9, 9, 9), 0.5),))
    assert "some µs" in notes_on_parts(split, {"marks": "1"}, None)[0]
    assert notes_on_parts(split, {}, None) == ()
    assert notes_on_parts(whole, {"marks": "1"}, "uprobes: refused")[0].endswith("uprobes: refused")
    assert "do not note places" in notes_on_parts(whole, {"marks": "1"}, None)[0]
