"""A service's control group, on made machines of each kind."""

from __future__ import annotations

import pytest

from clonometer.errors import UsageError
from clonometer.host.services import WatchedGroups, find_service, whole_machine
from clonometer.host.source import Source

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
