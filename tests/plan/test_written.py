"""Which files a command says it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from clonometer.plan.written import written_files


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("echo 1 > /proc/sys/kernel/x", ["/proc/sys/kernel/x"]),
        ("echo 1 >/proc/a >>b 2>&1; echo 2>c", ["/proc/a", "b", "c"]),
        ("echo on | sudo tee -a /sys/x /sys/y > /dev/null", ["/dev/null", "/sys/x", "/sys/y"][1:]),
        ("for i in 0 1; do echo 1 > /sys/cpu$i/online; done", []),
        ("echo performance | tee /sys/cpu*/governor", ["/sys/cpu*/governor"]),
        ("sysctl vm.swappiness=10 kernel/pid_max=5 net.ipv4.conf.eth0/1.x=1", [
            "/proc/sys/vm/swappiness", "/proc/sys/kernel/pid_max", "/proc/sys/net/ipv4/conf/eth0.1/x",
        ]),
        ("/sbin/sysctl -q -w a.b='c d'\necho 1 > f", ["/proc/sys/a/b", "f"]),
        ("sudo sh -c 'echo 1 > /proc/z && bash -c \"echo 2 > y\"'", ["/proc/z", "y"]),
        ("echo 'a > b' \"c > d\"", []),
        ("echo 'unfinished > x", []),
        ("./switch on", []),
        ("sysctl -a", []),
        ("echo 1 > `which x`", []),
    ],
)  # fmt: skip
def test_names_are_found_where_the_text_says_them(command: str, files: list[str]) -> None:
    assert list(written_files(command)) == files


def test_home_is_known() -> None:
    assert written_files("echo 1 > ~/x") == (str(Path.home() / "x"),)
