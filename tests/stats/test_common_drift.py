from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from clonometer.stats.common_drift import NEIGHBOURS, Series, take_off_common_drift

KINDS, PROCESSES = 8, 24
Floats = np.ndarray


def run(seed: int, machine: Floats | float, *, changes: Sequence[float] = (), kinds: int = KINDS) -> list[Series]:
    """Rows of ``kinds`` kinds, started in turn, on a machine that is ``machine`` slower at each process's time."""
    random = np.random.default_rng(seed)
    speeds = np.broadcast_to(machine, kinds * PROCESSES)
    rows = []
    for kind in range(kinds):
        starts = np.arange(kind, kinds * PROCESSES, kinds)
        level = 5.0 + kind + (changes[kind] if kind < len(changes) else 0.0)
        logs = level + speeds[starts] + 0.02 * random.normal(size=PROCESSES)
        rows.append(Series(f"kind {kind}", starts.astype(float), logs))
    return rows


def pairs(first: list[Series], second: list[Series]) -> list[list[Series]]:
    return [list(both) for both in zip(first, second, strict=True)]


def moved(rows: Sequence[Sequence[Floats]]) -> Floats:
    return np.array([np.median(last) - np.median(first) for first, last in rows])


def test_a_slower_machine_is_taken_off_and_said() -> None:
    adjusted = take_off_common_drift(pairs(run(1, 0.0), run(2, 0.3)))
    assert (adjusted.kinds, set(adjusted.evened)) == (KINDS, {True})
    assert adjusted.shift == pytest.approx(0.3, abs=0.02)
    assert np.abs(moved(adjusted.rows)).max() < 0.03


def test_a_machine_that_changes_within_the_run_scatters_less() -> None:
    there_and_back = np.where(np.arange(KINDS * PROCESSES) // 50 % 2, 0.3, 0.0)
    rows = pairs(run(1, there_and_back), run(2, 0.0))
    adjusted = take_off_common_drift(rows)
    before = max(float(np.std(row[0].logs)) for row in rows)
    after = max(float(np.std(row[0])) for row in adjusted.rows)
    assert before > 0.14
    assert after < 0.06


def test_the_row_that_changed_keeps_its_change() -> None:
    adjusted = take_off_common_drift(pairs(run(1, 0.0), run(2, 0.3, changes=[0.1])))
    assert moved(adjusted.rows)[0] == pytest.approx(0.1, abs=0.03)
    assert np.abs(moved(adjusted.rows)[1:]).max() < 0.03


def test_a_row_that_does_not_drift_with_the_others_is_left_as_it_is() -> None:
    drift = 0.2 * np.sin(np.arange(KINDS * PROCESSES) / 20)
    rows = pairs(run(1, drift), run(2, drift))
    still = [Series("still", np.arange(0.5, 96, 4), 3 + 0.001 * np.cos(np.arange(24))) for _ in range(2)]
    adjusted = take_off_common_drift([*rows, still])
    assert adjusted.evened == (*(True,) * KINDS, False)
    assert adjusted.rows[-1][0] is still[0].logs


def test_too_few_kinds_say_nothing_of_the_machine() -> None:
    rows = pairs(run(1, 0.0, kinds=5), run(2, 0.3, kinds=5))
    adjusted = take_off_common_drift(rows)
    assert (adjusted.kinds, adjusted.shift, set(adjusted.evened)) == (0, 0.0, {False})
    assert adjusted.rows[0][0] is rows[0][0].logs
    assert take_off_common_drift([]).kinds == 0


def test_fewer_processes_than_neighbours_are_enough() -> None:
    rows = [[Series(str(kind), np.array([float(kind)]), np.array([1.0 + run])) for run in (0, 1)] for kind in range(6)]
    assert len(rows) < NEIGHBOURS
    adjusted = take_off_common_drift(rows)
    assert adjusted.shift == pytest.approx(1.0)
    assert np.abs(moved(adjusted.rows)).max() == pytest.approx(0.0)


def test_one_stage_that_changed_in_most_kinds_does_not_pass_for_the_machine() -> None:
    """The stage that scatters least takes a tenth longer in 5 of 8 kinds; the others say that nothing changed."""
    random = np.random.default_rng(9)
    rows = []
    for kind in range(KINDS):
        for scatter in (0.03, 0.03, 0.01):
            change = 0.1 if scatter == 0.01 and kind < 5 else 0.0
            starts = np.arange(kind, KINDS * PROCESSES, KINDS).astype(float)
            sides = [5.0 + step + scatter * random.normal(size=PROCESSES) for step in (0.0, change)]
            rows.append([Series(f"kind {kind}", starts, side) for side in sides])
    shifts = moved(take_off_common_drift(rows).rows)
    assert shifts[2:15:3] == pytest.approx([0.1] * 5, abs=0.03)
    assert shifts[17::3] == pytest.approx([0.0] * 3, abs=0.03)
