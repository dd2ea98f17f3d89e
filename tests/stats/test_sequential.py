from __future__ import annotations

import numpy as np
import pytest

from clonometer.stats.sequential import Judged, PairedDesign, PairedRow, judge
from clonometer.stats.signed_rank import SignedRank


def row(group: int, centre: float, scatter: float = 0.01, pairs: int = 60, seed: int = 1) -> PairedRow:
    values = np.random.default_rng([seed, group]).normal(centre, scatter, pairs)
    return PairedRow(group, np.arange(pairs), values)


def test_an_obvious_change_is_sure_at_the_first_look_and_judged_by_its_pairs_alone() -> None:
    judged = judge([row(0, 0.5), row(1, 0.0, 0.3, seed=4)], PairedDesign(60, 0.02))
    first, second = judged.rows
    assert (first.pairs, first.n_above, first.changed(0.02), first.sure) == (22, 22, 1, True)
    assert (second.pairs, second.sure, judged.open_groups) == (60, False, {1})


def test_a_group_goes_on_until_all_of_its_rows_are_sure() -> None:
    judged = judge(
        [row(0, 0.5), PairedRow(0, np.arange(60), row(7, 0.0, 0.2, seed=4).differences)], PairedDesign(60, 0.02)
    )
    assert [decision.pairs for decision in judged.rows] == [60, 60]


def test_the_same_is_sure_too() -> None:
    (decision,) = judge([row(0, 0.0)], PairedDesign(60, 0.02)).rows
    assert decision.sure
    assert decision.is_within(0.02)
    assert not decision.changed(0.02)


def test_with_a_limit_it_goes_on_until_it_knows_on_which_side() -> None:
    design = PairedDesign(60, 0.02, limit=0.1)
    above, below, between = judge([row(0, 0.5), row(1, 0.05), row(2, 0.0953, 0.1)], design).rows
    assert (above.is_above(0.1), below.is_not_above(0.1), above.pairs, below.pairs) == (True, True, 22, 22)
    assert (between.sure, between.is_above(0.1), between.is_not_above(0.1)) == (False, False, False)


def test_the_interval_is_that_of_the_decision() -> None:
    random = np.random.default_rng(3)
    design = PairedDesign(30, 0.02)
    for _ in range(60):
        rows = [
            PairedRow(group, np.arange(30), random.normal(random.choice([0.0, 0.03]), 0.05, 30)) for group in range(5)
        ]
        for decision in judge(rows, design).rows:
            if decision.drifts:
                continue
            assert decision.p is not None
            assert decision.low is not None
            assert decision.high is not None
            assert (decision.p <= design.error_rate) == (not decision.low <= 0 <= decision.high)


def test_the_looks_and_the_end_spend_the_error_rate_together() -> None:
    design = PairedDesign(60, 0.02)
    assert len(design.looks) * design.spent_at_look == pytest.approx(design.error_rate / 2)
    # 23 pairs of a row that is nearly sure: the look at 22 has spent its part, and the end has the rest.
    values = np.r_[np.full(9, 0.05), -0.06, np.full(9, 0.05), -0.07, -0.08, 0.05, 0.06]
    (ended,) = judge([PairedRow(0, np.arange(23), values)], design).rows
    assert ended.p == pytest.approx(SignedRank(values).p_value * 6 / 5)


def test_pairs_that_failed_are_missing_from_a_look_and_too_few_pairs_tell_nothing() -> None:
    turns = np.array([0, 1, 2, 3, 40])
    judged: Judged = judge(
        [PairedRow(0, turns, np.full(5, 0.5)), PairedRow(1, turns[:0], np.zeros(0))], PairedDesign(60, 0.02)
    )
    few, none = judged.rows
    assert (few.pairs, few.low, few.high, few.changed(0.02), few.value) == (5, None, None, 0, 0.5)
    assert (none.pairs, none.value, none.p, none.sure) == (0, None, None, False)


def test_before_the_end_nothing_is_judged_between_looks() -> None:
    rows = [row(0, 0.5, pairs=11)]
    assert judge(rows, PairedDesign(60, 0.02), ended=False).rows[0].value is None
    assert judge(rows, PairedDesign(60, 0.02)).rows[0].changed(0.02) == 1


