"""How wide the terminal is, and whether colour is welcome."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TextIO

PLAIN_WIDTH = 80


def plain_width() -> int:
    """Columns to write for: those of the terminal, or of ``COLUMNS``; 80 where the output is no terminal."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns if sys.stdout.isatty() else _columns_or_80()


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour: on a terminal that can, unless ``NO_COLOR`` is set (to anything but nothing)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _columns_or_80() -> int:
    columns = os.environ.get("COLUMNS", "")
    return int(columns) if columns.isdigit() and int(columns) > 0 else PLAIN_WIDTH


def can_write(stream: TextIO, characters: str) -> bool:
    """Whether the stream's encoding has all of the characters."""
    try:
        characters.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
