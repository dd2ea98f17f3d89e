"""The charts of a fleet: small multiples of hosts' values by group, and a map of cells by host."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from clonometer.dataset.types import FleetShown, HostValue, Label
from clonometer.views.axes import COUNT_LABEL, number_axis
from clonometer.views.colours import SLOWER
from clonometer.views.document import FigureBlock
from clonometer.views.figures.types import Panel
from clonometer.views.labels import drawn_unit, label_text
from clonometer.views.rows import first_ranked, is_part
from clonometer.views.specs import TIP, frame, nominal, quantitative
from clonometer.views.types import Datum, Spec

FEWEST_DRAWN = 3
MOST_MULTIPLES, MOST_MAP_ROWS, MOST_MAP_HOSTS = 12, 40, 60


def fleet_charts(shown: FleetShown) -> list[FigureBlock]:
    """Small multiples of hosts' values by group and a map of rows by hosts; none of fewer than three hosts."""
    if not shown.hosts or shown.reading.n_hosts < FEWEST_DRAWN:
        # A chart of one point, or a map in which nothing varies, shows less than the table's row.
        return []
    multiples = [
        Panel(
            f"multiple-{place}",
            label_text(label),
            f"{label_text(label)}: one point per host.",
            partial(_multiple, [value for value in shown.hosts if value.label_place == place], label),
            tall=False,
        )
        for place, label in _chosen(shown, MOST_MULTIPLES).items()
    ]
    about = (
        "How many times as long as the median host of its group each host takes. Odd hosts come first, then those that "
        "are farthest from the others."
    )
    one_point = "One point per host: the geometric mean of its run medians."
    return [
        FigureBlock("Hosts by group", one_point, multiples),
        FigureBlock("Map of cells by host", about, [_map_panel(shown)]),
    ]


def _chosen(shown: FleetShown, most: int) -> dict[int, Label]:
    """The labels to draw, by their places, in the order of the hosts' values."""
    labels = {value.label_place: value.label for value in shown.hosts}
    return dict(first_ranked(list(labels.items()), lambda item: is_part(item[1].stage), most))


def _multiple(values: Sequence[HostValue], label: Label) -> Spec:
    unit, scale = drawn_unit([value.value for value in values], label)
    axis = number_axis([value.value / scale for value in values], unit, COUNT_LABEL)
    points = [
        {
            "group": value.group,
            "value": axis.place(value.value / scale),
            "odd": value.is_odd,
            "tip": f"{value.host}: {value.value / scale:.4g} {unit}",
        }
        for value in values
    ]
    return {
        **frame(points, 320, 120, f"{label_text(label)} by group."),
        "mark": {"type": "point", "filled": True, "size": 30, "opacity": 0.65},
        "encoding": {
            "y": nominal("group", axis={"title": None, "labelLimit": 140}),
            "x": axis.encode("value"),
            "color": nominal("odd", scale={"domain": [False, True], "range": ["currentColor", SLOWER]}, legend=None),
            "tooltip": TIP,
        },
    }


def _map_panel(shown: FleetShown) -> Panel:
    hosts = _map_hosts(shown)
    rows = _chosen(shown, MOST_MAP_ROWS)
    points = [
        {
            "host": value.host[:12],
            "row": label_text(value.label),
            "times": value.times,
            "tip": f"{value.host}, {label_text(value.label)}: {value.times:.3f} times",
        }
        for value in shown.hosts
        if value.host in hosts and value.label_place in rows
    ]
    names = list(map(label_text, rows.values()))
    draw = partial(_map, points, names, [host[:12] for host in hosts])
    return Panel("map-all", "Times as long as the median host", "A map of rows by hosts.", draw, tall=False)


def _map(points: Sequence[Datum], rows: Sequence[str], hosts: Sequence[str]) -> Spec:
    described = "Each field is a row of a host, coloured by how far it is from the median host of its group."
    return {
        **frame(points, 600, 18 * len(rows), described),
        "mark": {"type": "rect"},
        "encoding": {
            "y": nominal("row", sort=list(rows), axis={"title": None, "labelLimit": 260}),
            "x": nominal("host", sort=list(hosts), axis={"title": None, "labelAngle": -90}),
            "color": quantitative(
                "times",
                scale={"type": "log", "scheme": "blueorange", "domainMid": 1},
                legend={"title": "times", "format": ".3~g"},
            ),
            "tooltip": TIP,
        },
    }


def _map_hosts(shown: FleetShown) -> list[str]:
    """Odd hosts first, then those that are farthest from the others."""
    farthest: dict[str, float] = {}
    for value in shown.hosts:
        away = max(value.times, 1 / value.times)
        farthest[value.host] = max(farthest.get(value.host, 1.0), away)
    odd = {host.host for host in shown.odd_hosts}
    return sorted(farthest, key=lambda host: (host not in odd, -farthest[host]))[:MOST_MAP_HOSTS]
