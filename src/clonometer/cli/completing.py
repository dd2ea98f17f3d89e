"""What a shell completes besides commands, options and files: the names that this machine's catalogue and ours have.

A shell asks at each press of TAB, so that each function imports only what its names need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

import rich_click as click

from clonometer.errors import ClonometerError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from clonometer.plan.types import Catalogue

#: What an argument or option takes as ``shell_complete``.
Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
_SIDES = ("env:", "driver=", "do=", "undo=")


def _completing(names: Callable[[click.Context, str], Iterable[str]], *, files: bool = False) -> Complete:
    """Complete from names; ``files``: or with those of the folder, where no name begins so."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        try:
            known = sorted({name for name in names(ctx, incomplete) if name.startswith(incomplete)})
        except ClonometerError:
            # A shell that waits for names has no place for the reason why there are none.
            known = []
        return [*map(CompletionItem, known)] or ([CompletionItem(incomplete, type="file")] if files else [])

    return complete


def _catalogue() -> Catalogue:
    from clonometer.app.measuring import find_catalogue

    return find_catalogue()[1]


def _workloads(known: Collection[str], incomplete: str) -> list[str]:
    """Ids; once something is typed, also the last words that mean one id."""
    from clonometer.words import mechanism_name

    last = Counter(id_.rpartition(".")[2] for id_ in known)
    called = {mechanism_name(id_) for id_ in known}
    return [*known, *(word for word, times in last.items() if (times == 1 or word in called) and incomplete)]


def _named(ctx: click.Context) -> list[str]:
    """The workloads that the line names before: click leaves them in ``args`` where an option's value is missing."""
    return list(ctx.args)


def _settings(ctx: click.Context, incomplete: str) -> list[str]:
    """``AXIS=`` of the workloads that the line names, or of any; after that its values, as a list with commas."""
    from clonometer.plan.catalogue import TEMPERATURES
    from clonometer.plan.names import full_name

    catalogue = _catalogue()
    values = {name: axis.values for name, axis in catalogue.axes.items()} | {"temperature": TEMPERATURES}
    name, equals, value = incomplete.partition("=")
    if equals:
        chosen, comma, _ = value.rpartition(",")
        rest = [each for each in values.get(name, ()) if each not in chosen.split(",")]
        return [f"{name}={chosen}{comma}{each}" for each in rest]
    workloads = [catalogue.workloads[full_name(word, catalogue.workloads)] for word in _named(ctx)]
    axes = {axis for workload in workloads for axis in workload.axes} | {"temperature"}
    return [f"{axis}=" for axis in (axes if workloads else values)]


def _stages(catalogue: Catalogue) -> set[str]:
    return {quantity.stage for quantity in catalogue.quantities.values() if quantity.stage is not None}


def _explained(ctx: click.Context, incomplete: str) -> set[str]:
    """All that ``list NAME`` explains."""
    catalogue = _catalogue()
    values = {value for axis in catalogue.axes.values() for value in axis.values}
    groups = {id_.partition(".")[0] for id_ in catalogue.workloads}
    names = {*_workloads(catalogue.workloads, incomplete), *catalogue.axes, *values, *groups, *_stages(catalogue)}
    return {*names, *_plans(ctx, incomplete)}


def _plans(ctx: click.Context, incomplete: str) -> list[str]:
    from clonometer.plan.shipped import plan_names

    return plan_names()


def _pictures(ctx: click.Context, incomplete: str) -> list[str]:
    from clonometer.views.figures import figures

    return [figure.kind for figure in figures()]


def _studies(ctx: click.Context, incomplete: str) -> Iterable[str]:
    from clonometer.studies.published import load_published

    published = load_published()
    return [*published.studies, *(item.id for item in published.items)]


def _demos(ctx: click.Context, incomplete: str) -> list[str]:
    from clonometer.studies.demonstrations import DEMOS

    return [demo.name for demo in DEMOS]


def _lessons(ctx: click.Context, incomplete: str) -> list[str]:
    from clonometer.lab.reading import load_lessons

    return [lesson.name for lesson in load_lessons()]


def names_of(*names: str) -> Complete:
    """Complete from these names."""
    return _completing(lambda ctx, incomplete: names)


complete_workloads = _completing(lambda ctx, incomplete: _workloads(_catalogue().workloads, incomplete))
complete_settings = _completing(_settings)
complete_sides = _completing(lambda ctx, incomplete: [*_settings(ctx, incomplete), *_SIDES])
complete_stages = _completing(lambda ctx, incomplete: _stages(_catalogue()))
complete_names = _completing(_explained)
complete_plans = _completing(_plans, files=True)
complete_pictures = _completing(_pictures)
complete_studies = _completing(_studies)
complete_demos = _completing(_demos)
complete_lessons = _completing(_lessons)
