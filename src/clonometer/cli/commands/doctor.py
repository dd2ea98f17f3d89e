"""``clonometer doctor``: what will distort the numbers on this machine, and whether the instrument is right."""

from __future__ import annotations

import sys

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import PROCESS_ID, examples, json_option, page_options
from clonometer.cli.outputs import Pages
from clonometer.runner.interfaces import SILENT

#: Its place in the list of commands.
ORDER = 130

_EXAMPLES = examples(
    "clonometer doctor",
    "clonometer doctor --json | jq '.items[] | select(.judged == \"warn\")'",
    "clonometer doctor --self-test",
    "clonometer doctor --pid 4711",
)


@click.command(name="doctor", epilog=_EXAMPLES)
@click.option(
    "--self-test",
    "wants_self_test",
    is_flag=True,
    help="Add delays of known length and check that each stage grows by as much.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=2),
    default=8,
    show_default=True,
    help="With --self-test: processes for each known delay.",
)
@click.option("--pid", metavar="PID", type=PROCESS_ID, help="Also predict what fork would cost this process.")
@json_option
@page_options
def command(wants_self_test: bool, rounds: int, pid: int | None, as_json: bool, pages: Pages) -> int:
    """Show what on this machine will distort the figures, how, and which command changes it.

    It reads settings, and measures the noise for two seconds and the cost of CPUID. It changes nothing: the
    commands are for you to run.

    --self-test checks the instrument instead. It adds delays of 20 and 200 us to processes and threads: before the
    call returns, before the child's timestamp, and before its exit. The exit status is 1 if a stage does not grow
    by its delay. It is 3 if that happens while other tasks keep the CPUs busy.
    """
    if wants_self_test:
        return _self_test(rounds, as_json=as_json, pages=pages)
    from clonometer.app.doctor import doctor
    from clonometer.records import to_json
    from clonometer.views.documents.doctor import doctor_document

    audit = doctor(pid)
    process = None if audit.process is None else to_json(audit.process)
    print_document(doctor_document, audit, process, pages=pages, as_json=as_json)
    return 0


def _self_test(rounds: int, *, as_json: bool, pages: Pages) -> int:
    from clonometer.app.self_test import self_test
    from clonometer.cli.progress import make_progress
    from clonometer.errors import EXIT_CANNOT_TELL, EXIT_FAILED_CELLS, EXIT_REGRESSION
    from clonometer.views.documents.self_test import self_test_document

    # In a log the rounds would be noise.
    test = self_test(rounds, make_progress() if sys.stderr.isatty() else SILENT)
    for failure in test.failures:
        click.echo(f"clonometer: {failure}", err=True)
    print_document(self_test_document, test, pages=pages, as_json=as_json)
    if test.failures:
        return EXIT_FAILED_CELLS
    return 0 if test.passed else EXIT_CANNOT_TELL if test.other_running_tasks else EXIT_REGRESSION


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.prediction.audited import ProcessAudit
    from clonometer.results.self_test_types import SelfTest

    return [
        JsonSchema(
            "doctor",
            "What on this machine will move the numbers. Times are in nanoseconds; items may be added.",
            {"audit": ProcessAudit},
            title="clonometer doctor --json",
        ),
        JsonSchema(
            "self-test",
            "How far delays of known length moved each stage, and whether times add up. Times are in nanoseconds.",
            {"test": SelfTest},
            title="clonometer doctor --self-test --json",
        ),
    ]
