"""What fork postpones, for real: who copies and who takes over is what the kernel counted, not how long it took."""

from __future__ import annotations

import os
import resource
import shutil
from pathlib import Path

import pytest
from tests import probe
from tests.integration.started import ROOT_ONLY, as_nobody, at_work, gone, happens, sleepers, started
from tests.probe import present

pytestmark = pytest.mark.real

SIDES = ["cow.parent", "cow.child"]
PAGE = resource.getpagesize()
HUGE = 2 << 20
CPUS = os.sched_getaffinity(0)
has_thp = "thp" not in probe.catalogue()["axes"]["page_kind"]["unavailable"]
needs_thp = pytest.mark.skipif(not has_thp, reason="no transparent huge pages here")
needs_two_cpus = pytest.mark.skipif(len(CPUS) < 2, reason="the thread that notices needs a CPU of its own")


def faults(*words: str) -> set[int]:
    (block,) = probe.ask(*words, "samples=4", "blocks=1", "warmup=1").blocks
    assert block.outcomes == {"ok": block.rows}
    return set(present(block, "faults").tolist())


def vmstat(name: str) -> int | None:
    lines = dict(line.split() for line in Path("/proc/vmstat").read_text().splitlines())
    return int(lines[name]) if name in lines else None


@pytest.mark.parametrize("other", ["alive", "gone"])
@pytest.mark.parametrize("workload", SIDES)
def test_each_first_write_faults_once_and_the_second_never(workload: str, other: str) -> None:
    words = [f"workload={workload}", f"other_process={other}", f"written_bytes={512 * PAGE}"]
    assert faults(*words) == {512}


def test_new_memory_faults_once_a_page() -> None:
    assert faults("workload=cow.fresh", f"written_bytes={100 * PAGE}") == {100}


@needs_thp
@pytest.mark.parametrize("workload", SIDES)
def test_a_huge_page_is_split_where_it_is_shared_and_taken_over_whole_where_not(workload: str) -> None:
    each = HUGE // PAGE

    def seen(step: str, other: str) -> set[tuple[int, int]]:
        """Faults of a sample, and how many of its four huge pages were split; samples that got huge pages only."""
        words = (f"workload={workload}", "page_kind=thp", f"written_bytes={4 * HUGE}", f"write_step={step}")
        samples: set[tuple[int, int]] = set()

        def are_measured() -> bool:
            answer = probe.ask(*words, f"other_process={other}", "samples=4", "blocks=1", "warmup=1")
            for block in answer.blocks:
                # A machine may have four huge pages at one moment, and none at the next.
                assert set(block.outcomes) <= {"ok", "ENOMEM"}
                counts = (present(block, name).tolist() for name in ("faults", "split_pages"))
                samples.update(zip(*counts, strict=True))
            return len(samples) > 0

        assert happens(are_measured), "no huge pages were free"
        return samples

    for step, writes in (("small_page", 4 * each), ("page", 4)):
        for taken, split in seen(step, "alive"):
            # Each place that is written is copied, and may fault once more where the processor still remembers it as
            # read-only: that is spurious (arch/x86/mm/pgtable.c), and how often depends on the processor.
            assert (split, writes <= taken <= 2 * writes) == (4, True), (step, taken)

    def kept_whole() -> bool:
        for taken, split in (gone := seen("small_page", "gone")):
            # One fault for a page that is kept whole, one for each part of a page that is split, as it is while the
            # kernel has another reference to it; and the spurious ones.
            assert 4 - split + split * each <= taken <= 2 * 4 * each, (taken, split)
        return any(split == 0 for _, split in gone)

    assert happens(kept_whole)


def test_small_pages_have_no_count_of_split_ones() -> None:
    (block,) = probe.ask("workload=cow.parent", "samples=2", "blocks=1").blocks
    assert len(present(block, "split_pages")) == 0


@needs_two_cpus
def test_the_aftermath_writes_each_page_anew_only_where_it_is_shared() -> None:
    size, samples = 16 << 20, 3
    words = ["workload=cow.stall", f"parent_bytes={size}", f"samples={samples}", "blocks=1", "warmup=1"]
    counts = {}
    for kind in ("4k", "shared", "dontfork"):
        (block,) = probe.ask(*words, f"page_kind={kind}").blocks
        assert block.outcomes == {"ok": samples}
        counts[kind] = block.facts["minor_faults"]
        if kind == "4k":
            # Thousands of copies against none; of the passes those that nobody interrupted.
            assert block.columns["aftermath_pass_ns"].min() > 3 * block.columns["quiet_pass_ns"].min()
    assert counts["4k"] >= samples * size // PAGE
    assert counts["shared"] < 200
    assert counts["dontfork"] < 200


