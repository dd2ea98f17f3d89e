"""Putting back what a measurement that was killed has left changed on this machine: what a start does first."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from clonometer.errors import DriverError
from clonometer.runner import frequency
from clonometer.runner.interfaces import Progress
from clonometer.runner.leftovers import DIRECTORY, remove_again
from clonometer.runner.saved_settings import LeftSetting, left_settings
from clonometer.runner.settings import read_setting, undo_again
from clonometer.words import setting_name


def put_back_first(progress: Progress) -> None:
    """Put back what is noted and belongs to nobody who lives, and say so: whatever measures begins with it."""
    for sentence in put_back_left():
        progress.say(f"clonometer: {sentence}")


def put_back_left() -> list[str]:
    """Put back what is noted and belongs to nobody who lives; gives a sentence for each."""
    sentences = frequency.put_back_left()
    for left in left_settings():
        if left.content is not None and DIRECTORY in left.content:
            sentence = remove_again(left)
        else:
            change = None if left.content is None else _Change.read(left.content)
            sentence = left.strange if change is None else _put_back(left, change)
        sentences += [] if sentence is None else [sentence]
    # They name files and commands.
    return ["".join(letter if letter.isprintable() else "?" for letter in sentence) for sentence in sentences]


@dataclass(frozen=True)
class _Change:
    """What a note says of a setting (`clonometer.runner.settings.save`)."""

    what: str
    undo: str
    folder: str
    before: Mapping[str, str]
    texts: Mapping[str, str]
    #: None where it was not noted any more.
    during: Mapping[str, str | None] | None

    @classmethod
    def read(cls, content: Mapping[str, Any]) -> Self | None:
        """None where the note is none of a setting."""
        match content:
            case {"what": str(what), "undo": str(undo), "folder": str(folder), "before": dict(readings)}:
                pass
            case _:
                return None
        if not all(isinstance(read, list) and list(map(type, read)) == [str, str] for read in readings.values()):
            return None
        before = {name: digest for name, (digest, _) in readings.items()}
        during = content.get("during")
        return cls(
            what,
            undo,
            folder,
            before,
            {name: text for name, (_, text) in readings.items()},
            {name: during.get(name) for name in before} if isinstance(during, dict) else None,
        )

    def now(self) -> Mapping[str, str | None]:
        """What its files hold now."""
        readings = {name: read_setting(name, self.folder) for name in self.before}
        return {name: None if reading is None else reading.digest() for name, reading in readings.items()}


def _put_back(left: LeftSetting, change: _Change) -> str | None:
    """Put back a setting; gives what was done, None where all was as before.

    Only what is as the process left it that was killed is put back, and only on the same boot.
    """
    what, by_hand = f"what {change.what} changed, left by a measurement that was killed", f"undone by: {change.undo}"
    was = ", ".join(f"{setting_name(name)} was {text}" for name, text in change.texts.items())
    now = change.now()
    if not left.of_this_boot:
        sentence = f"discarded, since this machine was restarted: {what}; {by_hand}"
    elif not change.before:
        sentence = f"perhaps still there, since it cannot be read back: {what}; {by_hand}"
    elif now == change.before:
        left.remove()
        return None
    elif change.during not in (None, now):
        sentence = f"left alone, since somebody has changed it again: {what} ({was}); {by_hand}"
    else:
        with suppress(DriverError):
            undo_again(change.folder, change.undo)
        if change.now() != change.before:
            return f"NOT PUT BACK: {what} ({was}); {by_hand}"
        sentence = f"put back: {what} ({was}, and is again)"
    left.remove()
    return sentence
