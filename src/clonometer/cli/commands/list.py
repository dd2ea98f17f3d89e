"""``clonometer list``: what can be measured, and what of it on this machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.app.measuring import driver_states, find_catalogue
from clonometer.cli.completing import complete_names
from clonometer.cli.console import plain_width, print_json
from clonometer.cli.options import examples, json_option

if TYPE_CHECKING:
    from clonometer.plan.about import About, Names
    from clonometer.plan.cell import CatalogueAxis
    from clonometer.plan.types import Catalogue
    from clonometer.runner.drivers import Drivers

LIST_SCHEMA = 1


#: Its place in the list of commands.
ORDER = 110

_EXAMPLES = examples(
    "clonometer list",
    "clonometer list parent_bytes           what it is, with an example",
    "clonometer list reaped thp memory      stages, values and plans too",
    "clonometer list --wide                 every name, and what is missing",
    "clonometer list --json | jq '.workloads[].id'",
)


@click.command(name="list", epilog=_EXAMPLES)
@click.argument("names", metavar="[NAME]...", nargs=-1, shell_complete=complete_names)
@click.option("--wide", is_flag=True, help="Show every name with its summary, and what this machine lacks.")
@json_option
def command(names: tuple[str, ...], wide: bool, as_json: bool) -> None:
    """List what can be measured, or explain a name.

    NAME is a workload, an axis or one of its values, a stage, a quantity, a family or a plan. The answer says what
    it means, which values it takes, what its default is and where it comes from, and shows a working command.
    """
    from clonometer.errors import UsageError
    from clonometer.views.terminal.listing import render_about, render_all, render_screen

    # A language's drivers are built and asked only where its name stands.
    drivers, catalogue = find_catalogue(names=[*names, *(f"{name}.*" for name in names if "." not in name)])
    if names:
        from clonometer.plan.about import Names

        if wide:
            raise UsageError("--wide lists every name", "clonometer list NAME explains one")
        known = Names(catalogue, _sources(drivers))
        meant = [asdict(each) for name in names for each in _about(known, name)]
        if as_json:
            print_json({"schema": LIST_SCHEMA, "about": meant})
        else:
            click.echo("\n".join(render_about(meant, plain_width())))
        return
    listing = describe(catalogue, drivers)
    if as_json:
        print_json(listing)
    else:
        render = render_all if wide else render_screen
        click.echo("\n".join([*render(listing, plain_width()), *_say_claims()]))


def _about(known: Names, name: str) -> Sequence[About]:
    """What a name means; the words of a published claim are one too."""
    from clonometer.errors import UsageError
    from clonometer.plan.about import About
    from clonometer.studies.published import load_published

    try:
        return known.about(name)
    except UsageError as error:
        try:
            claim = load_published().claim_worded(name)
        except UsageError:
            raise error from None
        facts = (("study", claim.study),)
        return [About("claim", claim.id, claim.text, facts, (), f"clonometer reproduce {claim.id}")]


def _say_claims() -> list[str]:
    """The claim that each study is known for, as it may be typed."""
    from clonometer.studies.published import load_published

    published = load_published()
    claims = [published.item(study.headline).short for study in published.studies.values()]
    return ["Published claims (clonometer reproduce WORDS):", *(f"  {claim}" for claim in claims)]


def _sources(drivers: Drivers) -> Mapping[str, str]:
    """Who measures each workload, and where its figures are explained."""
    return {
        workload["id"]: f"the driver {described['driver']['name']} ({described['driver']['language']}); "
        "docs/workloads.md explains the figures"
        for described in drivers.descriptions
        for workload in described["workloads"]
    }


def describe(catalogue: Catalogue, drivers: Drivers) -> dict[str, Any]:
    """Gather what ``list --json`` prints."""
    from clonometer.runner.languages.toolchains import find_languages

    return {
        "schema": LIST_SCHEMA,
        "workloads": [
            {
                "id": workload.id,
                "family": workload.family,
                "summary": workload.summary,
                "axes": list(workload.axes),
                "temperatures": list(workload.temperatures),
                "quantities": list(workload.quantities),
                "available": workload.available,
                "reason": workload.reason,
            }
            for workload in catalogue.workloads.values()
        ],
        "axes": [_axis(axis, drivers) for axis in catalogue.axes.values()],
        "plans": _plans(catalogue, drivers),
        "languages": [{"name": each.name, "title": each.runtime.title} for each in find_languages()],
        "drivers": [asdict(each) for each in driver_states(drivers)],
        "lacks": [dict(lack) for lack in catalogue.lacks],
    }


def _axis(axis: CatalogueAxis, drivers: Drivers) -> dict[str, Any]:
    from clonometer.runner.drivers import LINKAGE

    unavailable = dict(axis.unavailable)
    if axis.name == LINKAGE:
        unavailable |= {
            value: "not built here"
            for value in axis.values
            if value not in drivers.linkages and value not in unavailable
        }
    return {
        "name": axis.name,
        "type": axis.kind,
        "default": axis.default,
        "values": list(axis.values),
        "minimum": axis.minimum,
        "unavailable": unavailable,
        "summary": axis.summary,
    }


def _plans(catalogue: Catalogue, drivers: Drivers) -> list[dict[str, Any]]:
    from clonometer.errors import ClonometerError
    from clonometer.plan.planfile import load_plan, plan_title
    from clonometer.plan.shipped import plan_names
    from clonometer.runner.ledger import why_unavailable

    plans: list[dict[str, Any]] = []
    for name in plan_names():
        entry: dict[str, Any] = {"name": name, "title": plan_title(name), "reason": None}
        try:
            plan = load_plan(name, catalogue)
        except ClonometerError as error:
            # A plan may name what the drivers that were built here do not have at all.
            plans.append({**entry, "budget_seconds": None, "cells": [], "unavailable": [], "reason": error.message})
            continue
        missing = [
            {"cell": cell.text, "reason": reason}
            for target in plan.targets
            if (reason := why_unavailable(target, catalogue, drivers)) is not None
            for cell in target.cells
        ]
        cells = [cell.text for cell in plan.cells]
        plans.append({**entry, "budget_seconds": plan.budget_seconds, "cells": cells, "unavailable": missing})
    return plans
