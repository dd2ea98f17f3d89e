"""Lines of programs in languages with a runtime, from what hooks in it wrote just before each task was made.

A line belongs to the task that the same thread made next. It counts only where it was written after the thread's
creation before that: a hook that wrote nothing must not lend a task the line of another one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

#: Before the frames: the runtime, the time (ns of CLOCK_MONOTONIC), the thread, what is made, the event.
_FIELDS = 5
_FRAME_FIELDS = 4
#: A program must not fill the memory with what it writes.
_MOST_CALLS = 100_000
_MOST_RECORDS = 1_000_000


@dataclass(frozen=True)
class LanguageFrame:
    """One call in a language: its function, and where it is; ``library``: of the runtime's standard library."""

    library: bool
    module: str
    function: str
    file: str
    line: int


@dataclass(frozen=True)
class LanguageCall:
    """What a program called to make a task, and from where; innermost first.

    ``event`` is what the runtime calls it.
    """

    runtime: str
    event: str
    frames: tuple[LanguageFrame, ...]

    @property
    def where(self) -> LanguageFrame | None:
        """The innermost call outside of the library; in a thread of the library, outside of its innermost file."""
        return self.frames[self._depth] if self._depth < len(self.frames) else None

    @property
    def _depth(self) -> int:
        """How many of the frames are what was called there."""
        outside = next((depth for depth, frame in enumerate(self.frames) if not frame.library), None)
        if outside is not None:
            return outside
        files = (depth for depth, frame in enumerate(self.frames) if frame.file != self.frames[0].file)
        return next(files, len(self.frames))

    @property
    def called(self) -> tuple[str, ...]:
        """The event, and the functions of the standard library that were called to it, innermost first."""
        names = [self.event]
        names += [f"{frame.module}.{frame.function}".lstrip(".") for frame in self.frames[: self._depth]]
        return tuple(names)

    def common(self, other: LanguageCall) -> LanguageCall:
        """Make one of two calls from a line: without the name of the function, where they are from different ones."""
        mine, theirs = self.where, other.where
        if mine is None or theirs is None or mine.function == theirs.function:
            return self
        frames = list(self.frames)
        frames[self._depth] = replace(mine, function="")
        return replace(self, frames=tuple(frames))

    @property
    def api(self) -> str:
        """The function of the standard library that was called there; the event where there is none."""
        return self.called[-1]


@dataclass
class _Thread:
    """What one thread wrote: times in order, and which call each was."""

    times_ns: array[int] = field(default_factory=lambda: array("q"))
    calls: array[int] = field(default_factory=lambda: array("q"))


@dataclass
class LanguageRecords:
    """All that hooks wrote. ``left_out`` counts lines that had no room here, or made no sense."""

    left_out: int = 0
    _numbers: dict[tuple[LanguageCall, bool], int] = field(default_factory=dict)
    _calls: list[tuple[LanguageCall, bool]] = field(default_factory=list)
    _threads: dict[int, _Thread] = field(default_factory=dict)
    _count: int = 0

    def take(self, text: str) -> None:
        """Take a line as a hook writes it; a stranger may have written it, and one that makes no sense is counted."""
        words = text.split("\t")
        try:
            runtime, time_ns, thread, makes, event = words[:_FIELDS]
            call = LanguageCall(runtime, event, tuple(_frame(word) for word in words[_FIELDS:]))
            self._add(int(thread), int(time_ns), (call, makes == "thread"))
        except (ValueError, OverflowError):
            self.left_out += 1

    def _add(self, thread: int, time_ns: int, call: tuple[LanguageCall, bool]) -> None:
        number = self._numbers.get(call)
        if self._count >= _MOST_RECORDS or (number is None and len(self._calls) >= _MOST_CALLS):
            self.left_out += 1
            return
        if number is None:
            number = self._numbers[call] = len(self._calls)
            self._calls.append(call)
        written = self._threads.setdefault(thread, _Thread())
        place = bisect_right(written.times_ns, time_ns)
        written.times_ns.insert(place, time_ns)
        written.calls.insert(place, number)
        self._count += 1

    def find(self, thread: int, after_ns: int, until_ns: int, *, makes_thread: bool) -> LanguageCall | None:
        """The last call that a thread wrote between two times, which makes what was made; None where there is none."""
        written = self._threads.get(thread)
        if written is None:
            return None
        place = bisect_right(written.times_ns, until_ns) - 1
        if place < 0 or written.times_ns[place] <= after_ns:
            return None
        call, of_thread = self._calls[written.calls[place]]
        return call if of_thread == makes_thread else None


def _frame(text: str) -> LanguageFrame:
    words: Sequence[str] = text[1:].split("\x1f")
    if len(words) != _FRAME_FIELDS:
        raise ValueError(text)
    return LanguageFrame(text.startswith("L"), words[0], words[1], words[2], int(words[3]))
