"""A self-test: how far known delays moved each stage, then whether times add up."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.families import known_delays
from clonometer.results.self_test_types import MoveCheck, SelfTest
from clonometer.views.document import Document, DocumentBlock, Paragraph, TableBlock
from clonometer.views.table import MISSING, Column, Table

_MOVED = {True: "ok", False: "WRONG", None: "?"}
_ADDS_UP = {True: "ok", False: "WRONG", None: "? (single blocks only)"}


def self_test_document(test: SelfTest) -> Document:
    """Make a document of a self-test."""
    moves = test.moves
    reasons = [f"?: {reason}" for reason in dict.fromkeys(check.reason for check in moves) if reason]
    walls = [
        f"{wall.workload}, {wall.placement}: stages and gaps add up to the wall time within "
        f"{wall.worst_share:.2%} {_ADDS_UP[wall.passed]}"
        for wall in test.walls
    ]
    verdict = _verdict(test)
    groups: list[list[DocumentBlock]] = [
        [Paragraph("Known delays: how much each stage grew, in us, and what was expected.")],
        [TableBlock(_self_test_table(moves)), *map(Paragraph, reasons)],
        [*map(Paragraph, walls)],
        [*map(Paragraph, verdict)],
    ]
    return Document("doctor --self-test", "Does the instrument measure correctly here?", verdict[0], groups)


def _self_test_table(moves: Sequence[MoveCheck]) -> Table:
    return Table(
        [
            Column("workload", [check.workload for check in moves], once=True),
            Column("placed", [check.placement for check in moves]),
            Column("delay", [f"{known_delays()[check.spin][0]} {check.injected_ns / 1000:g}" for check in moves]),
            Column("stage", [check.stage for check in moves]),
            Column("grew", [MISSING if check.moved_ns is None else _us(check.moved_ns) for check in moves], "point"),
            Column("expected", [f"{_us(check.expected_low_ns)} – {_us(check.expected_high_ns)}" for check in moves],
                   "range"),
            Column("", [_MOVED[check.passed] for check in moves]),
        ]
    )  # fmt: skip


def _us(time_ns: float) -> str:
    return f"{time_ns / 1000:.1f}"


def _verdict(test: SelfTest) -> tuple[str, ...]:
    if test.passed:
        return ("The instrument measures correctly here.",)
    if not test.other_running_tasks:
        return ("The instrument does NOT measure correctly here.",)
    return (
        f"Cannot tell: up to {test.other_running_tasks} other tasks were running, and delays grow when CPUs are "
        "shared.",
        "Try again when the machine is quiet.",
    )
