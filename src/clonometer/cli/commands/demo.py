"""``clonometer demo``: the studies' teaching programs, shown, run and explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.completing import complete_demos
from clonometer.cli.console import print_drawn, print_json, print_listed
from clonometer.cli.options import examples, json_option
from clonometer.errors import UsageError

if TYPE_CHECKING:
    from clonometer.studies.demonstrations import Demo

#: Its place in the list of commands.
ORDER = 190

_EXAMPLES = examples(
    "clonometer demo                        lists them",
    "clonometer demo clone-vm",
    "clonometer demo cow --source > cow.c && gcc -O2 -o cow cow.c",
    "clonometer demo argument-race --json | jq .values",
)


@click.command(name="demo", epilog=_EXAMPLES)
@click.argument("name", metavar="[NAME]", required=False, shell_complete=complete_demos)
@click.option("--source", is_flag=True, help="Print the whole C program, which compiles on its own, and run nothing.")
@json_option
def command(name: str | None, source: bool, as_json: bool) -> None:
    """Show a few lines of C, run them here, and explain what was seen.

    Without NAME, list the demos.
    """
    from clonometer.studies.demonstrations import DEMOS, find_demo

    if name is None:
        if source:
            raise UsageError("--source needs the name of a demo", f"available: {', '.join(d.name for d in DEMOS)}")
        _list(DEMOS, as_json)
        return
    if source:
        click.echo(find_demo(name).source, nl=False)
        return
    from clonometer.app.demo import demo

    seen = demo(name)
    if as_json:
        print_json({"demo": seen.demo.name, "title": seen.demo.title, "build": seen.demo.build,
                    "values": dict(seen.values), "explanation": list(seen.explanation)})  # fmt: skip
        return
    from clonometer.views.terminal.demo import render_demo

    print_drawn(render_demo, seen.demo, seen.output, seen.explanation)


def _list(demos: tuple[Demo, ...], as_json: bool) -> None:
    if as_json:
        print_json({"demos": [{"name": demo.name, "title": demo.title} for demo in demos]})
        return
    print_listed({demo.name: demo.title for demo in demos})
