"""System calls in words, as someone who knows strace expects them."""

from __future__ import annotations

import struct

import pytest
from tests.fakes.fake_trace import CHILD, PARENT, events_array, fork_trace

from clonometer.tracing.arguments import call_text, listing_of, result_text
from clonometer.tracing.partition import traced_launches

CLONE3 = struct.pack("<8Q", 0x3D0F00, 0, 0x7F0010, 0x7F0020, 0, 0x7F0000, 0x8000, 0x7F0030)


@pytest.mark.parametrize(
    ("name", "arguments", "memory", "words"),
    [
        (
            "clone",
            (0x1200011, 0, 0, 0x7F00, 0, 0),
            {},
            "clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID | SIGCHLD, child_tid=0x7f00)",
        ),
        (
            "clone3",
            (0x1000, 64, 0, 0, 0, 0),
            {0: CLONE3},
            "clone3({flags=CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | "
            "CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID, child_tid=0x7f0010, parent_tid=0x7f0020, "
            "exit_signal=0, stack=0x7f0000, stack_size=0x8000, tls=0x7f0030}, 64)",
        ),
        ("clone3", (0x1000, 88, 0, 0, 0, 0), {}, "clone3(0x1000, 88)"),
        ("arch_prctl", (0x1002, 0x7F00, 24, -1, 2, 0), {}, "arch_prctl(ARCH_SET_FS, 0x7f00)"),
        ("pwrite64", (4, 0x7F0000, 12, 16, 0x7F00, 0), {}, "pwrite64(4, 0x7f0000, 12, 16)"),
        ("getrandom", (0x7F0000, 8, 1, 0x7F00, 0, 0), {}, "getrandom(0x7f0000, 8, 0x1)"),
        ("ioctl", (1, 0x5401, 0x7F0000, 7, 7, 0), {}, "ioctl(1, 0x5401, 0x7f0000)"),
        (
            "mmap",
            (0, 8392704, 0, 0x20022, -1, 0),
            {},
            "mmap(NULL, 8392704, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0x0)",
        ),
        ("munmap", (0x7F00, 4096, 0, 0, 0, 0), {}, "munmap(0x7f00, 4096)"),
        ("mprotect", (0x7F00, 4096, 5, 0, 0, 0), {}, "mprotect(0x7f00, 4096, PROT_READ | PROT_EXEC)"),
        ("futex", (0x7F00, 129, 1, 0, 0, 0), {}, "futex(0x7f00, FUTEX_WAKE_PRIVATE, 1)"),
        ("futex", (0x7F00, 128, 2, 0, 0, 0), {}, "futex(0x7f00, FUTEX_WAIT_PRIVATE, 2, NULL)"),
        (
            "execve",
            (1, 2, 0x7F00, 0, 0, 0),
            {0: b"/bin/tr\xc3\xbce\0", 1: b'a "b"\0c\0'},
            'execve("/bin/trüe", ["a \\"b\\"", "c"], 0x7f00)',
        ),
        ("wait4", (17, 0x7F00, 0, 0, 0, 0), {}, "wait4(17, 0x7f00, 0, NULL)"),
        ("waitid", (1, 17, 0x7F00, 4, 0, 0), {}, "waitid(P_PID, 17, 0x7f00, WEXITED, NULL)"),
        ("openat", (-100, 1, 0o2000000, 0, 0, 0), {1: b"/x\0"}, 'openat(AT_FDCWD, "/x", O_RDONLY | O_CLOEXEC)'),
        ("openat", (4294967196, 1, 0, 0, 0, 0), {1: b"/x\0"}, 'openat(AT_FDCWD, "/x", O_RDONLY)'),
        ("rt_sigprocmask", (2, 1, 0, 8, 0, 0), {1: b"\0" * 8}, "rt_sigprocmask(SIG_SETMASK, [], NULL, 8)"),
        ("rt_sigprocmask", (0, 1, 0, 8, 0, 0), {1: b"\xff" * 8}, "rt_sigprocmask(SIG_BLOCK, ~[], NULL, 8)"),
        ("exit_group", (3, 0, 0, 0, 0, 0), {}, "exit_group(3)"),
        ("strange", (0, 1, 0x7F0000, 0, 0, 0), {}, "strange(NULL, 0x1, 0x7f0000, NULL, NULL, NULL)"),
    ],
)
def test_calls(name: str, arguments: tuple[int, ...], memory: dict[int, bytes], words: str) -> None:
    assert call_text(name, arguments, memory, "x86_64") == words


def test_the_order_of_clones_arguments_is_the_machines() -> None:
    arguments = (0x1000000 | 0x80000 | 17, 0, 0, 0xA0, 0xB0, 0)
    assert "tls=0xb0" in call_text("clone", arguments, {}, "x86_64")
    assert "child_tid=0xa0" in call_text("clone", arguments, {}, "x86_64")
    assert "tls=0xa0" in call_text("clone", arguments, {}, "aarch64")
    assert "child_tid=0xb0" in call_text("clone", arguments, {}, "aarch64")


def test_results() -> None:
    assert [result_text("wait4", 9), result_text("clone", -11), result_text("mmap", -4096 - (1 << 20))] == [
        "9",
        "-1 EAGAIN",
        "0xffffffffffeff000",
    ]


def test_a_launch_is_listed_call_by_call() -> None:
    texts = b"/bin/true\0true\0"
    events = [
        (1005, PARENT, "call_enter", (56, 0x11, 0, 0, 0, 0, 0)),
        (1010, PARENT, "new_task", (CHILD, 0)),
        (1015, CHILD, "call_enter", (59, 1, 2, 3, 0, 0, 0)),
        (1016, CHILD, "memory", (0, 10, 0)),
        (1017, CHILD, "memory", (10, 5, 1)),
        (1018, PARENT, "call_exit", (-1, CHILD)),
        (1020, CHILD, "call_exit", (-1, 0)),
        (1030, CHILD, "call_enter", (231, 0, 0, 0, 0, 0, 0)),
    ]
    trace = fork_trace("ptrace", launches=1, events=events_array(events), texts=texts)
    [traced] = traced_launches(trace)
    assert [(call.who, call.text.split("(")[0], call.result) for call in listing_of(traced)] == [
        ("parent", "clone", str(CHILD)),
        ("child", "execve", "0"),
        ("child", "exit_group", "?"),
    ]
    assert listing_of(traced)[1].text == 'execve("/bin/true", ["true"], 0x3)'
