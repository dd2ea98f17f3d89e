"""What a container takes away: a seccomp filter like Docker's default profile, and the capabilities it drops."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct

# Kept by Docker: chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw,
# sys_chroot, mknod, audit_write, setfcap.
KEPT = (0, 1, 3, 4, 5, 6, 7, 8, 10, 13, 18, 27, 29, 31)
_MOST_CAPABILITIES = 64
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET: as in the profile's rule for clone.
_NEW_NAMESPACES = 0x7E020000

_CALLS = {
    "x86_64": {
        "audit": 0xC000003E, "clone": 56, "clone3": 435, "unshare": 272, "setns": 308, "mount": 165, "umount2": 166,
        "pivot_root": 155, "perf_event_open": 298, "bpf": 321, "kexec_load": 246, "init_module": 175,
        "clock_settime": 227, "add_key": 248, "keyctl": 250, "userfaultfd": 323, "fsopen": 430, "fsmount": 432,
    },
    "aarch64": {
        "audit": 0xC00000B7, "clone": 220, "clone3": 435, "unshare": 97, "setns": 268, "mount": 40, "umount2": 39,
        "pivot_root": 41, "perf_event_open": 241, "bpf": 280, "kexec_load": 104, "init_module": 105,
        "clock_settime": 112, "add_key": 217, "keyctl": 219, "userfaultfd": 282, "fsopen": 430, "fsmount": 432,
    },
}  # fmt: skip
# What filters of old runtimes do not know, and what else a program may find refused.
_OTHERS = {
    "x86_64": {
        "close_range": 436, "eventfd2": 290, "execveat": 322, "faccessat2": 439, "fallocate": 285, "fsopen": 430,
        "futex_waitv": 449,
        "getrandom": 318, "madvise": 28, "membarrier": 324, "memfd_create": 319, "mlock": 149, "msgget": 68,
        "openat2": 437, "personality": 135, "pidfd_open": 434, "pidfd_send_signal": 424, "ptrace": 101, "rseq": 334,
        "sched_setaffinity": 203, "sched_setscheduler": 144, "setns": 308, "statx": 332, "unshare": 272,
        "vmsplice": 278, "process_vm_readv": 310, "prlimit64": 302,
    },
    "aarch64": {
        "close_range": 436, "eventfd2": 19, "execveat": 281, "faccessat2": 439, "fallocate": 47, "fsopen": 430,
        "futex_waitv": 449,
        "getrandom": 278, "madvise": 233, "membarrier": 283, "memfd_create": 279, "mlock": 228, "msgget": 186,
        "openat2": 437, "personality": 92, "pidfd_open": 434, "pidfd_send_signal": 424, "ptrace": 117, "rseq": 293,
        "sched_setaffinity": 122, "sched_setscheduler": 119, "setns": 268, "statx": 291, "unshare": 97, "vmsplice": 75,
        "process_vm_readv": 270, "prlimit64": 261,
    },
}  # fmt: skip
KNOWN = platform.machine() in _CALLS
# By name, what `refuse` can take away.
NUMBERS = {**_OTHERS[platform.machine()], **_CALLS[platform.machine()]} if KNOWN else {}

_LOAD, _EQUAL, _ANY_BIT, _ANSWER = 0x20, 0x15, 0x45, 0x06
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _FIRST_ARGUMENT_AT = 0, 4, 16
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _PR_CAPBSET_DROP, _FILTER = 22, 38, 24, 2
_CAPABILITY_VERSION_3 = 0x20080522
NEW_USERS = 0x10000000
_NEW_MOUNTS, _BIND, _RECURSIVE, _PRIVATE = 0x20000, 0x1000, 0x4000, 1 << 18


def _filter() -> bytes:
    calls = dict(_CALLS[platform.machine()])
    audit, clone, clone3 = (calls.pop(name) for name in ("audit", "clone", "clone3"))
    rules = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_EQUAL, 1, 0, audit),
        (_ANSWER, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_EQUAL, 0, 1, clone3),
        (_ANSWER, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    for number in calls.values():
        rules += [(_EQUAL, 0, 1, number), (_ANSWER, 0, 0, _ERRNO | errno.EPERM)]
    rules += [
        (_EQUAL, 1, 0, clone),
        (_ANSWER, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _FIRST_ARGUMENT_AT),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        (_ANSWER, 0, 0, _ERRNO | errno.EPERM),
        (_ANSWER, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("HBBI", *rule) for rule in rules)


def refuse(names: tuple[str, ...], error: int) -> None:
    """Let these system calls fail with this errno from here on, for this process and all it makes."""
    rules = [(_LOAD, 0, 0, _NUMBER_AT)]
    for name in names:
        rules += [(_EQUAL, 0, 1, NUMBERS[name]), (_ANSWER, 0, 0, _ERRNO | error)]
    rules.append((_ANSWER, 0, 0, _ALLOW))
    _install(b"".join(struct.pack("HBBI", *rule) for rule in rules))


def _install(program: bytes) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() != 0:
        # Without it only CAP_SYS_ADMIN may install a filter; Docker installs it before it drops that.
        _call(libc.prctl, _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    code = ctypes.create_string_buffer(program)
    filled = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _call(libc.prctl, _PR_SET_SECCOMP, _FILTER, ctypes.c_char_p(filled), 0, 0)


def _call(function: object, *arguments: object) -> None:
    if function(*arguments) != 0:  # type: ignore[operator]
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def unshare(flags: int) -> None:
    """Leave namespaces that others are in, for ones of one's own."""
    _call(ctypes.CDLL(None, use_errno=True).unshare, flags)


def change_mounts(*changes: tuple[str, str]) -> None:
    """Go into a mount namespace of one's own and change it: where -> ``""`` to unmount, or what is bound there."""
    libc = ctypes.CDLL(None, use_errno=True)
    _call(libc.unshare, _NEW_MOUNTS)
    _call(libc.mount, None, b"/", None, _RECURSIVE | _PRIVATE, None)
    for place, source in changes:
        if source:
            _call(libc.mount, source.encode(), place.encode(), None, _BIND, None)
        else:
            _call(libc.umount2, place.encode(), 0)


def enter() -> None:
    """Make this process, which is about to exec, one of a container without CAP_SYS_ADMIN."""
    _install(_filter())
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        for capability in set(range(_MOST_CAPABILITIES)) - set(KEPT):
            # Numbers that this kernel does not know are refused, and not there to drop.
            libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        low = sum(1 << capability for capability in KEPT)
        header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
        _call(libc.capset, ctypes.c_char_p(header), ctypes.c_char_p(struct.pack("6I", low, low, 0, 0, 0, 0)))


def mount(source: str, place: str, kind: str, options: str = "") -> None:
    """Mount something in this mount namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    _call(libc.mount, source.encode(), place.encode(), kind.encode(), 0, options.encode())
