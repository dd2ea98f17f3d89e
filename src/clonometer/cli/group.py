"""The command group; each subcommand's module is imported when it is used."""

from __future__ import annotations

import pkgutil
from functools import cached_property
from importlib import import_module
from typing import Any

import rich_click as click

from clonometer.cli.options import examples
from clonometer.errors import UsageError, unknown

#: Where the commands are: a module each, of its name (_ for -), with ``command`` and ``ORDER``, its place.
COMMANDS = "clonometer.cli.commands"

_EXAMPLES = examples(
    "clonometer run                         the default plan, about a minute",
    "clonometer run launch.fork launch.pthread --set parent_bytes=0,1GiB",
    "clonometer show clonometer-run.parquet --wide",
    "clonometer report clonometer-run.parquet --out report.html",
    "clonometer explain launch.fork --vs launch.pthread",
    "clonometer census -- make              which tasks a program really creates",
    "clonometer predict --pid 4711          what would fork cost in that process?",
    "clonometer reproduce threads are 13 times faster    does that hold here?",
    "clonometer ab fork --b linkage=musl    in pairs: is B slower than A?",
    "clonometer compare before.parquet after.parquet",
    "clonometer check after.parquet --baseline before.parquet",
    "clonometer list                        what this machine can measure",
    "clonometer doctor --self-test          does it measure correctly here?",
)


class LazyGroup(click.RichGroup):
    """A group whose commands are the modules of a package, which are imported only when they are used or listed."""

    def __init__(self, *words: Any, package: str = COMMANDS, **options: Any) -> None:
        super().__init__(*words, **options)
        self._package = package

    @cached_property
    def names(self) -> list[str]:
        """Name the commands, and import none."""
        return [module.name.replace("_", "-") for module in pkgutil.iter_modules(import_module(self._package).__path__)]

    def list_commands(self, ctx: click.Context | None) -> list[str]:
        """Name the commands in the order in which they are usually wanted."""
        return sorted(self.names, key=lambda name: self._module(name).ORDER)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None if there is none of that name."""
        if cmd_name not in self.names:
            return None
        command = self._module(cmd_name).command
        return command if isinstance(command, click.Command) else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is answered with the nearest match."""
        if args and not args[0].startswith("-") and args[0] not in self.names:
            from clonometer.cli.habits import command_is_meant

            meant = command_is_meant(args[0]) if self._package == COMMANDS else None
            error = unknown("command", args[0], self.names)
            raise error if meant is None else UsageError(f"unknown command {args[0]!r}", meant)
        return super().resolve_command(ctx, args)

    def _module(self, name: str) -> Any:
        return import_module(f"{self._package}.{name.replace('-', '_')}")


def _print_version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from clonometer._version import __version__

        click.echo(f"clonometer {__version__}")
        ctx.exit()


@click.group(
    cls=LazyGroup,
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
def app() -> None:
    """Clonometer tells you what a task costs on this machine, why, and what to do about it.

    A task is anything that clone() creates: a process, a thread, or something in between.
    """
