"""``make bench BENCH=simulated_alarms`` in small: what `compare` and `check` promise, and that it can fail."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise

import numpy as np
import pytest
from bench import redis
from bench.harness import Line
from bench.known_answer import lines
from bench.race import Answer, Trial, own_lines, peer_lines, scatter, table
from bench.simulated_alarms import LITTLE_SCATTER, Machine, alarms, detectable_shares, endings

from clonometer.results.compare.variance import NO_VARIANCE, variance_from_share
from clonometer.results.self_test_types import MoveCheck, SelfTest, WallCheck
from clonometer.verdicts import Gate

COMPARISONS = 20
#: Of 20 comparisons that are wrong in 5%, so many or more are in 1.6%.
MANY = 4


@pytest.mark.parametrize(
    "machine",
    [
        Machine(between=0.02, processes=12),
        Machine(between=0.02, processes=60),
        Machine(common=0.08, processes=12),
        Machine(between=0.02, common=0.08, processes=12, runs=3),
    ],
    ids=str,
)
def test_moments_that_differ_are_called_no_change(machine: Machine) -> None:
    changed, alarmed, _ = alarms(COMPARISONS, machine, seed=5)
    assert changed < MANY
    assert alarmed < 3


def test_what_counts_no_moments_is_wrong_much_more_often() -> None:
    changed, _, _ = alarms(COMPARISONS, Machine(between=0.02, processes=60), seed=5, variance=NO_VARIANCE)
    assert changed > COMPARISONS / 2


def test_a_change_is_found_and_several_runs_find_less_of_it() -> None:
    slower = alarms(20, Machine(0.01, processes=30), seed=6, slower=np.log(1.25), variance=variance_from_share(0.01))
    assert slower[2] >= 19
    counts = alarms(20, Machine(0.01, processes=12, runs=5), seed=6, slower=np.log(1.1))
    assert counts[2] >= 19


@pytest.mark.parametrize(("shape", "seeds"), [("normal", 4), ("t3", 4), ("floor", 4), ("neighbour", 8)])
def test_measuring_longer_never_sees_less(shape: str, seeds: int) -> None:
    sizes = (12, 30, 49, 50, 80, 120)
    shares = np.array([detectable_shares(seed, sizes, shape) for seed in range(seeds)])
    # Their mean: beside a neighbour the median jumps from slow to fast. The 50th process adds as little as chance does.
    seen = shares.mean(axis=(0, 2))
    assert all(later <= earlier * 1.01 for earlier, later in pairwise(seen)), seen
    assert seen[-1] < seen[2] < seen[0]


def test_a_check_of_a_measured_machine_ends_with_an_answer() -> None:
    machine = Machine(0.01, processes=30, scatter=LITTLE_SCATTER)
    assert endings(10, machine)[Gate.PASS] >= 9
    slow = endings(10, machine, slower=np.log(1.1))
    assert slow[Gate.FAIL] >= 9
    assert slow[Gate.PASS] == 0
    assert endings(5, Machine(0.01, processes=30)) == {Gate.UNKNOWN: 5}


def test_first_launches_that_move_by_a_fifth_are_called_no_change() -> None:
    changed, _, _ = alarms(COMPARISONS, Machine(0.2, processes=30, temperature="cold"), seed=5)
    assert changed < MANY
    warm, _, _ = alarms(5, Machine(0.2, processes=30), seed=5, variance=variance_from_share(0.02))
    assert warm == 5


def move(passed: bool | None) -> MoveCheck:
    return MoveCheck("launch.fork", "pinned", "child_spin_ns", 20_000, "reaped", 1.0, 2.0, 1.5, passed)


def test_what_is_wrong_and_what_cannot_be_told_is_counted() -> None:
    moves = [move(True), move(False), move(None), move(True)]
    walls = (WallCheck("launch.fork", "pinned", 3, 0.002, True),)
    answer = asdict(SelfTest(False, 2, tuple(moves), walls))
    wrong, untold = lines(answer)
    assert (wrong.value, wrong.verdict) == (1, "miss")
    assert (untold.value, untold.verdict) == (0.2, "ok")
    assert lines(asdict(SelfTest(False, 0, (move(None),), ()))).__next__().verdict == "ok"
    assert list(lines(asdict(SelfTest(False, 0, (move(None),), ()))))[1].verdict == "miss"


NS_A_PAGE = {"redis": 70.0, "idle": 69.0, "thrashed": 75.0, "hot": 37.0}
PAGES = 1000.0


def _turns(**changed: float) -> list[dict[str, float]]:
    each = {**NS_A_PAGE, **changed}
    return [{name: ns * PAGES * (1 + turn / 1000) for name, ns in each.items()} for turn in range(6)]


def test_what_both_say_of_a_page_is_shown_beside_their_ratio() -> None:
    by_name = {line.name: line for line in redis.lines("clean", _turns(), PAGES)}
    assert by_name["redis.clean.caches=hot"].value == pytest.approx(70 / 37)
    assert "70.2 and 37.1 ns a page" in by_name["redis.clean.caches=hot"].note
    assert by_name["redis.clean.apart"].verdict == "ok"


@pytest.mark.parametrize("idle", [50.0, 98.0])
def test_a_figure_too_far_to_either_side_is_a_miss(idle: float) -> None:
    (*_, apart) = redis.lines("clean", _turns(idle=idle), PAGES)
    assert apart.verdict == "miss"
    assert apart.value == pytest.approx(max(70 / idle, idle / 70))


def test_without_a_server_it_says_so_and_asks_for_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    assert list(redis.run()) == []
    assert "skipped, redis-server and redis-cli not installed" in capsys.readouterr().out


def answers(*values: float, half: float = 2.0, seconds: float = 1.5) -> list[Answer]:
    return [Answer(seconds, value, value - half, value + half, on_target=True) for value in values]


def trials(answers: list[Answer], *levels: float) -> list[Trial]:
    slices = [[level - 1, level - 0.5, level, level + 0.5, level + 1] * 3 for level in levels]
    return [Trial(answer, part, part) for answer, part in zip(answers, slices, strict=True)]


def race_lines(made: list[Trial]) -> dict[str, Line]:
    return {line.name.removeprefix("race.clonometer.fork."): line for line in own_lines("fork", made)}


def test_intervals_that_miss_their_neighbours_are_counted_and_judged() -> None:
    good = race_lines(trials(answers(*[100.0] * 8, 104.0, 96.0), *[100.0] * 10))
    assert (good["missed"].value, good["missed"].verdict) == (0.2, "ok")
    assert race_lines(trials(answers(*[100.0] * 7, 104.0, 96.0, 90.0), *[100.0] * 10))["missed"].verdict == "miss"
    assert "10 of 10 reached the target" in good["seconds"].note
    assert good["machine"].value == 0.0


def test_a_machine_that_moves_between_answers_is_not_held_against_them_but_said() -> None:
    levels = [100.0, 100.0, 100.0, 130.0]
    drawn = race_lines(trials(answers(*levels), *levels))
    assert (drawn["missed"].value, drawn["missed_later"].value) == (0.0, 0.25)
    assert drawn["machine"].value == pytest.approx(0.3)


def test_neighbours_that_differ_leave_the_truth_open_between_them() -> None:
    before, after = [100.0] * 10, [110.0] * 10
    held = {value: Trial(answers(value, half=1.0)[0], before, after).holds() for value in (90.0, 100.0, 105.0, 120.0)}
    assert held == {90.0: False, 100.0: True, 105.0: True, 120.0: False}


def test_an_answer_without_an_interval_covers_nothing() -> None:
    assert not Answer(1.0, 100.0).covers(100.0, 100.0)


def test_seconds_and_scatter_of_a_peer() -> None:
    race_lines = list(peer_lines("stress-ng.fork", answers(90.0, 100.0, 120.0)))
    assert [line.verdict for line in race_lines] == ["stated", "stated"]
    assert race_lines[0].value == 1.5
    assert race_lines[1].value == pytest.approx(0.3)
    assert scatter(answers(100.0)) == 0.0


def test_the_table_has_every_tool_beside_clonometer_and_fits_80_columns() -> None:
    ours = {"fork": trials(answers(100.0, 104.0), 100.0, 100.0), "pthread": trials(answers(20.0), 20.0)}
    others = {"hyperfine.fork": answers(900.0, 990.0, seconds=3.25), "stress-ng.pthread": answers(7.0, 9.0)}
    drawn = table(ours, others, {"perf.fork": "not installed"})
    assert max(map(len, drawn)) <= 80
    names = [line.split()[0] for line in drawn[2:-2]]
    assert names == ["clonometer.fork", "hyperfine.fork", "clonometer.pthread", "stress-ng.pthread", "perf.fork"]
    assert "1 of 2 cover, 2 to 2%" in drawn[2]
    assert "3.25 (3.25 to 3.25)" in drawn[3]
    assert "9.5%" in drawn[3]
    assert drawn[4].split()[5:7] == ["-", "1"]
