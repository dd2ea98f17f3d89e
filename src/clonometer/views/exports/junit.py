"""JUnit's XML, which every CI reads: a test case a limit.

Source of the format: the schema of the Jenkins xUnit plug-in (junit-10.xsd); GitLab reads the same elements.
"""

from __future__ import annotations

import shlex
from xml.etree.ElementTree import Element, SubElement, tostring

from clonometer.tracing.launch_limits import LaunchBudget, LaunchLimit
from clonometer.verdicts import Gate
from clonometer.views.terminal.text import clean

_NANOSECONDS = 1_000_000_000


def junit_xml(budget: LaunchBudget) -> str:
    """Write limits as test cases; what could not be decided is skipped."""
    verdicts = [limit.verdict for limit in budget.limits]
    counts = {
        "tests": len(verdicts),
        "failures": verdicts.count(Gate.FAIL),
        "errors": 0,
        "skipped": verdicts.count(Gate.UNKNOWN),
    }
    attributes = {name: str(count) for name, count in counts.items()}
    suites = Element("testsuites", attributes)
    suite = SubElement(
        suites,
        "testsuite",
        {"name": "clonometer budget", **attributes, "time": f"{budget.wall_ns / _NANOSECONDS:.3f}"},
    )
    for limit in budget.limits:
        case = SubElement(
            suite,
            "testcase",
            {"classname": clean(shlex.join(budget.command)), "name": f"{clean(limit.name)} at most {limit.most}"},
        )
        if limit.verdict is Gate.FAIL:
            what = "executions" if limit.of_program else "tasks"
            message = f"{limit.counted:,} {what}, at most {limit.most:,} allowed"
            SubElement(case, "failure", {"message": message}).text = _places(limit)
        elif limit.verdict is Gate.UNKNOWN:
            SubElement(case, "skipped", {"message": " ".join(budget.uncounted)})
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suites, encoding="unicode") + "\n"


def _places(limit: LaunchLimit) -> str:
    return "\n".join(clean(f"{place.place}: {place.created:,} by {place.api or '?'}") for place in limit.places)
