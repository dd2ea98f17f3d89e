"""How a run was measured, on which machine, and how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from clonometer.results.types import Results
from clonometer.units import format_duration
from clonometer.views.document import (
    Commands,
    DocumentBlock,
    FactGroup,
    FactTables,
    Heading,
    NamedText,
    NamedTexts,
    Paragraph,
    Subheading,
)
from clonometer.views.rows import EstimateRow, fact_text
from clonometer.words import mechanism_name

_METHOD = (
    "Driver processes were started in random order, each for one cell. A median here is the median of the processes' "
    "medians; its 95% interval counts processes, not samples, because samples of one process resemble each other. Cold "
    "and warm are never mixed, and where the kernel was free to choose the CPU, results are shown by the CPU that it "
    "chose."
)
_REPEATED = (
    "The seed fixes the order of measuring. Times will differ within their intervals, and by what else the machine is "
    "doing."
)
_NOT_RECORDED = "The run file does not record the command that made it."
_FACT_GROUPS = {
    "host": "Machine",
    "cpu": "Processor",
    "cpufreq": "Frequency",
    "cpuidle": "Idle states",
    "kernel": "Kernel",
    "mitigations": "Mitigations",
    "virt": "Virtualization",
    "clocksource": "Clock source",
    "memory": "Memory",
    "thp": "Transparent huge pages",
    "ksm": "Same-page merging",
    "hugetlb": "Huge pages",
    "cgroup": "Control group",
    "namespace": "Namespaces",
    "security": "Security",
    "limit": "Limits",
    "libc": "C library",
    "user": "User",
    "load": "Load",
    "steal": "Stolen time",
    "python": "Python",
}


def method_blocks(results: Results, rows: Sequence[EstimateRow]) -> list[DocumentBlock]:
    """Say how a run was measured, what the mechanisms of ``rows`` are, and all that is known of the machine."""
    blocks: list[DocumentBlock] = [
        Heading("How it was measured", link="Method", anchor="method"),
        FactTables([FactGroup("", _measured(results))]),
        Paragraph(_METHOD),
    ]
    workloads = dict.fromkeys(row.workload for row in rows)
    summaries = [
        NamedText(mechanism_name(name), results.summaries[name]) for name in workloads if results.summaries.get(name)
    ]
    if summaries:
        indent = 2 + max(len(entry.name) for entry in summaries)
        blocks += [Subheading("The mechanisms"), NamedTexts(summaries, indent)]
    facts = _facts(results)
    if facts:
        blocks += [Subheading("The machine"), FactTables(facts)]
    return blocks


def repeat_blocks(results: Results) -> list[DocumentBlock]:
    """Give the command that repeats a run."""
    heading = Heading("Repeat it", anchor="repeat")
    if not results.command:
        return [heading, Paragraph(_NOT_RECORDED)]
    return [heading, Commands([shlex.join(results.command)], copy_button=True), Paragraph(_REPEATED, "dim")]


def _facts(results: Results) -> list[FactGroup]:
    groups: dict[str, list[tuple[str, str, str]]] = {}
    for key, value in results.host.items():
        if key.startswith("lacks."):
            continue
        head = key.split(".")[0]
        reason = str(results.host.get(f"lacks.{key}") or "")
        groups.setdefault(head, []).append((key, "not known" if reason else fact_text(key, value), reason))
    return [FactGroup(_FACT_GROUPS.get(head, head), facts) for head, facts in groups.items()]


def _measured(results: Results) -> list[tuple[str, str, str]]:
    clock = results.clock
    cost = clock.get("cost_ns")
    clock_text = str(clock.get("clock") or "not known")
    if clock.get("reason"):
        clock_text += f" ({clock['reason']})"
    if isinstance(cost, (int, float)):
        clock_text += f"; a reading costs {format_duration(cost)}"
    facts = [
        ("Run", results.run_name),
        ("Started", results.started.replace("T", " ")),
        ("Lasted", f"{results.duration_s:.1f} s"),
        ("Plan", results.plan_name),
        ("Samples", f"{results.n_samples:,} from {results.n_processes:,} processes"),
        ("Order", f"random, seed {results.seed}"),
        ("Clock", clock_text),
        ("Clonometer", results.clonometer_version),
    ]
    return [(name, text, "") for name, text in facts if text]
