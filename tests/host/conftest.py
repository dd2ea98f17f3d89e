"""Made machines: trees of /proc and /sys, as a laptop, a server, a container and others have them."""

from __future__ import annotations

import pytest

CPU = "sys/devices/system/cpu"
THP = "sys/kernel/mm/transparent_hugepage"
CLOCKSOURCE = "sys/devices/system/clocksource/clocksource0"


class Machine:
    """A tree of files under a root."""

    def __init__(self, root):
        self.root = root

    def write(self, files):
        for path, content in files.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content if content.endswith("\n") or not content else f"{content}\n", encoding="utf-8")
        return self

    def link(self, path, target):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.symlink_to(target)
        return self


def cpuinfo_x86(model, vendor, flags="fpu lm", microcode="0xf4"):
    return (
        f"processor\t: 0\nvendor_id\t: {vendor}\nmodel name\t: {model}\n"
        f"microcode\t: {microcode}\nflags\t\t: {flags}\n\nprocessor\t: 1\nmodel name\t: other\n"
    )


def cache(index, level, kind, size):
    folder = f"{CPU}/cpu0/cache/index{index}"
    return {f"{folder}/level": str(level), f"{folder}/type": kind, f"{folder}/size": size}


def topology(cpus, threads):
    """CPUs in the usual order: the second threads of all cores follow the first ones."""
    cores = cpus // threads
    return {
        f"{CPU}/cpu{cpu}/topology/core_cpus_list": ",".join(
            str(cpu % cores + cores * thread) for thread in range(threads)
        )
        for cpu in range(cpus)
    }


STATUS = """Name:\tpython
Uid:\t1000\t1000\t1000\t1000
NSpid:\t4711
CapEff:\t0000000000000000
NoNewPrivs:\t0
Seccomp:\t0
Cpus_allowed_list:\t{allowed}
"""
LIMITS = """Limit                     Soft Limit           Hard Limit           Units
Max stack size            8388608              unlimited            bytes
Max processes             {nproc}                96365                processes
Max open files            1024                 1048576              files
Max locked memory         8388608              8388608              bytes
Max address space         unlimited            unlimited            bytes
"""


def common(allowed="0-7", nproc="31337"):
    return {
        "etc/machine-id": "0123456789abcdef0123456789abcdef",
        "proc/sys/kernel/osrelease": "6.12.9-amd64",
        "proc/sys/kernel/random/boot_id": "6f1c2f0e-0c51-4a0e-9b0b-1a5b0c0d0e0f\n",
        "proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC Debian 6.12.9-1",
        "proc/sys/kernel/arch": "x86_64",
        "proc/sys/kernel/pid_max": "4194304",
        "proc/sys/kernel/randomize_va_space": "2",
        "proc/self/personality": "00000000\n",
        "proc/sys/kernel/threads-max": "127000",
        "proc/sys/kernel/perf_event_paranoid": "-1",
        "proc/cmdline": "BOOT_IMAGE=/vmlinuz root=UUID=secret ro quiet",
        "proc/self/status": STATUS.format(allowed=allowed),
        "proc/self/limits": LIMITS.format(nproc=nproc),
        "proc/self/loginuid": "1000",
        "proc/loadavg": "0.25 0.20 0.18 3/412 9999",
        "proc/stat": "cpu  100 0 100 700 50 0 0 50 0 0\ncpu0 1 2 3",
        "proc/meminfo": "MemTotal:  16384 kB\nMemFree: 1 kB\nMemAvailable:   8192 kB\nSwapTotal: 1024 kB",
        "proc/sys/vm/overcommit_memory": "0",
        "proc/sys/vm/overcommit_ratio": "50",
        "proc/sys/vm/max_map_count": "65530",
    }


@pytest.fixture
def machine(tmp_path):
    """A machine with nothing at all."""
    return Machine(tmp_path)


@pytest.fixture
def laptop(machine):
    """Intel, turbo on, 4 cores of 2 threads."""
    states = [("POLL", 0), ("C1E", 2), ("C10", 230)]
    idle = {}
    for number, (name, latency) in enumerate(states):
        idle |= {
            f"{CPU}/cpu0/cpuidle/state{number}/name": name,
            f"{CPU}/cpu0/cpuidle/state{number}/latency": str(latency),
        }
    return (
        machine.write(common())
        .write(idle)
        .write(topology(8, 2))
        .write(cache(0, 1, "Data", "48K") | cache(1, 1, "Instruction", "32K"))
        .write(cache(2, 2, "Unified", "1280K") | cache(3, 3, "Unified", "12M"))
        .write(
            {
                "proc/cpuinfo": cpuinfo_x86("11th Gen Intel(R)  Core(TM) i7 @ 2.80GHz", "GenuineIntel"),
                f"{CPU}/online": "0-7",
                f"{CPU}/isolated": "",
                f"{CPU}/smt/active": "1",
                f"{CPU}/intel_pstate/no_turbo": "0",
                f"{CPU}/cpu0/cpufreq/scaling_driver": "intel_pstate",
                f"{CPU}/cpu0/cpufreq/scaling_governor": "powersave",
                f"{CPU}/cpu0/cpufreq/cpuinfo_min_freq": "400000",
                f"{CPU}/cpu0/cpufreq/cpuinfo_max_freq": "4700000",
                f"{CPU}/cpuidle/current_driver": "intel_idle",
                f"{CPU}/cpuidle/current_governor": "menu",
                f"{CPU}/vulnerabilities/spectre_v2": "Mitigation: Enhanced / Automatic IBRS; IBPB",
                f"{CPU}/vulnerabilities/meltdown": "Not affected",
                f"{CPU}/vulnerabilities/mmio_stale_data": "Mitigation: Clear CPU buffers; SMT vulnerable",
                f"{CLOCKSOURCE}/current_clocksource": "tsc",
                f"{CLOCKSOURCE}/available_clocksource": "tsc hpet acpi_pm",
                f"{THP}/enabled": "always [madvise] never",
                f"{THP}/defrag": "always defer [defer+madvise] madvise never",
                f"{THP}/hugepages-64kB/enabled": "always inherit madvise [never]",
                f"{THP}/hugepages-2048kB/enabled": "always [inherit] madvise never",
                f"{THP}/hugepages-8kB/shmem_enabled": "always [never]",
                "sys/kernel/mm/ksm/run": "0",
                "sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "16",
                "sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages": "0",
                "sys/kernel/security/lsm": "lockdown,capability,yama,apparmor",
                "sys/kernel/security/lockdown": "[none] integrity confidentiality",
                "sys/class/dmi/id/sys_vendor": "LENOVO",
                "sys/class/dmi/id/product_name": "20XW",
                "proc/self/cgroup": "0::/user.slice/user-1000.slice/session.scope",
                "sys/fs/cgroup/cgroup.controllers": "cpu memory pids",
                "sys/fs/cgroup/user.slice/user-1000.slice/session.scope/cgroup.procs": "1",
            }
        )
        .link("proc/self/ns/pid", "pid:[4026531836]")
        .link("proc/self/ns/user", "user:[4026531837]")
    )
