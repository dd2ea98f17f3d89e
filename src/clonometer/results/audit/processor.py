"""Frequency, idle states, threads of a core, isolation, clock source and microcode."""

from __future__ import annotations

from clonometer.results.audit.items import Facts, unknown
from clonometer.results.audit.types import FINE, NOTE, WARN, AuditItem

_CPU = "/sys/devices/system/cpu"
_SLOW_EXIT_US = 20
_GUEST = ("none", None)


def check_processor(facts: Facts) -> list[AuditItem]:
    """Judge what sets the speed of the processor and when it sleeps."""
    checks = (_governor, _turbo, _idle, _latency_limit, _smt, _affinity, _isolation, _clocksource, _microcode)
    return [check(facts) for check in checks]


def _governor(facts: Facts) -> AuditItem:
    id_, title, key = "cpu.governor", "Frequency governor", "cpufreq.governor"
    governor, driver = facts.get(key, str), facts.get("cpufreq.driver", str)
    if governor is None:
        if facts.get("virt.hypervisor", str) not in _GUEST:
            effect = "The hypervisor sets the frequency; each block of a run records the effective one."
            return AuditItem(id_, title, "set by the hypervisor", NOTE, effect)
        return unknown(facts, key, id_, title, "A frequency that follows the load makes first launches slower.")
    preference = facts.get("cpufreq.preference", str)
    about = ", ".join(part for part in (driver, preference and f"prefers {preference}") if part)
    value = f"{governor} ({about})" if about else governor
    if governor == "performance":
        return AuditItem(id_, title, value, FINE, "Launches run at the highest frequency from the first one on.")
    effect = (
        "The frequency follows the load: cold launches run slower than warm ones for that reason alone, and medians "
        "wander while it settles."
    )
    command = f"echo performance | sudo tee {_CPU}/cpu*/cpufreq/scaling_governor"
    return AuditItem(id_, title, value, WARN, effect, command)


def _turbo(facts: Facts) -> AuditItem:
    id_, title, key = "cpu.turbo", "Turbo", "cpufreq.turbo"
    turbo = facts.get(key, bool)
    if turbo is None:
        if facts.get("virt.hypervisor", str) not in _GUEST:
            effect = "The hypervisor decides; the effective frequency that each block records shows it."
            return AuditItem(id_, title, "set by the hypervisor", NOTE, effect)
        return unknown(facts, key, id_, title, "Turbo depends on heat and on what other cores do.")
    if not turbo:
        return AuditItem(id_, title, "off", FINE, "The frequency does not depend on heat or on other cores.")
    effect = "The frequency depends on heat and on how many cores work: figures drift by up to a third within a run."
    return AuditItem(id_, title, "on", WARN, effect, _turbo_command(facts))


def _turbo_command(facts: Facts) -> str:
    driver = facts.get("cpufreq.driver", str) or ""
    if driver.startswith("intel_") or facts.get("cpu.vendor", str) == "GenuineIntel":
        return f"echo 1 | sudo tee {_CPU}/intel_pstate/no_turbo"
    if driver.startswith("amd-pstate") or driver.startswith("amd_pstate"):
        return f"echo 0 | sudo tee {_CPU}/cpu*/cpufreq/boost"
    return f"echo 0 | sudo tee {_CPU}/cpufreq/boost"


def _exit_latencies(states: list[str]) -> dict[str, int]:
    pairs = (state.rpartition(":") for state in states)
    return {name: int(latency) for name, _, latency in pairs if latency.isdigit()}


def _idle(facts: Facts) -> AuditItem:
    id_, title, key = "cpu.idle", "Idle states", "cpuidle.states"
    states, driver = facts.get(key, list), facts.get("cpuidle.driver", str)
    if states is None:
        effect = "A CPU that sleeps must wake before the new task can run on it."
        return unknown(facts, key, id_, title, effect)
    latencies = _exit_latencies(states)
    if not latencies:
        return AuditItem(id_, title, "none", FINE, "CPUs do not sleep: waking one costs nothing.")
    deepest = max(latencies, key=lambda name: latencies[name])
    latency_us = latencies[deepest]
    governor = facts.get("cpuidle.governor", str)
    about = ", ".join(part for part in (driver, governor and f"governor {governor}") if part)
    value = f"{deepest} takes {latency_us} µs to leave" + (f" ({about})" if about else "")
    limit_us = facts.get("cpuidle.latency_limit_us", int)
    if latency_us >= _SLOW_EXIT_US and (limit_us is None or limit_us >= latency_us):
        effect = f"Waking a task on an idle CPU may take {latency_us} µs longer: free placement becomes bimodal."
        return AuditItem(
            id_, title, value, WARN, effect, f"sudo cpupower idle-set --disable-by-latency {_SLOW_EXIT_US}"
        )
    if driver == "haltpoll" or "haltpoll" in (governor or ""):
        effect = (
            "An idle CPU polls for a while before it halts: wake-ups soon after work are fast, later ones cost a VM "
            "exit."
        )
        return AuditItem(id_, title, value, NOTE, effect)
    return AuditItem(id_, title, value, FINE, "Waking a task on an idle CPU costs little.")


