"""The text of a call in a program's source: the lines around the one that a stack names."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.launch_paths.explaining import NO_SOURCE, SourceText

_MOST_LINES = 40
#: Braces open blocks, which hold other statements.
_OPENS, _CLOSES = "([", ")]"
#: At the beginning of a line, or at the end of the one before it: both are of one statement.
_GOES_ON, _IS_OPEN = (".", "|", "&&", "?.", *_CLOSES), ("\\", "|", "&&", ",", *_OPENS)
_COMMENTS = ("#", "//", "--", "*", "/*")


def source_text(text: str, line: int) -> SourceText:
    r"""Take the call at a line, from 1 on, with the lines on which it goes on; comments are left out.

    Examples
    --------
    >>> source_text("a()\nrun(\n  [x],  # why\n  shell=True)\nb()\n", 2).call
    'run(\n  [x],\n  shell=True)'
    """
    lines = [_code(each) for each in text.splitlines()]
    if not 0 < line <= len(lines):
        return NO_SOURCE
    first = last = line - 1
    while first > 0 and line - first < _MOST_LINES and _continues(lines, first):
        first -= 1
    while (
        last + 1 < len(lines)
        and last - first < _MOST_LINES
        and (_depth(lines[first : last + 1]) > 0 or _continues(lines, last + 1))
    ):
        last += 1
    return SourceText("\n".join(lines[first : last + 1]).strip(), "\n".join(lines))


def _code(line: str) -> str:
    """A line without its comment: of one behind code, only where it is set off by spaces."""
    if line.lstrip().startswith(_COMMENTS):
        return ""
    for mark in (" # ", " // "):
        line = line.partition(mark)[0]
    return line.rstrip()


def _continues(lines: Sequence[str], number: int) -> bool:
    """Whether a line belongs to the statement of the line before it."""
    return lines[number].lstrip().startswith(_GOES_ON) or lines[number - 1].endswith(_IS_OPEN)


def _depth(lines: Sequence[str]) -> int:
    """How many brackets are open at the end; those in texts count too, which may take in a few lines more."""
    text = "".join(lines)
    return sum(map(text.count, _OPENS)) - sum(map(text.count, _CLOSES))
