"""Machines that differ from the laptop in one way each."""

from __future__ import annotations

import gzip
import sys
import tracemalloc

import pytest

from clonometer.host.facts import collect

CPU = "sys/devices/system/cpu"


def test_turbo_switched_off_and_amds_boost(laptop):
    laptop.write({f"{CPU}/intel_pstate/no_turbo": "1"})
    assert collect(laptop.root)["cpufreq.turbo"] is False
    (laptop.root / f"{CPU}/intel_pstate/no_turbo").unlink()
    laptop.write({f"{CPU}/cpufreq/boost": "1", f"{CPU}/cpu0/cpufreq/scaling_driver": "acpi-cpufreq"})
    assert collect(laptop.root)["cpufreq.turbo"] is True
    (laptop.root / f"{CPU}/cpufreq/boost").unlink()
    laptop.write({f"{CPU}/cpu0/cpufreq/boost": "0", f"{CPU}/cpu0/cpufreq/scaling_driver": "amd-pstate-epp"})
    facts = collect(laptop.root)
    assert (facts["cpufreq.turbo"], facts["cpufreq.driver"]) == (False, "amd-pstate-epp")


def test_a_machine_without_cpufreq_says_why(machine):
    machine.write({f"{CPU}/online": "0"})
    assert collect(machine.root)["lacks.cpufreq.turbo"] == "no cpufreq driver, as usual in virtual machines"


def test_a_server_with_256_cpus_in_two_packages(machine):
    for cpu in range(256):
        machine.write({f"{CPU}/cpu{cpu}/topology/thread_siblings_list": f"{cpu % 128},{cpu % 128 + 128}"})
    machine.write({f"{CPU}/online": "0-255", "proc/self/status": "Cpus_allowed_list:\t0-3,128-131,200\n"})
    facts = collect(machine.root)
    assert (facts["cpu.online"], facts["cpu.cores"], facts["cpu.smt"], facts["cpu.allowed"]) == (
        256,
        128,
        True,
        9,
    )


@pytest.mark.parametrize("listed", [True, False], ids=["in /sys", "in /proc/cpuinfo alone"])
def test_a_server_with_1024_cpus(machine, listed):
    flags = " ".join(f"flag{number}" for number in range(150))
    entry = "processor\t: {}\nvendor_id\t: AuthenticAMD\nmodel name\t: EPYC\nflags\t\t: {}\n\n"
    machine.write({"proc/cpuinfo": "".join(entry.format(cpu, flags) for cpu in range(1024))})
    assert (machine.root / "proc/cpuinfo").stat().st_size > 1 << 20
    machine.write({"proc/self/status": "Cpus_allowed_list:\t0-1023\n"})
    for cpu in range(1024):
        machine.write({f"{CPU}/cpu{cpu}/topology/core_cpus_list": f"{cpu % 512},{cpu % 512 + 512}"})
    if listed:
        machine.write({f"{CPU}/online": "0-1023"})
    facts = collect(machine.root)
    assert (facts["cpu.online"], facts["cpu.cores"], facts["cpu.allowed"]) == (1024, 512, 1024)


def test_a_file_that_is_too_large_is_no_fact(machine):
    machine.write({f"{CPU}/online": "0"})
    (machine.root / "proc").mkdir()
    with (machine.root / "proc/cpuinfo").open("wb") as file:
        file.truncate((16 << 20) + 1)
    assert collect(machine.root)["lacks.cpu.model"] == "/proc/cpuinfo has more than 16 MiB"


def test_an_arm_server(machine):
    machine.write(
        {
            "proc/cpuinfo": "processor\t: 0\nBogoMIPS\t: 243\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n"
            "CPU architecture: 8\nCPU part\t: 0xd0c\n\nprocessor\t: 1\nCPU implementer\t: 0x41\n",
            f"{CPU}/vulnerabilities/spectre_v2": "Mitigation: CSV2, BHB",
        }
    )
    facts = collect(machine.root)
    assert (facts["cpu.model"], facts["cpu.vendor"], facts["cpu.arch"]) == (
        "ARM Neoverse N1",
        "ARM",
        "aarch64",
    )
    assert facts["cpu.online"] == 2
    assert facts["cpu.microcode"] is None
    assert facts["lacks.cpu.microcode"] == "/proc/cpuinfo has no microcode"
    assert facts["mitigations.summary"] == "CSV2"
    assert facts["virt.hypervisor"] == "none"


