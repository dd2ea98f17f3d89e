"""Where the answer of ``clonometer explain`` goes: standard output, and the files that are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.outputs import picture_format, write_and_say
from clonometer.errors import UsageError

if TYPE_CHECKING:
    from clonometer.tracing.work.types import AnyExplanation


@dataclass(frozen=True)
class Outputs:
    """Where the answer goes beside standard output."""

    as_json: bool
    out: Path | None
    html: Path | None
    markdown: Path | None
    trace: Path | None
    picture: Path | None
    folded: Path | None
    force: bool

    def check(self) -> None:
        """Refuse now what could not be written later."""
        from clonometer.runfile import check_output

        named = [
            path
            for path in (self.out, self.html, self.markdown, self.trace, self.picture, self.folded)
            if path is not None
        ]
        for path in named:
            check_output(path, self.force)
        if len({path.absolute() for path in named}) != len(named):
            raise UsageError("two outputs name the same file")
        if self.picture is not None:
            from clonometer.views.drawing import check_installed

            check_installed()
            picture_format(self.picture, "--picture")

    def answer(self, explanation: AnyExplanation, print_text: Callable[[], None]) -> None:
        """Print an explanation, then make and write what else was asked for, and say so."""
        from clonometer.records import to_json

        text = json.dumps(to_json(explanation), indent=2, allow_nan=False)
        if self.as_json:
            click.echo(text)
        else:
            print_text()
        makers: dict[str, Callable[[], bytes | str]] = {
            "out": lambda: text + "\n",
            "html": lambda: _page(explanation),
            "markdown": lambda: _markdown(explanation),
            "trace": lambda: _trace_events(explanation),
            "picture": lambda: _picture(explanation, self.picture),
            "folded": lambda: _folded(explanation),
        }
        asked = {name: path for name in makers if (path := getattr(self, name)) is not None}
        # All are made before one is written: a failure leaves no half answer behind.
        made = {path: makers[name]() for name, path in asked.items()}
        for path, content in made.items():
            write_and_say(path, content)


def _page(explanation: AnyExplanation) -> str:
    from clonometer.views.documents.explain import explanation_document
    from clonometer.views.html.document import render_document_page

    return render_document_page(explanation_document(explanation))


def _markdown(explanation: AnyExplanation) -> str:
    from clonometer.views.documents.explain import explanation_document
    from clonometer.views.markdown import render_markdown

    return render_markdown(explanation_document(explanation))


def _trace_events(explanation: AnyExplanation) -> str:
    from clonometer.views.trace_events import trace_events

    return json.dumps(trace_events(explanation), allow_nan=False) + "\n"


def _picture(explanation: AnyExplanation, path: Path | None) -> bytes | str:
    from datetime import UTC, datetime

    from clonometer.host.facts import collect
    from clonometer.views.explain_picture import explain_picture
    from clonometer.views.pictures import provenance

    made = provenance(collect(), datetime.now(UTC).isoformat())
    return explain_picture(explanation, path.suffix.lower().removeprefix(".") if path is not None else "", made)


def _folded(explanation: AnyExplanation) -> str:
    """Lines as flame graphs take them; of two mechanisms each stack begins with its own."""
    mechanisms = getattr(explanation, "mechanisms", ())
    return "".join(
        f"{mechanism.workload + ';' if len(mechanisms) > 1 else ''}{stack} {count}\n"
        for mechanism in mechanisms
        for stack, count in mechanism.stacks.items()
    )
