"""Machines as facts, and what an audit must say of each."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import numpy as np
import pytest
from tests.fakes.documents import BLOCK, made_document, planned

from clonometer.results.audit.all import audit
from clonometer.results.audit.cpuid import CpuidCost, check_cpuid, cpuid_of
from clonometer.results.audit.noise import MachineNoise, check_noise, noise_of
from clonometer.results.audit.tracing import check_tracing
from clonometer.results.audit.types import FINE, NOTE, WARN, AuditItem

QUIET = {
    "cpu.online": 8,
    "cpu.allowed": 8,
    "cpu.cores": 8,
    "cpu.smt": False,
    "cpu.isolated": "",
    "cpu.nohz_full": "",
    "cpu.vendor": "GenuineIntel",
    "cpu.microcode": "0xf4",
    "cpufreq.driver": "intel_pstate",
    "cpufreq.governor": "performance",
    "cpufreq.turbo": False,
    "cpuidle.driver": "none",
    "cpuidle.states": ["POLL:0"],
    "cpuidle.latency_limit_us": None,
    "kernel.cmdline_flags": [],
    "kernel.preemption": "none",
    "kernel.pid_max": 4194304,
    "kernel.threads_max": 200_000,
    "kernel.init_on_alloc": False,
    "kernel.init_on_free": False,
    "kernel.audit": False,
    "mitigations": {"old_microcode": "Not affected"},
    "mitigations.summary": "IBRS, no KPTI",
    "virt.hypervisor": "none",
    "virt.container": "none",
    "clocksource.current": "tsc",
    "clocksource.available": ["tsc", "hpet"],
    "memory.swap_bytes": 0,
    "memory.swap_used_bytes": 0,
    "memory.overcommit": 0,
    "memory.overcommit_ratio": 50,
    "memory.max_map_count": 65530,
    "thp.enabled": "madvise",
    "thp.sizes": {"65536": "never", "2097152": "inherit"},
    "cgroup.version": "v2",
    "cgroup.path": "/user.slice",
    "cgroup.cpu_quota_cpus": None,
    "cgroup.memory_max_bytes": None,
    "cgroup.pids_max": None,
    "security.seccomp": 0,
    "security.lsm": ["lockdown", "capability", "yama"],
    "limit.stack_bytes": 8 << 20,
    "limit.nproc": 96_365,
    "limit.nofile": 1024,
    "limit.memlock_bytes": 8 << 20,
    "load.one_minute": 0.2,
    "load.cpu_pressure": 0.0,
    "steal.share": 0.0,
}


def items_of(**changes):
    facts = QUIET | {key.replace("__", "."): value for key, value in changes.items()}
    return {item.id: item for item in audit(facts)}


def judged(items, judgement):
    return {id_ for id_, item in items.items() if item.judged == judgement}


def test_a_quiet_server_has_no_warning():
    items = items_of()
    assert judged(items, "warn") == set()
    # Mitigations are on every machine and always worth knowing.
    assert judged(items, "note") == {"kernel.mitigations"}
    # What opens the machine to attacks is not there to be pasted.
    assert items["kernel.mitigations"].command is None
    assert all(item.known for item in items.values())


def test_every_item_says_its_effect_and_what_can_be_changed():
    for item in audit(QUIET):
        assert re.fullmatch(r"[a-z]+\.[a-z_]+", item.id)
        assert item.judged in (FINE, NOTE, WARN)
        assert item.effect.endswith((".", "tells."))
        assert item.judged != "fine" or item.command is None


def test_a_laptop_with_powersave_and_turbo():
    items = items_of(
        cpufreq__governor="powersave",
        cpufreq__preference="balance_power",
        cpufreq__turbo=True,
        cpu__smt=True,
        cpu__cores=4,
        cpuidle__driver="intel_idle",
        cpuidle__governor="menu",
        cpuidle__states=["POLL:0", "C1E:2", "C10:230"],
    )
    assert judged(items, "warn") == {"cpu.governor", "cpu.turbo", "cpu.idle"}
    assert items["cpu.governor"].value == "powersave (intel_pstate, prefers balance_power)"
    assert items["cpu.governor"].command == (
        "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
    )
    assert items["cpu.turbo"].command == "echo 1 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"
    assert items["cpu.idle"].value == "C10 takes 230 µs to leave (intel_idle, governor menu)"
    assert items["cpu.smt"].value == "on: 8 CPUs on 4 cores"
    assert items["cpu.smt"].judged == "note"


@pytest.mark.parametrize(
    ("driver", "file"), [("acpi-cpufreq", "cpufreq/boost"), ("amd-pstate-epp", "cpu*/cpufreq/boost")]
)
def test_amd_with_boost(driver, file):
    items = items_of(cpu__vendor="AuthenticAMD", cpufreq__driver=driver, cpufreq__turbo=True)
    assert judged(items, "warn") == {"cpu.turbo"}
    assert items["cpu.turbo"].command == f"echo 0 | sudo tee /sys/devices/system/cpu/{file}"


def test_deep_idle_states_that_a_program_forbids_are_no_warning():
    states = ["POLL:0", "C6:130"]
    assert items_of(cpuidle__states=states)["cpu.idle"].judged == "warn"
    held = items_of(cpuidle__states=states, cpuidle__latency_limit_us=10)
    assert held["cpu.idle"].judged == "fine"
    assert held["cpu.dma_latency"].judged == "note"
    assert items_of(cpuidle__states=states, cpuidle__latency_limit_us=200)["cpu.idle"].judged == "warn"


def test_a_256_core_server_with_isolated_cpus():
    items = items_of(
        cpu__online=256, cpu__allowed=248, cpu__cores=256, cpu__isolated="248-255", cpu__nohz_full="248-255",
        load__one_minute=20.0,
    )  # fmt: skip
    assert judged(items, "warn") == set()
    isolation = items["cpu.isolated"]
    assert (isolation.judged, isolation.value) == ("note", "isolated 248-255, without a tick 248-255")
    assert isolation.command == "taskset -c 248-255 clonometer run"
    assert (items["cpu.allowed"].judged, items["cpu.allowed"].value) == ("note", "248 of 256")


def test_load_is_judged_by_the_number_of_cpus():
    assert items_of(load__one_minute=20.0)["around.load"].judged == "warn"
    assert items_of(load__one_minute=0.1, load__cpu_pressure=0.5)["around.load"].judged == "warn"


def test_one_cpu_cannot_show_another():
    assert items_of(cpu__allowed=1)["cpu.allowed"].judged == "warn"
    alone = items_of(cpu__allowed=1, cpu__online=1)["cpu.allowed"]
    assert (alone.judged, alone.command) == ("warn", None)


def test_a_container_with_quotas_of_v2():
    items = items_of(
        virt__container="kubernetes",
        cgroup__path="/kubepods/pod1",
        cgroup__cpu_quota_cpus=1.5,
        cgroup__memory_max_bytes=1 << 30,
        cgroup__memory_used_bytes=1 << 28,
        cgroup__pids_max=512,
        cgroup__pids_used=12,
        security__seccomp=2,
    )
    assert judged(items, "warn") == {"cgroup.cpu", "cgroup.memory", "cgroup.pids", "kernel.seccomp"}
    assert items["cgroup.cpu"].value == "1.5 CPUs"
    assert items["cgroup.cpu"].command == "echo max | sudo tee /sys/fs/cgroup/kubepods/pod1/cpu.max"
    assert items["cgroup.memory"].value == "1GiB, 256MiB in use"
    assert items["cgroup.pids"].value == "512, 12 in use"
    assert items_of(cgroup__memory_max_bytes=1 << 40)["cgroup.memory"].judged == "note"


def test_quotas_of_v1_are_changed_in_their_own_hierarchy():
    items = items_of(cgroup__version="v1", cgroup__path="/lxc/1", cgroup__cpu_quota_cpus=0.5, cgroup__pids_max=100)
    assert items["cgroup.cpu"].command == "echo -1 | sudo tee /sys/fs/cgroup/cpu/lxc/1/cpu.cfs_quota_us"
    assert items["cgroup.pids"].command == "echo max | sudo tee /sys/fs/cgroup/pids/lxc/1/pids.max"


def test_a_guest_with_steal():
    unread = dict.fromkeys(("cpufreq__governor", "cpufreq__turbo"))
    items = items_of(virt__hypervisor="KVM", steal__share=0.034, **unread)
    assert judged(items, "warn") == {"around.steal"}
    assert items["around.steal"].value == "3.40% of the time since boot"
    assert items["around.hypervisor"].judged == "note"
    # What the hypervisor decides is no riddle.
    assert items["cpu.governor"].value == items["cpu.turbo"].value == "set by the hypervisor"
    assert items_of(steal__share=0.002)["around.steal"].judged == "note"


def test_a_hardened_kernel():
    items = items_of(
        kernel__init_on_alloc=True,
        kernel__init_on_free=True,
        kernel__audit=True,
        kernel__cmdline_flags=["slub_debug=FZP", "init_on_alloc=1"],
        mitigations__summary="retpolines, KPTI",
        security__lsm=["capability", "selinux"],
    )
    assert judged(items, "warn") == {
        "kernel.init_on_alloc", "kernel.init_on_free", "kernel.audit", "kernel.debugging", "kernel.mitigations",
    }  # fmt: skip
    assert items["kernel.debugging"].value == "slub_debug=FZP"
    assert "selinux check" in items["kernel.lsm"].effect


def test_commands_edit_the_boot_flags_as_they_claim(tmp_path):
    items = items_of(kernel__init_on_alloc=True, kernel__cmdline_flags=["slub_debug=FZP"])
    grub = tmp_path / "grub"
    grub.write_text('GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX="quiet slub_debug=FZP"\n')
    for item in ("kernel.init_on_alloc", "kernel.debugging"):
        edit = items[item].command.split(" && ")[0].removeprefix("sudo ").replace("/etc/default/grub", str(grub))
        subprocess.run(["sh", "-c", edit], check=True)
    assert grub.read_text() == 'GRUB_TIMEOUT=5\nGRUB_CMDLINE_LINUX="quiet init_on_alloc=0"\n'


@pytest.mark.parametrize("facts", [{}, dict.fromkeys(QUIET) | {f"lacks.{key}": "no such file" for key in QUIET}])
def test_a_machine_that_tells_nothing(facts):
    items = audit(facts)
    assert [item.id for item in items] == [item.id for item in audit(QUIET)]
    assert {item.judged for item in items} == {"note"}
    assert not any(item.known for item in items)
    reason = "no such file" if facts else "not recorded"
    assert {item.value for item in items} == {f"unknown: {reason}"}


def test_null_without_a_reason_is_no_limit():
    names = ("limit__nproc", "limit__nofile", "limit__memlock_bytes", "limit__stack_bytes")
    items = items_of(**dict.fromkeys(names))
    assert {items[f"limit.{name}"].value for name in ("nproc", "nofile", "memlock", "stack")} == {"unlimited"}
    assert judged(items, "note") == {"kernel.mitigations", "limit.nofile", "limit.stack"}


@pytest.mark.parametrize(
    ("changes", "id_", "judgement"),
    [
        ({"memory__overcommit": 2}, "memory.overcommit", "warn"),
        ({"memory__overcommit": 1}, "memory.overcommit", "fine"),
        ({"thp__enabled": "always"}, "memory.thp", "note"),
        ({"thp__enabled": "never"}, "memory.thp", "note"),
        ({"thp__sizes": {"65536": "always", "2097152": "inherit"}}, "memory.mthp", "warn"),
        ({"thp__sizes": {"65536": "inherit", "2097152": "inherit"}, "thp__enabled": "always"}, "memory.mthp", "warn"),
        ({"memory__swap_bytes": 1 << 30}, "memory.swap", "fine"),
        ({"memory__swap_bytes": 1 << 30, "memory__swap_used_bytes": 1 << 20}, "memory.swap", "warn"),
        ({"memory__max_map_count": 4096}, "memory.max_map_count", "note"),
        ({"limit__nproc": 100}, "limit.nproc", "warn"),
        ({"kernel__pid_max": 32768}, "limit.pid_max", "note"),
        ({"kernel__threads_max": 1000}, "limit.threads_max", "warn"),
        ({"limit__nofile": 524_288}, "limit.nofile", "note"),
        ({"limit__stack_bytes": 64 << 10}, "limit.stack", "note"),
        ({"clocksource__current": "hpet"}, "cpu.clocksource", "warn"),
        ({"clocksource__current": "kvm-clock"}, "cpu.clocksource", "fine"),
        ({"mitigations": {"old_microcode": "Vulnerable"}}, "cpu.microcode", "note"),
        ({"mitigations__summary": "none"}, "kernel.mitigations", "note"),
        ({"kernel__preemption": "full"}, "kernel.preemption", "note"),
        ({"virt__container": "docker"}, "around.container", "note"),
    ],
)
def test_single_settings(changes, id_, judgement):
    items = items_of(**changes)
    assert items[id_].judged == judgement
    others = {item.id for item in items.values() if item.judged == "warn"} - {id_}
    assert others == set()


def test_a_trapping_cpuid_says_what_each_new_program_pays() -> None:
    (item,) = check_cpuid(CpuidCost(8_100.0, 8_000.0, 68))
    assert (item.judged, item.known) == ("note", True)
    assert item.value == "8.10 µs each (at least 8.00 µs): it traps to the hypervisor"
    assert item.effect.startswith("A glibc program executes 68 as it starts: 551 µs in every new program. ")
    assert "without the C library" in item.effect


def test_without_a_count_none_is_claimed() -> None:
    (item,) = check_cpuid(CpuidCost(8_100.0, 8_000.0, None, "ptrace is refused"))
    assert "68" not in item.effect


def test_a_processor_that_executes_it_itself_is_fine() -> None:
    (item,) = check_cpuid(CpuidCost(60.0, 55.0, 68))
    assert (item.judged, item.value) == ("fine", "60.0 ns each")


def test_where_there_is_none_the_reason_is_said() -> None:
    (item,) = check_cpuid(CpuidCost(reason="CPUID is an x86 instruction, which this processor does not have"))
    assert not item.known
    assert "this processor does not have" in item.value


def test_it_is_read_from_a_run(builder: Any) -> None:
    builder.cell("program.steps", {"start_cpuid": 43, "cpuid": 44}, None, processes=1, samples=1, blocks=1, spread=0.0)
    builder.cell("program.cpuid", {"cpuid_ns": 5_000}, None, processes=2)
    cost = cpuid_of(builder.run, {})
    assert (cost.at_start, cost.reason) == (44, None)
    assert cost.cost_ns is not None
    assert cost.least_ns is not None
    assert cost.least_ns < 5_000 < cost.cost_ns * 1.1


NULL = np.iinfo(np.int64).min


class MadeRun:
    """A run in memory: starts of the bare loop by block, and forks."""

    def __init__(self, starts, reaped, switches=(), errno=None):
        self._starts, self._reaped = starts, reaped
        self._errno = [0] * len(reaped) if errno is None else errno
        cells = [{"cell": "launch.none"}, {"cell": "launch.fork"}]
        facts = [{"involuntary_switches": count, "wall_ns": 1e8} for count in switches] + [{}, {"wall_ns": 5e9}]
        blocks = [{**BLOCK, "facts": each} for each in facts]
        self.document = made_document(plan=planned(*cells), blocks=blocks)

    def cells(self):
        return [name for name, rows in (("launch.none", self._starts), ("launch.fork", self._reaped)) if rows]

    def columns(self, cell, names):
        if cell == "launch.none":
            block = np.concatenate([np.full(len(rows), number) for number, rows in enumerate(self._starts)])
            starts = np.concatenate(self._starts).astype(np.int64)
            return {"process": np.zeros_like(block), "block": block, "start_ns": starts}
        return {"reaped_ns": np.array(self._reaped, dtype=np.int64), "errno": np.array(self._errno, dtype=np.int32)}


def test_gaps_are_looked_for_inside_blocks_only():
    run = MadeRun([[0, 100, 5200, 5300], [9_000_000, 9_000_100]], [])
    noise = noise_of(run)
    assert noise.largest_gap_ns == 5100
    assert noise.watched_ns == 5400
    assert (noise.scatter, noise.samples) == (None, 0)


def test_scatter_is_the_spread_of_the_middle_half_of_launches_that_succeeded():
    values = [*range(1, 102), NULL, 7_000_000]
    noise = noise_of(MadeRun([], values, errno=[0] * 101 + [0, 11]))
    assert noise.samples == 101
    assert noise.scatter == pytest.approx(50 / 51)


def test_switches_are_counted_where_the_driver_counted_them():
    noise = noise_of(MadeRun([], [1], switches=(3, 4)))
    assert (noise.involuntary, noise.wall_ns) == (7, 2e8)


def test_judgements():
    quiet = MachineNoise(scatter=0.05, largest_gap_ns=20_000.0, watched_ns=1e8, involuntary=1, wall_ns=1e9, samples=900)
    assert [item.judged for item in check_noise(quiet)] == ["fine"] * 3
    assert check_noise(quiet)[2].value == "20.0 µs in 100.0 ms of a bare loop"
    loud = MachineNoise(scatter=0.5, largest_gap_ns=4e6, watched_ns=1e8, involuntary=60, wall_ns=1e9, samples=900)
    assert [item.judged for item in check_noise(loud)] == ["warn"] * 3
    # A command is what changes something: no list of processes does.
    assert not any(item.command for item in check_noise(loud))
    between = MachineNoise(scatter=0.2, largest_gap_ns=3e5, watched_ns=1e8, involuntary=1, wall_ns=1e9, samples=900)
    assert [item.judged for item in check_noise(between)] == ["note", "fine", "note"]


def test_nothing_measured_is_said_as_such():
    items = check_noise(noise_of(MadeRun([], [])))
    assert [item.known for item in items] == [False] * 3


WHY = "tracefs is not mounted, and only root may mount it: run it as root"


@pytest.mark.parametrize(
    ("refusals", "judged", "value", "words"),
    [
        ({"fast": None, "tracepoints": None, "own": None}, "fine", "perf and bpf", "see all"),
        (
            {"fast": "bpf: no", "tracepoints": None, "own": None},
            "fine",
            "bpf, which costs less per launch, is refused",
            "",
        ),
        ({"fast": WHY, "tracepoints": WHY, "own": None}, "note", "the parent's own perf events", WHY),
        ({"fast": WHY, "tracepoints": WHY, "own": WHY}, "note", "stamps only", WHY),
    ],
)
def test_the_tier_and_the_reason_against_a_better_one_are_said(
    refusals: dict[str, str | None], judged: str, value: str, words: str
) -> None:
    item = check_tracing(refusals)
    assert (item.judged, item.known) == (judged, True)
    assert value in item.value
    assert words in item.effect


def test_what_could_not_be_tried_is_not_known() -> None:
    item = check_tracing(None, "cannot start the tracer")
    assert isinstance(item, AuditItem)
    assert not item.known
    assert "cannot start the tracer" in item.value
