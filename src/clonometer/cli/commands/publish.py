"""``clonometer publish``: one small file of a machine's medians, without anything of who measured them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import rich_click as click

from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import examples, force_option, out_option, run_argument
from clonometer.cli.outputs import write_and_say
from clonometer.errors import UsageError

#: Its place in the list of commands.
ORDER = 220

_EXAMPLES = examples(
    "clonometer publish run.parquet --anonymous",
    "clonometer publish run.parquet --anonymous --out mine.clonometer.json --yes",
)


@click.command(name="publish", epilog=_EXAMPLES)
@run_argument
@click.option("--anonymous", is_flag=True, help="Leave out who measured it (required; the only mode).")
@out_option("The file; by default the run's name.clonometer.json.")
@click.option("--yes", is_flag=True, help="Write it without asking.")
@force_option
def command(run_file: Path, *, anonymous: bool, out: Path | None, yes: bool, force: bool) -> None:
    """Write one small file about a run that you can share: facts about the machine, and medians.

    It is shown before it is written. docs/sharing.md lists what is kept. Everything else is dropped: names of hosts
    and users, paths, serial numbers, identifiers, the command line, the time of day. Nothing is sent anywhere.
    """
    from clonometer.app.measuring import find_catalogue
    from clonometer.cli.progress import make_progress
    from clonometer.dataset.publish import scrub
    from clonometer.dataset.published import PUBLISHED_SUFFIX
    from clonometer.records import to_json
    from clonometer.runfile import check_output

    if not anonymous:
        raise UsageError("publish makes anonymous summaries only", f"clonometer publish {run_file} --anonymous")
    target = out or run_file.with_name(f"{run_file.stem}{PUBLISHED_SUFFIX}")
    check_output(target, force)
    scrubbed = scrub(run_file, find_catalogue(make_progress())[1])
    document = to_json(scrubbed.published)
    text = _text(document)
    click.echo(text, nl=False)
    dropped = f"{len(scrubbed.dropped_facts)} facts and {scrubbed.dropped_rows} rows"
    click.echo(f"dropped: {dropped} ({', '.join(scrubbed.dropped_facts[:6])}, ...)", err=True)
    if not yes and not sys.stdin.isatty():
        raise UsageError(f"{target} was not written: there is no terminal on which to ask", "read it, and add --yes")
    if yes or click.confirm(f"Write this to {target}?", err=True):
        write_and_say(target, text)


def _text(document: dict[str, object]) -> str:
    """Write it so that people can read it: a line a fact, a line a row."""
    rows = document["rows"]
    assert isinstance(rows, list)
    head = json.dumps({**document, "rows": []}, indent=1, allow_nan=False)
    lines = ",\n".join(f"  {json.dumps(row, allow_nan=False)}" for row in rows)
    return head.removesuffix("[]\n}") + f"[\n{lines}\n ]\n}}\n"


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.dataset.published import PublishedSummary

    return [
        JsonSchema(
            "published",
            "What a machine measured, and nothing about who measured it (docs/sharing.md).",
            {"published": PublishedSummary},
            title="clonometer publish --anonymous",
        ),
    ]
