"""Facts of the processor: model, topology, caches, frequency and idle states."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from clonometer.host.registry import register, register_file
from clonometer.host.source import FactUnavailable, Source, parse_cpu_list
from clonometer.units import parse_bytes

_CPU = "/sys/devices/system/cpu"
_CPUINFO = "/proc/cpuinfo"
# ARM's processors carry numbers: /proc/cpuinfo has "CPU implementer" and "CPU part".
_IMPLEMENTERS = {
    0x41: "ARM",
    0x46: "Fujitsu",
    0x48: "HiSilicon",
    0x4E: "NVIDIA",
    0x51: "Qualcomm",
    0x61: "Apple",
    0x6D: "Microsoft",
    0xC0: "Ampere",
}
_ARM_PARTS = {
    0xD03: "Cortex-A53",
    0xD05: "Cortex-A55",
    0xD07: "Cortex-A57",
    0xD08: "Cortex-A72",
    0xD0B: "Cortex-A76",
    0xD0C: "Neoverse N1",
    0xD40: "Neoverse V1",
    0xD49: "Neoverse N2",
    0xD4F: "Neoverse V2",
    0xD81: "Cortex-A720",
    0xD84: "Neoverse V3",
    0xD8E: "Neoverse N3",
}


def _implementer_and_part(source: Source) -> tuple[str, str]:
    fields = source.fields(_CPUINFO)
    if "CPU implementer" not in fields:
        raise FactUnavailable(f"{_CPUINFO} names no processor")
    implementer = int(fields["CPU implementer"], 16)
    part = int(fields.get("CPU part", "0"), 16)
    name = _IMPLEMENTERS.get(implementer, f"implementer {implementer:#x}")
    return name, _ARM_PARTS.get(part, f"part {part:#x}") if implementer == 0x41 else f"part {part:#x}"


@register("cpu.model", "text", "name of the processor")
def _model(source: Source) -> str:
    fields = source.fields(_CPUINFO)
    for name in ("model name", "cpu model", "cpu", "uarch"):
        if fields.get(name):
            return " ".join(fields[name].split())
    return " ".join(_implementer_and_part(source))


@register("cpu.vendor", "text", "its maker")
def _vendor(source: Source) -> str:
    fields = source.fields(_CPUINFO)
    for name in ("vendor_id", "mvendorid"):
        if name in fields:
            return fields[name]
    return _implementer_and_part(source)[0]


@register("cpu.arch", "text", "instruction set, as uname says")
def _arch(source: Source) -> str:
    with suppress(FactUnavailable):
        return source.text("/proc/sys/kernel/arch")
    if source.live:
        return os.uname().machine
    fields = source.fields(_CPUINFO)
    if "CPU implementer" in fields:
        return "aarch64" if fields.get("CPU architecture") == "8" else "arm"
    if "vendor_id" in fields and "flags" in fields:
        return "x86_64" if "lm" in fields["flags"].split() else "i686"
    raise FactUnavailable("/proc/sys/kernel/arch is absent (it came with Linux 6.1)")


register_file("cpu.microcode", "text", _CPUINFO, "its revision", field="microcode")


def online_cpus(source: Source) -> list[int]:
    """Numbers of the CPUs online."""
    with suppress(FactUnavailable):
        return parse_cpu_list(source.text(f"{_CPU}/online"))
    numbers = [
        int(line.partition(":")[2])
        for line in source.text(_CPUINFO).splitlines()
        if line.startswith("processor") and line.partition(":")[2].strip().isdigit()
    ]
    if not numbers:
        raise FactUnavailable(f"{_CPUINFO} lists no processor")
    return numbers


@register("cpu.online", "int", "CPUs online", unit="count")
def _online(source: Source) -> int:
    return len(online_cpus(source))


@register("cpu.allowed", "int", "CPUs in this task's affinity mask", unit="count")
def _allowed(source: Source) -> int:
    return len(parse_cpu_list(source.field("/proc/self/status", "Cpus_allowed_list")))


@register("cpu.cores", "int", "physical cores online", unit="count")
def _cores(source: Source) -> int:
    cores = set()
    for cpu in online_cpus(source):
        folder = f"{_CPU}/cpu{cpu}/topology"
        # Which CPUs are siblings tells cores apart in every package; core_id repeats in each.
        cores.add(source.first([f"{folder}/core_cpus_list", f"{folder}/thread_siblings_list"]))
    return len(cores)


@register("cpu.smt", "bool", "whether cores run several threads")
def _smt(source: Source) -> bool:
    with suppress(FactUnavailable):
        return source.integer(f"{_CPU}/smt/active") == 1
    return _cores(source) < _online(source)


register_file("cpu.isolated", "text", f"{_CPU}/isolated", "the kernel's list of isolated CPUs; empty: none")
register_file(
    "cpu.nohz_full", "text", f"{_CPU}/nohz_full", "the kernel's list of CPUs without a tick; empty: none",
    parse=lambda cpus: cpus.removeprefix("(null)"),
)  # fmt: skip
register_file("cpuidle.driver", "text", f"{_CPU}/cpuidle/current_driver", "what puts idle CPUs to sleep")


def _caches(source: Source) -> dict[tuple[int, str], int]:
    """Sizes in bytes by level and type."""
    folder = f"{_CPU}/cpu{online_cpus(source)[0]}/cache"
    sizes = {}
    for index in source.names(folder, "index"):
        level = source.integer(f"{folder}/{index}/level")
        size_bytes = parse_bytes(source.text(f"{folder}/{index}/size"))
        sizes[level, source.text(f"{folder}/{index}/type")] = size_bytes
    if not sizes:
        raise FactUnavailable(f"{folder} lists no cache")
    return sizes


@register("cpu.cache_l1d_bytes", "int", "level 1 data cache of one core", unit="bytes")
def _cache_l1d(source: Source) -> int:
    caches = _caches(source)
    if (1, "Data") in caches:
        return caches[1, "Data"]
    if (1, "Unified") in caches:
        return caches[1, "Unified"]
    raise FactUnavailable("the kernel lists no level 1 data cache")


@register("cpu.cache_l2_bytes", "int", "level 2 cache", unit="bytes")
def _cache_l2(source: Source) -> int:
    sizes = [size for (level, _), size in _caches(source).items() if level == 2]
    if not sizes:
        raise FactUnavailable("the kernel lists no level 2 cache")
    return sizes[0]


def last_level_cache_bytes(source: Source) -> int | None:
    """Say how large the last level of the caches is; None where the kernel does not tell."""
    with suppress(FactUnavailable):
        return _cache_llc(source)
    return None


@register("cpu.cache_llc_bytes", "int", "last level cache", unit="bytes")
def _cache_llc(source: Source) -> int:
    caches = _caches(source)
    last = max(level for level, _ in caches)
    if last < 2:
        raise FactUnavailable("the kernel lists level 1 caches only")
    return max(size for (level, _), size in caches.items() if level == last)


def _cpufreq(source: Source, name: str) -> str:
    folder = f"{_CPU}/cpu{online_cpus(source)[0]}/cpufreq"
    if not source.exists(folder):
        raise FactUnavailable("no cpufreq driver, as usual in virtual machines")
    return source.text(f"{folder}/{name}")


register("cpufreq.driver", "text", "what sets the frequency")(lambda source: _cpufreq(source, "scaling_driver"))
register("cpufreq.governor", "text", "its policy")(lambda source: _cpufreq(source, "scaling_governor"))
register("cpufreq.preference", "text", "what the hardware shall prefer, from performance to power")(
    lambda source: _cpufreq(source, "energy_performance_preference")
)
register("cpufreq.min_khz", "int", "lowest frequency of the hardware", unit="kHz")(
    lambda source: int(_cpufreq(source, "cpuinfo_min_freq"))
)
register("cpufreq.max_khz", "int", "highest frequency of the hardware, turbo included", unit="kHz")(
    lambda source: int(_cpufreq(source, "cpuinfo_max_freq"))
)


@register("cpufreq.turbo", "bool", "whether it may go above its nominal frequency")
def _turbo(source: Source) -> bool:
    with suppress(FactUnavailable):
        return source.integer(f"{_CPU}/intel_pstate/no_turbo") == 0
    with suppress(FactUnavailable):
        return source.integer(f"{_CPU}/cpufreq/boost") == 1
    # amd_pstate has a switch for each CPU since Linux 6.11.
    return int(_cpufreq(source, "boost")) == 1


@register("cpuidle.governor", "text", "what chooses the idle state")
def _idle_governor(source: Source) -> str:
    return source.first([f"{_CPU}/cpuidle/current_governor", f"{_CPU}/cpuidle/current_governor_ro"])


@register("cpuidle.states", "list", "idle states as NAME:exit_latency_us")
def _idle_states(source: Source) -> list[str]:
    folder = f"{_CPU}/cpu{online_cpus(source)[0]}/cpuidle"
    states = sorted(source.names(folder, "state"), key=lambda name: int(name.removeprefix("state")))
    return [f"{source.text(f'{folder}/{state}/name')}:{source.text(f'{folder}/{state}/latency')}" for state in states]


# PM_QOS_CPU_LATENCY_DEFAULT_VALUE in include/linux/pm_qos.h: nobody asked for less.
_NO_LATENCY_LIMIT_US = 2_000_000_000


@register("cpuidle.latency_limit_us", "int", "exit latency allowed by cpu_dma_latency, in us", null="no limit")
def _latency_limit(source: Source) -> int | None:
    # To open it for reading asks for nothing: the kernel adds a wish of the default value until it is closed.
    content = source.bytes("/dev/cpu_dma_latency")
    if len(content) != 4:
        raise FactUnavailable(f"/dev/cpu_dma_latency gives {len(content)} bytes, not 4")
    limit_us = int.from_bytes(content, sys.byteorder, signed=True)
    return None if limit_us >= _NO_LATENCY_LIMIT_US or limit_us < 0 else limit_us
