"""Terms of a machine that never was: they are chosen, so that what follows from them can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

from clonometer.advice.advising import advise
from clonometer.advice.answer import Advice, Proof, ProvenDesign
from clonometer.advice.basis import AdviceBasis
from clonometer.advice.costs import BUSY
from clonometer.advice.designs import DESIGNS
from clonometer.advice.terms import MemoryPoint, Term, Terms, TermSpan
from clonometer.advice.wish import Wish
from clonometer.results.latency_limit import LatencyLimit

CPU_NS = {
    "inline": 20_000.0,
    "fork": 140_000.0,
    "spawn": 420_000.0,
    "thread": 45_000.0,
    "prefork": 22_000.0,
    "thread_pool": 32_000.0,
    "event": 24_000.0,
    "event_pool": 36_000.0,
    "pass_fd": 34_000.0,
}
#: Of an idle server, what its client waits besides.
PATH_NS = 15_000.0
LAUNCH_NS = {
    "fork": (60_000.0, 75_000.0, 115_000.0),
    "spawn": (250_000.0, 330_000.0, 380_000.0),
    "thread": (9_000.0, 14_000.0, 19_000.0),
}
OTHERS = {
    "byte_in": 0.2,
    "byte_out": 0.3,
    "copied_page": 1_400.0,
    "written_page": 150.0,
    "fresh_page": 700.0,
    "cpu.wait": 4_000.0,
    "latency.wait": 30_000.0,
    "freed_page": 300.0,
    "parent_page": 1_600.0,
    "process_bytes": 200_000.0,
    "thread_bytes": 60_000.0,
}


def near(value, share=0.02):
    return TermSpan(value, value * (1 - share), value * (1 + share))


def terms(share=0.02, without=()):
    values = dict(OTHERS)
    for design in DESIGNS:
        for connections in ("per_request", "kept"):
            about = f"{design.id}.{connections}.tcp"
            cpu_ns = CPU_NS[design.id] if connections != "kept" else 9_000.0
            if design.id == "inline":
                values |= {f"cpu.{about}": cpu_ns, f"latency.{about}": cpu_ns + PATH_NS}
            else:
                above_ns = cpu_ns - (CPU_NS["inline"] if connections != "kept" else 9_000.0)
                values |= {f"cpu_above.{about}": above_ns, f"latency_above.{about}": above_ns}
    for kind, stages in LAUNCH_NS.items():
        values |= {f"{stage}.{kind}": ns for stage, ns in zip(("call", "runs", "whole"), stages, strict=True)}
    made = {name: Term(near(value, share), f"cell of {name}") for name, value in values.items() if name not in without}
    return Terms(1_800_000_000, {"cpu.model": "Invented"}, made, {})


def memory_point(size_bytes):
    return MemoryPoint(size_bytes, near(size_bytes / 4096 * 8), near(size_bytes / 4096 * 5))


def basis(share=0.02, without=()):
    points = [memory_point(size) for size in (0, 1 << 20, 1 << 30, 8 << 30)]
    return AdviceBasis(terms(share, without), points, slice_ns=4e6)


def with_busy(slow, part=0.5):
    """The same machine, on which designs take a part of that where they hardly sleep."""
    busy = {
        f"{BUSY}{name}": replace(term, span=term.span.times(part))
        for name, term in slow.terms.terms.items()
        if name.startswith("cpu") and "wait" not in name
    }
    return replace(slow, terms=replace(slow.terms, terms={**slow.terms.terms, **busy}))


def sample_advice() -> Advice:
    wish = Wish(rate_hz=400, work_ns=3e5, memory_bytes=64 << 20, isolation="crash", limit=LatencyLimit("p99", 4e6))
    answer = advise(wish, basis(), requests=120)
    best = [design for design in answer.designs if design.rank in (1, 2)]
    proven = [
        ProvenDesign(
            id=each.id, predicted_p50_ns=each.p50_ns, measured_p50_ns=near(each.p50_ns.value * 1.1),
            predicted_p99_ns=each.p99_ns, measured_p99_ns=None,
            predicted_cpu_ns=each.cpu_ns, measured_cpu_ns=near(each.cpu_ns.value),
        )
        for each in best
    ]  # fmt: skip
    sentence = "At the median, measured, the second takes 1.05 times as long as the first: as predicted."
    proof = Proof(designs=proven, ratio=near(1.05), faster=best[0].id, agrees=True, sentence=sentence)
    return replace(answer, proof=proof, observed=["Rate: 400 a second, as stated."])
