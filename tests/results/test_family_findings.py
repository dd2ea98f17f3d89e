"""What the finder of each family tells of a run whose truth is known."""

from __future__ import annotations

from typing import Any

import pytest
from tests.results.runs import (
    CONTENTION,
    SPAWN,
    caches,
    contention,
    copies_on_write,
    footprint_sizes,
    footprints,
    footprints_below_noise,
    isolation,
    operation,
    program_start,
    scaled,
    story_times,
    write_times,
)
from tests.results.runs_of_servers import CRASHES, DESIGNS, crashing_servers, servers, servers_with_memory

from clonometer.results.summary import summarize
from clonometer.results.types import Finding, Results


def _findings(run: Any) -> dict[str, Finding]:
    return {finding.id: finding for finding in summarize(run).findings}


@pytest.fixture(scope="module")
def contended() -> dict[str, Finding]:
    return _findings(contention())


def test_each_number_of_workers_has_its_known_ratio(contended: dict[str, Finding]) -> None:
    numbers = contended["contention.mmap"].numbers
    assert numbers["workers"] == [1, 2, 8]
    for by_worker, truth in zip(numbers["by_workers"], CONTENTION.values(), strict=True):
        # Twelve processes that scatter by half a percent tell a ratio to a percent, more than surely to five.
        assert by_worker["ratio"] == pytest.approx(truth, rel=0.05)
        assert by_worker["ratio_low"] <= by_worker["ratio"] <= by_worker["ratio_high"]
    assert [by_worker["verdict"] for by_worker in numbers["by_workers"]] == ["unknown", "more", "less"]
    assert [cpu_by_worker["verdict"] for cpu_by_worker in numbers["cpu_by_workers"]] == ["unknown", "more", "less"]


def test_the_summary_says_where_not_sharing_wins(contended: dict[str, Finding]) -> None:
    numbers = contended["contention"].numbers
    assert numbers["unshared_wins"] == []
    assert numbers["shared_wins"] == ["mapping and unmapping memory"]
    assert numbers["cannot_tell"] == ["adding to a counter", "adding to a counter (side by side)"]
    assert numbers["workers"] == [2, 8]


def test_false_sharing_has_its_known_ratio_by_threads_and_by_processes(contended: dict[str, Finding]) -> None:
    finding = contended["contention.packed_against_padded"]
    assert len(finding.numbers["each"]) == 2
    for by_kind in finding.numbers["each"]:
        assert by_kind["ratio"] == pytest.approx(8, rel=0.05)
    assert ["process" in comparison["cells"][0] for comparison in finding.numbers["each"]] == [False, True]
    assert "contention.one_against_padded" not in contended


def test_no_straight_line_is_drawn_through_workers(contended: dict[str, Finding]) -> None:
    assert not [name for name in contended if name.startswith("scan.workers")]


def test_threads_alone_are_no_contest(builder: Any) -> None:
    builder.cell("contend.mmap", operation(1000), None, workers=2)
    assert not [name for name in _findings(builder.run) if name.startswith("contention")]


def test_what_no_finding_of_the_family_tells_is_told_as_of_any_axis(
    make_builder: Any, contended: dict[str, Finding]
) -> None:
    builder = make_builder()
    for workers in CONTENTION:
        builder.cell("contend.mmap", operation(1000 * workers), None, spread=0.005, workers=workers)
    alone = _findings(builder.run)
    assert "contention.mmap" not in alone
    assert alone["scan.workers.contend.mmap.op_ns"].numbers["slope_ns"] == pytest.approx(1000, rel=0.05)
    assert [name for name in contended if name.startswith(("scan.", "choice.", "indistinct"))] == []


GIB = 1 << 30
PAGES = GIB // 4096


@pytest.fixture(scope="module")
def copied() -> Any:
    return copies_on_write()


def test_who_copies_and_who_takes_over_is_said_beside_plain_faults(copied: Any) -> None:
    finding = _findings(copied)["cow.first_write"]
    assert finding.numbers["ratio"] == pytest.approx(3, rel=0.1)
    assert [write["other_process"] for write in finding.numbers["writes"]] == ["alive", "gone", "alive", "gone", None]
    assert finding.numbers["no_fault_ns"] == pytest.approx(10, rel=0.1)
    assert finding.headline


