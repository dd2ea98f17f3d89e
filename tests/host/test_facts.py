from __future__ import annotations

import re
import resource
from pathlib import Path

import pytest

from clonometer.host import registry
from clonometer.host.facts import LACKS, SUMMARY, collect
from clonometer.host.registry import FACTS, Fact, register
from clonometer.host.source import FactUnavailable

REPOSITORY = Path(__file__).parents[2]
ROW = re.compile(r"\| (`[^|]+`) \| ([^|]+) \|")


def documented():
    """Key -> type, from the table of docs/host.md."""
    types_of = {}
    for line in (REPOSITORY / "docs/host.md").read_text(encoding="utf-8").splitlines():
        row = ROW.match(line)
        if row is None:
            continue
        keys = re.findall(r"`([a-z0-9_.]+)`", row.group(1))
        plain = re.sub(r"\(.*?\)", "", row.group(2))
        types = [word.split()[0] for word in plain.split(",")]
        types_of.update(zip(keys, types if len(types) > 1 else types * len(keys), strict=True))
    return types_of


def test_what_is_registered_is_what_is_documented():
    registered = {key: fact.kind for key, fact in FACTS.items()} | {SUMMARY: "text"}
    assert registered == documented()


def test_every_fact_has_a_key_and_a_summary_and_known_units():
    for key, fact in FACTS.items():
        assert re.fullmatch(r"[a-z0-9_]+(\.[a-z0-9_]+)*", key)
        assert fact.summary
        assert fact.unit in (None, "bytes", "kHz", "cpu", "count", "share")
        assert not key.endswith("_bytes") or fact.unit == "bytes"


def test_a_laptop(laptop):
    facts = collect(laptop.root)
    assert {key: value for key, value in facts.items() if key.startswith(("cpu.", "cpufreq.", "cpuidle."))} == {
        "cpu.model": "11th Gen Intel(R) Core(TM) i7 @ 2.80GHz",
        "cpu.vendor": "GenuineIntel",
        "cpu.arch": "x86_64",
        "cpu.microcode": "0xf4",
        "cpu.online": 8,
        "cpu.allowed": 8,
        "cpu.cores": 4,
        "cpu.smt": True,
        "cpu.isolated": "",
        "cpu.nohz_full": None,
        "cpu.cache_l1d_bytes": 48 << 10,
        "cpu.cache_l2_bytes": 1280 << 10,
        "cpu.cache_llc_bytes": 12 << 20,
        "cpufreq.driver": "intel_pstate",
        "cpufreq.governor": "powersave",
        "cpufreq.preference": None,
        "cpufreq.min_khz": 400_000,
        "cpufreq.max_khz": 4_700_000,
        "cpufreq.turbo": True,
        "cpuidle.driver": "intel_idle",
        "cpuidle.governor": "menu",
        "cpuidle.latency_limit_us": None,
        "cpuidle.states": ["POLL:0", "C1E:2", "C10:230"],
    }
    assert facts["host.name_hash"] == "3eb1bd43"
    assert facts["host.boot_id"] == "6f1c2f0e-0c51-4a0e-9b0b-1a5b0c0d0e0f"
    assert facts["kernel.randomize_va_space"] == 2
    assert facts["task.personality"] == "00000000"
    assert facts["memory.total_bytes"] == 16 << 20
    assert facts["memory.available_bytes"] == 8 << 20
    assert facts["memory.swap_bytes"] == 1 << 20
    assert (facts["thp.enabled"], facts["thp.defrag"]) == ("madvise", "defer+madvise")
    assert facts["thp.sizes"] == {"65536": "never", "2097152": "inherit"}
    assert facts["hugetlb.free"] == {"2097152": 16, "1073741824": 0}
    assert facts["clocksource.available"] == ["tsc", "hpet", "acpi_pm"]
    assert facts["security.lsm"] == ["lockdown", "capability", "yama", "apparmor"]
    assert facts["kernel.lockdown"] == "none"
    assert facts["kernel.perf_event_paranoid"] == -1
    assert (facts["virt.hypervisor"], facts["virt.container"]) == ("none", "none")
    assert (facts["load.one_minute"], facts["load.running"], facts["load.tasks"]) == (0.25, 3, 412)
    assert facts["steal.share"] == 0.05
    assert (facts["limit.stack_bytes"], facts["limit.nproc"], facts["limit.nofile"]) == (8 << 20, 31337, 1024)
    assert (facts["namespace.pid_depth"], facts["namespace.user"], facts["user.root"]) == (0, False, False)
    assert facts["mitigations.summary"] == "IBRS, buffer clearing, no KPTI"


