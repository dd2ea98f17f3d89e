from __future__ import annotations

import pytest
from tests.fakes.fake_trace import MAPS

from clonometer.tracing.memory import Memory

PRESENT_WRITE, ABSENT_WRITE, ABSENT_READ = 7, 6, 4


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        (0x400000, "file"),
        (0x500010, "anonymous"),
        (0x7F0000002000, "stack"),  # above a guard page: a thread's
        (0x7FFC00000010, "stack"),
        (0x600000, None),
        (0x7FFD00000000, "stack"),  # grown meanwhile
    ],
)
def test_what_lies_at_an_address(address: int, kind: str | None) -> None:
    assert Memory(MAPS).kind(address) == kind


def test_a_write_to_a_page_that_is_there_is_copied() -> None:
    memory = Memory(MAPS)
    assert memory.cause(0x7FFC00000010, PRESENT_WRITE) == "cow"
    assert memory.cause(0x7FFC00000010, ABSENT_WRITE) == "stack"
    assert memory.cause(0x400010, ABSENT_READ) == "file"
    assert memory.cause(0x600000, ABSENT_READ) == "anonymous"


def test_shared_memory_and_lines_that_are_none() -> None:
    memory = Memory("garbage\n7f0000000000-7f0000001000 rw-s 00000000 00:01 5 /memfd:x (deleted)\n")
    assert memory.cause(0x7F0000000000, ABSENT_WRITE) == "shared"
