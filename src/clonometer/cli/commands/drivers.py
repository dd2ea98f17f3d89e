"""``clonometer drivers``: the languages whose launches can be measured, and building what measures them."""

from __future__ import annotations

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import examples, json_option, page_options
from clonometer.cli.outputs import Pages
from clonometer.errors import EXIT_FAILED_CELLS

#: Its place in the list of commands.
ORDER = 115
BUILD = "build"

_EXAMPLES = examples(
    "clonometer drivers",
    "clonometer drivers build",
    "clonometer drivers build go java_25_0",
    "clonometer run python.os_thread python.command",
    "clonometer run --plan runtimes",
)


@click.command(name="drivers", epilog=_EXAMPLES)
@click.argument("words", metavar="[build] [LANGUAGE...]", nargs=-1)
@json_option
@page_options
def command(*, words: tuple[str, ...], as_json: bool, pages: Pages) -> int:
    """List the languages whose launches can be measured here, or build what measures them.

    For each language Clonometer has a small program that starts threads and commands in the usual ways. Programs that
    need compiling are built when a run first needs them, with the toolchain in PATH, and kept in your cache folder.
    Other measurements need none of these.

    build does so beforehand, and retries failed builds. The exit status is 4 if a toolchain failed.
    """
    from clonometer.app.languages import build_language_drivers, language_drivers
    from clonometer.launch_paths.drivers import FAILED
    from clonometer.views.documents.languages import languages_document

    if words[:1] == (BUILD,):
        answer = build_language_drivers(words[1:], lambda line: click.echo(line, err=True))
    else:
        answer = language_drivers(words)
    print_document(languages_document, answer, pages=pages, as_json=as_json)
    return EXIT_FAILED_CELLS if words[:1] == (BUILD,) and answer.counts[FAILED] else 0


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.launch_paths.drivers import LanguageDrivers

    return [
        JsonSchema(
            "drivers",
            "What `clonometer drivers --json` prints: the languages whose launches can be measured on this machine.",
            {"drivers": LanguageDrivers},
            "clonometer drivers --json",
        )
    ]
