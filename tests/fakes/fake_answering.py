"""A driver that measures nothing: chosen samples, and every way to misbehave (docs/protocol.md).

``fake_driver.py`` starts it, a thousand times in a run of all tests: nothing is imported here that takes long.
Standard library only, and none of Clonometer's own code: a second reading of the protocol, so that a mistake
in the package's reader cannot hide in the same mistake here. Environment:

FAKE_DRIVER_MODE
    ``ok`` (default), or one of ``MODES`` below.
FAKE_DRIVER_ONLY
    A workload id: the mode applies to that workload alone.
FAKE_DRIVER_SEED
    Text that seeds the samples (default ``0``: every start of a cell gives the same samples). ``{n}`` in it stands
    for how many processes of the cell FAKE_DRIVER_LOG knew before: they differ, as real ones do, and a test that is
    run again sees the same.
FAKE_DRIVER_LINKAGE
    What the driver says of its own linkage (default ``static``).
FAKE_DRIVER_SLOW_S
    How long ``slow`` waits before it answers (default 0.3).
FAKE_DRIVER_CHILD_SPIN_NS
    Every launch takes this much longer until reaped, whatever is asked for: a regression.
FAKE_DRIVER_LOG
    A file to which each start appends one JSON line, ``{"pid": ..., "argv": [...]}``.
"""

from __future__ import annotations

import errno
import math
import os
import random
import struct
import sys
import time
import zlib

from fake_catalogue import STAGES, axes, catalogue, workloads
from quick_json import dumps, loads

MODES = {
    "ok": "answers well",
    "truncate": "the answer stops in the middle of the last block's samples; exit 0",
    "half_block": "the last block lacks its TAIL, and there is no DONE; exit 0",
    "no_done": "all blocks, no DONE; exit 0",
    "wrong_version": "version 99 in the preamble",
    "rubbish": "random bytes instead of an answer",
    "bad_crc": "one bit of the first block's samples is flipped",
    "hang": "the first block, then nothing for ever",
    "die": "one and a half blocks, then killed by SIGKILL",
    "slow": "waits before it answers",
    "noise_on_stderr": "200 kB on stdout and on stderr, more than a pipe holds, then a good answer",
    "failed": "DONE says failed, with a reason; exit 1",
    "failed_block": "the last block's status is failed, with a reason; the answer is ok",
    "skipped": "no block, DONE says skipped, with the numbers",
    "failed_launches": "every fourth launch fails with EAGAIN",
}

I32_NULL, I64_NULL = -(2**31), -(2**63)
SIGKILL = 9
CODES = {"i32": "i", "i64": "q", "f64": "d"}
SPINS = ("call_spin_ns", "stamp_spin_ns", "child_spin_ns")
CPU = 1

# Medians in ns of call_returns, task_runs, image_runs and reaped, pinned and warm; None: the stage is null.
TYPICAL = {
    "launch.none": (25, None, None, 50),
    "launch.fork": (58_000, 95_000, None, 140_000),
    "launch.vfork": (41_000, 24_000, None, 44_000),
    "launch.pthread": (12_000, 17_000, None, 31_000),
    "launch.posix_spawn": (190_000, None, 270_000, 390_000),
    "launch.fork_exec": (60_000, 97_000, 360_000, 520_000),
}
# The quantity of a workload that launches nothing, and its median.
COSTS = {"clock.used": ("cost_ns", 23.0), "program.cpuid": ("cpuid_ns", 3_500.0)}
FORK_LIKE = ("launch.fork", "launch.fork_exec")
PER_MIB_NS = 16_000
PAGES_FACTOR = {"first": 1.0, "rewritten": 0.95, "clean": 0.6}
OTHER_CPU_NS = 21_000


class RequestError(Exception):
    """A request that this driver does not understand."""


MEASURING = {
    "temperatures": "warm",
    "samples": 200,
    "blocks": 3,
    "warmup": 20,
    "block_limit_ns": 0,
    "stages": "all",
    "cpu": CPU,
    "clock": "monotonic",
    "clock_hz": 0,
    "targets": ".",
    **dict.fromkeys(SPINS, 0),
}


