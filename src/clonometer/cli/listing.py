"""``clonometer list``: what can be measured, and what of it on this machine."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import rich_click as click

from clonometer.cli.console import plain_width, print_json
from clonometer.cli.options import examples, json_option

if TYPE_CHECKING:
    from clonometer.plan.cell import CatalogueAxis
    from clonometer.plan.types import Catalogue
    from clonometer.runner.drivers import Drivers

LIST_SCHEMA = 1


@click.command(name="list", epilog=examples("clonometer list", "clonometer list --json | jq '.workloads[].id'"))
@json_option
def command(as_json: bool) -> None:
    """List workloads, axes and plans, and what of them this machine has.

    What exists but not here stands with the reason.
    """
    from clonometer.plan.catalogue import read_catalogue
    from clonometer.runner.drivers import find_drivers

    drivers = find_drivers()
    listing = describe(read_catalogue(drivers.descriptions), drivers)
    if as_json:
        print_json(listing)
    else:
        click.echo("\n".join(render(listing, plain_width())))


def describe(catalogue: Catalogue, drivers: Drivers) -> dict[str, Any]:
    """Gather what ``list --json`` prints."""
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
        "drivers": [
            *({"name": driver.name, "linkage": driver.linkage, "reason": None} for driver in drivers.usable),
            *({"name": name, "linkage": None, "reason": reason} for name, reason in drivers.broken.items()),
        ],
        "lacks": [dict(lack) for lack in catalogue.lacks],
    }


def _axis(axis: CatalogueAxis, drivers: Drivers) -> dict[str, Any]:
    unavailable = dict(axis.unavailable)
    if axis.name == "linkage":
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
    from clonometer.plan.planfile import load_plan, plan_names, plan_title
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


def render(listing: dict[str, Any], width: int) -> Iterator[str]:
    """Write the listing as lines of at most ``width`` columns."""
    yield "Workloads"
    indent = 2 + max((len(entry["id"]) for entry in listing["workloads"]), default=0) + 2
    for entry in listing["workloads"]:
        yield from _item(entry["id"], entry["summary"], indent, width)
        yield from _missing(entry["reason"] if not entry["available"] else None, indent, width)
    yield ""
    yield "Axes (--set NAME=VALUE,...)"
    indent = 2 + max((len(entry["name"]) for entry in listing["axes"]), default=0) + 2
    for entry in listing["axes"]:
        yield from _item(entry["name"], entry["summary"], indent, width)
        yield from _item("", _values(entry), indent, width)
        for value, reason in entry["unavailable"].items():
            yield from _missing(f"{value}: {reason}", indent, width)
    yield ""
    yield "Plans (--plan NAME)"
    indent = 2 + max((len(entry["name"]) for entry in listing["plans"]), default=0) + 2
    for entry in listing["plans"]:
        budget = f" (about {entry['budget_seconds']:.0f} s)" if entry["budget_seconds"] else ""
        yield from _item(entry["name"], f"{entry['title']}: {len(entry['cells'])} cells{budget}", indent, width)
        yield from _missing(entry["reason"], indent, width)
        for missing in entry["unavailable"]:
            yield from _missing(f"{missing['cell']}: {missing['reason']}", indent, width)
    broken = [entry for entry in listing["drivers"] if entry["reason"]]
    if broken or listing["lacks"]:
        yield ""
        yield "Not on this machine"
        for lack in listing["lacks"]:
            yield from _item("", f"{lack['what']}: {lack['reason']}", 2, width)
        for entry in broken:
            yield from _item("", f"{entry['name']}: {entry['reason']}", 2, width)


def _values(axis: dict[str, Any]) -> str:
    from clonometer.units import format_bytes

    default = format_bytes(axis["default"]) if axis["type"] == "bytes" else axis["default"]
    if axis["values"]:
        return f"{' | '.join(axis['values'])}; default {default}"
    what = {"bytes": "a size such as 64MiB", "count": "a whole number", "text": "a text"}[axis["type"]]
    least = f", at least {axis['minimum']}" if axis["minimum"] else ""
    return f"{what}{least}; default {default}"


def _missing(reason: str | None, indent: int, width: int) -> Iterator[str]:
    if reason:
        yield from _item("", f"not here: {reason}", indent, width)


def _item(name: str, text: str, indent: int, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width=max(width, indent + 20),
        initial_indent=f"  {name}".ljust(indent),
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
    ) or [f"  {name}"]
