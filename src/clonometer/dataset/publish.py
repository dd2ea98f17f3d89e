"""One small file that tells what a machine measured and nothing of who measured it: what is kept, and how it is made.

What is not named here is dropped. A fact is kept only where its value has the form that the kernel or the firmware
gives it: nothing that a person can have typed, no name, no path, no address, no serial number, no identifier.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clonometer.dataset.load import label_of
from clonometer.dataset.published import PublishedRow, PublishedSummary
from clonometer.dataset.summary import RowFigures, summarize_file
from clonometer.dataset.types import Label
from clonometer.errors import InputError
from clonometer.families import axis as axis_words
from clonometer.host.kernel import summarise_mitigations
from clonometer.inputs import parse_json
from clonometer.plan.cell import CatalogueAxis, make_cell
from clonometer.plan.types import Catalogue

_MITIGATION = re.compile(r"(Not affected|Vulnerable|Mitigation: |Unknown: )[A-Za-z0-9 :;,/()_.+-]{0,160}")
_KERNEL = re.compile(r"\d{1,2}(?:\.\d{1,4}){1,3}(?:-rc\d{1,2})?(?:[-.]\d{1,6})*")
#: Words of distributions in the release of a kernel.
_FLAVOURS = re.compile(
    r"amd64|arm64|x86_64|aarch64|generic|lowlatency|cloud|default|aws|azure|gcp|oracle|kvm|rt|lts|zen|arch|"
    r"el\d{1,2}|fc\d{2}"
)


def _like(form: str) -> Callable[[Any], str | None]:
    """Keep a text that matches a form as a whole."""
    return lambda value: value if isinstance(value, str) and re.fullmatch(form, value) else None


def _words(words: str) -> Callable[[Any], str | None]:
    """Keep any of the words of a text."""
    return _like("|".join(map(re.escape, words.split())))


def _count(value: Any) -> float | None:
    is_count = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1 << 60
    return value if is_count else None


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def _two_digits(value: Any) -> float | None:
    count = _count(value)
    return None if count is None else float(f"{count:.1e}")


def _kernel(value: Any) -> str | None:
    """Keep numbers and words of distributions; what its builder has added is dropped."""
    numbers = _KERNEL.match(value) if isinstance(value, str) else None
    if numbers is None:
        return None
    words = re.split(r"[-.+]", value[numbers.end() :])
    return "-".join([numbers[0].rstrip("-."), *(word for word in words if _FLAVOURS.fullmatch(word))])


def _mitigations(value: Any) -> dict[str, str] | None:
    """Keep names and texts of the kernel's own form."""
    if not isinstance(value, Mapping):
        return None
    return {
        name: text
        for name, text in sorted(value.items())
        if re.fullmatch(r"[a-z0-9_]{2,40}", name) and isinstance(text, str) and _MITIGATION.fullmatch(text)
    }


#: The facts that are kept, and what is kept of the value of each; None: nothing.
KEPT: Mapping[str, Callable[[Any], Any]] = {
    "cpu.model": _like(r"[A-Za-z0-9 ()@.,+_-]{1,80}"),
    "cpu.vendor": _words("GenuineIntel AuthenticAMD HygonGenuine CentaurHauls ARM Apple Ampere"),
    "cpu.arch": _words("x86_64 aarch64 riscv64 ppc64le s390x"),
    "cpu.microcode": _like(r"0x[0-9a-f]{1,8}"),
    **dict.fromkeys(("cpu.online", "cpu.allowed", "cpu.cores"), _count),
    "cpu.smt": _truth,
    **dict.fromkeys(("cpu.cache_l1d_bytes", "cpu.cache_l2_bytes", "cpu.cache_llc_bytes"), _count),
    "cpufreq.driver": _words("intel_pstate intel_cpufreq acpi-cpufreq amd-pstate amd-pstate-epp cppc_cpufreq"),
    "cpufreq.governor": _words("performance powersave schedutil ondemand conservative userspace"),
    **dict.fromkeys(("cpufreq.min_khz", "cpufreq.max_khz"), _count),
    "cpufreq.turbo": _truth,
    "cpuidle.driver": _words("intel_idle acpi_idle haltpoll none"),
    "cpuidle.governor": _words("menu teo ladder haltpoll"),
    "kernel.preemption": _words("none voluntary full lazy rt"),
    **dict.fromkeys(("kernel.init_on_alloc", "kernel.init_on_free", "kernel.audit"), _truth),
    "virt.hypervisor": _words("none unknown KVM QEMU VMware VirtualBox Xen Hyper-V Parallels Apple bhyve"),
    "virt.container": _words("none docker podman lxc kubernetes containerd systemd-nspawn"),
    # Instance types alone: other machines may be named by their owners.
    "virt.product": _like(
        r"[a-z]{1,4}\d{1,2}[a-z]{0,4}(?:-[a-z0-9]{1,6})?\.(?:metal|nano|micro|small|medium|\d{0,3}x?large)"
    ),
    "clocksource.current": _words("tsc kvm-clock hpet acpi_pm xen arch_sys_counter hyperv_clocksource_tsc_page"),
    "memory.total_bytes": _two_digits,
    "thp.enabled": _words("always madvise never"),
    "thp.defrag": _words("always madvise never defer defer+madvise"),
    "libc.name": _words("glibc musl"),
    "libc.version": _like(r"\d{1,2}\.\d{1,3}(?:\.\d{1,3})?"),
    "cgroup.version": _words("v1 v2 hybrid"),
    "kernel.release": _kernel,
    "mitigations": _mitigations,
}
_STATES = ("same_cpu", "other_cpu", None)


