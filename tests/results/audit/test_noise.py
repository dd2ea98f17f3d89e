from __future__ import annotations

import numpy as np
import pytest
from tests.fakes.documents import BLOCK, made_document, planned

from clonometer.results.audit.noise import MachineNoise, check_noise, noise_of

NULL = np.iinfo(np.int64).min


class MadeRun:
    """A run in memory: starts of the bare loop by block, and forks."""

    def __init__(self, starts, reaped, switches=(), errno=None):
        self._starts, self._reaped = starts, reaped
        self._errno = [0] * len(reaped) if errno is None else errno
        cells = [{"cell": "launch.none"}, {"cell": "launch.fork"}]
        facts = [{"involuntary_switches": count, "wall_ns": 1e8} for count in switches] + [{}, {"wall_ns": 5e9}]
        blocks = [{**BLOCK, "facts": each} for each in facts]
        self.document = made_document(plan=planned(*cells), blocks=blocks)

    def cells(self):
        return [name for name, rows in (("launch.none", self._starts), ("launch.fork", self._reaped)) if rows]

    def columns(self, cell, names):
        if cell == "launch.none":
            block = np.concatenate([np.full(len(rows), number) for number, rows in enumerate(self._starts)])
            starts = np.concatenate(self._starts).astype(np.int64)
            return {"process": np.zeros_like(block), "block": block, "start_ns": starts}
        return {"reaped_ns": np.array(self._reaped, dtype=np.int64), "errno": np.array(self._errno, dtype=np.int32)}


def test_gaps_are_looked_for_inside_blocks_only():
    run = MadeRun([[0, 100, 5200, 5300], [9_000_000, 9_000_100]], [])
    noise = noise_of(run)
    assert noise.largest_gap_ns == 5100
    assert noise.watched_ns == 5400
    assert (noise.scatter, noise.samples) == (None, 0)


def test_scatter_is_the_spread_of_the_middle_half_of_launches_that_succeeded():
    values = [*range(1, 102), NULL, 7_000_000]
    noise = noise_of(MadeRun([], values, errno=[0] * 101 + [0, 11]))
    assert noise.samples == 101
    assert noise.scatter == pytest.approx(50 / 51)


def test_switches_are_counted_where_the_driver_counted_them():
    noise = noise_of(MadeRun([], [1], switches=(3, 4)))
    assert (noise.involuntary, noise.wall_ns) == (7, 2e8)


def test_judgements():
    quiet = MachineNoise(scatter=0.05, largest_gap_ns=20_000.0, watched_ns=1e8, involuntary=1, wall_ns=1e9, samples=900)
    assert [item.judged for item in check_noise(quiet)] == ["fine"] * 3
    assert check_noise(quiet)[2].value == "20.0 µs in 100.0 ms of a bare loop"
    loud = MachineNoise(scatter=0.5, largest_gap_ns=4e6, watched_ns=1e8, involuntary=60, wall_ns=1e9, samples=900)
    assert [item.judged for item in check_noise(loud)] == ["warn"] * 3
    # A command is what changes something: no list of processes does.
    assert not any(item.command for item in check_noise(loud))
    between = MachineNoise(scatter=0.2, largest_gap_ns=3e5, watched_ns=1e8, involuntary=1, wall_ns=1e9, samples=900)
    assert [item.judged for item in check_noise(between)] == ["note", "fine", "note"]


def test_nothing_measured_is_said_as_such():
    items = check_noise(noise_of(MadeRun([], [])))
    assert [item.known for item in items] == [False] * 3
