"""Output files of the command line: written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.errors import UsageError
from clonometer.files import write_pieces, write_text

if TYPE_CHECKING:
    from clonometer.views.document import Document


@dataclass(frozen=True)
class Pages:
    """Where an answer is also written, as a page and as Markdown."""

    html: Path | None = None
    markdown: Path | None = None

    def check(self, *, force: bool, inputs: Iterable[Path] = ()) -> None:
        """Refuse now what could not be written later, and to replace one of ``inputs``, whatever ``force`` says."""
        if len({path.absolute() for path in self.paths}) != len(self.paths):
            raise UsageError("two outputs name the same file")
        if self.paths:
            from clonometer.runfile import check_output

            for path in self.paths:
                check_output(path, force, inputs)

    @property
    def paths(self) -> list[Path]:
        """The files that are asked for."""
        return [path for path in (self.html, self.markdown) if path is not None]

    def write(self, document: Document, *, say: bool = True) -> None:
        """Write what was asked for; ``say``: and say so."""
        write = write_and_say if say else write_text
        if self.html is not None:
            from clonometer.views.html.document import render_document_page

            write(self.html, render_document_page(document))
        if self.markdown is not None:
            from clonometer.views.markdown import render_markdown

            write(self.markdown, render_markdown(document))

    def __bool__(self) -> bool:
        return self.html is not None or self.markdown is not None


def picture_format(path: Path, option: str, hint: str | None = None) -> str:
    """Give the format of a picture, which is the ending of its name.

    Raises
    ------
    UsageError
        If there is no such format: ``option`` is what gave the name, ``hint`` the next step.
    """
    from clonometer.views.pictures import FORMATS

    image_format = path.suffix.removeprefix(".").lower()
    if image_format not in FORMATS:
        raise UsageError(f"{option} {path} must end in {' or '.join(map('.{}'.format, FORMATS))}", hint)
    return image_format


def write_and_say(path: Path, content: bytes | str) -> None:
    """Write a file as `write_text` does, and say so on standard error."""
    write_pieces(path, [content])
    click.echo(f"wrote {path}", err=True)


def with_previous_kept(path: Path) -> Path:
    """Keep what has a name that nobody gave as NAME.previous, and give the name."""
    from clonometer.runfile import check_output, previous_path

    check_output(path, True)
    if path.exists():
        path.replace(previous_path(path))
    return path
