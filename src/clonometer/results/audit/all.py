"""The audit as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from clonometer.results.audit.items import Facts
from clonometer.results.audit.kernel import check_kernel
from clonometer.results.audit.limits import check_cgroup, check_limits
from clonometer.results.audit.memory import check_memory
from clonometer.results.audit.processor import check_processor
from clonometer.results.audit.surroundings import check_surroundings
from clonometer.results.audit.types import AuditItem


def audit(facts: Mapping[str, object]) -> list[AuditItem]:
    """Judge host facts by what they do to the cost of launches.

    The same items in the same order for every machine.

    Examples
    --------
    >>> items = {item.id: item for item in audit({"cpufreq.governor": "powersave"})}
    >>> items["cpu.governor"].judged, items["cpu.governor"].command
    ('warn', 'echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor')
    """
    known = Facts(facts)
    checks = (check_processor, check_kernel, check_memory, check_limits, check_cgroup, check_surroundings)
    return [item for check in checks for item in check(known)]
