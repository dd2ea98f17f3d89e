"""What created tasks used themselves until their end: CPU time and page faults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from clonometer.tracing.census.durations import Durations

#: Why it is not known how much CPU time tasks used, by ptrace.
PTRACE_TAKES_CPU = "ptrace stops each task several times, which takes CPU time of it"


@dataclass
class Usage:
    """Of the tasks of one group.

    ``cpu_ns`` is user and system time of each, from its creation to its last moment: its exec, and the tear-down of its
    memory, are part of it. ``minor_faults`` and ``major_faults`` are counts, kept like durations.
    """

    cpu_ns: Durations = field(default_factory=Durations)
    minor_faults: Durations = field(default_factory=Durations)
    major_faults: int = 0

    def take(self, line: Mapping[str, Any]) -> None:
        """Add a task, as far as it is known what it used."""
        if line.get("minor_faults") is None:
            return
        self.minor_faults.append(line["minor_faults"])
        self.major_faults += line["major_faults"]
        if line["cpu_ns"] is not None:
            self.cpu_ns.append(line["cpu_ns"])

    def add(self, other: Usage) -> None:
        """Take what another one has seen for its own."""
        self.cpu_ns.extend(other.cpu_ns)
        self.minor_faults.extend(other.minor_faults)
        self.major_faults += other.major_faults

    def share_of_creation(self, creation_ns: float | None) -> float | None:
        """Which part of its whole price a task's creation is, by medians; None where either is not known.

        Of tasks whose creator sleeps meanwhile, creation contains part of what they used.
        """
        used_ns = self.cpu_ns.median_ns
        if creation_ns is None or used_ns is None or creation_ns + used_ns <= 0:
            return None
        return creation_ns / (creation_ns + used_ns)


def usage_to_json(usage: Usage) -> dict[str, Any] | None:
    """Turn it into plain JSON values; None where nothing is known."""
    if not len(usage.minor_faults):
        return None
    timed = bool(len(usage.cpu_ns))
    return {
        "known": len(usage.minor_faults),
        "cpu_median_ns": usage.cpu_ns.median_ns,
        "cpu_ns": usage.cpu_ns.total_ns if timed else None,
        "minor_faults_median": usage.minor_faults.median_ns,
        "minor_faults": usage.minor_faults.total_ns,
        "major_faults": usage.major_faults,
    }
