"""Commands of GitHub's workflows: an annotation at each line that exceeds a limit.

Format: GitHub Docs, "Workflow commands for GitHub Actions"; what the commands escape is in actions/toolkit,
packages/core/src/command.ts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

from clonometer.tracing.launch_limits import LaunchBudget, LaunchLimit, LaunchPlace
from clonometer.verdicts import Gate
from clonometer.views.documents.budget import budget_sentence
from clonometer.views.terminal.text import clean

#: GitHub shows ten annotations of a kind and step, and drops others without a word.
_MOST = 10


def github_annotations(budget: LaunchBudget, folder: PurePath, is_file: Callable[[PurePath], bool]) -> Iterator[str]:
    """Give the commands, a line each: the verdict, then each line that exceeds limits.

    GitHub shows an annotation at its line only in files below ``folder``, the checkout. ``is_file`` says whether there
    is one of that path in it.
    """
    level = {Gate.PASS: "notice", Gate.FAIL: "error", Gate.UNKNOWN: "warning"}[budget.verdict]
    yield _annotation(level, {"title": "Launch budget"}, budget_sentence(budget))
    positions: dict[tuple[str, str], list[str]] = {}
    for limit in budget.exceeded:
        for place in limit.places:
            position = _position(place, folder, is_file)
            if position is not None:
                positions.setdefault(position, []).append(_text(limit, place))
    for (path, line), texts in list(positions.items())[: _MOST - 1]:
        yield _annotation("error", {"file": path, "line": line, "title": "Launch budget"}, "; ".join(texts))


def _text(limit: LaunchLimit, place: LaunchPlace) -> str:
    called = f" by {place.api}" if place.api else ""
    return clean(f"{limit.name}: {place.created:,}{called}, of {limit.counted:,}, at most {limit.most:,} allowed")


def _position(place: LaunchPlace, folder: PurePath, is_file: Callable[[PurePath], bool]) -> tuple[str, str] | None:
    if place.file is None or not place.line:
        return None
    path = folder / place.file
    if ".." in path.parts or not path.is_relative_to(folder) or not is_file(path.relative_to(folder)):
        return None
    return str(path.relative_to(folder)), str(place.line)


def _annotation(level: str, properties: Mapping[str, str], message: str) -> str:
    named = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
    return f"::{level} {named}::{_escaped(message)}"


def _escaped(text: str, also: str = "") -> str:
    return "".join(f"%{ord(letter):02X}" if letter in "%\r\n" + also else letter for letter in text)
