"""How the hosts of a fleet get on: a table on a terminal, a line for each event elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.console import wants_colour
from clonometer.views.terminal.text import clean

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live

    from clonometer.fleet.controller import Watcher
    from clonometer.fleet.dispatch import HostAccount

# Whom one looks for first; the others follow by name.
_ORDER = ("measures", "gone", "busy", "given up", "ready", "done")
_STYLES = {"measures": "bold", "gone": "yellow", "busy": "yellow", "given up": "red", "done": "green"}
# For the heading, the sum, and the line where one types.
_OTHER_LINES = 5
_WIDEST_NAME = 30


@contextmanager
def watching(rounds: int) -> Iterator[Watcher]:
    """Show on standard error how each host gets on, for as long as the block lasts."""
    if not sys.stderr.isatty():
        yield Lines()
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, no_color=not wants_colour(sys.stderr))
    # Drawn anew when something happens, by no clock: with --local this is the machine that is measured.
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield HostTable(live, rounds)


class Lines:
    """A line for whatever becomes of a host."""

    def changed(self, account: HostAccount, event: str) -> None:
        """Say it."""
        self.log(f"{account.name}: {event}")

    def log(self, text: str) -> None:
        """Say it; hosts quote what programs wrote there."""
        click.echo(clean(text), err=True)


class HostTable:
    """A row for each host, those that measure first; what went wrong also stays above the table."""

    def __init__(self, live: Live, rounds: int) -> None:
        self._live = live
        self._rounds = rounds
        self._hosts: dict[str, HostAccount] = {}
        self._events: dict[str, str] = {}
        self._reasons: dict[str, str | None] = {}

    def changed(self, account: HostAccount, event: str) -> None:
        """Draw the table anew."""
        self._hosts[account.name], self._events[account.name] = account, clean(event)
        if account.reason is not None and account.reason != self._reasons.get(account.name):
            self.log(f"{account.name}: {event}")
        self._reasons[account.name] = account.reason
        self._live.update(self._table(), refresh=True)

    def log(self, text: str) -> None:
        """Say it above the table."""
        self._live.console.print(clean(text), markup=False, highlight=False, soft_wrap=True)

    def _table(self) -> Group:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        hosts = sorted(self._hosts.values(), key=lambda account: (_ORDER.index(account.state), account.name))
        room = max(1, self._live.console.height - _OTHER_LINES)
        table = Table(box=None, pad_edge=False, expand=False)
        longest = max((len(account.name) for account in hosts), default=0)
        table.add_column("host", no_wrap=True, width=min(_WIDEST_NAME, max(4, longest)))
        table.add_column("rounds", justify="right", no_wrap=True, min_width=len(f"{self._rounds} of {self._rounds}"))
        table.add_column("now")
        for account in hosts[:room]:
            rounds = f"{len(account.rounds)} of {self._rounds}"
            # Names and reasons come from other machines: text, and no markup.
            style = _STYLES.get(account.state, "")
            now = Text(self._events[account.name], style=style, no_wrap=True, overflow="ellipsis")
            table.add_row(Text(account.name), rounds, now)
        done = sum(account.state == "done" for account in hosts)
        files = sum(len(account.rounds) for account in hosts)
        more = f"; {len(hosts) - room} more hosts are not shown" if len(hosts) > room else ""
        return Group(table, Text(f"{done} of {len(hosts)} hosts are done, {files} rounds are in{more}"))
