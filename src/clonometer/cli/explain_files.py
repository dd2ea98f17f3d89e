"""Where the answer of ``clonometer explain`` goes beside standard output, and how far it has come."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import rich_click as click

from clonometer.cli.outputs import write_and_say
from clonometer.errors import UsageError

_PICTURES = (".png", ".svg")


@dataclass(frozen=True)
class Files:
    """Where the answer goes beside standard output."""

    out: Path | None
    html: Path | None
    trace: Path | None
    picture: Path | None
    folded: Path | None
    force: bool

    def check(self) -> None:
        """Refuse now what could not be written later."""
        from clonometer.runfile import check_output

        named = [path for path in (self.out, self.html, self.trace, self.picture, self.folded) if path is not None]
        for path in named:
            check_output(path, self.force)
        if len({path.absolute() for path in named}) != len(named):
            raise UsageError("two outputs name the same file")
        if self.picture is not None:
            from clonometer.views.drawing import check_installed

            check_installed()
        if self.picture is not None and self.picture.suffix.lower() not in _PICTURES:
            raise UsageError(f"--picture {self.picture} must end in {' or '.join(_PICTURES)}")

    def write(self, contents: Mapping[str, Callable[[], bytes | str]]) -> None:
        """Make and write what was asked for, and say so; ``contents`` has what each attribute's file would hold."""
        asked = {name: path for name in contents if (path := getattr(self, name)) is not None}
        # All are made before one is written: a failure leaves no half answer behind.
        made = {path: contents[name]() for name, path in asked.items()}
        for path, content in made.items():
            write_and_say(path, content)

    @property
    def picture_format(self) -> str:
        """``png`` or ``svg``; empty without a picture."""
        return self.picture.suffix.lower().removeprefix(".") if self.picture is not None else ""


def watcher(name: str) -> Callable[[int, int], None]:
    """Return what shows, at a terminal, how many of so many are done."""

    def watch(done: int, of: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{name}: {done} of {of}" + ("\n" if done == of else ""), nl=False, err=True)

    return watch
