"""Facts of the kernel: version, preemption, limits, mitigations, clock source."""

from __future__ import annotations

import re
import zlib
from contextlib import suppress

from clonometer.host.registry import register, register_file
from clonometer.host.source import FactUnavailable, Source, chosen

_VULNERABILITIES = "/sys/devices/system/cpu/vulnerabilities"
# Of a kernel with all options it has 300 kB.
_MOST_CONFIG_BYTES = 4 << 20
_CLOCKSOURCE = "/sys/devices/system/clocksource/clocksource0"
# Flags of the command line that move launches: scheduling, isolation, mitigations, memory, idling, clock.
_FLAGS = re.compile(
    r"(isolcpus|nohz|nohz_full|rcu_nocbs|rcu_nocb_poll|rcutree\..*|rcupdate\..*|mitigations|pti|nopti|kpti|spectre.*"
    r"|nospectre.*|retbleed|spec_.*|nospec_.*|mds|tsx|tsx_async_abort|l1tf|gather_data_sampling|mmio_stale_data"
    r"|reg_file_data_sampling|srbds|tsa|its|indirect_target_selection|vmscape|ibt|init_on_alloc|init_on_free"
    r"|page_poison|slub_debug|slab_debug|slab_nomerge|slab_merge|preempt|idle|intel_idle\..*|processor\..*"
    r"|cpuidle\..*|haltpoll|cpuidle_haltpoll\..*|intel_pstate|amd_pstate|cpufreq\..*|clocksource|tsc|notsc"
    r"|transparent_hugepage|thp_.*|hugepages|hugepagesz|default_hugepagesz|numa_balancing|audit|lockdown|lsm|apparmor"
    r"|selinux|security|nosmt|maxcpus|nr_cpus|no-kvmclock|no_steal_acc|skew_tick|irqaffinity|kfence\..*"
    r"|randomize_kstack_offset|norandmaps|vdso|nokaslr|hardened_usercopy|threadirqs|cgroup_disable)"
)


register_file("kernel.release", "text", "/proc/sys/kernel/osrelease", "release, as uname -r")
register_file("kernel.version", "text", "/proc/sys/kernel/version", "build, as uname -v")
register_file(
    "kernel.randomize_va_space", "int", "/proc/sys/kernel/randomize_va_space",
    "0: programs are always at fixed addresses; 1: stack, mappings and vDSO are random; 2: the heap too", unit="count",
)  # fmt: skip
register_file("kernel.pid_max", "int", "/proc/sys/kernel/pid_max", "one more than the largest process id", unit="count")
register_file("kernel.threads_max", "int", "/proc/sys/kernel/threads-max", "tasks the kernel allows", unit="count")
register_file(
    "kernel.perf_event_paranoid",
    "int",
    "/proc/sys/kernel/perf_event_paranoid",
    "who may use perf events; below 0: everybody",
)
register_file(
    "kernel.lockdown", "text", "/sys/kernel/security/lockdown", "none, integrity or confidentiality", parse=chosen
)
register_file("clocksource.current", "text", f"{_CLOCKSOURCE}/current_clocksource", "what the kernel's clock reads")
register_file(
    "clocksource.available", "list", f"{_CLOCKSOURCE}/available_clocksource", "what it could read", parse=str.split
)


def command_line(source: Source) -> dict[str, str]:
    """The kernel's command line: name -> value; the last of a name counts, as in the kernel."""
    words = (word.partition("=") for word in source.text("/proc/cmdline").split())
    return {name.replace("-", "_") if name != "no-kvmclock" else name: value for name, _, value in words}


@register("kernel.cmdline_flags", "list", "the flags of its command line that move launches")
def _cmdline_flags(source: Source) -> list[str]:
    return [word for word in source.text("/proc/cmdline").split() if _FLAGS.fullmatch(word.partition("=")[0])]


def _unpacked(packed: bytes) -> bytes:
    """Unpack a gzip file of at most so many bytes; a host may hand us one that unpacks without end."""
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    content = unpacker.decompress(packed, _MOST_CONFIG_BYTES)
    if not unpacker.eof:
        raise EOFError
    return content


def _config(source: Source) -> dict[str, str]:
    """The options the kernel was built with: name without CONFIG_ -> value."""
    text = source.text_or(f"/boot/config-{source.text_or('/proc/sys/kernel/osrelease', '')}", "")
    if not text:
        try:
            text = _unpacked(source.bytes("/proc/config.gz")).decode("utf-8", "replace")
        except (EOFError, zlib.error):
            raise FactUnavailable("/proc/config.gz is damaged") from None
    pairs = (line.removeprefix("CONFIG_").partition("=") for line in text.splitlines() if line.startswith("CONFIG_"))
    return {name: value.strip().strip('"') for name, _, value in pairs}


