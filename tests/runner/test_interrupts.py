from __future__ import annotations

import select
import signal

import pytest

from clonometer.runner.interrupts import ENDING_SIGNALS, interruption


@pytest.mark.parametrize("number", ENDING_SIGNALS)
def test_a_signal_is_a_wish_that_who_asks_has_to_fulfil(number: int) -> None:
    before = signal.getsignal(number)
    with interruption() as wish:
        assert not wish.wanted
        signal.raise_signal(number)
        signal.raise_signal(number)
        assert select.select([wish.descriptor], [], [], 0)[0]
        assert wish.wanted
    assert signal.getsignal(number) is before


def interrupted_late(finished: list[bool]) -> None:
    with interruption() as wish:
        assert not wish.wanted
        signal.raise_signal(signal.SIGINT)
        finished.append(True)


def test_a_signal_that_nobody_asked_about_arrives_behind_the_block() -> None:
    finished: list[bool] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted_late(finished)
    assert finished


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruption() as wish:
            signal.raise_signal(signal.SIGHUP)
            assert not wish.wanted
    finally:
        signal.signal(signal.SIGHUP, before)
