"""``clonometer plot``: one picture of a run."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.answers import read_results
from clonometer.cli.options import FILE, examples, force_option, run_argument
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


class _KindOption(click.Option):
    """Lists the kinds of figures in its help, which are imported only where somebody reads it."""

    def _kinds(self) -> str:
        from clonometer.views.figures import figures

        return "; ".join(f"{figure.kind}: {figure.about}" for figure in figures()) + "."

    # Click sets its help when it makes the option: there is nothing to keep.
    help = property(_kinds, lambda self, value: None)


@click.command(name="plot", epilog=_EXAMPLES)
@run_argument
@click.option("--kind", metavar="KIND", required=True, cls=_KindOption)
@click.option("-o", "--out", required=True, metavar="FILE", type=FILE, help="The picture: NAME.png or NAME.svg.")
@force_option
def command(run_file: Path, kind: str, out: Path, force: bool) -> None:
    """Draw one picture of a run, as in its report."""
    from clonometer.errors import unknown
    from clonometer.runfile import check_output
    from clonometer.views.pictures import FORMATS, KINDS, picture

    if kind not in KINDS:
        raise unknown("picture", kind, KINDS)
    image_format = out.suffix.removeprefix(".").lower()
    if image_format not in FORMATS:
        raise UsageError(f"--out {out} must end in {' or '.join(map('.{}'.format, FORMATS))}")
    check_output(out, force)
    write_and_say(out, picture(read_results(run_file), kind, image_format))