def read_request(words):
    """The request as a dict with defaults; a key or value that is not known is an error."""
    given = dict(word.split("=", 1) if "=" in word else (word, "") for word in words)
    entry = workloads().get(given.pop("workload", ""))
    if entry is None:
        raise RequestError("unknown workload")
    known = {name: axis["default"] for name, axis in axes().items() if name in entry["axes"]}
    request = {**known, **MEASURING, "workload": entry["id"], "entry": entry}
    for key, text in given.items():
        if key not in known and key not in MEASURING:
            raise RequestError(f"unknown key {key!r}")
        request[key] = _value(key, text, known.get(key, MEASURING.get(key)))
    return request


def _value(key, text, default):
    choices = axes().get(key, {}).get("values")
    if choices is not None and text not in choices:
        raise RequestError(f"{key}={text}: not one of {', '.join(choices)}")
    if not isinstance(default, int):
        return text
    if not text.isascii() or not text.isdigit():
        raise RequestError(f"{key}={text}: not a whole number")
    return int(text)


def launch_rows(request, temperature, n_rows, rng, failing):
    """Rows of a launch block: the columns of docs/protocol.md, in its order."""
    rows, start_ns = [], 0
    for row in range(n_rows):
        other_cpu = request["placement"] == "free" and rng.random() < 0.5
        stages = _stages(request, temperature, other_cpu, rng)
        child = (CPU - 1 if other_cpu else CPU) if stages[1] != I64_NULL else I32_NULL
        if failing and row % 4 == 3:
            stages, child, failure = (I64_NULL,) * 4, I32_NULL, errno.EAGAIN
        else:
            failure = 0
        rows.append((start_ns, *stages, CPU, CPU, child, failure))
        start_ns += max(stages[3], 0) + 150
    return rows


def _stages(request, temperature, other_cpu, rng):
    typical = TYPICAL[request["workload"]]
    memory_ns = 0.0
    if request["workload"] in FORK_LIKE:
        memory_ns = request["parent_bytes"] / 2**20 * PER_MIB_NS * PAGES_FACTOR[request["pages"]]
    linkage_ns = 30_000 if request["workload"] in FORK_LIKE and _is_lazy(request) else 0
    slower = 2.5 if temperature == "cold" else 1.0
    noise = slower * rng.lognormvariate(0.0, 0.08)
    call, task, image, reaped = (
        None if stage is None else round((stage + memory_ns + linkage_ns) * noise) for stage in typical
    )
    call_spin, stamp_spin, child_spin = (request[name] for name in SPINS)
    child_spin += int(os.environ.get("FAKE_DRIVER_CHILD_SPIN_NS", "0"))
    # Pinned, the child runs only when the parent blocks: the parent's spin delays it. Free, the two overlap.
    before_task = (OTHER_CPU_NS if other_cpu else call_spin) + stamp_spin
    call += call_spin
    task = I64_NULL if task is None or request["stages"] == "parent" else task + before_task
    image = I64_NULL if image is None or request["stages"] == "parent" else image + before_task
    reaped = max(call, reaped + before_task + child_spin)
    return call, task, image, reaped


def _is_lazy(request):
    return "dynamic_lazy" in (request["linkage"], os.environ.get("FAKE_DRIVER_LINKAGE"))


LAUNCH_COLUMNS = [
    ("start_ns", "i64", "ns"),
    *((stage, "i64", "ns") for stage in STAGES),
    ("cpu_before", "i32", "cpu"),
    ("cpu_after", "i32", "cpu"),
    ("cpu_child", "i32", "cpu"),
    ("errno", "i32", "errno"),
]


