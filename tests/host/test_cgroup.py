"""A service's control group, on made machines of each kind."""

from __future__ import annotations

import pytest

from clonometer.errors import UsageError
from clonometer.host.cgroup import memory_kills_file
from clonometer.host.facts import collect
from clonometer.host.services import WatchedGroups, find_service, whole_machine
from clonometer.host.source import Source

MIB = 1 << 20


def limits(machine):
    facts = collect(machine.root)
    assert not [key for key in facts if key.startswith("lacks.cgroup.")]
    return {key.removeprefix("cgroup."): value for key, value in facts.items() if key.startswith("cgroup.")}


def test_v2_takes_the_tightest_level(machine):
    top = "sys/fs/cgroup"
    machine.write(
        {
            "proc/self/cgroup": "0::/app.slice/job.scope",
            "proc/self/mountinfo": "31 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate",
            f"{top}/cgroup.controllers": "cpu memory pids",
            f"{top}/app.slice/memory.max": str(512 * MIB),
            f"{top}/app.slice/memory.current": str(500 * MIB),
            f"{top}/app.slice/memory.stat": f"anon 1\ninactive_file {100 * MIB}\nactive_file 7",
            f"{top}/app.slice/pids.max": "100",
            f"{top}/app.slice/pids.current": "90",
            f"{top}/app.slice/cpu.max": "150000 100000",
            f"{top}/app.slice/job.scope/memory.max": str(256 * MIB),
            f"{top}/app.slice/job.scope/memory.current": str(16 * MIB),
            f"{top}/app.slice/job.scope/pids.max": "50",
            f"{top}/app.slice/job.scope/pids.current": "4",
            f"{top}/app.slice/job.scope/cpu.max": "max 100000",
        }
    )
    assert limits(machine) == {
        "version": "v2",
        "path": "/app.slice/job.scope",
        "cpu_quota_cpus": 1.5,
        # 512 - 400 used leaves less than 256 - 16.
        "memory_max_bytes": 512 * MIB,
        "memory_used_bytes": 400 * MIB,
        "pids_max": 100,
        "pids_used": 90,
    }


def test_a_v2_container_with_a_quota_sees_its_own_root(machine):
    machine.write(
        {
            "proc/self/cgroup": "0::/",
            "proc/self/mountinfo": "31 23 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw",
            "sys/fs/cgroup/cpu.max": "50000 100000",
            "sys/fs/cgroup/memory.max": str(64 * MIB),
            "sys/fs/cgroup/memory.current": str(8 * MIB),
            "sys/fs/cgroup/pids.max": "max",
        }
    )
    cgroup_facts = limits(machine)
    assert (cgroup_facts["cpu_quota_cpus"], cgroup_facts["memory_max_bytes"], cgroup_facts["pids_max"]) == (
        0.5,
        64 * MIB,
        None,
    )


def v1(machine, path, **files):
    mounts = [
        f"{number} 31 0:{number} {path} /sys/fs/cgroup/{name} rw - cgroup cgroup rw,{name}"
        for number, name in enumerate(("cpu,cpuacct", "memory", "pids"), start=40)
    ]
    machine.write(
        {
            "proc/self/cgroup": f"4:memory:{path}\n3:pids:{path}\n2:cpu,cpuacct:{path}\n1:name=systemd:/x",
            "proc/self/mountinfo": "\n".join(mounts),
        }
    )
    machine.write({f"sys/fs/cgroup/{key}": str(value) for key, value in files.items()})


def test_v1_limits_at_the_mounted_root_of_a_container(machine):
    v1(
        machine,
        "/docker/0123",
        **{
            "cpu,cpuacct/cpu.cfs_quota_us": 200000,
            "cpu,cpuacct/cpu.cfs_period_us": 100000,
            "memory/memory.limit_in_bytes": 128 * MIB,
            "memory/memory.usage_in_bytes": 60 * MIB,
            "memory/memory.stat": f"inactive_file 1\ntotal_inactive_file {20 * MIB}",
            "pids/pids.max": 33,
            "pids/pids.current": 3,
        },
    )
    assert limits(machine) == {
        "version": "v1",
        "path": "/docker/0123",
        "cpu_quota_cpus": 2.0,
        "memory_max_bytes": 128 * MIB,
        "memory_used_bytes": 40 * MIB,
        "pids_max": 33,
        "pids_used": 3,
    }


def test_v1_writes_no_limit_as_a_huge_number(machine):
    v1(
        machine,
        "/",
        **{
            "cpu,cpuacct/cpu.cfs_quota_us": -1,
            "memory/memory.limit_in_bytes": 9223372036854771712,
            "pids/pids.max": "max",
        },
    )
    cgroup_facts = limits(machine)
    assert [cgroup_facts[key] for key in ("cpu_quota_cpus", "memory_max_bytes", "memory_used_bytes", "pids_max")] == [
        None
    ] * 4


def test_v1_looks_at_its_ancestors(machine):
    v1(
        machine,
        "/",
        **{"memory/a/memory.limit_in_bytes": 9 * MIB, "memory/a/b/memory.limit_in_bytes": 10 * MIB},
    )
    machine.write({"proc/self/cgroup": "4:memory:/a/b\n2:cpu,cpuacct:/\n3:pids:/"})
    cgroup_facts = limits(machine)
    assert (cgroup_facts["memory_max_bytes"], cgroup_facts["memory_used_bytes"], cgroup_facts["path"]) == (
        9 * MIB,
        None,
        "/a/b",
    )