@needs_two_cpus
@needs_thp
def test_each_fork_gets_whole_huge_pages() -> None:
    size, samples = 8 << 20, 3
    words = ["workload=cow.stall", f"parent_bytes={size}", "page_kind=thp", f"samples={samples}", "blocks=1"]
    (block,) = probe.ask(*words, "warmup=1", "other_process=alive").blocks
    # Each is split anew: all its small pages fault in the aftermath, and it was whole before.
    assert block.facts["minor_faults"] >= samples * size // PAGE
    # What is written before the child has gone is copied page by page: on a busy machine that may be all.
    request = [
        "workload=cow.stall",
        f"parent_bytes={size}",
        "page_kind=thp",
        "other_process=gone",
        "samples=1",
        "blocks=1",
    ]
    assert any(probe.ask(*request).blocks[0].facts["minor_faults"] < size // PAGE / 2 for _ in range(20))


@needs_two_cpus
def test_no_phase_lasts_longer_than_the_block() -> None:
    (block,) = probe.ask("workload=cow.stall", f"parent_bytes={4 << 20}", "samples=5", "blocks=1").blocks
    names = ["quiet_pass_ns", "fork_call_ns", "aftermath_pass_ns"]
    assert sum(present(block, name).sum() for name in names) < block.facts["wall_ns"]
    for name in ("quiet_stall_ns", "call_stall_ns", "aftermath_stall_ns"):
        assert present(block, name).max() < block.facts["wall_ns"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("workload=cow.parent page_kind=shared", "page_kind=4k and page_kind=thp"),
        ("workload=cow.child written_bytes=100", "is not a multiple"),
        (f"workload=cow.parent written_bytes={1 << 45}", "leaves"),
        (f"workload=cow.parent written_bytes={1 << 60}", "is not a multiple"),
        pytest.param(f"workload=cow.stall parent_bytes={1 << 45}", "leaves", marks=needs_two_cpus),
        pytest.param(
            "workload=cow.stall page_kind=file_private_read parent_bytes=4096", "page_kind=4k", marks=needs_two_cpus
        ),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(words: str, complaint: str) -> None:
    answer = probe.ask(*words.split())
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert complaint in answer.done.reason


def test_the_aftermath_of_more_than_half_the_memory_is_refused_before_it_is_built() -> None:
    available = int(
        next(line for line in Path("/proc/meminfo").read_text().splitlines() if "MemAvailable" in line).split()[1]
    )
    answer = probe.ask("workload=cow.stall", f"parent_bytes={(available * 1024 * 2 // 3) // PAGE * PAGE}")
    assert answer.done.status == "skipped"
    assert "leaves" in answer.done.reason or "no CPU beside" in answer.done.reason


def test_without_a_second_cpu_nobody_notices() -> None:
    answer = probe.ask("workload=cow.stall", before=lambda: os.sched_setaffinity(0, {min(CPUS)}))
    assert (answer.done.status, answer.blocks) == ("skipped", [])
    assert "no CPU beside" in answer.done.reason


@ROOT_ONLY
@pytest.mark.parametrize(("workload", "others"), [("cow.parent", 3), ("cow.child", 3), ("cow.child", 2)])
def test_forks_that_are_not_allowed_are_counted(workload: str, others: int, public: Path) -> None:
    program = public / "probe-static"
    shutil.copy(probe.executable(), program)
    with sleepers(others):
        words = (f"workload={workload}", "samples=3", "blocks=1", "warmup=0")
        answer = probe.ask(*words, program=program, before=as_nobody(4))
    assert answer.done.status == "ok"
    (block,) = answer.blocks
    assert block.outcomes == {"ok": 0, "EAGAIN": 3}
    assert len(present(block, "write_each_ns")) == len(present(block, "faults")) == 0


@pytest.mark.parametrize(
    "words",
    [
        "workload=cow.parent other_process=alive",
        "workload=cow.child other_process=alive",
        "workload=cow.child other_process=gone",
        pytest.param("workload=cow.stall", marks=needs_two_cpus),
    ],
)
def test_nobody_outlives_the_probe(words: str) -> None:
    with started(*words.split(), "samples=1000000", "blocks=1") as running:
        assert at_work(running.pid)
        running.end()
        assert gone(running.pid)


@needs_two_cpus
def test_gaps_are_counted_in_every_phase_and_their_ladder_never_descends() -> None:
    samples = 4
    (block,) = probe.ask("workload=cow.stall", f"parent_bytes={8 << 20}", f"samples={samples}", "blocks=1").blocks
    for phase in ("quiet", "call", "aftermath"):
        steps = [block.columns[f"{phase}_gap_{step}_ns"] for step in ("p50", "p90", "p99", "p999", "p9999")]
        longest = block.columns[f"{phase}_stall_ns"]
        assert (present(block, f"{phase}_gaps") > 0).all()
        for shorter, longer in zip(steps, [*steps[1:], longest], strict=True):
            # A step of too few gaps is null, which is below everything.
            assert (shorter <= longer)[longer > 0].all()
    # Each of the pages is written at least once in a pass.
    for phase in ("quiet", "aftermath"):
        assert (present(block, f"{phase}_gaps") >= (8 << 20) // PAGE).all()
