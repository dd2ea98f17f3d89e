"""Costs that belong to no other family."""

from clonometer.families.types import Family

#: What CPUID takes, and what the start of a program executes.
CPUID, STEPS = "program.cpuid", "program.steps"
#: A processor takes some 100 cycles for CPUID; an exit to a hypervisor and back takes a microsecond and more.
TRAPS_NS = 500.0

FAMILY = Family("other", title="Other", explanation="Costs other than launches.", order=130)


def traps(cost_ns: float) -> bool:
    """Whether CPUID leaves for a hypervisor, by what one takes.

    Examples
    --------
    >>> traps(60.0), traps(8_100.0)
    (False, True)
    """
    return cost_ns >= TRAPS_NS
