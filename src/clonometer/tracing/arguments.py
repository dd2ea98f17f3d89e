"""System calls with their arguments in words, as far as ptrace has read them: pure."""

from __future__ import annotations

import errno
import platform
import signal
import struct
from collections.abc import Callable, Mapping, Sequence

from clonometer.tracing.flags import flag_names
from clonometer.tracing.partition import TracedLaunch
from clonometer.tracing.types import CallText

# Values from the kernel's uapi headers; the same on x86-64 and arm64.
_PROT = {1: "PROT_READ", 2: "PROT_WRITE", 4: "PROT_EXEC", 1 << 24: "PROT_GROWSDOWN"}
_MAP = {
    0x10: "MAP_FIXED", 0x20: "MAP_ANONYMOUS", 0x100: "MAP_GROWSDOWN", 0x800: "MAP_DENYWRITE", 0x2000: "MAP_LOCKED",
    0x4000: "MAP_NORESERVE", 0x8000: "MAP_POPULATE", 0x10000: "MAP_NONBLOCK", 0x20000: "MAP_STACK",
    0x40000: "MAP_HUGETLB", 0x100000: "MAP_FIXED_NOREPLACE",
}  # fmt: skip
_MAP_KINDS = {1: "MAP_SHARED", 2: "MAP_PRIVATE", 3: "MAP_SHARED_VALIDATE"}
_WAIT = {1: "WNOHANG", 2: "WSTOPPED", 4: "WEXITED", 8: "WCONTINUED", 1 << 24: "WNOWAIT", 1 << 29: "__WNOTHREAD",
         1 << 30: "__WALL", 1 << 31: "__WCLONE"}  # fmt: skip
_OPEN = {1: "O_WRONLY", 2: "O_RDWR", 0o100: "O_CREAT", 0o200: "O_EXCL", 0o1000: "O_TRUNC", 0o2000: "O_APPEND",
         0o4000: "O_NONBLOCK", 0o2000000: "O_CLOEXEC", 0o10000000: "O_PATH"}  # fmt: skip
_FUTEX = ("FUTEX_WAIT", "FUTEX_WAKE", "FUTEX_FD", "FUTEX_REQUEUE", "FUTEX_CMP_REQUEUE", "FUTEX_WAKE_OP",
          "FUTEX_LOCK_PI", "FUTEX_UNLOCK_PI", "FUTEX_TRYLOCK_PI", "FUTEX_WAIT_BITSET", "FUTEX_WAKE_BITSET",
          "FUTEX_WAIT_REQUEUE_PI", "FUTEX_CMP_REQUEUE_PI", "FUTEX_LOCK_PI2")  # fmt: skip
_ADVICE = {0: "MADV_NORMAL", 4: "MADV_DONTNEED", 8: "MADV_FREE", 14: "MADV_HUGEPAGE", 15: "MADV_NOHUGEPAGE"}
_ID_TYPES = ("P_ALL", "P_PID", "P_PGID", "P_PIDFD")
_ARCH = {0x1001: "ARCH_SET_GS", 0x1002: "ARCH_SET_FS", 0x1003: "ARCH_GET_FS", 0x1004: "ARCH_GET_GS"}
_SIGNAL_HOW = ("SIG_BLOCK", "SIG_UNBLOCK", "SIG_SETMASK")
_AT_FDCWD = -100
_ARM_CLONE_ORDER = ("flags", "child_stack", "parent_tid", "tls", "child_tid")
_X86_CLONE_ORDER = ("flags", "child_stack", "parent_tid", "child_tid", "tls")
# By which flags clone reads an argument.
_CLONE_USES = {
    "parent_tid": {"CLONE_PARENT_SETTID"},
    "child_tid": {"CLONE_CHILD_SETTID", "CLONE_CHILD_CLEARTID"},
    "tls": {"CLONE_SETTLS"},
}
# struct clone_args (linux/sched.h); which a program gives depends on its age.
_CLONE3 = ("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size", "tls", "set_tid",
           "set_tid_size", "cgroup")  # fmt: skip
_MOST_RESULT = 1 << 22

