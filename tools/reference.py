"""The command line's reference, written from the commands themselves: docs/cli.md.

``python -m tools.reference docs/cli.md`` writes it anew; a test fails while the file is not current.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import rich_click as click

from clonometer.cli.group import app
from clonometer.files import write_text
from clonometer.views import statistics
from clonometer.views.exports.openmetrics import metric_name

_HEAD = """\
# The command line

Written by `python -m tools.reference docs/cli.md` from the commands themselves; do not edit it here.

The answer goes to standard output (with `--json` one JSON object and nothing else), progress and warnings to
standard error. `NO_COLOR` is honoured; where the output is not a terminal it has 80 columns and no colour.

| exit status | meaning |
|---|---|
| 0 | complete; what this machine lacks was skipped |
| 1 | `check`: a regression is confirmed; `doctor --self-test`: the instrument measures wrongly here; \
`paths --check`: the book is wrong here |
| 2 | wrong usage or bad input; nothing was measured |
| 3 | cannot tell: `check` and `doctor --self-test` |
| 4 | something is missing: some cells failed or were not reached within the budget; nothing that was named can be \
measured here; a driver cannot be used; or disk or memory is full. What was measured is kept, and the message says \
how to continue |
| 70 | a defect of Clonometer, with its traceback; it says nothing about what was asked |
| 130 | interrupted, by SIGINT, SIGTERM, SIGHUP or SIGQUIT; what was measured is in the run file |
| 141 | the reader of the answer has closed it (SIGPIPE) |

A signal that is ignored when a command starts stays ignored (`nohup`). In the first hundredth of a second, in which
Python itself starts, signals have Python's own answers. `census` passes on the status of its command instead of these.

| environment | meaning |
|---|---|
| `CLONOMETER_BIN` | the folder with the drivers, instead of the one that came with Clonometer |
| `NO_COLOR` | no colour, if set to anything |
| `COLUMNS` | the width to write for |
"""


def reference() -> str:
    """Write the reference as Markdown."""
    context = click.Context(app, info_name="clonometer", **app.context_settings)
    parts = [_HEAD, *_statistics(), *_command("clonometer", app, context)]
    return "\n".join([*parts, *_commands("clonometer", app, context)])


def _commands(title: str, group: click.Group, context: click.Context) -> Iterator[str]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None:
            continue
        inner = click.Context(command, info_name=name, parent=context)
        yield from _command(f"{title} {name}", command, inner)
        if isinstance(command, click.Group):
            yield from _commands(f"{title} {name}", command, inner)


def _statistics() -> Iterator[str]:
    yield "`show --wide`, the page's table of all cells and Markdown have a column for each; OpenMetrics has a gauge:\n"
    yield "| column | field of `--json` | gauge | meaning |\n|---|---|---|---|"
    for statistic in statistics.STATISTICS:
        gauge = metric_name(statistic.metric, statistics.METRIC_UNITS[statistic.kind][0])
        yield f"| {statistic.heading} | `{statistic.key}` | `{gauge}` | {statistic.about} |"
    yield ""


def _command(title: str, command: click.Command, context: click.Context) -> Iterator[str]:
    yield f"## {title}\n"
    pieces = " ".join(command.collect_usage_pieces(context))
    yield f"    {title} {pieces}\n"
    yield from (f"{' '.join(paragraph.split())}\n" for paragraph in (command.help or "").split("\n\n"))
    options = [param for param in command.get_params(context) if isinstance(param, click.Option)]
    yield "| option | meaning |\n|---|---|"
    for option in options:
        yield _option(option, context)
    yield ""
    if command.epilog:
        lines = str(command.epilog).splitlines()
        yield f"{lines[0]}\n"
        yield from (f"  {line}" for line in lines[1:])
        yield ""


def _option(option: click.Option, context: click.Context) -> str:
    # Click keeps the help option of whoever asked first, with or without the short name; every command has both.
    names = "-h, --help" if option.name == "help" else ", ".join(option.opts)
    metavar = "" if option.is_flag else f" {option.make_metavar(context)}"
    default = f" Default: {option.default}." if option.show_default else ""
    cells = (f"`{names}{metavar}`", f"{option.help or ''}{default}")
    return "| {} | {} |".format(*(cell.replace("|", "\\|") for cell in cells))


if __name__ == "__main__":
    write_text(Path(sys.argv[1]), reference())