def test_hybrid_uses_v1_for_what_v1_has(machine):
    machine.write(
        {
            "proc/self/cgroup": "4:memory:/job\n0::/user",
            "proc/self/mountinfo": "32 31 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
            "33 31 0:2 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw",
            "sys/fs/cgroup/memory/job/memory.limit_in_bytes": str(5 * MIB),
            "sys/fs/cgroup/unified/user/memory.max": "1",
            "sys/fs/cgroup/unified/user/pids.max": "77",
        }
    )
    cgroup_facts = limits(machine)
    assert (cgroup_facts["version"], cgroup_facts["memory_max_bytes"], cgroup_facts["pids_max"]) == (
        "hybrid",
        5 * MIB,
        77,
    )


@pytest.mark.parametrize("folder", ["sys/fs/cgroup", "sys/fs/cgroup/unified"])
def test_without_mountinfo_the_usual_places_are_tried(machine, folder):
    machine.write({"proc/self/cgroup": "0::/", f"{folder}/cgroup.controllers": "pids", f"{folder}/pids.max": "12"})
    assert limits(machine)["pids_max"] == 12


@pytest.mark.parametrize(
    ("group", "mount", "counter", "counts"),
    [
        ("0::/job", "0:26 / /g rw - cgroup2 cgroup2 rw", "/g/job/memory.events", True),
        ("8:memory:/job", "0:26 / /g/memory rw - cgroup cgroup rw,memory", "/g/memory/job/memory.oom_control", True),
        # The root of version 2 has none, nor has a machine whose groups are not mounted.
        ("0::/", "0:26 / /g rw - cgroup2 cgroup2 rw", "/g/memory.events", False),
        ("0::/job", "0:26 / /g rw - tmpfs tmpfs rw", "/g/job/memory.events", False),
    ],
)
def test_kills_for_memory_are_counted_by_the_group_or_else_by_the_machine(machine, group, mount, counter, counts):
    files = {"proc/self/cgroup": group, "proc/self/mountinfo": f"31 23 {mount}", "g/job/cgroup.procs": ""}
    machine.write(files | ({counter.removeprefix("/"): "oom_kill 0"} if counts else {}))
    assert memory_kills_file(Source(machine.root)) == (counter if counts else "/proc/vmstat")


V2 = {
    "proc/self/cgroup": "0::/user.slice",
    "proc/self/mountinfo": "31 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate",
    "proc/7/cgroup": "0::/system.slice/nginx.service",
    "proc/8/cgroup": "0::/user.slice",
    "sys/fs/cgroup/system.slice/nginx.service/cgroup.procs": "7",
    "sys/fs/cgroup/system.slice/nginx.service/nginx.service/cgroup.procs": "",
    "sys/fs/cgroup/a.slice/twice.service/cgroup.procs": "",
    "sys/fs/cgroup/b.slice/twice.service/cgroup.procs": "",
}

V1 = {
    "proc/self/cgroup": "9:name=systemd:/\n4:cpu,cpuacct:/build/mine\n",
    "proc/self/mountinfo": "31 23 0:26 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
    "32 23 0:27 /build /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
    "proc/7/cgroup": "9:name=systemd:/\n4:cpu,cpuacct:/build/mine\n",
    "proc/8/cgroup": "9:name=systemd:/\n4:cpu,cpuacct:/build/other\n",
    "sys/fs/cgroup/systemd/system.slice/cron.service/cgroup.procs": "",
    "sys/fs/cgroup/cpu,cpuacct/mine/cgroup.procs": "7",
}


@pytest.mark.parametrize(
    ("files", "word", "expected"),
    [
        (V2, "nginx", WatchedGroups(0, "/system.slice/nginx.service", "nginx.service")),
        (V2, "nginx.service", WatchedGroups(0, "/system.slice/nginx.service", "nginx.service")),
        (V2, "/system.slice/", WatchedGroups(0, "/system.slice", "/system.slice")),
        (V2, "/sys/fs/cgroup/a.slice", WatchedGroups(0, "/a.slice", "/a.slice")),
        (V1, "cron", WatchedGroups(9, "/system.slice/cron.service", "cron.service")),
        # Only a part of the hierarchy is mounted here.
        (V1, "/sys/fs/cgroup/cpu,cpuacct/mine", WatchedGroups(4, "/build/mine", "/build/mine")),
        (V1, "/build/mine", WatchedGroups(4, "/build/mine", "/build/mine")),
        (V1, "mine", WatchedGroups(4, "/build/mine", "mine")),
    ],
)
def test_a_service_is_a_unit_a_path_or_a_folder(machine, files, word, expected) -> None:
    machine.write(files)
    assert find_service(Source(machine.root), word) == expected


@pytest.mark.parametrize(
    ("files", "word", "words"),
    [
        (V2, "apache2", "no service apache2"),
        (V2, "twice", "/a.slice/twice.service, /b.slice/twice.service"),
        (V2, "/nowhere", "no control group /nowhere"),
        (V2, "/sys/fs/cgroup/nowhere", "no control group /sys/fs/cgroup/nowhere"),
        ({"proc/self/cgroup": "0::/"}, "nginx", "no control groups are mounted"),
    ],
)
def test_what_is_not_there_or_not_one_is_said(machine, files, word, words) -> None:
    machine.write(files)
    with pytest.raises(UsageError, match=words):
        find_service(Source(machine.root), word)


def test_the_machine_is_divided_by_the_hierarchy_that_distinguishes_most(machine) -> None:
    machine.write(V1)
    assert whole_machine(Source(machine.root)).hierarchy == 4
    machine.write(V2)
    assert whole_machine(Source(machine.root)).hierarchy == 0
