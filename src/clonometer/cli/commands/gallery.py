"""``clonometer gallery``: a static site of published summaries."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.options import FILE, examples, out_option
from clonometer.errors import OutputError
from clonometer.files import write_text

#: Its place in the list of commands.
ORDER = 230

_EXAMPLES = examples(
    "clonometer gallery summaries/ --out site/",
    "clonometer gallery summaries/ --out site/ --force",
)


@click.command(name="gallery", epilog=_EXAMPLES)
@click.argument("folder", metavar="FOLDER", type=FILE)
@out_option("The site's folder.", required=True, metavar="SITE")
@click.option("--force", is_flag=True, help="Write into a folder that is not empty.")
def command(folder: Path, out: Path, force: bool) -> None:
    """Build a static site from published summaries: search by processor or kernel; find machines like yours.

    It needs no server and fetches nothing: open SITE/index.html. FOLDER holds files that 'clonometer publish' wrote.
    """
    from clonometer.dataset.gallery import read_gallery
    from clonometer.views.html.gallery import gallery_site

    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not force)):
        raise OutputError(f"{out} exists and is not empty", "name another folder, or write into it with --force")
    gallery = read_gallery(folder)
    for name, text in gallery_site(gallery).items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        write_text(out / name, text)
    count = len(gallery.machines)
    click.echo(f"wrote {out / 'index.html'}: {count} machine{'' if count == 1 else 's'}", err=True)
    for file in gallery.left_out:
        click.echo(f"left out {file.path}: {file.reason}", err=True)
