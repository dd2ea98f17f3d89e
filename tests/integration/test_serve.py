"""Servers under load, for real: every request is answered once, and what is counted holds; never how long it takes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests import probe
from tests.probe import present

pytestmark = pytest.mark.real

FORKING = ("fork", "spawn")
POOLS = ("prefork", "pass_fd")
THREADS = ("thread", "thread_pool", "event_pool")
DESIGNS = ("inline", "event", *FORKING, *POOLS, *THREADS)
# 100 requests, of which the host may make any late.
LIGHT = ("rate_hz=400", "load_ns=250000000", "work_ns=20000")
FEW = ("samples=1", "blocks=1", "warmup=0")
REQUESTS = 100


def only(values: object) -> float:
    [value] = set(values)  # type: ignore[call-overload]
    return float(value)


def listening() -> str:
    """Sockets of any server of ours, and listening TCP ones."""
    unix = [line for line in Path("/proc/net/unix").read_text().splitlines() if "clonometer-serve" in line]
    tcp = [line for line in Path("/proc/net/tcp").read_text().splitlines() if line.split()[3] == "0A"]
    return "\n".join([*unix, *(" ".join(line.split()[1:4]) for line in tcp)])


@pytest.mark.parametrize("transport", ["unix", "tcp"])
@pytest.mark.parametrize("design", DESIGNS)
def test_every_request_is_answered_and_counted_once(design: str, transport: str) -> None:
    before = listening()
    answer = probe.ask(f"workload=serve.{design}", f"transport={transport}", *LIGHT, *FEW)
    assert (answer.done.status, answer.stderr) == ("ok", "")
    (block,) = answer.blocks
    assert block.outcomes == {"ok": REQUESTS}
    # The work of a request is a part of what its server took, and that of what its client waited for.
    latency, served = block.columns["latency_ns"], block.columns["served_ns"]
    assert (served > 0).all()
    assert (latency > served).all()
    assert (block.columns["sent_late_ns"] >= 0).all()
    assert (np.diff(block.columns["start_ns"]) >= 0).all()
    assert only(present(block, "failed")) == 0
    # CPU time is calibrated, and no server answers for nothing.
    assert only(present(block, "server_cpu_each_ns")) > 10_000
    assert only(present(block, "pss_bytes")) > 100_000
    assert len(present(block, "lost")) == 0
    # Only new processes fault in pages for each request.
    assert (only(present(block, "faults_each")) > 3) == (design in FORKING)
    assert listening() == before