def _latency_limit(facts: Facts) -> AuditItem:
    id_, title, key = "cpu.dma_latency", "Idle latency limit", "cpuidle.latency_limit_us"
    limit_us = facts.get(key, int)
    if limit_us is not None:
        effect = (
            f"Some program keeps CPUs out of idle states that take more than {limit_us} µs to leave; it may end at "
            f"any time."
        )
        return AuditItem(id_, title, f"{limit_us} µs", NOTE, effect, "sudo fuser -v /dev/cpu_dma_latency")
    if facts.unlimited(key):
        return AuditItem(id_, title, "none requested", FINE, "The idle states above apply unchanged.")
    return unknown(facts, key, id_, title, "A program may keep CPUs out of deep idle states while it runs.")


def _smt(facts: Facts) -> AuditItem:
    id_, title, key = "cpu.smt", "Threads per core", "cpu.smt"
    smt = facts.get(key, bool)
    if smt is None:
        return unknown(facts, key, id_, title, "Two CPUs of one core slow each other down.")
    if not smt:
        if facts.get("virt.hypervisor", str) not in _GUEST:
            effect = "None is shown to this guest; the host may still run another guest on the same core."
            return AuditItem(id_, title, "off, as this guest sees it", NOTE, effect)
        return AuditItem(id_, title, "off", FINE, "Each CPU has a core to itself.")
    cores, online = facts.get("cpu.cores", int), facts.get("cpu.online", int)
    value = f"on: {online} CPUs on {cores} cores" if cores and online else "on"
    effect = "A launch takes longer while the other CPU of its core works, and free placement may put the child there."
    return AuditItem(id_, title, value, NOTE, effect, f"echo off | sudo tee {_CPU}/smt/control")


def _affinity(facts: Facts) -> AuditItem:
    id_, title, key = "cpu.allowed", "CPUs allowed", "cpu.allowed"
    allowed, online = facts.get(key, int), facts.get("cpu.online", int)
    if allowed is None or online is None:
        return unknown(facts, key, id_, title, "With one CPU the child runs only when the parent waits.")
    value = f"{allowed} of {online}"
    if allowed == 1:
        effect = "With one CPU the child runs only when the parent waits: placement=free cannot show another CPU."
        return AuditItem(id_, title, value, WARN, effect, "taskset -c 0-1 clonometer run" if online > 1 else None)
    if allowed < online:
        effect = "Launches stay on these CPUs; other work on them distorts the figures."
        return AuditItem(id_, title, value, NOTE, effect)
    return AuditItem(id_, title, value, FINE, "Both placements can be measured.")


def _isolation(facts: Facts) -> AuditItem:
    id_, title, key = "cpu.isolated", "Isolated CPUs", "cpu.isolated"
    isolated, tickless = facts.get(key, str), facts.get("cpu.nohz_full", str)
    if isolated is None:
        return unknown(facts, key, id_, title, "Isolated CPUs are quiet, and the scheduler places nothing on them.")
    parts = [f"isolated {isolated}" if isolated else "", f"without a tick {tickless}" if tickless else ""]
    value = ", ".join(filter(None, parts)) or "none"
    if isolated:
        effect = (
            "They are quiet, but the scheduler places nothing there by itself: start Clonometer there on purpose, and "
            "expect placement=free to stay on one CPU."
        )
        return AuditItem(id_, title, value, NOTE, effect, f"taskset -c {isolated} clonometer run")
    if tickless:
        effect = "Entering and leaving the kernel costs more on CPUs without a tick: each system call of a launch does."
        return AuditItem(id_, title, value, NOTE, effect)
    return AuditItem(
        id_, title, value, FINE, "The scheduler uses every CPU alike; the timer tick is part of the figures."
    )


def _clocksource(facts: Facts) -> AuditItem:
    id_, title, key = "cpu.clocksource", "Clock source", "clocksource.current"
    current, available = facts.get(key, str), facts.get("clocksource.available", list) or []
    if current is None:
        return unknown(facts, key, id_, title, "A slow clock source adds a system call to every reading of the clock.")
    if current in ("tsc", "arch_sys_counter", "kvm-clock", "hyperv_clocksource_tsc_page"):
        return AuditItem(id_, title, current, FINE, "It is read without a system call.")
    effect = "Reading it takes a system call and often a slow device: each reading adds to what is timed."
    can = "tsc" in available
    where = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    return AuditItem(id_, title, current, WARN, effect, f"echo tsc | sudo tee {where}" if can else None)


def _microcode(facts: Facts) -> AuditItem:
    id_, title, key = "cpu.microcode", "Microcode", "cpu.microcode"
    revision = facts.get(key, str)
    if revision is None:
        return unknown(facts, key, id_, title, "Microcode adds and changes mitigations.")
    state = (facts.get("mitigations", dict) or {}).get("old_microcode", "")
    if state.lower().startswith("vulnerable"):
        effect = "The kernel says it is out of date: an update may change what mitigations cost."
        intel = facts.get("cpu.vendor", str) == "GenuineIntel"
        return AuditItem(
            id_, title, revision, NOTE, effect, f"sudo apt-get install {'intel' if intel else 'amd64'}-microcode"
        )
    return AuditItem(id_, title, revision, FINE, "Compare machines of one model only with the same revision.")
