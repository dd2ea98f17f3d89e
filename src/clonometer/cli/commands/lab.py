"""``clonometer lab``: lessons as Jupyter notebooks."""

from __future__ import annotations

from pathlib import Path

import rich_click as click

from clonometer.cli.completing import complete_lessons
from clonometer.cli.console import print_listed
from clonometer.cli.options import FILE, examples, force_option
from clonometer.errors import UsageError

#: Its place in the list of commands.
ORDER = 195
#: In place of a name: list the lessons.
_LIST = "list"

_EXAMPLES = examples(
    "clonometer lab                         lists the lessons",
    "clonometer lab loop-10000              writes loop-10000.ipynb",
    "clonometer lab loop-10000 --teacher    writes loop-10000-teacher.md",
    "clonometer lab fork-memory --out class/first.ipynb",
)


@click.command(name="lab", epilog=_EXAMPLES)
@click.argument("name", metavar="[NAME]", required=False, shell_complete=complete_lessons)
@click.option("--teacher", is_flag=True, help="Write the teacher's sheet: expected figures, answers, common errors.")
@click.option("-o", "--out", metavar="FILE", type=FILE, help="Where to write, instead of NAME.ipynb here.")
@force_option
def command(name: str | None, *, teacher: bool, out: Path | None, force: bool) -> None:
    """Write a lesson of 90 minutes as a Jupyter notebook.

    Without NAME, list the lessons. In each, students guess, measure on their machine, set the result beside a published
    figure, and find what reverses it. No root is needed; each step takes at most 30 s. docs/lab.md is for teachers.
    """
    if name is None or name == _LIST:
        if teacher or out is not None:
            raise UsageError("name a lesson to write", "clonometer lab lists them")
        _list()
        return
    from clonometer.app.lab import write_lesson

    path = write_lesson(name, out=out, teacher=teacher, force=force)
    click.echo(f"wrote {path}", err=True)
    if not teacher:
        click.echo(f"Open it with: jupyter lab {path}   (pip install jupyter)")


def _list() -> None:
    from clonometer.lab.reading import LESSON_MINUTES, load_lessons

    print_listed({lesson.name: f"{lesson.title}. {lesson.teaches}" for lesson in load_lessons()})
    click.echo(f"\nEach takes {LESSON_MINUTES} minutes.")
    click.echo("clonometer lab NAME writes its notebook, with --teacher the teacher's sheet.")
