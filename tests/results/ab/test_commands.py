"""Two commands: who is started when, and what the pairs say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from clonometer.records import to_json
from clonometer.results.ab.command_types import CommandPair, CommandsResult, CommandStart
from clonometer.results.ab.commands import CommandPairs, StartedCommand, judge_commands, start_pairs
from clonometer.stats.sequential import PairedDesign

SCHEMA = json.loads((Path(__file__).parents[3] / "docs/schemas/ab-commands.schema.json").read_text(encoding="utf-8"))
COMMANDS = (StartedCommand(("a",)), StartedCommand(("b",)))
EMPTY_NS = 200_000


def starter(ratio: float, scatter: float = 0.02, seed: int = 1, wall_ns: float = 1e6) -> Callable[[int], CommandStart]:
    """Commands of which B takes ``ratio`` times as long, and as much of all else."""
    random = np.random.default_rng(seed)

    def start(side: int) -> CommandStart:
        wall = wall_ns * (ratio if side else 1.0) * np.exp(random.normal(0, scatter))
        cpu = 5e5 * np.exp(random.normal(0, scatter))
        return CommandStart(int(wall), int(cpu), 1 << 20, EMPTY_NS)

    return start


def unwatched(pair: int, side: int, elapsed_s: float, remaining_s: float | None) -> None:
    """Nobody looks."""


def compared(
    start: Callable[[int], CommandStart | None], *, limit: float | None = None, pairs: int = 60
) -> CommandsResult:
    measured = start_pairs(start, PairedDesign(pairs, 0.02, limit), 1, 1e9, clock=lambda: 0.0, watch=unwatched)
    result = judge_commands(measured, COMMANDS, 1, ignore_failure=False)
    Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(to_json(result), allow_nan=False)))
    return result


def test_a_slower_command_is_called_so_and_the_launch_is_taken_from_both() -> None:
    result = compared(starter(1.4))
    wall, cpu, peak = result.rows
    assert (wall.verdict, peak.verdict) == ("more", "equal")
    assert cpu.verdict in ("equal", "unknown")
    assert wall.change.interval is not None
    assert wall.change.interval[0] < 1.4 < wall.change.interval[1]
    # (1.4 - 0.2) / (1 - 0.2)
    assert wall.net_ratio == pytest.approx(1.5, rel=0.03)
    assert wall.net_interval is not None
    assert wall.net_interval[0] < 1.5 < wall.net_interval[1]
    assert (cpu.net_ratio, peak.net_ratio) == (None, None)
    assert wall.sentence.startswith(f"wall time: B was slower in {wall.pairs} of {wall.pairs} pairs, by ")


def test_a_command_that_takes_no_longer_than_an_empty_program_has_no_net_ratio() -> None:
    wall = compared(starter(3.0, wall_ns=EMPTY_NS)).rows[0]
    assert (wall.verdict, wall.net_ratio, wall.net_interval) == ("more", None, None)


def test_equal_commands_are_seldom_called_anything_else() -> None:
    false = sum(
        row.verdict.is_change for seed in range(100) for row in compared(starter(1.0, 0.1, seed), pairs=30).rows
    )
    # Of 100 comparisons 5 at most, and so many again by chance: P(Bin(100, 0.05) > 10) is 1%.
    assert false <= 10


def test_each_two_pairs_have_both_orders_and_measuring_ends_when_all_is_sure() -> None:
    order: list[int] = []
    start = starter(2.0, 0.001)

    def noted(side: int) -> CommandStart:
        order.append(side)
        return replace(start(side), cpu_time=500_000)

    pairs = start_pairs(noted, PairedDesign(200, 0.02), 7, 1e9, clock=lambda: 0.0, watch=unwatched)
    firsts = [pair.first for pair in pairs.started]
    assert len(firsts) == 22
    assert ["ab"[order[2 * pair]] for pair in range(22)] == firsts
    assert all(first != second for first, second in zip(firsts[::2], firsts[1::2], strict=True))


def test_the_budget_and_an_interruption_end_it_between_pairs() -> None:
    now = iter(float(second) for second in range(1000))
    pairs = start_pairs(starter(1.0, 0.5), PairedDesign(200, 0.02), 1, 20.0, clock=lambda: next(now), watch=unwatched)
    assert 15 <= len(pairs.started) <= 20
    left = iter([0, 1, 1, None])

    def start(side: int) -> CommandStart | None:
        return None if next(left) is None else starter(1.0)(side)

    pairs = start_pairs(start, PairedDesign(200, 0.02), 1, 1e9, clock=lambda: 0.0, watch=unwatched)
    assert (len(pairs.started), pairs.interrupted) == (1, True)
    result = judge_commands(pairs, COMMANDS, 1, ignore_failure=False)
    assert (result.status, result.has_answer, result.rows[0].a.low) == ("partial", False, None)


def test_a_gate_is_of_times() -> None:
    assert compared(starter(1.5), limit=0.1).verdict == "fail"
    assert [row.quantity for row in compared(starter(1.0), limit=0.1).rows] == ["wall_time", "cpu_time"]
    assert compared(starter(1.0, 0.01), limit=0.1).verdict == "pass"


def test_a_time_that_the_kernel_gave_as_zero_is_in_no_pair() -> None:
    pairs = CommandPairs(PairedDesign(20, 0.02))
    side = CommandStart(10, 0, 4096, 5)
    pairs.started.append(CommandPair("b", side, side))
    result = judge_commands(pairs, COMMANDS, 1, ignore_failure=False)
    assert [(row.pairs, row.change.value) for row in result.rows] == [(1, 1.0), (0, None), (1, 1.0)]