def test_a_side_that_was_not_measured_is_left_out(builder: Any) -> None:
    builder.cell("cow.child", write_times(4_000.0), None)
    finding = _findings(builder.run)["cow.first_write"]
    assert finding.numbers["cells"] == ["cow.child"]
    assert finding.headline == ""


def test_a_fork_is_told_as_one_story_at_the_largest_parent(copied: Any) -> None:
    finding = _findings(copied)["cow.story"]
    assert finding.numbers["parent_bytes"] == GIB
    assert finding.numbers["aftermath_extra_ns"] == pytest.approx(1_000 * PAGES, rel=0.05)
    low, high = finding.numbers["aftermath_extra_ns_interval"]
    assert low <= 1_000 * PAGES <= high


def test_an_aftermath_that_costs_nothing_is_said_as_such(copied: Any) -> None:
    low, high = _findings(copied)["cow.story.gone"].numbers["aftermath_extra_ns_interval"]
    assert low <= 0 <= high


def test_phases_of_an_event_that_nobody_tells_are_scans(builder: Any) -> None:
    builder.invent("server.serve", {"quiet_ns": None, "stall_ns": None}, "parent_bytes", family="servers", phases=True)
    for size in (0, 1 << 20, 4 << 20):
        builder.cell("server.serve", {"quiet_ns": 2_000, "stall_ns": 3_000 + size / 100}, None, parent_bytes=size)
    findings = _findings(builder.run)
    assert findings["scan.parent_bytes.server.serve.stall_ns"].numbers["verdict"] == "more"
    assert findings["scan.parent_bytes.server.serve.quiet_ns"].numbers["verdict"] == "unknown"


def test_phases_are_drawn_together_and_not_as_scans(copied: Any) -> None:
    results = summarize(copied)
    assert all(line.phase for line in results.scans)
    assert not [finding.id for finding in results.findings if finding.id.startswith("scan.")]
    assert {scan.quantity for scan in results.scans} == set(story_times(0, 0))
    assert {scan.x for scan in results.scans} == {(0, GIB)}
    assert {tuple(scan.condition.items()) for scan in results.scans} == {(), (("other_process", "gone"),)}


def test_what_waits_for_others_is_not_judged_by_its_wall_time(copied: Any) -> None:
    for block in copied.metadata["blocks"]:
        block["facts"] = {"wall_ns": 100, "cpu_ns": 1}
    assert "wall.far_above_cpu" not in {warning.id for warning in summarize(copied).warnings}


@pytest.fixture(scope="module")
def isolated() -> dict[str, Finding]:
    return _findings(isolation())


def test_who_lives_on_is_said_of_threads_processes_and_pools(isolated: dict[str, Finding]) -> None:
    numbers = isolated["isolation.segfault"].numbers
    setups = numbers["setups"]
    assert {name: setup["survivors"] for name, setup in setups.items()} == {"thread": 0, "process": 3, "pool": 3}
    assert setups["pool"]["replaced_ns"] == 65_000
    assert (setups["thread"]["parent_alive"], setups["process"]["known_ns"]) == (0, 60_000)
    assert numbers["restored_thread_over_process"]["ratio"] == pytest.approx(3)


def test_what_nobody_notices_is_said(isolated: dict[str, Finding]) -> None:
    setups = isolated["isolation.overrun_neighbour"].numbers["setups"]
    assert {name: setup["damaged"] for name, setup in setups.items()} == {"thread": 1, "process": 0}
    assert "known_ns" not in setups["process"]


def test_faults_are_told_once(isolated: dict[str, Finding]) -> None:
    assert [name for name in isolated if "isola" in name] == ["isolation.segfault", "isolation.overrun_neighbour"]


@pytest.fixture(scope="module")
def served() -> dict[str, Finding]:
    return _findings(servers())