def test_an_arm_processor_nobody_knows(machine):
    machine.write({"proc/cpuinfo": "CPU implementer\t: 0x99\nCPU part\t: 0x1\n"})
    assert collect(machine.root)["cpu.model"] == "implementer 0x99 part 0x1"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"sys/class/dmi/id/product_name": "Google Compute Engine"}, "KVM"),
        ({"sys/class/dmi/id/sys_vendor": "QEMU"}, "QEMU"),
        ({"sys/class/dmi/id/sys_vendor": "Amazon EC2", "sys/class/dmi/id/product_name": "m5.large"}, "KVM"),
        (
            {
                "sys/class/dmi/id/sys_vendor": "Microsoft Corporation",
                "sys/class/dmi/id/product_name": "Virtual Machine",
            },
            "Hyper-V",
        ),
        ({"sys/class/dmi/id/product_name": "VMware Virtual Platform"}, "VMware"),
        ({"sys/hypervisor/type": "xen"}, "Xen"),
        ({"sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc kvm-clock"}, "KVM"),
        ({f"{CPU}/cpuidle/current_driver": "haltpoll"}, "KVM"),
        ({"sys/bus/vmbus/x": ""}, "Hyper-V"),
        ({}, "unknown"),
    ],
)
def test_hypervisors(machine, files, name):
    machine.write({"proc/cpuinfo": "flags\t: fpu hypervisor lm\n"}).write(files)
    assert collect(machine.root)["virt.hypervisor"] == name


def test_without_the_flag_firmware_does_not_mislead(machine):
    machine.write({"proc/cpuinfo": "flags\t: fpu lm\n", "sys/class/dmi/id/bios_vendor": "Xen tools"})
    assert collect(machine.root)["virt.hypervisor"] == "none"


def test_arm_guests_are_told_by_firmware_or_device_tree(machine):
    machine.write({"proc/cpuinfo": "CPU implementer\t: 0x41\n", "proc/device-tree/hypervisor/compatible": "linux,kvm"})
    assert collect(machine.root)["virt.hypervisor"] == "KVM"


@pytest.mark.parametrize(
    ("path", "content", "name"),
    [
        (".dockerenv", "", "docker"),
        ("run/.containerenv", "", "podman"),
        ("run/systemd/container", "systemd-nspawn", "systemd-nspawn"),
        ("proc/1/environ", "PATH=/bin\x00container=lxc\x00", "lxc"),
        ("proc/self/cgroup", "0::/kubepods.slice/kubepods-pod1.slice/cri-1.scope", "kubernetes"),
        ("proc/self/cgroup", "4:memory:/docker/0123abcd", "docker"),
        ("proc/self/cgroup", "0::/machine.slice/libpod-1.scope", "podman"),
        ("proc/self/cgroup", "0::/user.slice", "none"),
    ],
)
def test_containers(machine, path, content, name):
    machine.write({"proc/self/cgroup": "0::/"}).write({path: content})
    assert collect(machine.root)["virt.container"] == name


def config(machine, *lines):
    machine.write({"proc/sys/kernel/osrelease": "6.1.0"})
    machine.write({"boot/config-6.1.0": "\n".join(["# CONFIG_PREEMPT_RT is not set", *lines])})