@register("kernel.preemption", "text", "none, voluntary, full, lazy or rt")
def _preemption(source: Source) -> str:
    """By what runs (debugfs) if it may be read, else by what was asked for at boot, else by what was built."""
    version = source.text_or("/proc/sys/kernel/version", "")
    if "PREEMPT_RT" in version or source.text_or("/sys/kernel/realtime", "0") == "1":
        return "rt"
    with suppress(FactUnavailable):
        return chosen(source.text("/sys/kernel/debug/sched/preempt").replace("(", "[").replace(")", "]"))
    with suppress(FactUnavailable):
        asked = command_line(source).get("preempt", "")
        if "PREEMPT_DYNAMIC" in version and asked in ("none", "voluntary", "full", "lazy"):
            return asked
    try:
        config = _config(source)
    except FactUnavailable:
        if " PREEMPT " in f" {version} ":
            return "full"
        raise FactUnavailable(
            "only root can read /sys/kernel/debug, and the kernel's configuration is not to be had"
        ) from None
    for option, name in (("LAZY", "lazy"), ("VOLUNTARY", "voluntary"), ("NONE", "none")):
        if f"PREEMPT_{option}" in config:
            return name
    return "full" if "PREEMPT" in config else "none"


def _default_on(source: Source, flag: str, option: str) -> bool:
    """A switch of the command line, else what the kernel was built with."""
    value = command_line(source).get(flag)
    if value is not None:
        return value.lower() in ("1", "y", "on", "yes", "true", "t")
    try:
        return option in _config(source)
    except FactUnavailable:
        raise FactUnavailable(
            f"no {flag} on the command line, and the kernel's configuration is not to be had"
        ) from None


@register("kernel.init_on_alloc", "bool", "whether memory is zeroed when allocated")
def _init_on_alloc(source: Source) -> bool:
    return _default_on(source, "init_on_alloc", "INIT_ON_ALLOC_DEFAULT_ON")


@register("kernel.init_on_free", "bool", "whether memory is zeroed when freed")
def _init_on_free(source: Source) -> bool:
    return _default_on(source, "init_on_free", "INIT_ON_FREE_DEFAULT_ON")


@register("kernel.audit", "bool", "whether system calls may be audited")
def _audit(source: Source) -> bool:
    if source.exists("/proc/self") and not source.exists("/proc/self/loginuid"):
        return False  # built without audit: loginuid is there in every kernel that has it
    asked = command_line(source).get("audit")
    if asked in ("0", "off"):
        return False
    if asked in ("1", "on"):
        return True
    raise FactUnavailable("audit is not on the command line, and only auditctl can ask the kernel for its state")


@register("mitigations", "object", "name -> the kernel's text")
def _mitigations(source: Source) -> dict[str, str]:
    return {name: source.text(f"{_VULNERABILITIES}/{name}") for name in source.names(_VULNERABILITIES)}


# What launches feel: vulnerability, words in the kernel's text of it, what the summary calls it.
_SHORT = (
    ("spectre_v2", "retpoline", "retpolines"),
    ("spectre_v2", "lfence", "LFENCE branches"),
    ("spectre_v2", "automatic ibrs", "IBRS"),
    ("spectre_v2", "enhanced ibrs", "IBRS"),
    ("spectre_v2", "mitigation: ibrs", "kernel IBRS"),
    ("spectre_v2", "csv2", "CSV2"),
    ("retbleed", "untrained return thunk", "untrained returns"),
    ("spec_rstack_overflow", "safe ret", "safe returns"),
    ("mds", "clear cpu buffers", "buffer clearing"),
    ("mmio_stale_data", "clear cpu buffers", "buffer clearing"),
    ("tsa", "clear cpu buffers", "buffer clearing"),
    ("spec_store_bypass", "always-on", "no store bypass"),
)


def summarise_mitigations(mitigations: dict[str, str]) -> str:
    """Shorten the kernel's texts to what launches feel.

    Examples
    --------
    >>> summarise_mitigations({"spectre_v2": "Mitigation: Retpolines", "meltdown": "Not affected"})
    'retpolines, no KPTI'
    """
    names = []
    for vulnerability, words, name in _SHORT:
        text = mitigations.get(vulnerability, "").lower()
        # "Vulnerable: Safe RET, no microcode" is half a mitigation: the returns are paid for all the same.
        if words in text and name not in names:
            names.append(name)
    if "meltdown" in mitigations:
        text = mitigations["meltdown"].lower()
        names.append("KPTI" if "mitigation: pti" in text or "mitigation: kpti" in text else "no KPTI")
    if not any(text.lower().startswith("mitigation") for text in mitigations.values()):
        return "none"
    return ", ".join(names) or "none that launches feel"


@register("mitigations.summary", "text", "in short")
def _mitigations_summary(source: Source) -> str:
    return summarise_mitigations(_mitigations(source))