def test_designs_are_compared_under_the_same_load(served: dict[str, Finding]) -> None:
    numbers = served["servers.cpu.rate_hz=500"].numbers
    assert numbers["server_cpu_each_ns"] == pytest.approx({name: cpu for name, (cpu, _) in DESIGNS.items()}, rel=0.02)
    ratios = {(each["design"], each["other"]): each for each in numbers["ratios"]}
    assert set(ratios) == {("serve.fork", "serve.thread"), ("serve.thread", "serve.thread_pool")}
    assert ratios["serve.fork", "serve.thread"]["ratio"] == pytest.approx(2, rel=0.02)
    latencies = served["servers.latency.rate_hz=500"].numbers["median_ns"]
    assert latencies == pytest.approx({name: latency for name, (_, latency) in DESIGNS.items()}, rel=0.02)
    # A load that only one server had compares nothing.
    assert "servers.cpu.rate_hz=2000" not in served


def test_the_first_screen_answers_with_the_cost_of_a_request_and_what_casts_doubt_on_it() -> None:
    answer = summarize(servers()).first.answer
    assert [finding.id for finding in answer] == [
        "answer.servers.cpu.rate_hz=500",
        "answer.servers.overload.serve.fork.rate_hz=2000",
    ]


def test_a_server_that_fell_behind_is_told_apart_from_a_late_client(served: dict[str, Finding]) -> None:
    behind = [id_ for id_ in served if id_.startswith("servers.overload")]
    assert behind == ["servers.overload.serve.fork.rate_hz=2000"]
    numbers = served[behind[0]].numbers
    assert (numbers["rate_hz"], round(numbers["served_per_s"])) == (2_000, pytest.approx(1_500, rel=0.02))
    assert [id_ for id_ in served if "client_late" in id_] == ["servers.client_late.serve.inline.rate_hz=1000"]


def test_what_a_higher_rate_does_is_no_slope(served: dict[str, Finding]) -> None:
    numbers = served["servers.rate.serve.fork"].numbers
    assert numbers["latency_ns"] == {500: pytest.approx(330_000, rel=0.02), 2_000: pytest.approx(8e7, rel=0.02)}
    assert not [id_ for id_ in served if id_.startswith("scan.rate_hz")]


def test_memory_in_the_parent_is_a_ratio_of_the_design_that_pays_for_it_and_no_slope() -> None:
    results = summarize(servers_with_memory())
    served = {finding.id: finding for finding in results.findings}
    ratios = {each["design"]: each for each in served["memory.servers.rate_hz=250"].numbers["ratios"]}
    assert ratios["serve.fork"]["ratio"] == pytest.approx(4, rel=0.02)
    assert ratios["serve.thread"]["verdict"] == "unknown"
    assert not [id_ for id_ in served if id_.startswith("scan.")]
    assert [finding.id for finding in results.first.reasons] == ["why.memory.servers.rate_hz=250"]


def test_the_plainest_load_is_answered_before_others() -> None:
    answer = summarize(servers_with_memory()).first.answer
    loads = ("rate_hz=250", f"parent_bytes={32 << 20}.rate_hz=250")
    assert [finding.id for finding in answer] == [f"answer.servers.cpu.{load}" for load in loads]


def test_a_crash_is_counted_and_compared_with_nothing() -> None:
    served = {finding.id: finding.numbers for finding in summarize(crashing_servers()).findings}
    crashes = {id_: numbers for id_, numbers in served.items() if id_.startswith("servers.crash")}
    assert [
        (numbers["dead_tasks"], numbers["lost"], numbers["whole_again_ns"]) for numbers in crashes.values()
    ] == list(CRASHES.values())
    assert not any(id_.startswith(("servers.cpu", "servers.latency")) for id_ in served)


SIZE = 64 << 20


BARE = {"call_returns_ns": 30_000, "task_runs_ns": 40_000, "reaped_ns": 60_000}
COLD = scaled(BARE, 3)


def cache_findings(run: Any) -> dict[str, Finding]:
    return {id_: finding for id_, finding in _findings(run).items() if id_.startswith("caches.")}


