"""The console: its width, whether colour is welcome, and how every command prints its answer."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

import rich_click as click

from clonometer.cli.outputs import Pages

if TYPE_CHECKING:
    from clonometer.views.document import Document

PLAIN_WIDTH = 80


def plain_width() -> int:
    """Columns to write for: those of ``COLUMNS``, or of the terminal; 80 where the output is no terminal."""
    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour: on a terminal that can, unless ``NO_COLOR`` is set (to anything but nothing)."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def can_write(stream: TextIO, characters: str) -> bool:
    """Whether the stream's encoding has all of the characters; bytes of names that are no text do not count."""
    try:
        characters.encode(stream.encoding or "ascii", "surrogateescape")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def print_json(document: Mapping[str, Any]) -> None:
    """Print an answer for programs: one JSON object, which has no NaN."""
    click.echo(json_text(document), nl=False)


def json_text(document: Mapping[str, Any]) -> str:
    """An answer for programs as text."""
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def print_listed(named: Mapping[str, str]) -> None:
    """Print names, each with what it stands for beside it."""
    from clonometer.views.terminal.text import wrap

    wide = max(map(len, named))
    for name, text in named.items():
        click.echo("\n".join(wrap(text, plain_width(), bullet=f"  {name:<{wide}}  ")))


def print_drawn(render: Callable[..., str], *answer: Any, **options: Any) -> None:
    """Print an answer for people; where the console lacks a character of it, in ASCII alone.

    ``render`` draws it: it takes ``answer``, then ``width``, ``colour``, ``ascii_only`` and all ``options`` by name.
    """
    colour = wants_colour(sys.stdout)
    draw = partial(render, *answer, width=plain_width(), colour=colour, **options)
    text = draw()
    # click strips colour from what is no terminal; the choice has been made above.
    click.echo(text if can_write(sys.stdout, text) else draw(ascii_only=True), nl=False, color=colour)


def print_record(record: object, render: Callable[..., str], *, as_json: bool, **options: Any) -> None:
    """Print a record as the JSON object that it declares (a mapping is one already), or as `print_drawn` does."""
    from clonometer.records import to_json

    if as_json:
        print_json(record if isinstance(record, Mapping) else to_json(record))
    else:
        print_drawn(render, record, **options)


def print_document(
    build: Callable[..., Document],
    *answer: Any,
    pages: Pages,
    as_json: bool = False,
    json: object = None,
    **options: Any,
) -> None:
    """Print an answer as the document that ``build`` makes of it, or its JSON, and write it wherever else is asked for.

    ``json``: the record or mapping for programs, where that is not the answer. A page has what ``wide`` shows.
    """
    from clonometer.records import to_json
    from clonometer.views.terminal.document import render_document

    if as_json:
        record = answer[0] if json is None else json
        print_json(record if isinstance(record, Mapping) else to_json(record))
    else:
        print_drawn(render_document, build, *answer, **options)
    if pages:
        pages.write(build(*answer, **{**options, **({"wide": True} if "wide" in options else {})}))
