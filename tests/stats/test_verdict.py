from __future__ import annotations

import math

import pytest

from clonometer.stats.changes import LogChange
from clonometer.stats.verdict import Contrast, judged
from clonometer.verdicts import Direction, Word

FAR = LogChange(math.log(4), 0.08, 0.08, between=0.05)


def words_of(*tests: Contrast) -> list[tuple[Word, Direction]]:
    return [(verdict.word, verdict.direction) for verdict in judged(tests)]


def test_both_the_ranks_and_the_ratio_must_be_far_from_chance() -> None:
    near = LogChange(0.1, 0.08, 0.08, between=0.05)
    assert words_of(Contrast(FAR, 1e-6)) == [(Word.SURE, Direction.MORE)]
    assert words_of(Contrast(FAR, 0.6)) == words_of(Contrast(near, 1e-6)) == [(Word.OPEN, Direction.UNKNOWN)]
    assert words_of(Contrast(LogChange(-1.4, 0.08, 0.08), 1e-6)) == [(Word.SURE, Direction.LESS)]


def test_what_processes_share_counts_however_narrow_the_interval() -> None:
    narrow = LogChange(0.1, 0.001, 0.001)
    wide = LogChange(0.1, 0.001, 0.001, between=0.06)
    assert words_of(Contrast(narrow, 1e-6)) == [(Word.SURE, Direction.MORE)]
    assert words_of(Contrast(wide, 1e-6)) == [(Word.LIKELY, Direction.UNKNOWN)]


def test_the_question_that_was_asked_first_weighs_as_much_as_all_others() -> None:
    nearly = LogChange(0.24, 0.08, 0.08, between=0.06)
    open_ = [Contrast(LogChange(0.0, 0.08, 0.08), 1.0)] * 57
    assert words_of(Contrast(nearly, 1e-3), *open_)[0][0] == Word.OPEN
    first = judged([Contrast(nearly, 1e-3, alone=True), *open_])
    assert first[0].word == Word.SURE
    # What chance may make sure adds up to 5%.
    assert first[0].level + sum(each.level for each in first[1:]) == pytest.approx(0.05)
    assert judged([Contrast(nearly, 1e-3, alone=True)])[0].level == pytest.approx(0.05)
    # Never more than 5%, however many others are sure.
    assert judged([Contrast(nearly, 1e-3, alone=True), *[Contrast(FAR, 1e-6)] * 9])[0].level == pytest.approx(0.05)


def test_a_sure_one_says_how_much_at_least_and_others_what_would_have_been_told() -> None:
    sure, open_ = judged([Contrast(FAR, 1e-6, (12, 12)), Contrast(LogChange(0.05, 0.08, 0.08), 0.3, (12, 12))])
    assert sure.at_least is not None
    assert 3.4 < math.exp(sure.at_least) < 3.5
    assert sure.told_from is open_.at_least is None
    assert open_.told_from is not None
    again = Contrast(LogChange(open_.told_from * 1.001, 0.08, 0.08), 1e-6, (12, 12))
    assert words_of(Contrast(FAR, 1e-6, (12, 12)), again)[1][0] == Word.SURE
    # What hardly rests on anything crashes no report.
    [wild] = judged([Contrast(LogChange(0.1, 0.1, 0.1, 2.0, between_degrees=1), 0.01)], family=5000)
    assert (wild.word, wild.told_from) == (Word.OPEN, None)
    # Six processes a side have no ranks that are rare enough among a thousand.
    [few] = judged([Contrast(FAR, 2 / 924, (6, 6))], family=1000)
    assert (few.word, few.told_from) == (Word.OPEN, None)