def test_a_page_costs_what_it_costs_beyond_a_launch_without_memory_in_the_same_caches() -> None:
    findings = cache_findings(caches())
    assert set(findings) == {"caches.fork", f"caches.fork.pages=clean.parent_bytes={SIZE}", "caches.posix_spawn"}
    bare = findings["caches.fork"].numbers
    assert [cold["caches"]["caches"] for cold in bare["cold"]] == ["idle", "thrashed"]
    assert bare["hot"]["ns_per_page"] is None
    assert bare["ratio"] == pytest.approx(3, rel=0.05)
    pages = findings[f"caches.fork.pages=clean.parent_bytes={SIZE}"].numbers
    # Without memory nobody idled 20 ms: from what is left of that launch no page's cost can be had.
    assert [cold["ns_per_page"] is None for cold in pages["cold"]] == [True, False]
    assert pages["cold"][1]["ns_per_page"] == pytest.approx(66, rel=0.05)
    assert pages["hot"]["ns_per_page"] == pytest.approx(37, rel=0.05)


def test_of_what_sleeps_until_the_exec_only_the_whole_counts() -> None:
    assert cache_findings(caches())["caches.posix_spawn"].numbers["stage"] == "reaped"


def test_no_finding_without_both_sides(builder: Any) -> None:
    builder.cell("launch.fork", COLD, caches="idle")
    assert cache_findings(builder.run) == {}


def start_finding(run: Any) -> Finding | None:
    return _findings(run).get("program_start")


def test_the_start_is_split_and_its_cause_named_from_what_the_run_has_measured() -> None:
    finding = start_finding(program_start())
    assert finding is not None
    assert finding.numbers["library_start_ns"] == pytest.approx(350_000, rel=0.01)
    assert finding.numbers["library_start_low_ns"] < finding.numbers["library_start_high_ns"]
    assert (finding.numbers["cpuid"], len(finding.numbers["cells"])) == (68, 4)
    assert finding.numbers["cpuid_share"] == pytest.approx(68 * 5_000 / 350_000, rel=0.01)
    assert finding.numbers["without_library_ns"] == pytest.approx(79_000, rel=0.01)


def test_a_cpuid_that_does_not_trap_is_not_blamed(builder: Any) -> None:
    builder.cell("launch.posix_spawn", {**SPAWN, "image_runs_ns": 190_000}, "warm")
    builder.cell("program.steps", {"start_cpuid": 68}, None, processes=1, samples=1, blocks=1, spread=0.0)
    builder.cell("program.cpuid", {"cpuid_ns": 60}, None, processes=4)
    finding = start_finding(builder.run)
    assert finding is not None
    assert "which do not trap" in finding.sentence


def test_nothing_is_made_up_where_nothing_was_counted_or_stamped(builder: Any) -> None:
    builder.cell("launch.posix_spawn", SPAWN, "warm")
    finding = start_finding(builder.run)
    assert finding is not None
    assert not {"cpuid", "without_library_ns"} & set(finding.numbers)


def test_a_run_without_the_entrys_stamp_tells_no_split(builder: Any) -> None:
    builder.cell("launch.posix_spawn", {"image_runs_ns": 470_000, "reaped_ns": 500_000}, "warm")
    assert start_finding(builder.run) is None


def test_a_launch_is_written_alike_in_the_answer_and_in_the_short_reason(builder: Any) -> None:
    # 537 µs whose interval supports two digits, and each sentence by itself would be right with three.
    values = {name: value * 1.07 for name, value in SPAWN.items()}
    builder.cell("launch.posix_spawn", values, "warm", spread=0.1)
    first = summarize(builder.run).first
    [answer] = [finding for finding in first.answer if finding.id == "answer.launch.posix_spawn"]
    [reason] = [finding for finding in first.reasons if finding.id == "why.program_start"]
    whole = answer.sentence.partition(" takes ")[2].partition(" µs")[0]
    assert len(whole.rstrip("0")) == 2
    assert f"'s {whole} µs, " in reason.headline


KIB = 1024


@pytest.fixture(scope="module")
def held() -> Results:
    return summarize(footprints())


def _by_id(results: Results) -> dict[str, Finding]:
    return {finding.id: finding for finding in results.findings}


