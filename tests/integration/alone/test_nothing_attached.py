"""Nothing of ours stays attached to the kernel after a trace, however it ends; its programs are the whole machine's."""

from __future__ import annotations

import ctypes
import os
import platform
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests import probe
from tests.integration.started import happens, tracing_files
from tests.integration.test_explain import EVENTS, traced

from clonometer.runner.drivers import Drivers, find_drivers

pytestmark = pytest.mark.real

_BPF_CALL = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
_NEXT_PROGRAM, _PROGRAM_BY_ID, _DESCRIBE = 11, 13, 15
_NAME_AT, _DESCRIPTION_BYTES = 64, 128  # In struct bpf_prog_info.


@pytest.fixture(scope="module")
def drivers() -> Drivers:
    return find_drivers([[str(probe.executable("static"))]])


def bpf(command: int, *words: int) -> tuple[int, list[int]]:
    libc = ctypes.CDLL(None, use_errno=True)
    attributes = (ctypes.c_uint32 * 32)(*words)
    return libc.syscall(_BPF_CALL, command, attributes, ctypes.sizeof(attributes)), list(attributes)


def program_name(number: int) -> str:
    descriptor, _ = bpf(_PROGRAM_BY_ID, number)
    if descriptor < 0:
        return ""
    described = ctypes.create_string_buffer(_DESCRIPTION_BYTES)
    place = ctypes.addressof(described)
    bpf(_DESCRIBE, descriptor, _DESCRIPTION_BYTES, place & 0xFFFFFFFF, place >> 32)
    os.close(descriptor)
    return described.raw[_NAME_AT : _NAME_AT + 16].split(b"\0")[0].decode()


def programs_since(first: int) -> list[int]:
    """The bpf programs of ours that are loaded and have a higher number; numbers are not used twice.

    Others load some whenever they like: a service manager does for each service.
    """
    programs, at = [], first
    while True:
        status, answer = bpf(_NEXT_PROGRAM, at)
        if status != 0:
            return programs
        at = answer[1]
        if program_name(at) == "clonometer":
            programs.append(at)


@pytest.mark.skipif(_BPF_CALL is None or os.geteuid() != 0, reason="only root may list programs")
@pytest.mark.parametrize("ending", ["by itself", "killed"])
def test_nothing_stays_attached(drivers: Drivers, ending: str) -> None:
    before = programs_since(0)
    newest = before[-1] if before else 0
    enabled = [name.read_text() for name in sorted(tracing_files())]
    if ending == "by itself":
        traced(drivers, "launch.fork", "fast")
    else:
        words = ["--fd", "1", "trace", "how=fast", f"events={','.join(EVENTS)},futex,locks", "--", "/bin/sleep", "60"]
        with subprocess.Popen([probe.folder() / "tracer", *words], stdout=subprocess.DEVNULL) as tracer:
            limit = time.monotonic() + 20
            while not programs_since(newest) and time.monotonic() < limit and tracer.poll() is None:
                time.sleep(0.01)
            if tracer.poll() is not None:
                pytest.skip("this machine refuses bpf programs")
            [sleeper] = [int(pid) for pid in _children(tracer.pid)]
            tracer.send_signal(signal.SIGKILL)
        assert happens(lambda: not _alive(sleeper))
    assert happens(lambda: not programs_since(newest))
    assert [name.read_text() for name in sorted(tracing_files())] == enabled


def _children(pid: int) -> list[str]:
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        pids = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if pids:
            return pids
        time.sleep(0.01)
    return []


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
