"""The same layout of memory for two processes, and one each for two others."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.runner.conftest import FakeRun

from clonometer.grouping import group_by
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.results.schedule.scheduler import RoundsScheduler
from clonometer.run_document import ProcessEntry
from clonometer.runfile import open_run
from clonometer.runner.drivers import find_drivers
from clonometer.runner.interfaces import Start
from clonometer.runner.layout import ADDR_NO_RANDOMIZE, LayoutHooks, kernel_draws_nothing
from clonometer.runner.run import run


def own_personality() -> int:
    return int(Path("/proc/thread-self/personality").read_text(), 16)


def processes_of(path: Path) -> Sequence[ProcessEntry]:
    with open_run(path) as measured:
        return measured.document.processes


def test_the_personality_holds_for_a_while_and_is_put_back() -> None:
    before = own_personality()
    with kernel_draws_nothing() as personality:
        assert own_personality() == int(personality, 16) == before | ADDR_NO_RANDOMIZE
    assert own_personality() == before
    with contextlib.suppress(RuntimeError), kernel_draws_nothing():
        raise RuntimeError
    assert own_personality() == before


def test_of_four_processes_of_a_target_two_have_one_layout_in_an_order_that_is_drawn() -> None:
    hooks = LayoutHooks(1)
    # Targets are measured in turn.
    given: dict[int, list[Start]] = {0: [], 1: []}
    for _ in range(200):
        for target, its in given.items():
            its.append(hooks.before(target, None))
    orders = Counter()
    for its in given.values():
        for first in range(0, 200, 4):
            four = its[first : first + 4]
            together = [each.pair for each in four if not each.kernel_draws]
            assert len(together) == 2
            assert len(set(together)) == 1
            assert [each for each in four if each.kernel_draws] == [Start(), Start()]
            orders[tuple(each.kernel_draws for each in four)] += 1
    # Each of the six orders is expected 17 times.
    assert len(orders) == 6
    assert max(orders.values()) < 35
    pairs = [each.pair for its in given.values() for each in its if each.pair is not None]
    assert set(Counter(pairs).values()) == {2}


def test_processes_with_one_layout_have_one_draw_and_say_what_they_were_started_with(fake_run: FakeRun) -> None:
    outcome = fake_run(processes=8, hooks=LayoutHooks(1))
    assert outcome.status == "complete"
    processes = processes_of(fake_run.out)
    pairs = group_by((entry.pair, entry) for entry in processes if entry.pair is not None)
    assert len(pairs) == 4  # of two targets
    for first, second in pairs.values():
        assert first.env_bytes == second.env_bytes
        assert first.cells == second.cells
        assert first.personality is not None
        assert first.personality == second.personality
        assert int(first.personality, 16) & ADDR_NO_RANDOMIZE
    alone = [entry for entry in processes if entry.pair is None]
    assert {entry.personality for entry in alone} == {None}
    assert len({entry.env_bytes for entry in alone}) > len(alone) // 2
    assert own_personality() & ADDR_NO_RANDOMIZE == 0


@pytest.mark.real
def test_real_processes_have_their_memory_at_one_place_within_a_pair_and_nowhere_else(tmp_path: Path) -> None:
    """What programs that are launched see: of themselves, and of the probe that launched them."""
    drivers = find_drivers()
    catalogue = read_catalogue(drivers.descriptions)
    script = tmp_path / "see"
    script.write_text(
        f"cd {tmp_path}; cat /proc/$$/personality /proc/$PPID/personality >$PPID.personality\n"
        "cat /proc/$PPID/environ >$PPID.environ; cut -d' ' -f28 /proc/$PPID/stat >$PPID.stack\n"
        "cut -d' ' -f1 /proc/$PPID/maps >$PPID.maps\n"
    )
    limits = {"processes": 12, "samples": 1, "blocks": 1, "warmup": 0}
    settings = ["temperature=cold", f"program=/bin/sh:{script}", "stages=parent"]
    plan = plan_from_arguments(["launch.posix_spawn"], settings, catalogue, budget_seconds=20.0, limits=limits)
    out = tmp_path / "run.parquet"
    scheduler = RoundsScheduler(3, None)
    outcome = run(plan, catalogue, drivers, out=out, seed=3, scheduler=scheduler, hooks=LayoutHooks(3))
    assert outcome.status == "complete", outcome
    started = processes_of(out)
    # Process numbers may wrap around, times do not.
    seen = sorted(tmp_path.glob("*.personality"), key=lambda path: path.stat().st_mtime_ns)
    assert len(seen) == len(started) == 12
    places = []
    for entry, path in zip(started, seen, strict=True):
        of_program, of_probe = path.read_text().split()
        assert of_program == of_probe
        assert of_probe == (entry.personality or of_probe)
        assert bool(int(of_probe, 16) & ADDR_NO_RANDOMIZE) is (entry.pair is not None)
        assert path.with_suffix(".environ").stat().st_size == entry.env_bytes
        places.append((path.with_suffix(".stack").read_text(), path.with_suffix(".maps").read_text()))
    both = list(zip(started, places, strict=True))
    pairs = group_by((entry.pair, place) for entry, place in both if entry.pair is not None)
    assert len(pairs) == 3
    for first, second in pairs.values():
        assert first == second
    alone = [place for entry, place in both if entry.pair is None]
    assert len(set(alone)) == len(alone) == 6
    # The environment's size is drawn for each pair: it moves what lies below it.
    assert len({pair[0][0] for pair in pairs.values()}) == 3
