"""Clone flags by name."""

from __future__ import annotations

#: The new task is a thread of the process.
THREAD = 1 << 16
# Bit -> name (include/uapi/linux/sched.h); the exit signal of the low byte never reaches the events, but CLONE_NEWTIME
# shares its bits.
_NAMES = {
    7: "NEWTIME",
    8: "VM",
    9: "FS",
    10: "FILES",
    11: "SIGHAND",
    12: "PIDFD",
    13: "PTRACE",
    14: "VFORK",
    15: "PARENT",
    16: "THREAD",
    17: "NEWNS",
    18: "SYSVSEM",
    19: "SETTLS",
    20: "PARENT_SETTID",
    21: "CHILD_CLEARTID",
    22: "DETACHED",
    23: "UNTRACED",
    24: "CHILD_SETTID",
    25: "NEWCGROUP",
    26: "NEWUTS",
    27: "NEWIPC",
    28: "NEWUSER",
    29: "NEWPID",
    30: "NEWNET",
    31: "IO",
    32: "CLEAR_SIGHAND",
    33: "INTO_CGROUP",
}


def flag_names(flags: int) -> tuple[str, ...]:
    """Name the flags, lowest bit first.

    Examples
    --------
    >>> flag_names(0x4100), flag_names(0)
    (('CLONE_VM', 'CLONE_VFORK'), ())
    """
    return tuple(f"CLONE_{_NAMES.get(bit, f'BIT_{bit}')}" for bit in range(64) if flags >> bit & 1)
