"""Facts of this task and its machine's state: limits, rights, security, load, C library."""

from __future__ import annotations

import hashlib
import platform
import re

from clonometer.host.registry import register, register_file
from clonometer.host.source import FactUnavailable, Source

_STATUS = "/proc/self/status"
# The inode of the initial PID namespace is fixed: PROC_PID_INIT_INO in include/linux/proc_ns.h.
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"
_INITIAL_USER_NAMESPACE = "user:[4026531837]"  # PROC_USER_INIT_INO
# In the order of their numbers, include/uapi/linux/capability.h.
_CAPABILITIES = (  # noqa: SIM905 (a list of 41 would take as many lines)
    "chown dac_override dac_read_search fowner fsetid kill setgid setuid setpcap linux_immutable "
    "net_bind_service net_broadcast net_admin net_raw ipc_lock ipc_owner sys_module sys_rawio sys_chroot "
    "sys_ptrace sys_pacct sys_admin sys_boot sys_nice sys_resource sys_time sys_tty_config mknod lease "
    "audit_write audit_control setfcap mac_override mac_admin syslog wake_alarm block_suspend audit_read "
    "perfmon bpf checkpoint_restore"
).split()


@register("host.name_hash", "text", "first 8 hex digits of SHA-256 of machine-id")
def _name_hash(source: Source) -> str:
    identity = source.first(["/etc/machine-id", "/var/lib/dbus/machine-id"])
    if not identity or identity == "uninitialized":
        raise FactUnavailable("/etc/machine-id is empty")
    return hashlib.sha256(identity.encode()).hexdigest()[:8]


register_file("host.boot_id", "text", "/proc/sys/kernel/random/boot_id", "drawn by the kernel at each boot")


register_file(
    "task.personality", "text", "/proc/self/personality",
    "its execution domain in hexadecimal; 00040000 in it: memory is not placed at random (setarch -R)",
)  # fmt: skip


@register("namespace.pid_depth", "int", "PID namespaces below the first, at least: 0 in none", unit="count")
def _pid_depth(source: Source) -> int:
    if source.link("/proc/self/ns/pid") == _INITIAL_PID_NAMESPACE:
        return 0
    # /proc shows the levels from its own namespace inward; inside a container's /proc that is this one alone.
    return max(1, len(source.field(_STATUS, "NSpid").split()) - 1)


@register("namespace.user", "bool", "whether in a user namespace below the first")
def _user_namespace(source: Source) -> bool:
    return source.link("/proc/self/ns/user") != _INITIAL_USER_NAMESPACE


register_file("security.seccomp", "int", _STATUS, "0 off, 1 strict, 2 filter", field="Seccomp", parse=int)
register_file(
    "security.no_new_privs", "bool", _STATUS, "whether exec may not raise rights", field="NoNewPrivs",
    parse=lambda flag: int(flag) == 1,
)  # fmt: skip


@register("security.lsm", "list", "security modules in use")
def _lsm(source: Source) -> list[str]:
    return [name for name in source.text("/sys/kernel/security/lsm").split(",") if name]


def soft_limit(source: Source, name: str, process: str = "self") -> int | None:
    """A limit of a process, as ``/proc/PROCESS/limits`` names it; None: unlimited."""
    for line in source.text(f"/proc/{process}/limits").splitlines():
        if line.startswith(f"Max {name} "):
            soft = line.removeprefix(f"Max {name} ").split()[0]
            return None if soft == "unlimited" else int(soft)
    raise FactUnavailable(f"/proc/{process}/limits has no 'Max {name}'")


def _register_limit(key: str, name: str, summary: str, unit: str) -> None:
    register(key, "int", summary, unit=unit, null="unlimited")(lambda source: soft_limit(source, name))


_register_limit("limit.stack_bytes", "stack size", "RLIMIT_STACK", "bytes")
_register_limit("limit.nproc", "processes", "RLIMIT_NPROC: tasks of this user", "count")
_register_limit("limit.nofile", "open files", "RLIMIT_NOFILE", "count")
_register_limit("limit.as_bytes", "address space", "RLIMIT_AS", "bytes")
_register_limit("limit.memlock_bytes", "locked memory", "RLIMIT_MEMLOCK", "bytes")


def _libc(source: Source) -> tuple[str, str]:
    said_itself = source.libc()
    if said_itself:
        name, _, version = said_itself.partition(" ")
        return name, version
    if source.exists("/lib") and source.names("/lib", "ld-musl-"):
        return "musl", ""
    raise FactUnavailable("the C library does not say")


@register("libc.name", "text", "C library of the machine")
def _libc_name(source: Source) -> str:
    return _libc(source)[0]


@register("libc.version", "text", "its version")
def _libc_version(source: Source) -> str:
    version = _libc(source)[1]
    if not version:
        raise FactUnavailable("the C library does not say its version")
    return version


@register("user.root", "bool", "whether the effective user is root")
def _root(source: Source) -> bool:
    return int(source.field(_STATUS, "Uid").split()[1]) == 0


def capability_names(mask: int) -> list[str]:
    """Names of the capabilities in a mask, in the kernel's order, without ``CAP_``; unknown bits by number.

    Examples
    --------
    >>> capability_names(1 << 21 | 1 << 50)
    ['sys_admin', 'cap_50']
    """
    names = _CAPABILITIES
    bits = [bit for bit in range(64) if mask >> bit & 1]
    return [names[bit] if bit < len(names) else f"cap_{bit}" for bit in bits]


@register("user.capabilities", "list", "effective capabilities")
def _capabilities(source: Source) -> list[str]:
    return capability_names(int(source.field(_STATUS, "CapEff"), 16))


def _loadavg(source: Source) -> list[str]:
    words = re.split(r"[ /]", source.text("/proc/loadavg"))
    if len(words) < 5:
        raise FactUnavailable("/proc/loadavg is cut off")
    return words


@register("load.one_minute", "float", "load average of one minute when the run started")
def _load(source: Source) -> float:
    return float(_loadavg(source)[0])


@register("load.running", "int", "tasks running or ready, this one included", unit="count")
def _running(source: Source) -> int:
    return int(_loadavg(source)[3])


@register("load.tasks", "int", "tasks of the machine", unit="count")
def _tasks(source: Source) -> int:
    return int(_loadavg(source)[4])


@register("load.cpu_pressure", "float", "share of the last 10 s in which a task waited for a CPU", unit="share")
def _cpu_pressure(source: Source) -> float:
    line = re.search(r"^some .*?avg10=([0-9.]+)", source.text("/proc/pressure/cpu"), re.MULTILINE)
    if line is None:
        raise FactUnavailable("/proc/pressure/cpu has no avg10")
    return float(line.group(1)) / 100


@register("steal.share", "float", "share of CPU time stolen since boot", unit="share")
def _steal(source: Source) -> float:
    line = source.text("/proc/stat").splitlines()[0].split()
    if line[:1] != ["cpu"] or len(line) < 9:
        raise FactUnavailable("/proc/stat has no stolen time")
    times = [int(word) for word in line[1:9]]  # guest time, what follows, is in user time already
    if sum(times) == 0:
        raise FactUnavailable("/proc/stat has counted no time yet")
    return times[7] / sum(times)


@register("python.version", "text", "the Python that ran Clonometer")
def _python(source: Source) -> str:
    return platform.python_version()
