"""What a long census has counted so far, reported again and again while it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from clonometer.errors import ClonometerError
from clonometer.tracing.census.tally import Census

REPORT_EVERY_S = 5.0


class Reports:
    """Calls ``report`` every few seconds, also while no task is made, and once more at the end.

    ``lock`` is held while it reports: whoever changes the census takes it. What cannot be written meanwhile is tried
    again, as a full disk may have room later; at the beginning and at the end it is an error.
    """

    def __init__(self, tally: Census, report: Callable[[Census], None] | None, every_s: float = REPORT_EVERY_S) -> None:
        self.lock = threading.Lock()
        self._tally, self._report, self._every_s = tally, report, every_s
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._report is not None:
            # What cannot be written is said before anything is watched.
            self._report(self._tally)
            self._thread = threading.Thread(target=self._go_on, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._thread is None or self._report is None:
            return
        self._over.set()
        self._thread.join()
        if kind is None:
            self._report(self._tally)

    def _go_on(self) -> None:
        while self._report is not None and not self._over.wait(self._every_s):
            with self.lock, suppress(ClonometerError):
                self._report(self._tally)
