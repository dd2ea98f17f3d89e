"""Reading the book: a TOML file for each runtime in ``book/``, and what was seen of it in ``seen.json``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, get_type_hints

from clonometer.errors import InputError, unknown
from clonometer.inputs import InputKind, parse_json, parse_toml, read_text
from clonometer.launch_paths.types import LaunchPath, PathBook, RuntimeBook, SeenBook
from clonometer.records import Key, from_json

#: A file of the book.
BOOK = InputKind("a file of launch paths", 1 << 20)


@cache
def load_book() -> PathBook:
    """Read the book that comes with Clonometer, and what was seen of it.

    Examples
    --------
    >>> load_book().runtime("python").title
    'CPython'
    """
    files = sorted(_folder().joinpath("book").iterdir(), key=lambda file: file.name)
    runtimes = tuple(parse_runtime(_text(file), file.name) for file in files if file.name.endswith(".toml"))
    return PathBook(runtimes, parse_seen(_text(_folder() / "seen.json")).versions)


def parse_seen(text: str) -> SeenBook:
    """Read what was seen of the book.

    Raises
    ------
    InputError
        If the text is no JSON, or not that.
    """
    try:
        return from_json(SeenBook, parse_json(text))
    except InputError as error:
        raise InputError(f"what was seen of launch paths: {error.message}") from None


def parse_runtime(text: str, source: str) -> RuntimeBook:
    """Read a runtime from its TOML text, which messages call ``source``.

    Raises
    ------
    InputError
        If it is no TOML, or something in it is missing, unknown or not what it must be.
    """
    try:
        document = parse_toml(text)
    except InputError as error:
        raise InputError(f"{source}: {error.message}") from None
    _check_keys(document, RuntimeBook, source)
    for number, table in enumerate(document.get("path", ()), start=1):
        if isinstance(table, Mapping):
            _check_keys(table, LaunchPath, f"{source}: path {number}")
    try:
        return from_json(RuntimeBook, document)
    except InputError as error:
        raise InputError(f"{source}: {error.message}") from None


def _folder() -> Traversable:
    return resources.files("clonometer.launch_paths")


def _text(file: Traversable) -> str:
    return read_text(Path(str(file)), BOOK)


def _check_keys(table: Mapping[str, Any], record: type, source: str) -> None:
    known = _keys(record)
    for key in table:
        if key not in known:
            near = unknown("key", key, known)
            raise InputError(f"{source}: {near.message}", near.hint)


@cache
def _keys(record: type) -> tuple[str, ...]:
    hints = get_type_hints(record, include_extras=True)
    marks = {field.name: getattr(hints[field.name], "__metadata__", ()) for field in fields(record)}
    return tuple(next((mark.name for mark in marks[name] if isinstance(mark, Key)), name) for name in marks)
