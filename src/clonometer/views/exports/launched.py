"""What a census has counted, as histograms for a textfile collector: of each service and mechanism."""

from __future__ import annotations

from collections.abc import Iterator

from clonometer.tracing.census.services import OTHERS, Service, Services, ServiceWay
from clonometer.views.exports.openmetrics import histogram_family

_MOST_NAMED = 64
_S = 1_000_000_000
_BOUNDS_NS = (
    *(round(step * 10**decade) for decade in range(4, 9) for step in (1, 2.5, 5)),
    _S,
)
#: How its texts begin.
HEADING = "# TYPE clonometer_launch_seconds histogram"
_HELP = "Time from the creating call until the creator can continue; each task is counted once it has ended."


class LaunchMetrics:
    """Writes one census again and again.

    The first 64 services keep a label of their own for as long as it goes on, so that a series never becomes
    another's; all others are one.
    """

    def __init__(self) -> None:
        self._named: dict[str, None] = {}

    def encode(self, services: Services) -> Iterator[str]:
        """Encode what was counted so far, as OpenMetrics text."""
        ways: dict[tuple[str, str], ServiceWay] = {}
        for service in services.by_cost():
            for mechanism, way in service.ways.items():
                ways.setdefault((self._label(service), mechanism), ServiceWay()).add(way)
        samples = (
            (
                {"service": label, "mechanism": mechanism},
                dict(zip((bound / _S for bound in _BOUNDS_NS), way.making_ns.at_most(_BOUNDS_NS), strict=True)),
                len(way.making_ns),
                way.making_ns.total_ns / _S,
            )
            for (label, mechanism), way in sorted(ways.items())
        )
        yield from histogram_family("launch", "seconds", _HELP, samples)
        yield "# EOF\n"

    def _label(self, service: Service) -> str:
        if len(self._named) < _MOST_NAMED and service.name != OTHERS:
            self._named.setdefault(service.name)
        return service.name if service.name in self._named else OTHERS