def test_a_task_is_told_with_its_parts_at_the_most_tasks(held: Results) -> None:
    numbers = _by_id(held)["footprint.process"].numbers
    assert numbers["tasks"] == 1000
    for part, truth in (("whole", 90), ("kernel_stack", 16), ("page_tables", 40), ("slab", 4)):
        assert numbers[f"{part}_each_bytes"] == pytest.approx(truth * KIB, rel=0.05)


def test_parts_that_the_account_does_not_tell_are_not_said(held: Results) -> None:
    numbers = _by_id(held)["footprint.thread"].numbers
    assert "kernel_each_bytes" in numbers
    assert not {"kernel_stack_each_bytes", "slab_each_bytes"} & set(numbers)


def test_a_process_is_held_against_a_thread(held: Results) -> None:
    numbers = _by_id(held)["footprint.process_thread"].numbers
    assert numbers["ratio"] == pytest.approx(3.0, rel=0.05)
    assert numbers["ratio_low"] <= 3.0 <= numbers["ratio_high"]
    assert all("tasks=1000" in cell for cell in numbers["cells"])


def test_bars_have_the_parts_and_what_remains(held: Results) -> None:
    bars = {bar.label: bar.parts_bytes for bar in held.series["footprints"]}
    assert list(bars) == ["process", "thread", "process, 1,000 at once", "thread, 1,000 at once"]
    process = bars["process"]
    assert list(process) == ["kernel stack", "page tables", "slab", "other kernel memory", "own pages"]
    assert process["other kernel memory"] == pytest.approx(10 * KIB, rel=0.5)
    assert list(bars["thread"]) == ["kernel", "own pages"]


def test_what_is_below_zero_is_no_bar_and_no_error(builder: Any) -> None:
    builder.cell("footprint.thread", footprint_sizes(25 * KIB, -5 * KIB), None)
    results = summarize(builder.run)
    assert list(results.series["footprints"][0].parts_bytes) == ["kernel"]
    assert _by_id(results)["footprint.thread"].numbers["user_each_bytes"] == pytest.approx(-5 * KIB, rel=0.1)


def test_sizes_take_no_part_in_findings_about_times(held: Results) -> None:
    assert not [name for name in _by_id(held) if name.startswith("scan.") and name.endswith("_bytes")]
    assert {scan.quantity for scan in held.scans} == {"create_each_ns", "reap_each_ns"}


def test_what_the_machine_does_besides_is_not_taken_for_a_task() -> None:
    findings = _by_id(summarize(footprints_below_noise()))
    process, thread = (findings[f"footprint.{kind}"] for kind in ("process", "thread"))
    assert process.numbers["whole_each_bytes"] < 0
    # Free memory that lost less than was made is not told as the whole.
    assert thread.numbers["whole_each_bytes"] < thread.numbers["kernel_each_bytes"]
    assert {process.headline, thread.headline} == {""}


@pytest.mark.parametrize(("whole_kib", "headline"), [(-88, False), (30, True), (900, False)])
def test_without_an_interval_too_no_task_takes_less_than_nothing_or_more_than_it_has(
    builder: Any, whole_kib: int, headline: bool
) -> None:
    """What a lesson of 5 s has: too few processes for an interval."""
    sizes = footprint_sizes(25 * KIB, 5 * KIB, whole_each_bytes=whole_kib * KIB, resident_each_bytes=8 * KIB)
    builder.cell("footprint.thread", sizes, None, processes=1, samples=2, tasks=100)
    finding = _by_id(summarize(builder.run))["footprint.thread"]
    assert finding.numbers["whole_each_bytes_interval"] == [None, None]
    assert bool(finding.headline) == headline


def test_the_machines_account_is_not_compared_where_a_groups_is_there(builder: Any) -> None:
    for accounting in ("machine", "cgroup"):
        builder.cell("footprint.process", footprint_sizes(70 * KIB, 20 * KIB), None, tasks=100, accounting=accounting)
        builder.cell("footprint.thread", footprint_sizes(25 * KIB, 5 * KIB), None, tasks=100, accounting=accounting)
    contests = [name for name in _by_id(summarize(builder.run)) if "process_thread" in name]
    assert contests == ["footprint.process_thread.cgroup"]
