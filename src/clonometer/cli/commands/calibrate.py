"""``clonometer calibrate``: this machine's cost model of fork."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.options import FILE, drawn_seed_option, examples, json_option, out_option, page_options, time_option
from clonometer.cli.outputs import Pages, picture_format, write_and_say
from clonometer.errors import EXIT_INTERRUPTED

#: Its place in the list of commands.
ORDER = 80

_EXAMPLES = examples(
    "clonometer calibrate                   about two minutes",
    "clonometer calibrate --quick           20 s, with wider intervals",
    "clonometer calibrate --plot fit.png    measured against fitted times",
    "clonometer calibrate --json | jq .models",
)


@click.command(name="calibrate", epilog=_EXAMPLES)
@click.option("--quick", is_flag=True, help="Measure fewer conditions: 20 s.")
@time_option(
    "--budget",
    "budget",
    "How long to measure; every condition is measured at least once. Default: 110 s, with --quick 18 s.",
)
@click.option(
    "--plot", metavar="FILE", type=FILE, help="Also plot measured against fitted times: NAME.png or NAME.svg."
)
@out_option("Where to keep it; by default in your data folder.")
@drawn_seed_option("Fixes the order of measuring.")
@json_option
@page_options
def command(
    *,
    quick: bool,
    budget: float | None,
    plot: Path | None,
    out: Path | None,
    seed: int,
    as_json: bool,
    pages: Pages,
) -> int:
    """Measure what fork costs on this machine, for 'clonometer predict'.

    It forks processes with known memory, areas, files and threads, and fits the cost of each. The result is kept in
    your
    data folder ($XDG_DATA_HOME, or ~/.local/share) and replaces the previous one.
    """
    from clonometer.app.calibrating import calibrate
    from clonometer.cli.progress import make_progress
    from clonometer.model.store import default_path, save_calibration
    from clonometer.views.documents.calibration import calibration_document

    if plot is not None:
        from clonometer.views.drawing import check_installed

        # What cannot be drawn is refused before two minutes are measured.
        picture_format(plot, "--plot")
        check_installed()
    path = default_path() if out is None else out
    try:
        made, status = calibrate(quick=quick, budget_s=budget, seed=seed, progress=make_progress())
    except KeyboardInterrupt:
        click.echo("clonometer: interrupted; the previous calibration is kept", err=True)
        return EXIT_INTERRUPTED
    save_calibration(made, path)
    click.echo(f"wrote {path}", err=True)
    if plot is not None:
        from clonometer.views.calibration_picture import calibration_spec
        from clonometer.views.pictures import rendered

        write_and_say(plot, rendered(calibration_spec(made), picture_format(plot, "--plot")))
    print_document(calibration_document, made, pages=pages, as_json=as_json)
    return status


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.model.calibration import Calibration

    return [
        JsonSchema(
            "calibration",
            "What fork, exit, posix_spawn, vfork and copying on write cost on one machine: models fitted to its "
            "measurements. Times are in nanoseconds.",
            {"calibration": Calibration},
            title="clonometer calibrate --json",
            has_nulls=False,
        ),
    ]
