"""The environment that drivers, and what they start, are given: a fixed one, whose size is drawn for each process.

A program's environment lies at the top of its stack: its size moves the stack, and exec copies it by the page. That of
the caller's shell would be a hidden cause (T. Mytkowicz, A. Diwan, M. Hauswirth, P. F. Sweeney, Producing Wrong Data
Without Doing Anything Obviously Wrong!, ASPLOS 2009), and one size for all would be a single draw of the layout.
"""

from __future__ import annotations

import hashlib
import os
import random
import resource
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from clonometer.errors import UnavailableError

PASS_VARIABLE = "CLONOMETER_PASS"
"""Names variables of the caller that drivers get anyway: names or patterns (``ASAN_*``) with commas between."""

PAD_VARIABLE = "CLONOMETER_PAD"
#: Sizes are drawn from these to so many more. With the arguments that drivers and targets get, all of them fit one
#: page: exec copies one in every process.
LEAST_BYTES, SPAN_BYTES = 512, 2048

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#: Where a driver keeps its files is the user's choice.
_KEPT = ("TMPDIR",)
# MAX_ARG_STRLEN of linux/binfmts.h: the longest variable, its end included.
_LONGEST_BYTES = 32 * 4096
_PAD_ROOM = len(PAD_VARIABLE) + len("=") + 1
# What exec takes at most, where the stack has no limit: 3/4 of _STK_LIM, fs/exec.c.
_MOST_BYTES = 6 << 20


def fixed_variables(caller: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Give what every driver has: a fixed PATH, the caller's TMPDIR, and what ``CLONOMETER_PASS`` names.

    Examples
    --------
    >>> caller = {"TMPDIR": "/scratch", "HOME": "/root", "CLONOMETER_PASS": "LD_*", "LD_PRELOAD": "x.so"}
    >>> sorted(fixed_variables(caller))
    ['LD_PRELOAD', 'PATH', 'TMPDIR']
    """
    patterns = (*_KEPT, *filter(None, caller.get(PASS_VARIABLE, "").split(",")))
    passed = {name: value for name, value in caller.items() if any(fnmatchcase(name, pattern) for pattern in patterns)}
    return {"PATH": _PATH, **passed}


def size_of(variables: Mapping[str, str]) -> int:
    """Bytes of an environment: every ``NAME=value`` with the byte that ends it.

    Examples
    --------
    >>> size_of({"A": "1", "NAME": ""})
    10
    """
    return sum(len(os.fsencode(name)) + len(os.fsencode(value)) + 2 for name, value in variables.items())


def room_for(variables: Mapping[str, str]) -> int:
    """The least size to which variables can be padded."""
    return max(LEAST_BYTES, size_of(variables) + _PAD_ROOM)


def drawn_bytes(seed: int, number: int, least: int = LEAST_BYTES) -> int:
    """Draw the size for a process, or for all that share a number: from ``least`` to 2,047 bytes more."""
    return least + random.Random(f"{seed}:environment:{number}").randrange(SPAN_BYTES)


def padded(variables: Mapping[str, str], size: int) -> dict[str, str]:
    """Add as few variables as make the environment so large.

    Raises
    ------
    UnavailableError
        If it is too small for the variables, or too large for exec.

    Examples
    --------
    >>> size_of(padded({"A": "1"}, 300_000))
    300000
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    most = _MOST_BYTES if soft == resource.RLIM_INFINITY else min(_MOST_BYTES, soft // 4)
    if size > most:
        raise UnavailableError(f"an environment of {size} bytes: exec takes at most {most}, a quarter of RLIMIT_STACK")
    missing = size - size_of(variables)
    count = max(1, -(-missing // _LONGEST_BYTES))
    if missing < count * _PAD_ROOM:
        raise UnavailableError(f"an environment of {size} bytes: here it has at least {size - missing + _PAD_ROOM}")
    whole = dict(variables)
    for number in range(count):
        # Names of several pads have one letter more.
        name = PAD_VARIABLE if number == 0 else f"{PAD_VARIABLE}{number}"
        share = missing // (count - number)
        whole[name] = "x" * (share - len(name) - 2)
        missing -= share
    return whole


def about(variables: Mapping[str, str]) -> dict[str, Any]:
    """Describe the fixed environment for a run's metadata: its names, its size and a hash; values may be secrets."""
    text = "\0".join(f"{name}={value}" for name, value in sorted(variables.items()))
    return {
        "names": sorted(variables),
        "bytes": size_of(variables),
        "hash": hashlib.sha256(os.fsencode(text)).hexdigest()[:16],
        "least_bytes": LEAST_BYTES,
        "span_bytes": SPAN_BYTES,
    }