def _seed_of_samples():
    """The seed that the environment gives, with how often the same was asked for before this start."""
    seed = os.environ.get("FAKE_DRIVER_SEED", "0")
    if "{n}" not in seed:
        return seed
    # This start is in the log already.
    with open(os.environ["FAKE_DRIVER_LOG"], encoding="utf-8") as lines:  # noqa: PTH123 (pathlib takes long to import)
        starts = sum(loads(line)["argv"][2:] == sys.argv[3:] for line in lines)
    return seed.replace("{n}", str(starts - 1))


def measured(request, temperature, n_rows, rng, failing):
    """Columns, rows, how long they took, and how many launches failed."""
    if request["workload"] in COSTS:
        name, typical = COSTS[request["workload"]]
        rows = [(typical * rng.lognormvariate(0.0, 0.02),) for _ in range(n_rows)]
        return [(name, "f64", "ns")], rows, math.ceil(sum(row[0] for row in rows) * 1000), 0
    if request["workload"] == "program.steps":
        return [("start_cpuid", "i64", "count")], [(43,)], 600_000_000, 0
    rows = launch_rows(request, temperature, n_rows, rng, failing)
    wall_ns = rows[-1][0] + max(rows[-1][4], 0) if rows else 0
    return LAUNCH_COLUMNS, rows, wall_ns, sum(row[8] != 0 for row in rows)


def make_block(request, index, temperature, failing):
    """HEAD (dict), COLS (bytes) and TAIL (dict) of one block."""
    condition = {name: value for name, value in request.items() if name in request["entry"]["axes"]}
    rng = random.Random(dumps([request["seed"], request["workload"], condition, temperature, index]))
    n_rows = 1 if temperature == "cold" else request["samples"]
    columns, rows, wall_ns, failures = measured(request, temperature, n_rows, rng, failing)
    cols = b"".join(
        struct.pack(f"<{len(rows)}{CODES[kind]}", *(row[at] for row in rows)) for at, (_, kind, _) in enumerate(columns)
    )
    head = {
        "block": index,
        "workload": request["workload"],
        "temperature": temperature,
        "rows": len(rows),
        "columns": [{"name": name, "type": kind, "unit": unit} for name, kind, unit in columns],
    }
    parent_bytes = request.get("parent_bytes", 0)
    facts = {
        "wall_ns": wall_ns,
        "effective_mhz": {str(CPU): round(rng.uniform(3390, 3400), 1)},
        "minor_faults": 12 * len(rows),
        "major_faults": 0,
        "voluntary_switches": len(rows),
        "involuntary_switches": 0,
        "vm_pte_bytes": 40_960 + parent_bytes // 512,
        "rss_bytes": 1_200_000 + parent_bytes,
        "vmas": 14,
    }
    tail = {
        "status": "ok",
        "reason": None,
        "rows": len(rows),
        "crc32": zlib.crc32(cols),
        "outcomes": {"ok": len(rows) - failures, "EAGAIN": failures},
        "facts": facts,
    }
    return head, cols, tail


def temperatures_of_blocks(request):
    """The temperature of each block, in the order of measuring."""
    if not request["entry"]["temperatures"]:
        return [None] * request["blocks"]
    asked = request["temperatures"].split(",")
    if not set(asked) <= {"cold", "warm"}:
        raise RequestError(f"temperatures={request['temperatures']}: not cold, warm or both")
    return ["cold"] * ("cold" in asked) + ["warm"] * (request["blocks"] * ("warm" in asked))


def frame(kind, payload):
    """One frame: kind, zero, length, payload."""
    return struct.pack("<4sIQ", kind, 0, len(payload)) + payload


def preamble(version=1):
    """The eight bytes of magic, the version and a zero."""
    return struct.pack("<8sII", b"CLNMETER", version, 0)


def done(status, reason, n_blocks, error=None):
    """The DONE frame."""
    end = {
        "status": status,
        "reason": reason,
        "errno": error,
        "blocks": n_blocks,
        "driver": "fake",
        "version": "0.1.0",
        "linkage": os.environ.get("FAKE_DRIVER_LINKAGE", "static"),
    }
    return frame(b"DONE", dumps(end).encode())


