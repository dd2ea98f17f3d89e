"""Lines of programs in languages with a runtime, from what hooks in it wrote just before each task was made.

A line belongs to the task that the same thread made next. It counts only where it was written after the thread's
creation before that: a hook that wrote nothing must not lend a task the line of another one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

#: Before what differs between calls: the runtime, the time (ns of CLOCK_MONOTONIC), and the thread.
_FIELDS = 3
_FRAME_FIELDS = 4
#: A program must not fill the memory with what it writes: different calls, and threads, with what each takes besides,
#: and all lines.
_MOST_BYTES, _BYTES_PER_CALL, _BYTES_PER_THREAD = 40 << 20, 400, 260
_MOST_RECORDS = 1_000_000
_THREAD_BITS = 32
#: How many of a thread's lines may have come before one that it wrote earlier: they come by connections of their own.
_MOST_LATE = 64


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

    ``event`` is what the runtime calls it; ``user`` is the number of the user who said so, None where it is our own.
    """

    runtime: str
    event: str
    frames: tuple[LanguageFrame, ...]
    user: int | None = None

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


#: The user, the runtime, and the line after the thread.
_Written = tuple[int | None, str, str]


@dataclass
class LanguageRecords:
    """All that hooks wrote. ``left_out`` counts lines that had no room here, or made no sense."""

    left_out: int = 0
    _numbers: dict[_Written, int] = field(default_factory=dict)
    _calls: list[_Written] = field(default_factory=list)
    _bytes: int = 0
    #: Those that a task was made by, of which there are few, as they are asked for.
    _read: dict[int, LanguageCall] = field(default_factory=dict)
    #: By the process that wrote and the thread: times in order, each followed by the number of the call.
    _threads: dict[int, array[int]] = field(default_factory=dict)
    _count: int = 0

    def take(self, text: str, process: int | None = None, user: int | None = None) -> None:
        """Take a line as a hook writes it, of a process that may say anything; one that makes no sense is counted."""
        try:
            runtime, time_ns, thread, rest = text.split("\t", _FIELDS)
            self._add(_key(process, int(thread)), int(time_ns), (user, runtime, rest))
        except (ValueError, OverflowError):
            self.left_out += 1

    def _add(self, thread: int, time_ns: int, call: _Written) -> None:
        number = self._numbers.get(call)
        written = self._threads.get(thread)
        taken = 0 if number is not None else len(call[2]) + _BYTES_PER_CALL
        taken += 0 if written is not None else _BYTES_PER_THREAD
        place = 0 if written is None else _place(written, time_ns)
        if self._count >= _MOST_RECORDS or self._bytes + taken > _MOST_BYTES or place is None:
            self.left_out += 1
            return
        if number is None:
            _call(call)
            number = self._numbers[call] = len(self._calls)
            self._calls.append(call)
        if written is None:
            written = self._threads[thread] = array("q")
        written[2 * place : 2 * place] = array("q", (time_ns, number))
        self._bytes += taken
        self._count += 1

    def find(
        self, thread: int, after_ns: int, until_ns: int, *, makes_thread: bool, process: int | None = None
    ) -> LanguageCall | None:
        """The last call that a thread wrote between two times, which makes what was made; None where there is none.

        Only what its own process wrote counts; where no process is named, what came from our own.
        """
        written = self._threads.get(_key(process, thread)) or self._threads.get(_key(None, thread))
        if written is None:
            return None
        place = _after(written, until_ns, 0) - 1
        if place < 0 or written[2 * place] <= after_ns:
            return None
        number = written[2 * place + 1]
        if self._calls[number][2].startswith("thread\t") != makes_thread:
            return None
        if number not in self._read:
            self._read[number] = _call(self._calls[number])
        return self._read[number]


def _key(process: int | None, thread: int) -> int:
    """One number of both, of which there may be many."""
    if not 0 <= thread < 1 << _THREAD_BITS:
        raise ValueError(thread)
    return (process or 0) << _THREAD_BITS | thread


def _after(written: array[int], time_ns: int, first: int) -> int:
    """How many of a thread's times are at most this one, of which all before ``first`` are known to be."""
    return bisect_right(range(len(written) // 2), time_ns, lo=first, key=lambda place: written[2 * place])


def _place(written: array[int], time_ns: int) -> int | None:
    """Where a time belongs, which is at the end or close to it; None where it is older than a line can be late."""
    count = len(written) // 2
    if time_ns >= written[-2]:
        return count
    first = max(count - _MOST_LATE, 0)
    return None if first > 0 and time_ns < written[2 * first] else _after(written, time_ns, first)


def _call(written: _Written) -> LanguageCall:
    user, runtime, rest = written
    _, event, *frames = rest.split("\t")
    return LanguageCall(runtime, event, tuple(map(_frame, frames)), user)


def _frame(text: str) -> LanguageFrame:
    words: Sequence[str] = text[1:].split("\x1f")
    if len(words) != _FRAME_FIELDS:
        raise ValueError(text)
    return LanguageFrame(text.startswith("L"), words[0], words[1], words[2], int(words[3]))
