"""What signals do to programs that tests start."""

from __future__ import annotations

import signal

ENDING = (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM)


def hear_signals() -> None:
    """Let what is started be interrupted where we ignore it, as a shell's background jobs do: that is inherited."""
    for number in ENDING:
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL)
