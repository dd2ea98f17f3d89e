"""The machine that figures of docs come from, in a line."""

from __future__ import annotations

import re

from clonometer.host.facts import collect


def machine_line() -> str:
    """Name its processor, how many of its CPUs may be used, and its kernel's release without a distribution's words."""
    facts = collect()
    release = re.sub(r"-.*", "", str(facts["kernel.release"]))
    return f"{facts['cpu.model']}, {facts['cpu.allowed']} CPUs, Linux {release}"
