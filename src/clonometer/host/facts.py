"""Host facts: everything of docs/host.md, read from /proc and /sys."""

from __future__ import annotations

from pathlib import Path

# Each of these registers its facts when imported.
from clonometer.host import cgroup, cpu, kernel, memory, task, virtual
from clonometer.host.line import host_line
from clonometer.host.registry import FACTS
from clonometer.host.source import Lack, Source

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
        except Lack as lack:
            facts[key] = None
            lacks[LACKS + key] = str(lack)
        except Exception as error:  # a fact in a form nobody foresaw must not stop a run
            facts[key] = None
            lacks[LACKS + key] = f"not understood: {type(error).__name__}: {error}"
    facts[SUMMARY] = host_line(facts)
    return facts | lacks
