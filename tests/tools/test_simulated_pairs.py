"""``make bench BENCH=simulated_pairs`` in small, and that it can fail."""

from __future__ import annotations

from bench.simulated_pairs import Machine, simulated


def test_a_drifting_machine_is_called_changed_hardly_ever_and_a_change_is_seen() -> None:
    wrong, seen, used = simulated(40, Machine(0.05, change=0.1), pairs=30, seed=2)
    assert wrong <= 4
    assert seen >= 36
    assert used < 30


def test_what_is_surely_the_same_ends_early() -> None:
    wrong, _, used = simulated(15, Machine(0.005, drift=0.05), pairs=90, seed=2)
    assert (wrong, used < 80) == (0, True)
