"""``clonometer plot``: one picture of a run."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.app.results import read_results
from clonometer.cli.completing import complete_pictures
from clonometer.cli.options import examples, force_option, out_option, run_argument
from clonometer.cli.outputs import picture_format, with_previous_kept, write_and_say

#: Its place in the list of commands.
ORDER = 100

_EXAMPLES = examples(
    "clonometer plot clonometer-run.parquet",
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

        return (
            "; ".join(f"{figure.kind}: {figure.about}" for figure in figures())
            + ". By default the one that shows most of the run."
        )

    # Click sets its help when it makes the option: there is nothing to keep.
    help = property(_kinds, lambda self, value: None)


@click.command(name="plot", epilog=_EXAMPLES)
@run_argument
@click.option("--kind", metavar="KIND", shell_complete=complete_pictures, cls=_KindOption)
@out_option(
    "The picture: NAME.png or NAME.svg; by default RUN-KIND.png, and an existing one becomes RUN-KIND.previous.png."
)
@click.option("--dark", is_flag=True, help="Use a dark background.")
@force_option
def command(run_file: Path, kind: str | None, out: Path | None, dark: bool, force: bool) -> None:
    """Draw one picture of a run, as in its report."""
    from clonometer.errors import unknown
    from clonometer.runfile import check_output
    from clonometer.views.pictures import KINDS, drawable_kinds, leading_kind, picture

    if kind is not None and kind not in KINDS:
        raise unknown("picture", kind, KINDS)
    image_format = "png"
    if out is not None:
        numbers = f"for numbers: clonometer export {run_file} --format csv"
        image_format = picture_format(out, "--out", f"--out {out.with_suffix('.svg')}; {numbers}")
        check_output(out, force, [run_file])
    results = read_results(run_file)
    drawn_kind = kind or leading_kind(results) or "overview"
    drawn = picture(results, drawn_kind, image_format, dark=dark)
    if out is None:
        out = with_previous_kept(Path(f"{run_file.stem}-{drawn_kind}.png"))
    write_and_say(out, drawn)
    others = [name for name in drawable_kinds(results) if name != drawn_kind] if kind is None else []
    if others:
        click.echo(f"This run also has {', '.join(others)}: --kind draws them.", err=True)
