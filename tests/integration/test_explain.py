"""Real launches taken to pieces: what the kernel told agrees with what is known of them, and nothing stays."""

from __future__ import annotations

import os
import platform
import re
import resource
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest
from tests import probe

from clonometer.answers import Trace
from clonometer.plan.adhoc import plan_from_arguments
from clonometer.plan.catalogue import read_catalogue
from clonometer.plan.types import Target
from clonometer.protocol.trace import parse_trace
from clonometer.runner.drivers import Drivers, find_drivers
from clonometer.runner.languages.building import usable_drivers
from clonometer.runner.languages.toolchains import find_languages
from clonometer.runner.process import ANSWER_FD
from clonometer.runner.tracing import ProbeTracer
from clonometer.tracing.arguments import listing_of
from clonometer.tracing.counters import counters_of
from clonometer.tracing.launches import launches_of
from clonometer.tracing.overhead import listened as listened_launches
from clonometer.tracing.overhead import spans_of
from clonometer.tracing.partition import TracedLaunch, traced_launches
from clonometer.tracing.parts import EXECS, EXITS, FAULT_PARTS, MAKES_TASK, WAITS

pytestmark = pytest.mark.real

EVENTS = ("tasks", "sched", "calls", "faults")


@pytest.fixture(scope="module")
def drivers() -> Drivers:
    return find_drivers([[str(probe.executable("static"))]])


@pytest.mark.parametrize("name", ["python", "java", "go"])
def test_a_launch_of_a_language_is_traced_whatever_thread_makes_it(name: str) -> None:
    """Java launches in another thread than its first, lets a helper execute the program, and a third thread wait."""
    [language] = [each for each in find_languages() if each.name == name]
    further, lacks = usable_drivers([language], print, versions=1)
    if not further:
        pytest.skip(lacks[0]["reason"])
    of_languages = find_drivers(further=further)
    target = make_target(of_languages, f"{name}.command", 5)
    trace = ProbeTracer(of_languages, {"clock": "tsc"}).trace(target, "fast", EVENTS, fault_run=1024)
    if trace.refused is not None:
        pytest.skip(trace.refused)
    launches = list(traced_launches(trace))
    assert len(launches) == 5
    for launch in launches:
        parts = launch.totals()
        assert launch.children
        assert parts.get("unexplained", 0) < 0.3 * launch.launch.reaped_ns
        assert {"launch_call", "child_exec", "child_main", "child_exit"} <= parts.keys()
        # Go lets whichever of its threads is free go on with main.
        assert name == "go" or (launch.parent != trace.task) == (name == "java")
        assert ("child_helper" in parts) == (name == "java")


def make_target(drivers: Drivers, workload: str, samples: int = 40) -> Target:
    catalogue = read_catalogue(drivers.descriptions)
    # A traced launch takes some 20 ms on a busy machine: time must not end the block before its samples.
    limits = {"samples": samples, "blocks": 1, "warmup": 5, "block_limit_ns": 30 * 10**9}
    return plan_from_arguments([workload], ["temperature=warm"], catalogue, limits=limits).targets[0]


def traced(drivers: Drivers, workload: str, how: str, samples: int = 40) -> tuple[ProbeTracer, Trace]:
    tracer = ProbeTracer(drivers, drivers.calibrate())
    trace = tracer.trace(make_target(drivers, workload, samples), how, EVENTS)
    if trace.refused is not None:
        pytest.skip(trace.refused)
    return tracer, trace


@pytest.mark.parametrize("how", ["fast", "tracepoints"])
def test_the_kernel_tells_of_every_launch_of_fork(drivers: Drivers, how: str) -> None:
    _, trace = traced(drivers, "launch.fork", how)
    launches = list(traced_launches(trace))
    assert trace.lost == 0
    assert len(launches) == 40
    for launch in launches:
        assert sum(launch.totals().values()) == launch.launch.reaped_ns
        assert len(launch.children) == 1
        entered = [(event.name, event.task == trace.task) for event in launch.events if event.kind == "call_enter"]
        assert ("exit_group", False) in entered
        assert any(name in ("clone", "clone3") and parents for name, parents in entered)
        assert any(name in ("wait4", "waitid") and parents for name, parents in entered)
    totals = {part for launch in launches for part in launch.totals()}
    assert {"launch_call", "child_exit", "child_user", "reaping"} <= totals
    if platform.machine() == "x86_64":
        assert "child_cow" in totals