@pytest.mark.parametrize(
    ("version", "lines", "mode"),
    [
        ("#1 SMP PREEMPT_RT", ["CONFIG_PREEMPT_RT=y"], "rt"),
        ("#1 SMP PREEMPT_DYNAMIC", ["CONFIG_PREEMPT_VOLUNTARY=y", "CONFIG_PREEMPT_DYNAMIC=y"], "voluntary"),
        ("#1 SMP PREEMPT", ["CONFIG_PREEMPT_LAZY=y"], "lazy"),
        ("#1 SMP PREEMPT", ["CONFIG_PREEMPT=y"], "full"),
        ("#1 SMP", ["CONFIG_PREEMPT_NONE=y"], "none"),
        ("#1 SMP", ["CONFIG_SMP=y"], "none"),
    ],
)
def test_preemption_as_built(machine, version, lines, mode):
    machine.write({"proc/sys/kernel/version": version, "proc/cmdline": "quiet preempt=full" if "RT" in version else ""})
    config(machine, *lines)
    assert collect(machine.root)["kernel.preemption"] == mode


def test_preemption_as_chosen(machine):
    machine.write({"proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC", "proc/cmdline": "preempt=voluntary"})
    config(machine, "CONFIG_PREEMPT=y")
    assert collect(machine.root)["kernel.preemption"] == "voluntary"
    machine.write({"sys/kernel/debug/sched/preempt": "none voluntary full (lazy)"})
    assert collect(machine.root)["kernel.preemption"] == "lazy"


def test_preemption_nobody_can_tell(machine):
    machine.write({"proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC", "proc/cmdline": ""})
    facts = collect(machine.root)
    assert facts["kernel.preemption"] is None
    assert "configuration is not to be had" in facts["lacks.kernel.preemption"]
    machine.write({"proc/sys/kernel/version": "#1 SMP PREEMPT Debian"})
    assert collect(machine.root)["kernel.preemption"] == "full"


def test_the_configuration_in_proc(machine):
    machine.write({"proc/cmdline": "init_on_free=1"})
    packed = gzip.compress(b"CONFIG_INIT_ON_ALLOC_DEFAULT_ON=y\n")
    (machine.root / "proc/config.gz").write_bytes(packed)
    facts = collect(machine.root)
    assert (facts["kernel.init_on_alloc"], facts["kernel.init_on_free"]) == (True, True)
    machine.write({"proc/cmdline": "init_on_alloc=0"})
    facts = collect(machine.root)
    assert (facts["kernel.init_on_alloc"], facts["kernel.init_on_free"]) == (False, False)
    (machine.root / "proc/config.gz").write_bytes(packed[:-9])
    assert collect(machine.root)["lacks.kernel.init_on_free"].startswith("no init_on_free on the command line")


def test_a_configuration_that_unpacks_without_end_is_not_unpacked(machine):
    machine.write({"proc/cmdline": ""})
    packed = gzip.compress(b"CONFIG_INIT_ON_FREE_DEFAULT_ON=y\n" + bytes(256 << 20))
    (machine.root / "proc/config.gz").write_bytes(packed)
    tracemalloc.start()
    facts = collect(machine.root)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "configuration is not to be had" in facts["lacks.kernel.init_on_free"]
    assert most < 64 << 20


def test_only_flags_that_move_launches_are_kept(machine):
    machine.write({"proc/cmdline": "root=UUID=1 quiet isolcpus=2-3 nohz_full=2-3 mitigations=off password=x idle=poll"})
    assert collect(machine.root)["kernel.cmdline_flags"] == [
        "isolcpus=2-3",
        "nohz_full=2-3",
        "mitigations=off",
        "idle=poll",
    ]


@pytest.mark.parametrize(("cmdline", "audit"), [("audit=0", False), ("audit=1", True), ("quiet", None)])
def test_audit_from_the_command_line(machine, cmdline, audit):
    machine.write({"proc/cmdline": cmdline, "proc/self/loginuid": "1"})
    assert collect(machine.root)["kernel.audit"] is audit


def test_a_kernel_without_audit_has_no_loginuid(machine):
    machine.write({"proc/cmdline": "quiet", "proc/self/status": "x"})
    assert collect(machine.root)["kernel.audit"] is False