def answer(request, mode):
    """The bytes of each block and the last frames, with the fault that the mode asks for."""
    if mode == "skipped":
        reason = "needs 1,073,741,824 bytes, 512,000,000 are available"
        return [], done("skipped", reason, 0, errno.ENOMEM)
    temperatures = temperatures_of_blocks(request)
    request = {**request, "seed": _seed_of_samples()}
    blocks = []
    for index, temperature in enumerate(temperatures):
        head, cols, tail = make_block(request, index, temperature, mode == "failed_launches")
        last = index == len(temperatures) - 1
        if mode == "bad_crc" and index == 0:
            cols = bytes([cols[0] ^ 1]) + cols[1:]
        if mode == "failed_block" and last:
            tail = {**tail, "status": "failed", "reason": "the parent's memory was swapped out"}
        parts = [frame(b"HEAD", dumps(head).encode()), frame(b"COLS", cols)]
        if mode == "truncate" and last:
            parts[1] = parts[1][: 16 + len(cols) // 2]
        elif not (mode == "half_block" and last):
            parts.append(frame(b"TAIL", dumps(tail).encode()))
        blocks.append(b"".join(parts))
    if mode in ("truncate", "half_block", "no_done"):
        return blocks, b""
    if mode == "failed":
        return blocks[:1], done("failed", "the parent's memory could not be built", 1, errno.ENOMEM)
    return blocks, done("ok", None, len(blocks))


def send(descriptor, data):
    """Write all of it."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def serve(descriptor, request, mode):
    """Answer one request; returns the exit status."""
    if mode == "slow":
        time.sleep(float(os.environ.get("FAKE_DRIVER_SLOW_S", "0.3")))
    if mode == "noise_on_stderr":
        send(1, b"noise on stdout\n" * 12_500)
        send(2, b"noise on stderr\n" * 12_500)
    if mode == "rubbish":
        send(descriptor, random.Random(1).randbytes(5_000))
        return 0
    blocks, end = answer(request, mode)
    if mode in ("hang", "die"):
        first, second = blocks[0], (blocks[1] if len(blocks) > 1 else blocks[0])
        send(descriptor, preamble() + first)
        if mode == "die":
            send(2, b"fake driver: about to die\n")
            send(descriptor, second[: len(second) // 2])
            os.kill(os.getpid(), SIGKILL)
        while True:
            time.sleep(3600)
    send(descriptor, preamble(99 if mode == "wrong_version" else 1) + b"".join(blocks) + end)
    return 1 if mode == "failed" else 0


def main(words):
    """The three forms of docs/protocol.md; returns the exit status."""
    log = os.environ.get("FAKE_DRIVER_LOG")
    if log:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        send(descriptor, dumps({"pid": os.getpid(), "argv": words}).encode() + b"\n")
        os.close(descriptor)
    if words == ["--describe"]:
        send(1, dumps(catalogue()).encode() + b"\n")
        return 0
    if words == ["--calibrate"]:
        clock = {
            "clock": "monotonic",
            "clock_hz": None,
            "cost_ns": 23.0,
            "reason": "a fake",
            "method": "none",
        }
        send(1, dumps(clock).encode() + b"\n")
        return 0
    if len(words) < 3 or words[0] != "--fd" or not words[1].isdigit():
        send(2, b"usage: fake_driver.py --describe | --calibrate | --fd N workload=ID [key=value...]\n")
        return 2
    descriptor = int(words[1])
    mode = os.environ.get("FAKE_DRIVER_MODE", "ok")
    only = os.environ.get("FAKE_DRIVER_ONLY")
    try:
        if mode not in MODES:
            raise RequestError(f"FAKE_DRIVER_MODE={mode}: not one of {', '.join(MODES)}")
        request = read_request(words[2:])
        return serve(descriptor, request, mode if only in (None, "", request["workload"]) else "ok")
    except RequestError as error:
        send(descriptor, preamble() + done("failed", str(error), 0, errno.EINVAL))
        return 1
