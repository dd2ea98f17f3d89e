"""``clonometer fleet``: many machines; each subcommand's module is imported when it is used."""

from __future__ import annotations

import rich_click as click

from clonometer.cli.group import LazyGroup
from clonometer.cli.options import examples

#: Its place in the list of commands.
ORDER = 200

_EXAMPLES = examples(
    "clonometer fleet run --plan quick --hosts hosts.txt --out fleet/",
    "clonometer fleet show fleet/           what its hosts measured",
    "clonometer fleet compare fleet/ --by kernel",
    "clonometer fleet show fleet/ --html fleet.html",
)


@click.group(name="fleet", cls=LazyGroup, package=__name__, epilog=_EXAMPLES)
def command() -> None:
    """Measure many machines and show how they differ."""
