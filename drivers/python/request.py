"""What the runner asks for: the measuring keys and the axes, each checked."""

import os
import re


class Refusal(Exception):
    """A key or a value that cannot be meant: the answer is ``failed``."""


class Skip(Exception):
    """What this machine cannot do: the answer is ``skipped``."""


MOST_SAMPLES, MOST_BLOCKS, MOST_BUSY_THREADS = 10_000_000, 10_000, 64

#: Axis -> its type, its default, and what it is; a choice has its values. As the probe has them (docs/protocol.md).
AXES = {
    "placement": ("choice", ("pinned", "free"), "parent and child on one CPU, or where the scheduler puts them"),
    "stages": ("choice", ("all", "parent"), "all stages, or the parent's stamps only (the new task stamps nothing)"),
    "parent_bytes": ("bytes", 0, "objects of the runtime that the parent holds before it launches, in bytes"),
    "busy_threads": ("count", 0, "threads of the runtime that compute while launches are made"),
    "env_bytes": (
        "bytes",
        0,
        "size of the new program's environment, filled with variables of 150 bytes; 0: unchanged",
    ),
    "message_bytes": ("bytes", 1, "size of a message"),
    "program": (
        "text",
        "target_static",
        "what is started: one of our targets, or any path; arguments follow after colons",
    ),
    "call_spin_ns": ("count", 0, "known answer: the parent spins this long after its call, before its stamp"),
    "stamp_spin_ns": ("count", 0, "known answer: the new task spins this long before its stamp"),
    "child_spin_ns": ("count", 0, "known answer: the new task spins this long before it exits"),
}
_COUNTS = {"samples": 200, "blocks": 3, "warmup": 20, "block_limit_ns": 0, "cpu": -1}
_TEXTS = {"temperatures": "warm", "clock": "monotonic", "targets": ".", "workload": ""}


class Request:
    """A key is an attribute; ``workload`` is the workload itself."""

    def __init__(self):
        self.__dict__.update({**_COUNTS, **_TEXTS})
        for axis, (kind, default, _) in AXES.items():
            setattr(self, axis, default[0] if kind == "choice" else default)

    @property
    def pinned(self):
        return self.placement == "pinned"

    @property
    def command(self):
        """The words of the program that is started. Ours are told where to leave their stamps."""
        words = [re.sub(r"\\(.)", r"\1", word) for word in re.split(r"(?<!\\):", self.program)]
        if "/" in words[0]:
            return words
        return [os.path.join(self.targets, words[0]), "m0:0", *words[1:]]

    @property
    def is_target(self):
        return "/" not in self.program.split(":")[0]

    @property
    def environment(self):
        """The environment of the program, None where it is our own."""
        if not self.env_bytes:
            return None
        names = ["CLONOMETER_FILL%06d" % number for number in range(-(-self.env_bytes // 150))]
        return {name: "x" * (150 - len(name) - 2) for name in names}


def read_request(words, workloads):
    request, given = Request(), set()
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise Refusal("'%s' is not key=value" % word)
        if key not in AXES and key not in _COUNTS and key not in _TEXTS:
            raise Refusal("unknown key '%s'" % key)
        given.add(key)
        setattr(request, key, _value(key, value))
    _check(request, given, workloads)
    return request


def _value(key, text):
    kind, default, _ = AXES.get(key, ("count" if key in _COUNTS else "text", None, ""))
    if kind == "choice" and text not in default:
        raise Refusal("%s has no value '%s'" % (key, text))
    if kind not in ("bytes", "count"):
        return text
    if not re.fullmatch("[0-9]+", text) or int(text) >= 1 << 63:
        raise Refusal("%s=%s: not a whole number from 0" % (key, text))
    return int(text)


def _check(request, given, workloads):
    if not request.workload:
        raise Refusal("workload is missing")
    if request.workload not in workloads:
        raise Refusal("there is no workload '%s'" % request.workload)
    workload = request.workload = workloads[request.workload]
    if workload.reason:
        raise Skip(workload.reason)
    for axis in sorted(given & set(AXES)):
        if axis not in workload.axes:
            raise Refusal("%s has no axis '%s'" % (workload.id, axis))
    if request.temperatures not in ("cold", "warm", "cold,warm"):
        raise Refusal("temperatures=%s: must be cold, warm or cold,warm" % request.temperatures)
    if request.clock != "monotonic":
        raise Refusal("clock=%s: Python reads the monotonic clock only" % request.clock)
    for key, most in (("samples", MOST_SAMPLES), ("blocks", MOST_BLOCKS), ("message_bytes", 1 << 30)):
        if not 1 <= getattr(request, key) <= most:
            raise Refusal("%s=%d: from 1 to %d" % (key, getattr(request, key), most))
    if request.busy_threads > MOST_BUSY_THREADS:
        raise Skip("busy_threads=%d: at most %d" % (request.busy_threads, MOST_BUSY_THREADS))
    if request.pinned:
        allowed = os.sched_getaffinity(0)
        if len(allowed) != 1 or request.cpu not in (-1, *allowed):
            raise Skip("CPU %d cannot be used" % request.cpu if request.cpu >= 0 else "no CPU was chosen to pin it to")
