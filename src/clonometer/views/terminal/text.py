"""Plain text at a given width: wrapping, optional colour, and a form for terminals without UTF-8."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from clonometer.words import counted

_CODES = {"bold": "1", "dim": "2", "warn": "33", "bad": "31", "good": "32"}
_PLAIN = str.maketrans(
    {
        "µ": "u",
        "–": "-",
        "×": "x",
        "±": "+-",
        "’": "'",
        "…": "...",
        "≥": ">=",
        "≤": "<=",
        "→": "->",
        "✓": "v",
        "█": "#",
        "▁": "_",
        "▂": ".",
        "▃": "-",
        "▄": "=",
        "▅": "+",
        "▆": "*",
        "▇": "%",
    }
)
#: Characters that a terminal obeys, as those that turn text round; halves of characters, and what no XML has.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
# The last character of each is shown as another.
_COMMAND = re.compile(r"^\s*::|##\[")
_WHITE = re.compile(r"\s+")


def clean(text: str) -> str:
    r"""Make text from elsewhere (a driver, the kernel) safe for a terminal: one line, no control characters.

    Examples
    --------
    >>> clean("a\x1b[31m  b\n c")
    'a?[31m b c'
    """
    return _WHITE.sub(" ", CONTROL.sub("?", text)).strip()


def printable(text: str) -> str:
    r"""Make a table's text safe for a terminal: no control characters, tabs as blanks; what aligns it stays.

    Examples
    --------
    >>> printable("  a\tb\x1b[31m")
    '  a b?[31m'
    """
    return CONTROL.sub("?", text).replace("\t", " ").replace("\n", " ")


def harmless(line: str) -> str:
    r"""Make a line safe where a machine reads it: no control characters, and nothing that GitHub's runner obeys.

    A name may be ``::error::`` at the beginning of a line, or ``##[add-mask]`` anywhere in it.

    Examples
    --------
    >>> harmless("  ::error::x ##[group] ::y\n::z")
    '  :?error::x ##?group] ::y ::z'
    """
    return _COMMAND.sub(_refuse, printable(line))


def _refuse(command: re.Match[str]) -> str:
    return f"{command[0][:-1]}?"


def wrap(text: str, width: int, *, bullet: str = "") -> list[str]:
    """Break text into lines of at most ``width``; further lines stand below the text, not below the bullet.

    Never at a hyphen: options, plans and commands are there to be copied.

    Examples
    --------
    >>> wrap("fork is slow", 9, bullet="- ")
    ['- fork is', '  slow']
    """
    indent = " " * len(bullet)
    return textwrap.wrap(clean(text), width, initial_indent=bullet, subsequent_indent=indent, break_on_hyphens=False)


def wrap_each(texts: Iterable[str], width: int, *, bullet: str = "") -> list[str]:
    """Wrap texts, each from a line of its own on."""
    return [line for text in texts for line in wrap(text, width, bullet=bullet)]


#: What an interval that a stopping rule waited for is about.
OF_THIS_RUN = (
    "Intervals describe this run only: this boot, these minutes. Another run may differ by more than their width."
)


def wide_adds(*hidden: tuple[int, str]) -> list[str]:
    """Say how many of what ``--wide`` shows beside this; nothing where it is no more."""
    more = [counted(count, noun) for count, noun in hidden if count]
    return [f"--wide adds {' and '.join(more)}"] if more else []


def elide(text: str, width: int) -> str:
    """Cut text that is too long, and show that it was cut.

    Examples
    --------
    >>> elide("launch.fork", 8), elide("fork", 8)
    ('launch.…', 'fork')
    """
    return text if len(text) <= width else text[: max(width - 1, 0)] + "…"


def elide_left(text: str, width: int) -> str:
    """Cut the beginning of text that is too long, as of a path, whose name is at its end.

    Examples
    --------
    >>> elide_left("/usr/local/bin/redis-server", 18)
    '…/bin/redis-server'
    """
    return text if len(text) <= width else "…" + text[len(text) - max(width - 1, 0) :]


def paint(text: str, style: str, colour: bool) -> str:
    """Colour text, its spaces left alone at both ends."""
    inside = text.strip()
    if not colour or not inside:
        return text
    before, after = text.split(inside, 1)
    return f"{before}\x1b[{_CODES[style]}m{inside}\x1b[0m{after}"


def painted(lines: Iterable[str], style: str, colour: bool) -> list[str]:
    """Colour each of some lines."""
    return [paint(line, style, colour) for line in lines]


def rendered(*, least_width: int) -> Callable[[Callable[..., Iterable[str]]], Callable[..., str]]:
    """Make a function that writes an answer as text of one that draws its lines.

    What it makes takes, beside what is drawn, ``width`` (columns of the terminal, 80 by default; fewer than
    ``least_width`` are taken as so many), ``colour`` (whether to use ANSI colours) and ``ascii_only`` (whether to write
    without any character outside ASCII) by name, and gives lines, each ended by a newline.
    """

    def make(draw: Callable[..., Iterable[str]]) -> Callable[..., str]:
        @wraps(draw)
        def render(*answer: Any, width: int = 80, colour: bool = False, ascii_only: bool = False, **wishes: Any) -> str:
            lines = draw(*answer, width=max(width, least_width), colour=colour, **wishes)
            text = "".join(f"{_COMMAND.sub(_refuse, line.rstrip())}\n" for line in lines)
            return to_ascii(text) if ascii_only else text

        return render

    return make


def to_ascii(text: str) -> str:
    """Write text with ASCII characters only.

    Examples
    --------
    >>> to_ascii("51.1 – 51.7 µs")
    '51.1 - 51.7 us'
    """
    # As long as before where that is possible: the columns of a table stay.
    return text.replace(" ±", "±").replace("█→", "█>").translate(_PLAIN).encode("ascii", "replace").decode("ascii")
