"""``clonometer completion``: the script that completes commands and options in a shell."""

from __future__ import annotations

import os
from pathlib import Path

import rich_click as click

from clonometer.cli.options import examples
from clonometer.errors import UsageError

SHELLS = ("bash", "zsh", "fish")

_EXAMPLES = examples(
    "source <(clonometer completion bash)",
    "clonometer completion fish > ~/.config/fish/completions/clonometer.fish",
)


@click.command(name="completion", epilog=_EXAMPLES)
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def command(shell: str | None) -> None:
    """Print the completion script of a shell; by default of the one in $SHELL."""
    from click.shell_completion import get_completion_class

    from clonometer.cli.app import app

    name = shell or Path(os.environ.get("SHELL", "")).name
    kind = get_completion_class(name) if name in SHELLS else None
    if kind is None:
        raise UsageError(f"no completion for the shell {name!r}", f"there is one for {', '.join(SHELLS)}")
    # The template only: click's own source() starts bash to see its version, and complains where there is
    # none.
    completion = kind(app, {}, "clonometer", "_CLONOMETER_COMPLETE")
    click.echo(completion.source_template % completion.source_vars())