def carried_over(seed: int, pairs: int, carried: float, scatter: float) -> PairedRow:
    """Nothing differs, but A after B takes longer; each two pairs have both orders."""
    random = np.random.default_rng(seed)
    coins = random.random(pairs // 2) < 0.5
    b_first = np.stack([coins, ~coins], axis=1).ravel()
    return PairedRow(0, np.arange(pairs), random.normal(0, scatter, pairs) - carried * b_first, b_first)


@pytest.mark.parametrize(("pairs", "carried"), [(30, 0.2), (60, 0.05), (60, 0.2)])
def test_what_one_side_leaves_for_the_other_is_seldom_a_change(pairs: int, carried: float) -> None:
    """In 4.2% of comparisons at most, and of 200 more than 15 in less than 1% of cases."""
    rows = (carried_over(seed, pairs, carried, 0.05) for seed in range(200))
    called = [judge([row], PairedDesign(pairs, 0.02)).rows[0].changed(0.02) for row in rows]
    assert sum(map(bool, called)) <= 15


def in_pairs(seed: int, change: float, pairs: int, scatter: float, second: float = 0.0) -> list[PairedRow]:
    """Six rows of one kind that are all slower in B; the second of a pair takes longer."""
    random = np.random.default_rng(seed)
    b_first = np.arange(pairs) % 2 == 0
    later = np.where(b_first, -second, second)
    return [PairedRow(0, np.arange(pairs), random.normal(change, scatter, pairs) + later, b_first) for _ in range(6)]


def test_a_clear_change_of_several_rows_is_sure_although_processes_scatter_and_the_order_matters() -> None:
    # 36% of six rows, and a scatter of 90%: found in 94 of 100 rows, where each order alone would be told in half.
    called = [
        decision.changed(0.02)
        for seed in range(20)
        for decision in judge(in_pairs(seed, 0.31, 200, 0.75), PairedDesign(200, 0.02)).rows
    ]
    assert sum(called) >= 105
    second = judge(in_pairs(1, 0.31, 200, 0.1, second=0.15), PairedDesign(200, 0.02)).rows
    assert all(decision.order_matters and decision.changed(0.02) for decision in second)


def test_what_all_pairs_show_and_one_order_does_not_leans_and_is_not_sure() -> None:
    decision = judge([carried_over(1, 60, 0.2, 0.05)], PairedDesign(60, 0.02)).rows[0]
    assert (decision.leans(0.02), decision.changed(0.02), decision.sure) == (-1, 0, False)


def wandering(seed: int, pairs: int, level: float = 0.0) -> PairedRow:
    """A slow wave of 3% in the differences, below which they scatter by 0.5%."""
    wave = 0.03 * np.sin(np.arange(pairs) / pairs * 4 * np.pi + seed)
    return PairedRow(0, np.arange(pairs), level + wave + np.random.default_rng(seed).normal(0, 0.005, pairs))


def test_differences_that_depend_on_time_have_no_interval_and_no_verdict() -> None:
    for seed in range(20):
        (drifting,) = judge([wandering(seed, 20, 0.03)], PairedDesign(20, 0.02)).rows
        assert (drifting.drifts, drifting.p, drifting.changed(0.02), drifting.is_within(0.02)) == (True, None, 0, False)
        assert not drifting.sure


def test_a_change_beyond_all_that_it_moved_by_is_one_although_it_drifts() -> None:
    (large,) = judge([wandering(1, 20, 0.5)], PairedDesign(20, 0.02)).rows
    assert (large.drifts, large.changed(0.02), large.is_above(0.1)) == (True, 1, True)
    assert large.low is not None
    assert large.high is not None
    differences = wandering(1, 20, 0.5).differences
    assert large.high - large.low == pytest.approx(3 * np.ptp(differences))


def test_independent_differences_seldom_lose_their_interval() -> None:
    rows = [row(0, 0.0, 0.05, pairs=60, seed=seed) for seed in range(300)]
    lost = sum(judge([each], PairedDesign(60, 0.02)).rows[0].drifts for each in rows)
    # 1% each at most: P(Bin(300, 0.01) > 9) is 0.1%.
    assert lost <= 9


def test_what_moves_by_less_than_counts_does_not_drift() -> None:
    small = wandering(1, 20)
    (decision,) = judge([PairedRow(0, small.turns, small.differences / 10)], PairedDesign(20, 0.02)).rows
    assert not decision.drifts
    assert decision.is_within(0.02)
