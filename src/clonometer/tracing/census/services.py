"""Whose creators spend how long making tasks, by service: the control group that a creator was in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clonometer.tracing.census.durations import Durations

#: A machine that starts ever new containers must not fill the memory.
MOST_SERVICES = 512
#: Where creators are counted whose service has no place of its own.
OTHERS = "others"
#: Creators that had gone before anybody could read where they were.
UNKNOWN = "unknown"
_UNIT = re.compile(r"\.(?:service|scope|socket|mount|swap)$")
_LONG_NUMBER = re.compile(r"([0-9a-f]{12})[0-9a-f]{20,}")


def service_name(path: str) -> str:
    """Name a control group as people do: by its systemd unit, else by its path; long identifiers are cut.

    Examples
    --------
    >>> service_name("/system.slice/nginx.service"), service_name("/build/a")
    ('nginx.service', '/build/a')
    >>> service_name("/kubepods.slice/cri-containerd-" + "0123456789abcdef" * 4 + ".scope")
    'cri-containerd-0123456789ab.scope'
    """
    names = [name for name in path.split("/") if _UNIT.search(name)]
    return _LONG_NUMBER.sub(r"\1", names[-1] if names else path or "/")


@dataclass
class ServiceWay:
    """Tasks that a service made in one way: ``making_ns`` of those that were timed."""

    created: int = 0
    cost_ns: int = 0
    making_ns: Durations = field(default_factory=Durations)

    def add(self, other: ServiceWay) -> None:
        """Take what another one has made for its own."""
        self.created += other.created
        self.cost_ns += other.cost_ns
        self.making_ns.extend(other.making_ns)


@dataclass
class Service:
    """What a service made, by mechanism."""

    name: str
    ways: dict[str, ServiceWay] = field(default_factory=dict)

    @property
    def created(self) -> int:
        """Its tasks."""
        return sum(way.created for way in self.ways.values())

    @property
    def cost_ns(self) -> int:
        """What making them and their exec calls took."""
        return sum(way.cost_ns for way in self.ways.values())


@dataclass
class Services:
    """All that were seen; ``folded`` counts those that had no place of their own."""

    folded: int = 0
    _services: dict[str, Service] = field(default_factory=dict)
    _paths: dict[int, str] = field(default_factory=dict)

    def take_cgroup(self, line: Mapping[str, Any]) -> None:
        """Take the path of a control group."""
        self._paths[line["cgroup"]] = service_name(line["path"])

    def take(self, line: Mapping[str, Any], mechanism: str) -> str | None:
        """Take a task; give the name of its creator's service, None where services are not watched."""
        if "cgroup" not in line or (line["cgroup"] is None and not self._paths):
            return None
        name = self._paths.get(line["cgroup"], UNKNOWN)
        if name not in self._services and len(self._services) >= MOST_SERVICES:
            self._fold()
        way = self._services.setdefault(name, Service(name)).ways.setdefault(mechanism, ServiceWay())
        way.created += 1
        way.cost_ns += line["cost_ns"] or 0
        if line["making_ns"] is not None:
            way.making_ns.append(line["making_ns"])
        return name

    def _fold(self) -> None:
        dearest = self.by_cost()
        self._services = {service.name: service for service in dearest[: MOST_SERVICES // 2]}
        others = self._services.setdefault(OTHERS, Service(OTHERS))
        for service in dearest[MOST_SERVICES // 2 :]:
            if service is not others:
                self.folded += 1
                for mechanism, way in service.ways.items():
                    others.ways.setdefault(mechanism, ServiceWay()).add(way)

    def by_cost(self) -> list[Service]:
        """The services, dearest first; where nothing was timed, most tasks first."""
        return sorted(self._services.values(), key=lambda service: (-service.cost_ns, -service.created))


def services_to_json(services: Services) -> dict[str, Any]:
    """Turn services into plain JSON values, the most expensive first; times in ns."""
    return {
        "folded": services.folded,
        "service": [
            {
                "name": service.name,
                "created": service.created,
                "cost_ns": service.cost_ns,
                "ways": [
                    {
                        "mechanism": mechanism,
                        "created": way.created,
                        "cost_ns": way.cost_ns,
                        "making_median_ns": way.making_ns.median_ns,
                    }
                    for mechanism, way in sorted(service.ways.items(), key=lambda item: -item[1].cost_ns)
                ],
            }
            for service in services.by_cost()
        ],
    }
