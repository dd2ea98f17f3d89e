"""Progress on standard error, redrawn only while no driver measures."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.console import can_write, wants_colour
from clonometer.runner.interfaces import Progress
from clonometer.verdicts import Word

if TYPE_CHECKING:
    from rich.console import Group
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    from clonometer.plan.types import Plan, Target
    from clonometer.results.types import Results

#: Of the answer so far and its bar: what a terminal has that nobody has made larger.
MOST_LINES = 24
PLAIN_EVERY_S, COUNT_EVERY_S = 10.0, 2.0
_MINUTES_FROM_S, _HOURS_FROM_S = 120.0, 7200.0


def make_progress() -> PlainProgress | BarProgress:
    """A bar on a terminal, else a plain line now and then."""
    return BarProgress() if sys.stderr.isatty() else PlainProgress()


def name_of(target: Target) -> str:
    """The target's condition without its temperatures, which one process measures together."""
    from clonometer.words import cell_parts, cell_text

    workload, parts = cell_parts(target.cells[0].text)
    return cell_text(workload, (part for part in parts if not part.startswith("temperature=")))


def span(seconds: float) -> str:
    """Write how long something lasts, roughly.

    Examples
    --------
    >>> span(7.2), span(119), span(121), span(37_604)
    ('7 s', '119 s', '2 min', '10 h')
    """
    if seconds < _MINUTES_FROM_S:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < _HOURS_FROM_S else f"{seconds / 3600:.0f} h"


class _Reporting(Progress):
    """Says what went wrong, each sentence once; ``reported`` has those."""

    count_every_s = PLAIN_EVERY_S

    def __init__(self) -> None:
        self.reported: set[str] = set()
        self._count_began_s = self._counted_s = time.monotonic()

    def process_started(self, target: Target, process: int, elapsed_s: float, remaining_s: float | None) -> None:
        """Show the target that is next."""
        self.start_begins(name_of(target), elapsed_s, remaining_s)

    def process_ended(self, target: Target, process: int, status: str, reason: str | None) -> None:
        """Say a failure or a skip."""
        line = f"{name_of(target)} {status}: {reason}"
        if status not in ("ok", "interrupted") and line not in self.reported:
            self.reported.add(line)
            self.say(line)

    def left_behind(self, paths: Sequence[str]) -> None:
        """Say where they are."""
        self.say(f"could not be removed, please remove: {' '.join(map(shlex.quote, paths))}", to_copy=True)

    def counted(self, what: str, done: int, of: int) -> None:
        """Show now and then how many are done, and how long the others will take."""
        now = time.monotonic()
        if done == 0:
            self._count_began_s = self._counted_s = now
            return
        was_shown = self._counted_s > self._count_began_s
        if now - self._counted_s >= self.count_every_s or (was_shown and done == of):
            self._counted_s = now
            left_s = (now - self._count_began_s) / done * (of - done)
            left = f", about {span(left_s)} left" if done < of else ""
            self.show_count(f"{what}: {done:,} of {of:,}{left}", last=done == of)

    def show_count(self, line: str, *, last: bool) -> None:
        """Print the line."""
        self.say(line)

    def say(self, line: str, *, to_copy: bool = False) -> None:
        """Print a line on standard error; one that people copy is not wrapped."""
        click.echo(line, err=True)


