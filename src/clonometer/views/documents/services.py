"""The services of a machine, ranked by the time that their creators spend making tasks."""

from __future__ import annotations

from collections.abc import Sequence

from clonometer.tracing.census.launches import LaunchSite
from clonometer.tracing.census.services import Service
from clonometer.views.documents.launches import time_in
from clonometer.views.table import Column, Table
from clonometer.views.terminal.text import clean

_SERVICES = 5
_SITES_EACH = 3
_MICROSECOND, _MILLISECOND = 1000, 1_000_000


def services_table(services: Sequence[Service], wall_s: float) -> Table:
    """A row a service and mechanism: how many tasks, a typical making, and what all cost in a second of watching."""
    rows = [
        (service, mechanism, way)
        for service in services
        for mechanism, way in sorted(service.ways.items(), key=lambda item: (-item[1].cost_ns, -item[1].created))
    ]
    each_s = max(wall_s, 1e-9)
    return Table(
        [
            Column(
                "service", [clean(service.name) for service, _, _ in rows], least=16, most=48, cut_start=True, once=True
            ),
            Column("how", [mechanism for _, mechanism, _ in rows]),
            Column("tasks", [f"{way.created:,}" for _, _, way in rows], "point"),
            Column("each, µs", [time_in(way.making_ns.median_ns, _MICROSECOND) for _, _, way in rows], "point", drop=1),
            Column("all, ms", [time_in(way.cost_ns, _MILLISECOND) for _, _, way in rows], "point"),
            Column("ms per s", [time_in(way.cost_ns / each_s, _MILLISECOND) for _, _, way in rows], "point", drop=2),
        ]
    )


def by_service(sites: Sequence[LaunchSite], services: Sequence[Service], *, wide: bool) -> list[LaunchSite]:
    """The most expensive call sites of the most expensive services; ``wide``: all, ordered by service."""
    ordered = []
    for service in services if wide else services[:_SERVICES]:
        within = [launch for launch in sites if launch.site.service == service.name]
        ordered += within if wide else within[:_SITES_EACH]
    return ordered
