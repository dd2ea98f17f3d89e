"""The charts of a fleet: how far hosts are from the median host, row by row, and a map of rows by hosts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from clonometer.dataset.types import FleetShown, Label
from clonometer.views.axes import TIMES_LABEL, number_axis
from clonometer.views.colours import SLOWER
from clonometer.views.document import DocumentBlock, FigureBlock, Fold
from clonometer.views.figures.types import Panel
from clonometer.views.labels import label_text
from clonometer.views.rows import first_ranked, is_part
from clonometer.views.specs import TIP, frame, names_axis, nominal, quantitative
from clonometer.views.types import Datum, Spec

FEWEST_DRAWN = 3
MOST_ROWS, MOST_MAP_HOSTS = 40, 60
_ROW_HEIGHT = 22


def host_charts(shown: FleetShown) -> list[DocumentBlock]:
    """How far each host is from the median host, row by row, and a map of rows by hosts; not of fewer than three."""
    if not shown.hosts or shown.reading.n_hosts < FEWEST_DRAWN:
        # A chart of one point, or a map in which nothing varies, shows less than the table's row.
        return []
    about = (
        "A point is a host: how many times as long as the median host of its group it takes, by the geometric mean of "
        "its runs' medians. Outliers are coloured."
    )
    hosts = Panel("hosts", "Times as long as the median host", about, partial(_points, shown), tall=False)
    in_order = "Outlier hosts come first, then those farthest from the others."
    return [
        FigureBlock("", about, [hosts], stacked=True),
        Fold("Map of rows by hosts", [FigureBlock("", in_order, [_map_panel(shown)], stacked=True)]),
    ]


def _chosen(shown: FleetShown, most: int) -> dict[int, Label]:
    """The labels to draw, by their places, in the order of the hosts' values."""
    labels = {value.label_place: value.label for value in shown.hosts}
    return dict(first_ranked(list(labels.items()), lambda item: is_part(item[1].stage), most))


def _points(shown: FleetShown) -> Spec:
    rows = _chosen(shown, MOST_ROWS)
    values = [value for value in shown.hosts if value.label_place in rows]
    axis = number_axis([1.0, *(value.times for value in values)], "times as long as the median host", TIMES_LABEL)
    points = [
        {
            "row": label_text(value.label),
            "times": axis.position(value.times),
            "odd": value.is_odd,
            "tip": f"{value.host}, {value.group}: {value.times:.3g} times",
        }
        for value in values
    ]
    names = list(map(label_text, rows.values()))
    return {
        **frame(points, 600, _ROW_HEIGHT * len(names), "How far each host is from the median host, row by row."),
        "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.65},
        "encoding": {
            "y": names_axis("row", names, grid=True, labelLimit=260),
            "x": axis.encode("times"),
            "color": nominal("odd", scale={"domain": [False, True], "range": ["currentColor", SLOWER]}, legend=None),
            "tooltip": TIP,
        },
    }


def _map_panel(shown: FleetShown) -> Panel:
    hosts = _map_hosts(shown)
    rows = _chosen(shown, MOST_ROWS)
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
    described = "Each cell is a row of a host, coloured by how far it is from the median host of its group."
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
