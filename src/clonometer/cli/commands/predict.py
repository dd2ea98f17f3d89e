"""``clonometer predict``: what fork would cost in a running process."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.cli.console import print_document
from clonometer.cli.json_schemas import JsonSchema
from clonometer.cli.metrics_file import check_metrics_file
from clonometer.cli.options import (
    FILE,
    PROCESS_ID,
    SIZE_PER_SECOND,
    examples,
    force_option,
    json_option,
    number_option,
    page_options,
    time_option,
)
from clonometer.cli.outputs import Pages
from clonometer.errors import OutputError, UsageError

if TYPE_CHECKING:
    from clonometer.cli.predict_tasks import PredictRequest

_OUR_GAUGES = "# TYPE clonometer_fork_predicted_seconds"
#: Its place in the list of commands.
ORDER = 180

_EXAMPLES = examples(
    "clonometer predict --pid 4711",
    "clonometer predict --pid 4711 --write-rate 50MiB --fork-every 60s",
    "clonometer predict --all               whose fork costs most?",
    "clonometer predict --pid 4711 --save-profile server.json",
    "clonometer predict --pid 4711 --openmetrics fork.prom",
)


@click.command(name="predict", epilog=_EXAMPLES)
@click.option("--pid", metavar="PID", type=PROCESS_ID, help="The process.")
@click.option("--all", "rank_all", is_flag=True, help="Rank all processes by what fork would cost.")
@click.option("--profile", metavar="FILE", type=FILE, help="A file that --save-profile wrote.")
@click.option(
    "--how",
    metavar="WAY",
    type=click.Choice(["auto", "smaps", "pagemap", "counters"]),
    default="auto",
    show_default=True,
    help="smaps (sees most, and holds its memory lock longest), pagemap or counters.",
)
@click.option("--write-rate", metavar="SIZE", type=SIZE_PER_SECOND, help="Memory newly written to per second.")
@time_option(
    "--measure-writes",
    "measure_s",
    "Measure that rate for this long, through clear_refs; explains first what that does.",
)
@time_option("--child-lives", "child_lives_s", "How long the child lives.", default="10s")
@time_option("--fork-every", "forks_every_s", "Time between its forks, to estimate how much it rewrites.")
@number_option("--top", "top", "With --all.", 15)
@click.option("--rough", is_flag=True, help="Predict without a calibration.")
@click.option("--no-scan", is_flag=True, help="Do not measure for 4 s how fast and how busy it is now.")
@number_option(
    "--validate",
    "validated",
    "Fork N processes with random memory, areas and threads, and print the errors.",
)
@click.option("--save-profile", metavar="FILE", type=FILE, help="Save what was read, without names.")
@click.option("--names", is_flag=True, help="Include names of program and files.")
@click.option("--openmetrics", metavar="FILE", type=FILE, help="Write gauges for a textfile collector.")
@json_option
@page_options
@force_option
def command(*, validated: int | None, pages: Pages, **asked: object) -> None:
    """Say what fork would cost in a running process, why, and what would change it.

    The process is only read, through /proc: it is not stopped, and gets no signal. Times come from this machine's
    calibration (clonometer calibrate). docs/predict.md says more.

    Exit status 2: no such process, or it cannot fork; 3: it exited while being read.
    """
    from clonometer.cli.predict_tasks import (
        PredictRequest,
        find_machine,
        predict_all,
        predict_process,
        predict_profile,
    )

    request = PredictRequest(**asked)  # type: ignore[arg-type] # click has checked them
    if validated is not None:
        from clonometer.app.validating import validate
        from clonometer.cli.progress import make_progress
        from clonometer.views.documents.validation import validation_document

        if request.pid is not None or request.rank_all or request.profile is not None:
            raise UsageError("--validate creates the processes itself", "give it without --pid, --all and --profile")
        checked = validate(validated, progress=make_progress())
        print_document(validation_document, checked, pages=pages, as_json=request.as_json)
        return
    from clonometer.views.documents.predict import predicted_document, ranking_document

    _check(request)
    machine = partial(find_machine, rough=request.rough, scan=not request.no_scan)
    if request.pid is not None:
        document = predict_process(request.pid, machine, request)
    elif request.profile is not None:
        document = predict_profile(request.profile, machine(), request)
    else:
        document = predict_all(machine(), request)
    build = ranking_document if request.rank_all else predicted_document
    print_document(build, document, pages=pages, as_json=request.as_json)


def _check(request: PredictRequest) -> None:
    if sum((request.pid is not None, request.rank_all, request.profile is not None)) != 1:
        raise UsageError(
            "which process?", "give --pid PID, --all or --profile FILE; 'clonometer predict --all' ranks them all"
        )
    if request.measure_s is not None and request.pid is None:
        raise UsageError("--measure-writes needs a running process", "give --pid")
    if request.measure_s is not None and request.write_rate is not None:
        raise UsageError("--write-rate states what --measure-writes measures", "give only one of them")
    if request.forks_every_s is not None and request.write_rate is None and request.measure_s is None:
        raise UsageError("--fork-every needs a rate of writing", "give --write-rate or --measure-writes")
    _check_output(request.save_profile, force=request.force)
    if request.openmetrics is not None:
        check_metrics_file(request.openmetrics, _OUR_GAUGES, force=request.force)
    if request.profile is not None and request.save_profile is not None:
        raise UsageError("--save-profile saves a running process", "give --pid")


def _check_output(path: Path | None, *, force: bool) -> None:
    if path is not None and path.exists() and not force:
        raise OutputError(f"{path} exists", "choose another name, or --force to replace it")


def json_schemas() -> list[JsonSchema]:
    """Describe what it writes as JSON."""
    from clonometer.model.validated import Validation
    from clonometer.prediction.answer import Predicted
    from clonometer.prediction.profile import Profile
    from clonometer.prediction.ranking import Ranking

    return [
        JsonSchema(
            "predict",
            "What fork and its alternatives would cost a process (predicted), or all processes (ranking, from "
            "predict --all). Times are in nanoseconds; 90% lie between low and high.",
            {"predicted": Predicted, "ranking": Ranking},
            title="clonometer predict --json",
        ),
        JsonSchema(
            "predict-profile",
            "What the cost of a process's fork depends on, apart from the machine.",
            {"profile": Profile},
            title="clonometer predict --save-profile",
        ),
        JsonSchema(
            "validation",
            "Predictions for processes created for the purpose, compared with their forks. Times are in nanoseconds.",
            {"validation": Validation},
            title="clonometer predict --validate --json",
            has_nulls=False,
        ),
    ]