@dataclass(frozen=True)
class Scrubbed:
    """A summary, and what was left out to make it: names of facts, and how many rows."""

    published: PublishedSummary
    dropped_facts: Sequence[str]
    dropped_rows: int


def scrub(path: Path, catalogue: Catalogue) -> Scrubbed:
    """Make the summary of a run that tells nothing of who measured it.

    The catalogue is that of the drivers here: only what they can measure, under conditions of which each value is
    among theirs, is kept. What the run says of its own catalogue is not asked.

    Raises
    ------
    RunFileError
        If it is no sound run file.
    InputError
        If nothing is left.
    """
    summary = summarize_file(path, str(path))
    metadata = parse_json(summary.run["metadata"])
    facts = scrubbed_facts(metadata["host"])
    rows = []
    for text, figures in summary.rows.items():
        row = _row(label_of(parse_json(text)), catalogue, figures)
        if row is not None:
            rows.append(row)
    if not rows:
        raise InputError(f"{path} has no row that may be published", "only what the drivers here can measure is")
    version = re.fullmatch(r"[0-9][0-9a-z.+]{0,19}", str(metadata["clonometer_version"]))
    published = PublishedSummary(
        "clonometer summary", 1, version[0] if version else "0", summary.run["started"][:7], facts, rows
    )
    dropped = [key for key in metadata["host"] if key not in facts]
    return Scrubbed(published, dropped, len(summary.rows) - len(rows))


def scrubbed_facts(host: Mapping[str, Any]) -> dict[str, Any]:
    """Keep of a host's facts what may be published."""
    kept = {key: value for key, keep in KEPT.items() if (value := keep(host.get(key))) is not None}
    if kept.get("mitigations"):
        # Not as the host has it, but made anew of what is kept.
        kept["mitigations.summary"] = summarise_mitigations(kept["mitigations"])
    return dict(sorted(kept.items()))


def _row(label: Label, catalogue: Catalogue, figures: RowFigures) -> PublishedRow | None:
    """Write a row anew from the catalogue; None where it has anything that is not of that."""
    workload, quantity = catalogue.workloads.get(label.workload), catalogue.quantities.get(label.quantity)
    if workload is None or quantity is None or quantity.name not in workload.quantities:
        return None
    axes = {name: catalogue.axes[name] for name in workload.axes}
    if not all(name in axes and _is_known(axes[name], value) for name, value in label.condition.items()):
        return None
    if label.temperature not in (*workload.temperatures, None) or label.placement not in _STATES:
        return None
    cell = make_cell(workload.id, label.condition, label.temperature, axes)
    median, low, high = (None if math.isnan(figure) else figure for figure in figures[:3])
    if median is None:
        return None
    return PublishedRow(
        cell.text,
        workload.id,
        quantity.name,
        "ns" if label.is_time else quantity.unit,
        quantity.stage,
        label.temperature,
        label.placement,
        median,
        low,
        high,
        *figures[3:],
    )


def _is_known(axis: CatalogueAxis, value: int | str) -> bool:
    if isinstance(value, int):
        return axis.kind in ("bytes", "count") and value >= 0
    if axis.kind == "choice":
        return value in axis.values
    known = {str(axis.default), *axis_words(axis.name).explanations}
    return value in known or (axis.form is not None and re.fullmatch(axis.form, value) is not None and len(value) < 24)