def test_null_without_a_lack_is_no_limit(laptop):
    facts = collect(laptop.root)
    for key in ("limit.as_bytes", "cgroup.memory_max_bytes", "cgroup.pids_max", "cgroup.cpu_quota_cpus"):
        assert facts[key] is None
        assert LACKS + key not in facts
    silent = {key for key, value in facts.items() if value is None and LACKS + key not in facts}
    assert all(FACTS[key].null for key in silent)


def test_the_line_of_a_laptop(laptop):
    assert collect(laptop.root)[SUMMARY] == (
        "11th Gen Intel(R) Core(TM) i7 @ 2.80GHz × 8, Linux 6.12.9-amd64, no hypervisor, THP madvise, "
        "IBRS, buffer clearing, no KPTI"
    )


def test_a_machine_with_nothing_lacks_everything_with_reasons(machine):
    facts = collect(machine.root)
    assert facts["python.version"]
    for key in FACTS:
        if key != "python.version":
            assert facts[key] is None, key
            assert facts[LACKS + key], key
    assert facts["lacks.memory.total_bytes"] == "/proc/meminfo: No such file or directory"
    assert facts["lacks.limit.nproc"] == "/proc/self/limits: No such file or directory"
    assert facts["lacks.libc.name"] == "asked of the running system only"
    assert facts[SUMMARY] == ""


RUBBISH = ["", "rubbish", "\x00\xff" * 9, ":", "1 2 3", "[", "0-x", "max max"]


@pytest.mark.parametrize("rubbish", RUBBISH)
def test_rubbish_never_raises_and_never_becomes_a_fact_of_another_type(laptop, rubbish):
    for file in sorted(laptop.root.rglob("*")):
        if file.is_file() and not file.is_symlink():
            file.write_bytes(rubbish.encode("latin-1"))
    kinds = {"text": str, "int": int, "bool": bool, "float": (int, float), "list": list, "object": dict}
    facts = collect(laptop.root)
    for key, fact in FACTS.items():
        assert facts[key] is None or isinstance(facts[key], kinds[fact.kind]), key
    assert facts["lacks.memory.total_bytes"]
    assert facts["lacks.steal.share"]


def test_folders_in_the_place_of_files_are_a_lack(machine):
    (machine.root / "proc/meminfo").mkdir(parents=True)
    assert collect(machine.root)["lacks.memory.total_bytes"] == "/proc/meminfo: Is a directory"


def test_a_key_is_registered_once():
    with pytest.raises(ValueError, match="registered twice"):
        register("cpu.model", "text", "again")(lambda source: "x")
    with pytest.raises(ValueError, match="unknown kind"):
        register("cpu.colour", "colour", "its colour")
    assert "cpu.colour" not in registry.FACTS


@pytest.mark.parametrize(("kind", "value"), [("int", True), ("int", "1"), ("bool", 1), ("int", -1), ("text", None)])
def test_a_value_of_the_wrong_type_is_a_lack(kind, value):
    fact = Fact("some.key", kind, "count", "summary", None, lambda source: None)
    with pytest.raises(FactUnavailable):
        fact.checked(value)


def test_this_machine_tells_the_essential():
    facts = collect()
    for key in (
        "cpu.online",
        "cpu.allowed",
        "kernel.release",
        "memory.total_bytes",
        "cgroup.version",
        "user.root",
    ):
        assert facts[key] is not None, facts.get(LACKS + key)
    assert not [value for key, value in facts.items() if key.startswith(LACKS) and "not understood" in str(value)]
    assert facts["cpu.allowed"] <= facts["cpu.online"]


def test_collecting_starts_no_process():
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    collect()
    assert resource.getrusage(resource.RUSAGE_CHILDREN) == before