class PlainProgress(_Reporting):
    """For logs: what is measured, about every ten seconds, and each failure once."""

    def __init__(self) -> None:
        super().__init__()
        self._next_s = 0.0
        self._told_ids: set[str] = set()

    def run_started(self, plan: Plan) -> None:
        """Say what will be measured."""
        from clonometer.plan.adhoc import ADHOC

        count = len(plan.cells)
        cells = f"{count} {'condition' if count == 1 else 'conditions'}"
        # A few conditions are narrow, or decided, long before their time is over.
        what, limit = (plan.title, "at most") if plan.name == ADHOC else (f"the plan {plan.name}", "about")
        self.say(f"measuring {what}: {cells}, {limit} {span(plan.budget_seconds)}")
        self.starts_begin()

    def starts_begin(self) -> None:
        """Wait for ten seconds."""
        self._next_s = time.monotonic() + PLAIN_EVERY_S

    def start_begins(self, what: str, elapsed_s: float, remaining_s: float | None) -> None:
        """Say where we are, if ten seconds have passed."""
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + PLAIN_EVERY_S
            left = "" if remaining_s is None else f", about {span(remaining_s)} left"
            self.say(f"{span(elapsed_s)} measured{left}: {what}")

    def answered(self, answer: Results, elapsed_s: float) -> None:
        """Say each sentence of the answer once, as soon as it is sure."""
        for finding in answer.first.answer:
            if finding.numbers.get("sureness") == Word.SURE and finding.id not in self._told_ids:
                self._told_ids.add(finding.id)
                self.say(f"sure after {elapsed_s:.1f} s: {finding.sentence}")


class BarProgress(_Reporting):
    """For people: the answer so far and a bar with what is measured, and above them what went wrong."""

    count_every_s = COUNT_EVERY_S

    def __init__(self) -> None:
        super().__init__()
        self._live: Live | None = None
        self._answer: Text | None = None

    def run_started(self, plan: Plan) -> None:
        """Open the bar."""
        self.starts_begin()

    def starts_begin(self) -> None:
        """Open the bar."""
        from rich.console import Console
        from rich.live import Live

        console = Console(stderr=True, no_color=not wants_colour(sys.stderr))
        # No thread that redraws: a refreshing bar is load on another CPU while something is measured.
        self._live = Live(console=console, auto_refresh=False, transient=True)
        self._live.start()

    def start_begins(self, what: str, elapsed_s: float, remaining_s: float | None) -> None:
        """Draw once; then nothing moves until it has ended."""
        if self._live is not None:
            bar = _bar(what, elapsed_s, remaining_s)
            self._live.update(bar if self._answer is None else _above(self._answer, bar), refresh=True)

    def answered(self, answer: Results, elapsed_s: float) -> None:
        """Take the answer so far: it is drawn with the next bar."""
        if self._live is None:
            return
        from rich.text import Text

        from clonometer.views.terminal import render_so_far

        console = self._live.console
        # The bar and a line of the shell's below it.
        room = max(1, min(console.height, MOST_LINES) - 2)
        draw = partial(render_so_far, answer, width=console.width, lines=room, colour=not console.no_color)
        text = draw()
        text = text if can_write(sys.stderr, text) else draw(ascii_only=True)
        self._answer = Text.from_ansi(text.rstrip("\n"), no_wrap=True, overflow="crop")

    def show_count(self, line: str, *, last: bool) -> None:
        """Print the line in the place of the one before, of which nothing is left."""
        click.echo(f"\r{line}\x1b[K" + ("\n" if last else ""), nl=False, err=True)

    def say(self, line: str, *, to_copy: bool = False) -> None:
        """Print a line, above the bar while there is one."""
        if self._live is None:
            super().say(line)
        else:
            self._live.console.print(line, markup=False, highlight=False, soft_wrap=to_copy)

    def run_ended(self, status: str, reason: str | None) -> None:
        """Remove the bar."""
        if self._live is not None:
            self._live.stop()
            self._live = self._answer = None


def _above(answer: Text, bar: Table) -> Group:
    from rich.console import Group

    return Group(answer, bar)


def _bar(what: str, elapsed_s: float, remaining_s: float | None) -> Table:
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    total_s = elapsed_s + (remaining_s or 0.0)
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=20)
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    table.add_column(no_wrap=True, justify="right")
    left = "" if remaining_s is None else f"{span(remaining_s)} left"
    table.add_row(ProgressBar(total=total_s or 1.0, completed=elapsed_s, width=20), what, left)
    return table