def test_the_stamps_and_the_events_are_on_one_clock(drivers: Drivers) -> None:
    _, trace = traced(drivers, "launch.fork", "fast")
    for launch in traced_launches(trace):
        calls = {
            (event.kind, event.task == trace.task): event.time_ns
            for event in launch.events
            if event.kind.startswith("call") and (event.name in ("clone", "clone3") or event.kind == "call_exit")
        }
        # The parent enters clone after its stamp; the child's stamp is after its return from clone.
        assert calls["call_enter", True] > 0
        assert launch.launch.stages["call_returns"] < launch.launch.reaped_ns
        first = next(event.time_ns for event in launch.events if event.kind == "call_exit" and event.task != trace.task)
        assert first < launch.launch.stages["task_runs"]


def test_threads_are_family_too(drivers: Drivers) -> None:
    _, trace = traced(drivers, "launch.pthread", "fast")
    for launch in traced_launches(trace):
        [flags] = [event.values[1] for event in launch.events if event.kind == "new_task"]
        assert flags & 0x10100 == 0x10100  # CLONE_THREAD, CLONE_VM
        assert {"child_exit", "child_user"} <= set(launch.totals())


@pytest.mark.parametrize("how", ["fast", "tracepoints", "ptrace"])
def test_the_program_that_is_executed_has_its_name(drivers: Drivers, how: str) -> None:
    _, trace = traced(drivers, "launch.vfork_exec", how, samples=5)
    launches = list(traced_launches(trace))
    assert len(launches) == 5
    for launch in launches:
        [program] = [event.name for event in launch.events if event.kind == "exec"]
        assert program.endswith("target_static")


def test_ptrace_counts_the_same_calls(drivers: Drivers) -> None:
    counts = {}
    for how in ("fast", "ptrace"):
        _, trace = traced(drivers, "launch.fork", how, samples=10)
        counts[how] = [
            sorted((event.name, event.task == trace.task) for event in launch.events if event.kind == "call_enter")
            for launch in traced_launches(trace)
        ]
        assert len(counts[how]) == 10
    assert counts["fast"] == counts["ptrace"]


def test_where_there_is_no_room_more_is_taken_and_nothing_is_missing(drivers: Drivers) -> None:
    tracer = ProbeTracer(drivers, drivers.calibrate(), _ring_bytes=4096)
    trace = tracer.trace(make_target(drivers, "launch.fork", 200), "fast", EVENTS)
    if trace.refused is not None:
        pytest.skip(trace.refused)
    assert tracer.grown > 0
    assert trace.lost == 0