@pytest.mark.parametrize(
    ("texts", "summary"),
    [
        (
            {"spectre_v2": "Mitigation: Retpolines; RSB filling", "meltdown": "Mitigation: PTI"},
            "retpolines, KPTI",
        ),
        ({"spectre_v2": "Vulnerable", "meltdown": "Vulnerable"}, "none"),
        ({"spectre_v2": "Mitigation: Retpolines", "meltdown": "Not affected"}, "retpolines, no KPTI"),
        (
            {"spectre_v2": "Mitigation: IBRS", "retbleed": "Mitigation: untrained return thunk"},
            "kernel IBRS, untrained returns",
        ),
        ({"spectre_v1": "Mitigation: usercopy barriers"}, "none that launches feel"),
        ({"spectre_v1": "Not affected"}, "none"),
    ],
)
def test_mitigations_in_short(machine, texts, summary):
    machine.write({f"{CPU}/vulnerabilities/{name}": text for name, text in texts.items()})
    facts = collect(machine.root)
    assert facts["mitigations"] == texts
    assert facts["mitigations.summary"] == summary


def test_rights_and_namespaces_of_a_confined_task(machine):
    machine.write(
        {
            "proc/self/status": "Uid:\t1000\t0\t0\t0\nNSpid:\t900\t12\t1\nCapEff:\t00000000a80425fb\n"
            "NoNewPrivs:\t1\nSeccomp:\t2\n"
        }
    )
    machine.link("proc/self/ns/pid", "pid:[4026532999]").link("proc/self/ns/user", "user:[4026532111]")
    facts = collect(machine.root)
    assert (facts["security.seccomp"], facts["security.no_new_privs"], facts["user.root"]) == (2, True, True)
    assert (facts["namespace.pid_depth"], facts["namespace.user"]) == (2, True)
    assert " ".join(facts["user.capabilities"]) == (
        "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot "
        "mknod audit_write setfcap"
    )


def test_a_container_sees_itself_at_depth_one_at_least(machine):
    machine.write({"proc/self/status": "NSpid:\t7\n"}).link("proc/self/ns/pid", "pid:[4026532999]")
    assert collect(machine.root)["namespace.pid_depth"] == 1


def test_unlimited_limits(machine):
    machine.write({"proc/self/limits": "Max stack size            unlimited            unlimited   bytes\n"})
    facts = collect(machine.root)
    assert facts["limit.stack_bytes"] is None
    assert "lacks.limit.stack_bytes" not in facts
    assert facts["lacks.limit.nproc"] == "/proc/self/limits has no 'Max processes'"


def test_what_holds_idle_and_ticks_back(laptop):
    laptop.write({f"{CPU}/nohz_full": "(null)", f"{CPU}/cpu0/cpufreq/energy_performance_preference": "power"})
    (laptop.root / "dev").mkdir()
    latency = laptop.root / "dev/cpu_dma_latency"
    latency.write_bytes((2_000_000_000).to_bytes(4, sys.byteorder))
    facts = collect(laptop.root)
    assert (facts["cpu.nohz_full"], facts["cpufreq.preference"]) == ("", "power")
    assert facts["cpuidle.latency_limit_us"] is None
    assert "lacks.cpuidle.latency_limit_us" not in facts
    laptop.write({f"{CPU}/nohz_full": "4-7"})
    latency.write_bytes((10).to_bytes(4, sys.byteorder))
    facts = collect(laptop.root)
    assert (facts["cpu.nohz_full"], facts["cpuidle.latency_limit_us"]) == ("4-7", 10)


def test_swap_in_use_and_tasks_that_wait(laptop):
    meminfo = "MemTotal:  16384 kB\nMemAvailable:   8192 kB\nSwapTotal: 1024 kB\nSwapFree: 1000 kB"
    pressure = "some avg10=12.50 avg60=1.00 avg300=0.10 total=99\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0"
    laptop.write({"proc/meminfo": meminfo, "proc/pressure/cpu": pressure})
    facts = collect(laptop.root)
    assert facts["memory.swap_used_bytes"] == 24 << 10
    assert facts["load.cpu_pressure"] == pytest.approx(0.125)
