"""What the start of a program executes: the names of its workloads, and when CPUID is one that traps."""

from __future__ import annotations

CPUID, STEPS = "program.cpuid", "program.steps"
#: A processor takes some 100 cycles for CPUID; an exit to a hypervisor and back takes a microsecond and more.
TRAPS_NS = 500.0


def traps(cost_ns: float) -> bool:
    """Whether CPUID leaves for a hypervisor, by what one takes.

    Examples
    --------
    >>> traps(60.0), traps(8_100.0)
    (False, True)
    """
    return cost_ns >= TRAPS_NS