def test_losses_are_counted_where_no_room_is_left(drivers: Drivers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clonometer.runner.tracing._MOST_RING_BYTES", 4096)
    tracer = ProbeTracer(drivers, drivers.calibrate(), _ring_bytes=4096)
    trace = tracer.trace(make_target(drivers, "launch.fork", 200), "tracepoints", EVENTS)
    if trace.refused is not None:
        pytest.skip(trace.refused)
    assert trace.lost > 0


def test_the_parents_own_switches_need_no_privilege(drivers: Drivers) -> None:
    _, trace = traced(drivers, "launch.fork", "own")
    kinds = {trace.kinds[kind] for kind in trace.events["kind"].tolist()}
    assert {"switched_out", "switched_in"} <= kinds
    away = [
        launch.totals().get("away", 0) + launch.totals().get("until_task_ran", 0) for launch in traced_launches(trace)
    ]
    # Pinned to one CPU, the child can only run while the parent does not.
    assert median(away) > 0


def test_listening_to_nothing_changes_nothing_of_the_answer(drivers: Drivers) -> None:
    _, trace = traced(drivers, "launch.fork", "none")
    assert len(trace.events) == 0
    assert len(list(launches_of(trace))) == 40


MAIN = MAKES_TASK | EXECS | EXITS | WAITS


def story_of(launches: Sequence[TracedLaunch]) -> tuple[list[tuple[str, bool]], set[str]]:
    """The calls that the shortest of some launches enter, and the parts that most of them have."""
    shortest = sorted(launches, key=lambda launch: launch.launch.reaped_ns)[:20]
    assert all(sum(launch.totals().values()) == launch.launch.reaped_ns for launch in shortest)
    assert all("unexplained" not in launch.totals() for launch in shortest)
    assert all(len(launch.children) == 1 for launch in shortest)
    entered = [
        sorted((e.name, e.task == launch.parent) for e in launch.events if e.kind == "call_enter" and e.name in MAIN)
        for launch in shortest
    ]
    # Waits are others' doing, and which pages a child touches first depends on where its memory lies.
    chance = {"child_waits", "parent_waits", *FAULT_PARTS.values(), "child_other_faults"}
    # Of pages that both have, only who comes first meets a fault.
    chance |= {"parent_faults"} if any(name == "exit" for name, _ in entered[0]) else set()
    # Nor is what few launches have, such as an interrupt.
    times = Counter(part for launch in shortest for part in launch.totals())
    parts = {part for part, having in times.items() if having > len(shortest) / 2}
    return min(entered), parts - {"parent_calls", "child_calls"} - chance


def stories_told(
    tracer: ProbeTracer, target: Target, calls: str
) -> dict[bool, tuple[list[tuple[str, bool]], set[str]]]:
    """The story of launches whose parent has to wait for its child, and of those whose child has ended before that."""
    trace = tracer.trace(target, "fast", ("tasks", "sched", calls, "faults"))
    if trace.refused is not None:
        pytest.skip(trace.refused)
    launches = list(traced_launches(trace))
    others = {e.name for launch in launches for e in launch.events if e.kind == "call_enter"} - MAIN
    assert bool(others) == (calls == "calls")
    by_order: dict[bool, list[TracedLaunch]] = {}
    for launch in launches:
        waits = "wait_begins" in launch.totals()
        calls_wait = any(e.kind == "call_enter" and e.name in WAITS and e.task == trace.task for e in launch.events)
        assert calls_wait or not waits
        by_order.setdefault(waits, []).append(launch)
    return {waits: story_of(those) for waits, those in by_order.items() if len(those) >= 10}


@pytest.mark.parametrize("workload", ["launch.fork", "launch.pthread", "launch.vfork_exec"])
def test_fewer_events_tell_the_same_story(drivers: Drivers, workload: str) -> None:
    tracer = ProbeTracer(drivers, drivers.calibrate())
    target = make_target(drivers, workload)
    # Who is first of a thread that ends and its creator that joins it, the machine decides.
    for _ in range(5):
        stories = [stories_told(tracer, target, calls) for calls in ("calls", "main")]
        both = stories[0].keys() & stories[1].keys()
        if both:
            break
    assert both
    assert {waits: stories[0][waits] for waits in both} == {waits: stories[1][waits] for waits in both}


def test_nobody_listens_between_the_windows(drivers: Drivers) -> None:
    tracer = ProbeTracer(drivers, drivers.calibrate())
    target = make_target(drivers, "launch.pthread", 20_000)
    target = replace(target, limits=replace(target.limits, blocks=5, block_limit_ns=100_000_000))
    # Others may have the CPUs while it listens.
    for _ in range(3):
        trace = tracer.trace(target, "fast", EVENTS, window_ns=8_000_000)
        if trace.refused is not None:
            pytest.skip(trace.refused)
        listened_to = listened_to_in(trace)
        launches = list(traced_launches(trace, listened_launches(spans_of(trace), 200)))
        whole = [len(launch.children) == 1 and "unexplained" not in launch.totals() for launch in launches]
        if listened_to > 100 and len(launches) == 200 and all(whole):
            break
    assert listened_to > 100
    assert len(launches) == 200
    assert all(whole)


def listened_to_in(trace: Trace) -> int:
    """How many events came in windows between the first and the last; in those of silence there are none."""
    assert [listened for _, _, listened in trace.windows] == [k % 2 == 0 for k in range(len(trace.windows))]
    assert len(trace.windows) >= 4
    times = trace.events["time_ns"].astype("int64")
    listened_to = 0
    for begin, end, listened in trace.windows[1:-1]:
        assert end - begin >= 8_000_000
        inside = int(((times >= begin) & (times <= end)).sum())
        if listened:
            listened_to += inside
        else:
            # Each CPU may be within the noting of one event when listening ends, and stamp it after that.
            assert inside <= (os.cpu_count() or 1)
    return listened_to


def test_whoever_listens_by_perf_meanwhile_misses_nothing(drivers: Drivers) -> None:
    everything = (*EVENTS, "futex", "locks")
    tracer = ProbeTracer(drivers, drivers.calibrate())
    other = tracer.trace(make_target(drivers, "launch.pthread"), "tracepoints", everything)
    if other.refused is not None:
        pytest.skip(other.refused)
    long = make_target(drivers, "launch.pthread", 4000)
    long = replace(long, limits=replace(long.limits, blocks=6))
    with ThreadPoolExecutor(1) as side:
        ours = side.submit(tracer.trace, long, "fast", everything)
        together = 0
        while not ours.done():
            target = make_target(drivers, "launch.pthread", 400)
            launches = list(
                traced_launches(ProbeTracer(drivers, drivers.calibrate()).trace(target, "tracepoints", EVENTS))
            )
            assert all(len(launch.children) == 1 for launch in launches)
            assert all(any(event.kind == "switch" for event in launch.events) for launch in launches)
            together += not ours.done()
        assert together > 0
        assert ours.result().refused is None


def test_counters_are_read_at_every_event_by_the_code_that_reads_hardware(drivers: Drivers) -> None:
    tracer = ProbeTracer(drivers, drivers.calibrate())
    trace = tracer.trace(make_target(drivers, "launch.fork"), "tracepoints", EVENTS, counters="software")
    if trace.refused is not None:
        pytest.skip(trace.refused)
    kinds = [trace.kinds[kind] for kind in trace.events["kind"].tolist()]
    assert kinds.count("counts") == len(kinds) / 2
    assert all(kind == "counts" for kind in kinds[1::2])
    assert trace.counters[:3] == ("cpu_clock_ns", "page_faults", "context_switches")
    [*_, all_of_it] = (counted := counters_of("software", [trace])).rows
    assert counted.running == 1
    means = all_of_it.values
    # What the kernel counted is what its tracepoints told: each fault ends with an event of its own.
    central = sorted(traced_launches(trace), key=lambda launch: launch.launch.reaped_ns)[10:30]
    faults = [sum(event.kind in ("minor_fault", "major_fault") for event in launch.events) for launch in central]
    assert means["page_faults"] == pytest.approx(sum(faults) / len(faults), abs=1)
    # Each side sleeps or ends once; whoever else wanted the CPU meanwhile makes it more, and the events tell of it too.
    assert means["context_switches"] > 1.5
    busy = {row.id: row.values["cpu_clock_ns"] for row in counted.rows if row.kind == "part"}
    times = [launch.totals() for launch in traced_launches(trace)]
    for part in ("launch_call", "child_exit"):
        # A CPU's time for a part lies between the shortest and the longest launch, and the clocks' error.
        lasting = [launch[part] for launch in times]
        assert min(lasting) / 1.1 < busy[part] < max(lasting) * 1.1
    assert sum(busy.values()) == pytest.approx(means["cpu_clock_ns"])


def test_hardware_counters_are_there_or_it_is_said_why_not(drivers: Drivers) -> None:
    tracer = ProbeTracer(drivers, drivers.calibrate())
    trace = tracer.trace(make_target(drivers, "launch.fork"), "tracepoints", EVENTS, counters="hardware")
    if trace.refused is None:
        assert trace.counters
        [*_, all_of_it] = counters_of("hardware", [trace]).rows
        assert all_of_it.values[0] > 0
    else:
        assert "counters here" in trace.refused or "refuses" in trace.refused or "tracefs" in trace.refused
        assert len(trace.refused) > 30


def test_ptrace_reads_what_arguments_point_to(drivers: Drivers) -> None:
    _, trace = traced(drivers, "launch.vfork_exec", "ptrace", samples=3)
    for launch in traced_launches(trace):
        listing = listing_of(launch)
        [execs] = [call for call in listing if call.text.startswith("execve")]
        assert execs.who == "child"
        assert re.search(r'^execve\("/.*/target_static", \["/.*target_static"', execs.text)
        assert execs.result == "0"
        [makes] = [call for call in listing if call.text.startswith(("vfork(", "clone"))]
        assert makes.who == "parent"
        assert int(makes.result) > 1
        [waits] = [call for call in listing if call.text.startswith("wait")]
        assert (waits.who, waits.result) in {("parent", makes.result), ("parent", "0")}
        assert makes.result in waits.text
    _, trace = traced(drivers, "launch.pthread", "ptrace", samples=3)
    for launch in traced_launches(trace):
        # Where clone3 is refused the C library goes on to clone.
        *_, makes = [call.text for call in listing_of(launch) if call.text.startswith("clone")]
        assert "CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD" in makes
        assert re.search(r"stack=0x[0-9a-f]+", makes)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
@pytest.mark.parametrize("how", ["fast", "tracepoints", "own", "ptrace"])
def test_an_unprivileged_user_gets_events_or_a_reason(drivers: Drivers, how: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        place.chmod(0o755)
        for source in (probe.folder() / "tracer", probe.executable("static")):
            shutil.copy(source, place)
        clock = drivers.calibrate()
        words = drivers.usable[0].request(make_target(drivers, "launch.fork", 10), clock)
        request = [
            str(place / Path(words[0]).name),
            *("{traced fd}" if word == ANSWER_FD else word for word in words[1:]),
        ]
        keys = [f"how={how}", f"stamps={clock['clock']}", f"events={','.join(EVENTS)}"]
        ended = subprocess.run(
            [place / "tracer", "--fd", "1", "trace", *keys, "--", *request],
            capture_output=True,
            user=65534,
            group=65534,
            extra_groups=[],
            timeout=120,
        )
    assert ended.returncode == 0, ended.stderr
    trace = parse_trace(ended.stdout)
    if how in ("fast", "tracepoints"):
        assert trace.refused is not None
        assert len(trace.refused) > 20
    elif trace.refused is None:
        assert len(list(launches_of(trace))) == 10
        assert len(trace.events) > 0
    else:
        assert "refuses" in trace.refused or "forbids" in trace.refused


@pytest.mark.skipif(os.geteuid() != 0, reason="takes root to become an ordinary user")
def test_an_ordinary_user_who_may_lock_little_memory_gets_smaller_rings(public: Path, drivers: Drivers) -> None:
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 2:
        pytest.skip("ordinary users may not open perf events here")
    from clonometer.runner.drivers import bin_folder

    tool, probing = public / "tracer", public / "probe"
    shutil.copy(bin_folder() / "tracer", tool)
    shutil.copy(probe.executable("static"), probing)
    target = make_target(drivers, "launch.fork", 5)
    driver = drivers.choose(target.workload, target.condition)
    _, *words = ["{traced fd}" if word == ANSWER_FD else word for word in driver.request(target, drivers.calibrate())]
    # 64 MiB a ring is more than 64 KiB of locked memory and what each user may have besides (perf_event_mlock_kb).
    ended = subprocess.run(
        [tool, "--fd", "1", "trace", "how=own", f"ring_bytes={64 << 20}", "--", probing, *words],
        stdout=subprocess.PIPE, user=65534, group=65534, extra_groups=[], cwd="/", timeout=60, check=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536)),
    )  # fmt: skip
    trace = parse_trace(ended.stdout)
    assert trace.refused is None
    assert trace.lost == 0
    assert len(list(traced_launches(trace))) == 5
