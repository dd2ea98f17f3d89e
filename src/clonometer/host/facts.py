"""Host facts: everything of docs/host.md, read from /proc and /sys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

# Each of these registers its facts when imported.
from clonometer.host import cgroup, cpu, kernel, memory, task, virtual
from clonometer.host.registry import FACTS
from clonometer.host.source import FactUnavailable, Source

_AREAS = (task, cpu, kernel, virtual, memory, cgroup)
LACKS = "lacks."
SUMMARY = "host.summary"


def collect(root: Path = Path("/")) -> dict[str, object]:
    """Read all host facts.

    Another root than ``/`` makes every machine a tree of files.

    Gives each key of docs/host.md. What cannot be read is None, and ``lacks.KEY`` has the reason; a None without one is
    no limit. Never raises for what a machine has or lacks; starts no process.

    Examples
    --------
    >>> facts = collect(Path("/nowhere"))
    >>> facts["memory.total_bytes"], facts["lacks.memory.total_bytes"]
    (None, '/proc/meminfo: No such file or directory')
    """
    return collect_from(Source(root))


def collect_from(source: Source) -> dict[str, object]:
    """Read all host facts from a source, as `collect`."""
    facts: dict[str, object] = {}
    lacks: dict[str, object] = {}
    for key, fact in sorted(FACTS.items()):
        try:
            facts[key] = fact.checked(fact.read(source))
        except FactUnavailable as lack:
            facts[key] = None
            lacks[LACKS + key] = str(lack)
        except Exception as error:  # a fact in a form nobody foresaw must not stop a run
            facts[key] = None
            lacks[LACKS + key] = f"not understood: {type(error).__name__}: {error}"
    facts[SUMMARY] = host_line(facts)
    return facts | lacks


def host_line(facts: Mapping[str, object]) -> str:
    """Say in one line what the figures were measured on.

    Examples
    --------
    >>> facts = {"cpu.model": "AMD EPYC", "cpu.online": 2, "kernel.release": "6.18.44"}
    >>> host_line(facts | {"virt.hypervisor": "KVM"})
    'AMD EPYC × 2, Linux 6.18.44, KVM guest'
    """
    parts = [
        _processor(facts),
        _prefixed("Linux ", facts.get("kernel.release")),
        _surroundings(facts),
        _prefixed("THP ", facts.get("thp.enabled")),
        _mitigations(facts.get("mitigations.summary")),
    ]
    return ", ".join(part for part in parts if part)


def _processor(facts: Mapping[str, object]) -> str | None:
    model = facts.get("cpu.model") or facts.get("cpu.arch")
    online, allowed = facts.get("cpu.online"), facts.get("cpu.allowed")
    if model is None or online is None:
        return None if model is None else str(model)
    fewer = f" ({allowed} allowed)" if isinstance(allowed, int) and allowed != online else ""
    return f"{model} × {online}{fewer}"


def _surroundings(facts: Mapping[str, object]) -> str | None:
    hypervisor, container = facts.get("virt.hypervisor"), facts.get("virt.container")
    known = {None: None, "none": "no hypervisor", "unknown": "unknown hypervisor"}
    text = known.get(hypervisor, f"{hypervisor} guest") if hypervisor is None or isinstance(hypervisor, str) else None
    inside = f"in {container}" if container not in (None, "none") else None
    return ", ".join(part for part in (text, inside) if part) or None


def _prefixed(prefix: str, value: object) -> str | None:
    return None if value is None else f"{prefix}{value}"


def _mitigations(summary: object) -> str | None:
    return "no mitigations" if summary == "none" else _prefixed("", summary)
