from __future__ import annotations

import difflib
from collections.abc import Iterator

import pytest

from tests.snapshots.making import MAKERS, made, stored

MOST_LINES = 60


def _changes(name: str, before: str, now: str) -> Iterator[str]:
    texts = before.splitlines(), now.splitlines()
    return difflib.unified_diff(*texts, name, "as the code makes it now", n=1, lineterm="")


@pytest.mark.parametrize("folder", MAKERS)
def test_what_users_see_is_what_the_snapshots_have(folder: str) -> None:
    before, now = stored(folder), made(folder)
    differing = [name for name in sorted(before.keys() | now.keys()) if before.get(name) != now.get(name)]
    changes = [line for name in differing for line in _changes(name, before.get(name, ""), now.get(name, ""))]
    if differing:
        more = [f"... {len(changes) - MOST_LINES} more lines"] if len(changes) > MOST_LINES else []
        lines = [f"{len(differing)} snapshots differ: {', '.join(differing)}", *changes[:MOST_LINES], *more]
        pytest.fail("\n".join([*lines, "Where that is meant: make golden, and read the diff."]), pytrace=False)
