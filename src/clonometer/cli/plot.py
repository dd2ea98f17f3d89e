"""``clonometer plot``: one picture of a run."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.answers import read_results
from clonometer.cli.examples import examples
from clonometer.cli.outputs import write_and_say
from clonometer.errors import UsageError

_EXAMPLES = examples(
    "clonometer plot clonometer-run.parquet --kind overview --out overview.png",
    "clonometer plot memory.parquet --kind memory --out memory.svg",
    "clonometer plot vmas.parquet --kind scan --out vmas.png",
    "clonometer plot work-workers.parquet --kind fit --out workers.png",
    "clonometer plot cow.parquet --kind story --out fork.png",
    "clonometer plot cow.parquet --kind gaps --out gaps.png",
    "clonometer plot ipc.parquet --kind messages --out ipc.svg",
)


@click.command(name="plot", epilog=_EXAMPLES)
@click.argument("run_file", metavar="RUN", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    metavar="KIND",
    required=True,
    help="ablation: a gap as shared things are taken away; contention: an operation's cost against the workers; "
    "ecdf: distributions; fit: workers, and curves; footprint: memory of idle tasks; gaps: how many are longer than a "
    "time; isolation: failing workers; memory: time against the parent's memory; messages: latency and bandwidth "
    "against size; overview: medians; ring, working_set: switches against tasks and their work; scan: time against "
    "every other number that the run varies; story: an event and its phases, such as a fork and its aftermath.",
)
@click.option(
    "--out", required=True, metavar="FILE", type=click.Path(path_type=Path), help="The picture: NAME.png or NAME.svg."
)
@click.option("--force", is_flag=True, help="Replace an existing file.")
def command(run_file: Path, kind: str, out: Path, force: bool) -> None:
    """Draw one picture of a run, as in its report."""
    from clonometer.errors import unknown
    from clonometer.runfile import check_output
    from clonometer.views.pictures import FORMATS, KINDS, picture

    if kind not in KINDS:
        raise unknown("picture", kind, KINDS)
    image_format = out.suffix.removeprefix(".").lower()
    if image_format not in FORMATS:
        raise UsageError(
            f"--out {out} is no picture's name", f"a picture ends in {' or '.join(map('.{}'.format, FORMATS))}"
        )
    check_output(out, force)
    write_and_say(out, picture(read_results(run_file), kind, image_format))