PointedBytes = Mapping[int, bytes]
_Arguments = Sequence[int]


def call_text(name: str, arguments: Sequence[int], memory: PointedBytes, machine: str | None = None) -> str:
    r"""Write a call and its arguments.

    ``memory`` has what arguments point to, by their places; the order of clone's arguments depends on ``machine``,
    which is as `platform.machine` says it.

    Examples
    --------
    >>> call_text("mprotect", [0x7F0000001000, 4096, 3, 0, 0, 0], {})
    'mprotect(0x7f0000001000, 4096, PROT_READ | PROT_WRITE)'
    >>> call_text("futex", [0x7F0000001000, 393, 1234, 0, 0, 0xFFFFFFFF], {})
    'futex(0x7f0000001000, FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME, 1234, NULL, NULL, 0xffffffff)'
    >>> call_text("execve", [1, 2, 3, 0, 0, 0], {0: b"/bin/true\0", 1: b"true\0-v\0"})
    'execve("/bin/true", ["true", "-v"], 0x3)'
    """
    if name == "clone":
        return f"clone({_clone(arguments, machine or platform.machine())})"
    if name == "clone3":
        return f"clone3({_clone3(arguments, memory)})"
    if name == "futex":
        return f"futex({_futex(arguments)})"
    return f"{name}({', '.join(_plain(name, arguments, memory))})"


def result_text(name: str, value: int) -> str:
    """Write what a call has returned.

    Examples
    --------
    >>> result_text("wait4", 17), result_text("openat", -2), result_text("mmap", 0x7F0000000000)
    ('17', '-1 ENOENT', '0x7f0000000000')
    """
    if -4096 < value < 0:
        return f"-1 {errno.errorcode.get(-value, -value)}"
    return str(value) if 0 <= value < _MOST_RESULT and name != "brk" else _address(value)


def listing_of(traced: TracedLaunch) -> tuple[CallText, ...]:
    """Every call of a launch that was followed by ptrace, in the order of entry."""
    names = traced.names
    entered: list[tuple[int, str, tuple[int, ...], dict[int, bytes]]] = []
    results: dict[int, str] = {}
    inside: dict[int, int] = {}
    for event in traced.events:
        if event.kind == "call_enter":
            inside[event.task] = len(entered)
            entered.append((event.task, event.name, event.values[1:], {}))
        elif event.kind == "memory" and event.task in inside:
            entered[inside[event.task]][3][event.values[2]] = event.name.encode("latin-1")
        elif event.kind == "call_exit" and event.task in inside:
            place = inside.pop(event.task)
            results[place] = result_text(entered[place][1], event.values[1])
    return tuple(
        CallText(names.get(task, "another"), call_text(name, arguments, memory), results.get(place, "?"))
        for place, (task, name, arguments, memory) in enumerate(entered)
    )


def _bits(value: int, names: Mapping[int, str], nothing: str = "0") -> str:
    known = [name for bit, name in names.items() if value & bit]
    rest = value & ~sum(names)
    return " | ".join([*known, *([hex(rest)] if rest else [])]) or nothing


def _address(value: int) -> str:
    return "NULL" if value == 0 else hex(value & (1 << 64) - 1)


def _signed(value: int) -> str:
    number = value & (1 << 32) - 1
    return str(number - (1 << 32) if number >> 31 else number)


def _folder(value: int) -> str:
    return "AT_FDCWD" if int(_signed(value)) == _AT_FDCWD else _signed(value)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _quoted(text: bytes) -> str:
    shown = text.rstrip(b"\0").decode("utf-8", "backslashreplace")
    return '"' + shown.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _texts(data: bytes) -> str:
    return "[" + ", ".join(_quoted(word) for word in data.split(b"\0")[:-1]) + "]"


def _flags_and_signal(flags: int, exit_signal: int) -> str:
    # CLONE_NEWTIME shares a bit with the signal, and reaches the kernel by clone3 alone.
    names = [*flag_names(flags), *([_signal_name(exit_signal)] if exit_signal else [])]
    return " | ".join(names) or "0"


def _clone(arguments: _Arguments, machine: str) -> str:
    order = _ARM_CLONE_ORDER if machine == "aarch64" else _X86_CLONE_ORDER
    given = dict(zip(order, arguments, strict=False))
    flags = given["flags"] & (1 << 32) - 1
    shown = [f"child_stack={_address(given['child_stack'])}", f"flags={_flags_and_signal(flags & ~0xFF, flags & 0xFF)}"]
    names = {*flag_names(flags & ~0xFF)}
    shown += [f"{argument}={_address(given[argument])}" for argument, uses in _CLONE_USES.items() if uses & names]
    return ", ".join(shown)


def _clone3(arguments: _Arguments, memory: PointedBytes) -> str:
    data = memory.get(0, b"")
    if not data:
        return f"{_address(arguments[0])}, {arguments[1]}"
    fields = dict(zip(_CLONE3, struct.unpack(f"<{len(data) // 8}Q", data[: len(data) // 8 * 8]), strict=False))
    shown = []
    for name, value in fields.items():
        if name == "flags":
            shown.append(f"flags={_flags_and_signal(value, 0)}")
        elif name == "exit_signal":
            shown.append(f"exit_signal={_signal_name(value) if value else 0}")
        elif value:
            shown.append(f"{name}={value if name in ('set_tid_size', 'cgroup') else _address(value)}")
    return f"{{{', '.join(shown)}}}, {arguments[1]}"


def _futex(arguments: _Arguments) -> str:
    command = arguments[1] & ~384
    name = _FUTEX[command] if command < len(_FUTEX) else str(command)
    name += "_PRIVATE" if arguments[1] & 128 else ""
    operation = name + (" | FUTEX_CLOCK_REALTIME" if arguments[1] & 256 else "")
    shown = [_address(arguments[0]), operation, _signed(arguments[2])]
    if command in (0, 6, 13):
        shown.append(_address(arguments[3]))
    elif command in (9, 10):
        shown += [_address(arguments[3]), _address(arguments[4]), hex(arguments[5] & (1 << 32) - 1)][command == 10 :]
    elif command in (3, 4, 5, 11, 12):
        shown += [str(arguments[3]), _address(arguments[4]), str(arguments[5])]
    return ", ".join(shown)


def _signal_set(value: int, memory: PointedBytes) -> str:
    """The set of signals that rt_sigprocmask's second argument points to."""
    data = memory.get(1, b"")
    if value == 0 or len(data) != 8:
        return _address(value)
    bits = int.from_bytes(data, "little")
    named = [number for number in range(1, 65) if bits >> (number - 1) & 1]
    # Nearly all of them: strace writes the ones that are missing.
    if len(named) > 32:
        missing = [number for number in range(1, 65) if number not in named]
        return "~[" + " ".join(map(_short, missing)) + "]"
    return "[" + " ".join(map(_short, named)) + "]"


def _short(number: int) -> str:
    return _signal_name(number).removeprefix("SIG") if number < 32 else f"RT_{number - 32}"


def _text_at(place: int) -> Callable[[int, PointedBytes], str]:
    return lambda value, memory: _quoted(memory[place]) if place in memory else _address(value)


def _texts_at(place: int) -> Callable[[int, PointedBytes], str]:
    return lambda value, memory: _texts(memory[place]) if place in memory else _address(value)


def _as(write: Callable[[int], str]) -> Callable[[int, PointedBytes], str]:
    return lambda value, memory: write(value)


def _one_of(names: Sequence[str] | Mapping[int, str]) -> Callable[[int, PointedBytes], str]:
    table = names if isinstance(names, Mapping) else dict(enumerate(names))
    return _as(lambda value: table.get(value, str(value)))


def _map_flags(value: int) -> str:
    kind = _MAP_KINDS.get(value & 3, "0")
    rest = _bits(value & ~3, _MAP, "")
    return f"{kind} | {rest}" if rest else kind


_INT, _SIZE, _PTR, _HEX = _as(_signed), _as(str), _as(_address), _as(hex)
_FD_AT = _as(_folder)
_SIGNAL = _as(_signal_name)
_PROTECTION = _as(lambda value: _bits(value, _PROT, "PROT_NONE"))
_OPEN_FLAGS = _as(
    lambda value: (
        f"O_RDONLY | {_bits(value & ~0o100000, _OPEN)}"
        if value & 3 == 0 and value & ~0o100000
        else _bits(value & ~0o100000, _OPEN, "O_RDONLY")
    )
)
_WAIT_FLAGS = _as(lambda value: _bits(value & (1 << 32) - 1, _WAIT))
_WRITERS: Mapping[str, Sequence[Callable[[int, PointedBytes], str]]] = {
    "access": (_text_at(0), _INT),
    "arch_prctl": (_one_of(_ARCH), _PTR),
    "brk": (_PTR,),
    "chdir": (_text_at(0),),
    "clock_gettime": (_INT, _PTR),
    "close": (_INT,),
    "dup2": (_INT, _INT),
    "execve": (_text_at(0), _texts_at(1), _PTR),
    "execveat": (_FD_AT, _text_at(1), _texts_at(2), _PTR, _HEX),
    "exit": (_INT,),
    "exit_group": (_INT,),
    "faccessat": (_FD_AT, _text_at(1), _INT),
    "fcntl": (_INT, _INT, _HEX),
    "fork": (),
    "fstat": (_INT, _PTR),
    "futex_wait": (_PTR, _SIZE, _HEX, _HEX, _PTR, _INT),
    "getpid": (),
    "getppid": (),
    "getrandom": (_PTR, _SIZE, _HEX),
    "gettid": (),
    "ioctl": (_INT, _HEX, _PTR),
    "kill": (_INT, _SIGNAL),
    "lseek": (_INT, _SIZE, _INT),
    "madvise": (_PTR, _SIZE, _one_of(_ADVICE)),
    "mmap": (_PTR, _SIZE, _PROTECTION, _as(_map_flags), _INT, _HEX),
    "mprotect": (_PTR, _SIZE, _PROTECTION),
    "munmap": (_PTR, _SIZE),
    "nanosleep": (_PTR, _PTR),
    "newfstatat": (_FD_AT, _text_at(1), _PTR, _HEX),
    "open": (_text_at(0), _OPEN_FLAGS),
    "openat": (_FD_AT, _text_at(1), _OPEN_FLAGS),
    "pipe2": (_PTR, _OPEN_FLAGS),
    "poll": (_PTR, _SIZE, _INT),
    "prctl": (_INT, _HEX, _HEX, _HEX, _HEX),
    "pread64": (_INT, _PTR, _SIZE, _SIZE),
    "prlimit64": (_INT, _INT, _PTR, _PTR),
    "pwrite64": (_INT, _PTR, _SIZE, _SIZE),
    "read": (_INT, _PTR, _SIZE),
    "readlink": (_text_at(0), _PTR, _SIZE),
    "readlinkat": (_FD_AT, _text_at(1), _PTR, _SIZE),
    "rseq": (_PTR, _SIZE, _HEX, _HEX),
    "rt_sigaction": (_SIGNAL, _PTR, _PTR, _SIZE),
    "rt_sigprocmask": (_one_of(_SIGNAL_HOW), _signal_set, _PTR, _SIZE),
    "rt_sigreturn": (),
    "sched_getaffinity": (_INT, _SIZE, _PTR),
    "sched_setaffinity": (_INT, _SIZE, _PTR),
    "sched_yield": (),
    "set_robust_list": (_PTR, _SIZE),
    "set_tid_address": (_PTR,),
    "setsid": (),
    "sigaltstack": (_PTR, _PTR),
    "uname": (_PTR,),
    "vfork": (),
    "wait4": (_INT, _PTR, _WAIT_FLAGS, _PTR),
    "waitid": (_one_of(_ID_TYPES), _INT, _PTR, _WAIT_FLAGS, _PTR),
    "write": (_INT, _PTR, _SIZE),
}


def _plain(name: str, arguments: _Arguments, memory: PointedBytes) -> list[str]:
    if name not in _WRITERS:
        return [_address(value) if value == 0 or value >> 16 else hex(value) for value in arguments]
    return [write(value, memory) for write, value in zip(_WRITERS[name], arguments, strict=False)]
